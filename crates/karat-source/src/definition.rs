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

/// Wrappers of a definition, such as `template <…>` or decorators: their lines belong to it.
pub(super) fn is_wrapper(language: Language, kind: &str) -> bool {
    match language {
        Language::TypeScript | Language::Tsx | Language::JavaScript => kind == "export_statement",
        Language::Python => kind == "decorated_definition",
        Language::Cpp => kind == "template_declaration",
        _ => false,
    }
}

pub(super) fn definition<'tree>(language: Language, node: Node<'tree>, source: &str) -> Option<Definition<'tree>> {
    if !node.is_named() {
        return None;
    }
    let text = Text(source);
    match language {
        Language::TypeScript | Language::Tsx | Language::JavaScript => ecmascript(node, text),
        Language::Python => python(node, text),
        Language::Java => java(node, text),
        Language::Go => go(node, text),
        Language::Rust => rust(node, text),
        Language::C | Language::Cpp => c_family(node, text),
        Language::Ruby => ruby(node, text),
        Language::Solidity => solidity(node, text),
    }
}

fn ecmascript<'tree>(node: Node<'tree>, text: Text<'_>) -> Option<Definition<'tree>> {
    match node.kind() {
        "function_declaration"
        | "generator_function_declaration"
        | "function_expression"
        | "generator_function"
        | "function_signature"
        | "class_declaration"
        | "abstract_class_declaration"
        | "class"
        | "interface_declaration"
        | "enum_declaration"
        | "method_definition"
        | "method_signature"
        | "abstract_method_signature" => plain(vec![text.field(node, "name")?]),
        "internal_module" | "module" => {
            let name = node.child_by_field_name("name")?;
            let whole = text.name(name)?;
            plain(if name.kind() == "string" { vec![whole] } else { split(&whole, ".") })
        }
        "variable_declarator" | "public_field_definition" => {
            let name = node.child_by_field_name("name")?;
            (!name.kind().ends_with("_pattern")).then_some(())?;
            ecmascript_value(vec![text.name(name)?], node.child_by_field_name("value")?)
        }
        "field_definition" => ecmascript_value(vec![text.field(node, "property")?], node.child_by_field_name("value")?),
        "pair" => ecmascript_value(vec![text.field(node, "key")?], node.child_by_field_name("value")?),
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
fn member_chain(mut node: Node<'_>, text: Text<'_>) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    while node.kind() == "member_expression" && segments.len() < 16 {
        segments.push(text.field(node, "property")?);
        node = node.child_by_field_name("object")?;
    }
    match node.kind() {
        "identifier" => segments.push(text.name(node)?),
        "this" if !segments.is_empty() => (),
        _ => return None,
    }
    segments.reverse();
    Some(segments)
}

fn python<'tree>(node: Node<'tree>, text: Text<'_>) -> Option<Definition<'tree>> {
    match node.kind() {
        "function_definition" | "class_definition" => plain(vec![text.field(node, "name")?]),
        "assignment" => named_value(node, ["left", "right"], "lambda", text),
        _ => None,
    }
}

fn java<'tree>(node: Node<'tree>, text: Text<'_>) -> Option<Definition<'tree>> {
    match node.kind() {
        "class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "record_declaration"
        | "annotation_type_declaration"
        | "method_declaration"
        | "constructor_declaration"
        | "compact_constructor_declaration" => plain(vec![text.field(node, "name")?]),
        "module_declaration" => plain(split(&text.field(node, "name")?, ".")),
        "variable_declarator" => named_value(node, ["name", "value"], "lambda_expression", text),
        _ => None,
    }
}

fn go<'tree>(node: Node<'tree>, text: Text<'_>) -> Option<Definition<'tree>> {
    match node.kind() {
        "function_declaration" | "method_elem" => plain(vec![text.field(node, "name")?]),
        "method_declaration" => {
            let receiver = node.child_by_field_name("receiver")?.named_child(0)?.child_by_field_name("type");
            let mut segments: Vec<String> = receiver.and_then(|kind| base_type(kind, text)).into_iter().collect();
            segments.push(text.field(node, "name")?);
            plain(segments)
        }
        "type_spec" => {
            matches!(node.child_by_field_name("type")?.kind(), "struct_type" | "interface_type").then_some(())?;
            plain(vec![text.field(node, "name")?])
        }
        "var_spec" => named_value(node, ["name", "value"], "func_literal", text),
        "short_var_declaration" => named_value(node, ["left", "right"], "func_literal", text),
        _ => None,
    }
}

fn rust<'tree>(node: Node<'tree>, text: Text<'_>) -> Option<Definition<'tree>> {
    match node.kind() {
        "function_item"
        | "function_signature_item"
        | "struct_item"
        | "enum_item"
        | "union_item"
        | "trait_item"
        | "mod_item"
        | "macro_definition" => plain(vec![text.field(node, "name")?]),
        "impl_item" => plain(split(&base_type(node.child_by_field_name("type")?, text)?, "::")),
        "let_declaration" => named_value(node, ["pattern", "value"], "closure_expression", text),
        _ => None,
    }
}

/// A type without pointers, references and type arguments.
fn base_type(mut node: Node<'_>, text: Text<'_>) -> Option<String> {
    loop {
        node = match node.kind() {
            "pointer_type" if node.child_by_field_name("type").is_none() => node.named_child(0)?,
            "parenthesized_type" => node.named_child(0)?,
            "generic_type" | "reference_type" | "pointer_type" => node.child_by_field_name("type")?,
            _ => return text.name(node),
        };
    }
}

fn c_family<'tree>(node: Node<'tree>, text: Text<'_>) -> Option<Definition<'tree>> {
    match node.kind() {
        "function_definition" => plain(declared(node.child_by_field_name("declarator")?, text)?),
        "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier" => {
            node.child_by_field_name("body")?;
            plain(declared(node.child_by_field_name("name")?, text)?)
        }
        "type_definition" => {
            // `typedef struct { … } Name;` is where C names most of its structs.
            let body = node.child_by_field_name("type")?;
            let nameless = body.child_by_field_name("body").is_some() && body.child_by_field_name("name").is_none();
            nameless.then_some(())?;
            plain(declared(node.child_by_field_name("declarator")?, text)?)
        }
        "namespace_definition" => plain(split(&text.field(node, "name")?, "::")),
        "preproc_function_def" => plain(vec![text.field(node, "name")?]),
        "init_declarator" => named_value(node, ["declarator", "value"], "lambda_expression", text),
        _ => None,
    }
}

/// The name inside a declarator such as `*(Ns::Class<T>::method)(int)`, one segment for each scope.
fn declared(mut node: Node<'_>, text: Text<'_>) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    loop {
        node = match node.kind() {
            "qualified_identifier" => {
                if let Some(scope) = node.child_by_field_name("scope")
                    && segments.len() < 16
                {
                    segments.push(text.name(scope.child_by_field_name("name").unwrap_or(scope))?);
                }
                node.child_by_field_name("name")?
            }
            "template_function" | "template_method" | "template_type" => node.child_by_field_name("name")?,
            "operator_cast" => {
                let target = text.field(node, "type")?;
                segments.push(format!("operator {target}"));
                return Some(segments);
            }
            "identifier" | "field_identifier" | "type_identifier" | "destructor_name" | "operator_name" => {
                segments.push(text.name(node)?);
                return Some(segments);
            }
            _ => node.child_by_field_name("declarator").or_else(|| node.named_child(0))?,
        };
    }
}

