//! Recognises the named definitions in a syntax tree.

use super::language::Language;
use tree_sitter::Node;

pub(super) struct Definition<'tree> {
    /// The name, one segment for each level; never empty.
    pub(super) segments: Vec<String>,
    /// An object literal gives its name to its methods, but lines in it belong to the definition around it.
    pub(super) lends_name_only: bool,
    /// A child that is the same definition and must not be counted again.
    pub(super) same: Option<Node<'tree>>,
}

/// The kinds of nodes that define what their field `name` says.
fn named_kinds(language: Language) -> &'static str {
    match language {
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            "function_declaration generator_function_declaration function_expression generator_function \
             function_signature class_declaration abstract_class_declaration class interface_declaration \
             enum_declaration method_definition method_signature abstract_method_signature"
        }
        Language::Python => "function_definition class_definition",
        Language::Java => {
            "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration \
             method_declaration constructor_declaration compact_constructor_declaration"
        }
        Language::Go => "function_declaration method_elem",
        Language::Rust => {
            "function_item function_signature_item struct_item enum_item union_item trait_item mod_item macro_definition"
        }
        Language::C | Language::Cpp => "preproc_function_def",
        Language::Ruby => "method",
        Language::Solidity => {
            "contract_declaration interface_declaration library_declaration struct_declaration enum_declaration \
             modifier_definition"
        }
    }
}

/// Wrappers of a definition, such as `template <…>` or decorators: their lines belong to it.
pub(super) fn is_wrapper(language: Language, kind: &str) -> bool {
    match language {
        Language::TypeScript | Language::Tsx | Language::JavaScript => kind == "export_statement",
        Language::Python => kind == "decorated_definition",
        Language::Cpp => kind == "template_declaration",
        _ => false,
    }
}

pub(super) fn definition<'tree>(language: Language, node: Node<'tree>, text: &str) -> Option<Definition<'tree>> {
    if !node.is_named() {
        return None;
    }
    if named_kinds(language).split(' ').any(|kind| kind == node.kind()) {
        return plain(vec![field_name(text, node, "name")?]);
    }
    match (language, node.kind()) {
        (Language::TypeScript | Language::Tsx | Language::JavaScript, _) => ecmascript(node, text),
        (Language::Python | Language::Ruby, "assignment") => named_value(node, ["left", "right"], "lambda", text),
        (Language::Java, "module_declaration") => plain(split(&field_name(text, node, "name")?, ".")),
        (Language::Java, "variable_declarator") => named_value(node, ["name", "value"], "lambda_expression", text),
        (Language::Go, "method_declaration") => {
            let receiver = node.child_by_field_name("receiver")?.named_child(0)?.child_by_field_name("type");
            let mut segments: Vec<String> = receiver.and_then(|kind| base_type(kind, text)).into_iter().collect();
            segments.push(field_name(text, node, "name")?);
            plain(segments)
        }
        (Language::Go, "type_spec") => {
            matches!(node.child_by_field_name("type")?.kind(), "struct_type" | "interface_type").then_some(())?;
            plain(vec![field_name(text, node, "name")?])
        }
        (Language::Go, "var_spec") => named_value(node, ["name", "value"], "func_literal", text),
        (Language::Go, "short_var_declaration") => named_value(node, ["left", "right"], "func_literal", text),
        (Language::Rust, "impl_item") => plain(split(&base_type(node.child_by_field_name("type")?, text)?, "::")),
        (Language::Rust, "let_declaration") => named_value(node, ["pattern", "value"], "closure_expression", text),
        (Language::C | Language::Cpp, "function_definition") => {
            plain(declared(node.child_by_field_name("declarator")?, text)?)
        }
        (
            Language::C | Language::Cpp,
            "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier",
        ) => {
            node.child_by_field_name("body")?;
            plain(declared(node.child_by_field_name("name")?, text)?)
        }
        (Language::C | Language::Cpp, "type_definition") => {
            // `typedef struct { … } Name;` is where C names most of its structs.
            let body = node.child_by_field_name("type")?;
            let nameless = body.child_by_field_name("body").is_some() && body.child_by_field_name("name").is_none();
            nameless.then_some(())?;
            plain(declared(node.child_by_field_name("declarator")?, text)?)
        }
        (Language::C | Language::Cpp, "namespace_definition") => plain(split(&field_name(text, node, "name")?, "::")),
        (Language::C | Language::Cpp, "init_declarator") => {
            named_value(node, ["declarator", "value"], "lambda_expression", text)
        }
        (Language::Ruby, "class" | "module") => plain(split(&field_name(text, node, "name")?, "::")),
        (Language::Ruby, "singleton_method") => {
            let object = node.child_by_field_name("object").filter(|object| object.kind() != "self");
            let mut segments: Vec<String> = object.and_then(|object| node_name(text, object)).into_iter().collect();
            segments.push(field_name(text, node, "name")?);
            plain(segments)
        }
        (Language::Solidity, "function_definition") => {
            // Before version 0.6 the fallback function was the one without a name.
            plain(vec![field_name(text, node, "name").unwrap_or_else(|| "fallback".to_owned())])
        }
        (Language::Solidity, "constructor_definition") => plain(vec!["constructor".to_owned()]),
        (Language::Solidity, "fallback_receive_definition") => {
            let receives = node.child(0).is_some_and(|first| first.kind() == "receive");
            plain(vec![if receives { "receive" } else { "fallback" }.to_owned()])
        }
        _ => None,
    }
}