fn ruby<'tree>(node: Node<'tree>, text: Text<'_>) -> Option<Definition<'tree>> {
    match node.kind() {
        "class" | "module" => plain(split(&text.field(node, "name")?, "::")),
        "method" => plain(vec![text.field(node, "name")?]),
        "singleton_method" => {
            let object = node.child_by_field_name("object").filter(|object| object.kind() != "self");
            let mut segments: Vec<String> = object.and_then(|object| text.name(object)).into_iter().collect();
            segments.push(text.field(node, "name")?);
            plain(segments)
        }
        "assignment" => named_value(node, ["left", "right"], "lambda", text),
        _ => None,
    }
}

fn solidity<'tree>(node: Node<'tree>, text: Text<'_>) -> Option<Definition<'tree>> {
    match node.kind() {
        "contract_declaration"
        | "interface_declaration"
        | "library_declaration"
        | "struct_declaration"
        | "enum_declaration"
        | "modifier_definition" => plain(vec![text.field(node, "name")?]),
        "function_definition" => {
            // Before version 0.6 the fallback function was the one without a name.
            let name = node.child_by_field_name("name").and_then(|name| text.name(name));
            plain(vec![name.unwrap_or_else(|| "fallback".to_owned())])
        }
        "constructor_definition" => plain(vec!["constructor".to_owned()]),
        "fallback_receive_definition" => {
            let receives = node.child(0).is_some_and(|first| first.kind() == "receive");
            plain(vec![if receives { "receive" } else { "fallback" }.to_owned()])
        }
        _ => None,
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
    text: Text<'_>,
) -> Option<Definition<'tree>> {
    let name = only(node.child_by_field_name(name_field)?)?;
    let value = only(node.child_by_field_name(value_field)?)?;
    (matches!(name.kind(), "identifier" | "constant") && value.kind() == value_kind).then_some(())?;
    Some(Definition { segments: vec![text.name(name)?], lends_name_only: false, same: Some(value) })
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

#[derive(Clone, Copy)]
struct Text<'source>(&'source str);

/// Longer names are truncated, so that hostile source cannot make huge keys.
const MAX_NAME: usize = 256;

impl Text<'_> {
    fn field(self, node: Node<'_>, field: &str) -> Option<String> {
        self.name(node.child_by_field_name(field)?)
    }

    /// The name of a node on one line, without quotes or control characters; `None` if nothing is left.
    fn name(self, node: Node<'_>) -> Option<String> {
        let raw = self.0.get(node.byte_range())?;
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
}