fn ecmascript<'tree>(node: Node<'tree>, text: &str) -> Option<Definition<'tree>> {
    match node.kind() {
        "internal_module" | "module" => {
            let name = node.child_by_field_name("name")?;
            let whole = node_name(text, name)?;
            plain(if name.kind() == "string" { vec![whole] } else { split(&whole, ".") })
        }
        "variable_declarator" | "public_field_definition" => {
            let name = node.child_by_field_name("name")?;
            (!name.kind().ends_with("_pattern")).then_some(())?;
            ecmascript_value(vec![node_name(text, name)?], node.child_by_field_name("value")?)
        }
        "field_definition" => {
            ecmascript_value(vec![field_name(text, node, "property")?], node.child_by_field_name("value")?)
        }
        "pair" => ecmascript_value(vec![field_name(text, node, "key")?], node.child_by_field_name("value")?),
        "assignment_expression" => {
            let target = member_chain(node.child_by_field_name("left")?, text)?;
            ecmascript_value(target, node.child_by_field_name("right")?)
        }
        _ => None,
    }
}

/// A function or class that is assigned to a name, or an object whose methods it qualifies.
fn ecmascript_value<'tree>(segments: Vec<String>, mut value: Node<'tree>) -> Option<Definition<'tree>> {
    while matches!(value.kind(), "parenthesized_expression" | "as_expression" | "satisfies_expression") {
        value = value.named_child(0)?;
    }
    match value.kind() {
        "arrow_function" | "function_expression" | "generator_function" | "class" => {
            Some(Definition { segments, lends_name_only: false, same: Some(value) })
        }
        "object" => Some(Definition { segments, lends_name_only: true, same: None }),
        _ => None,
    }
}

/// `a.b.c` as segments, without a leading `this`; `None` where a part is computed or called.
fn member_chain(mut node: Node<'_>, text: &str) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    while node.kind() == "member_expression" && segments.len() < 16 {
        segments.push(field_name(text, node, "property")?);
        node = node.child_by_field_name("object")?;
    }
    match node.kind() {
        "identifier" => segments.push(node_name(text, node)?),
        "this" if !segments.is_empty() => (),
        _ => return None,
    }
    segments.reverse();
    Some(segments)
}

/// A type without pointers, references and type arguments.
fn base_type(mut node: Node<'_>, text: &str) -> Option<String> {
    loop {
        node = match node.kind() {
            "pointer_type" if node.child_by_field_name("type").is_none() => node.named_child(0)?,
            "parenthesized_type" => node.named_child(0)?,
            "generic_type" | "reference_type" | "pointer_type" => node.child_by_field_name("type")?,
            _ => return node_name(text, node),
        };
    }
}

/// The name inside a declarator such as `*(Ns::Class<T>::method)(int)`, one segment for each scope.
fn declared(mut node: Node<'_>, text: &str) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    loop {
        node = match node.kind() {
            "qualified_identifier" => {
                if let Some(scope) = node.child_by_field_name("scope")
                    && segments.len() < 16
                {
                    segments.push(node_name(text, scope.child_by_field_name("name").unwrap_or(scope))?);
                }
                node.child_by_field_name("name")?
            }
            "template_function" | "template_method" | "template_type" => node.child_by_field_name("name")?,
            "operator_cast" => {
                let target = field_name(text, node, "type")?;
                segments.push(format!("operator {target}"));
                return Some(segments);
            }
            "identifier" | "field_identifier" | "type_identifier" | "destructor_name" | "operator_name" => {
                segments.push(node_name(text, node)?);
                return Some(segments);
            }
            _ => node.child_by_field_name("declarator").or_else(|| node.named_child(0))?,
        };
    }
}

fn plain<'tree>(segments: Vec<String>) -> Option<Definition<'tree>> {
    (!segments.is_empty()).then_some(Definition { segments, lends_name_only: false, same: None })
}

/// `name = function`, with one name and one value.
fn named_value<'tree>(
    node: Node<'tree>,
    [name_field, value_field]: [&str; 2],
    value_kind: &str,
    text: &str,
) -> Option<Definition<'tree>> {
    let name = only(node.child_by_field_name(name_field)?)?;
    let value = only(node.child_by_field_name(value_field)?)?;
    (matches!(name.kind(), "identifier" | "constant") && value.kind() == value_kind).then_some(())?;
    Some(Definition { segments: vec![node_name(text, name)?], lends_name_only: false, same: Some(value) })
}

/// The only element of an expression list; other nodes stand for themselves.
fn only(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() != "expression_list" {
        return Some(node);
    }
    (node.named_child_count() == 1).then(|| node.named_child(0)).flatten()
}

fn split(name: &str, separator: &str) -> Vec<String> {
    name.split(separator).map(str::trim).filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// Longer names are truncated, so that hostile source cannot make huge keys.
const MAX_NAME: usize = 256;

fn field_name(text: &str, node: Node<'_>, field: &str) -> Option<String> {
    node_name(text, node.child_by_field_name(field)?)
}

/// The name of a node on one line, without quotes or control characters; `None` if nothing is left.
fn node_name(text: &str, node: Node<'_>) -> Option<String> {
    let raw = text.get(node.byte_range())?;
    let raw = if node.kind() == "string" { raw.trim_matches(['"', '\'']) } else { raw };
    let mut name = String::new();
    for word in raw.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !name.is_empty() {
            name.push(' ');
        }
        for c in word.chars() {
            if name.len() + c.len_utf8() > MAX_NAME {
                return Some(name);
            }
            name.push(c);
        }
    }
    (!name.is_empty()).then_some(name)
}
