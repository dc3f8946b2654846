//! The roles of names in Java, Go, Rust, C, C++ and Solidity.

use super::{Role, RoleContext, climb, innermost_scope, local_or_global};
use crate::language::Language;
use crate::rewrite::walk::{Placed, child_of_kind, text_of};
use tree_sitter::Node;

pub(super) fn java(name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some(parent) = ancestors.last() else { return Role::Fixed };
    let around = ancestors.len().checked_sub(2).and_then(|at| ancestors.get(at));
    let depth = ancestors.len();
    if name.kind() != "identifier" {
        return Role::Member;
    }
    match (parent.kind(), name.field) {
        ("variable_declarator", Some("name")) => match around.map(Placed::kind) {
            Some("local_variable_declaration" | "spread_parameter") => Role::Local { outer: depth },
            _ => Role::Fixed,
        },
        ("formal_parameter", Some("name")) => {
            let of_record = ancestors.iter().rev().nth(2).is_some_and(|placed| placed.kind() == "record_declaration");
            // A library may read the name of a parameter that has an annotation.
            let is_annotated = ["annotation", "marker_annotation"].iter().any(|kind| has_modifier(parent.node, kind));
            if of_record || is_annotated { Role::Fixed } else { Role::Local { outer: depth } }
        }
        ("catch_formal_parameter" | "enhanced_for_statement" | "resource" | "instanceof_expression", Some("name"))
        | ("inferred_parameters" | "type_pattern" | "record_pattern_component", _)
        | ("lambda_expression", Some("parameters")) => Role::Local { outer: depth },
        ("method_declaration", Some("name")) if has_modifier(parent.node, "private") => Role::Global,
        ("method_invocation", Some("name")) => match parent.node.child_by_field_name("object").map(|own| own.kind()) {
            None | Some("this") => Role::Call,
            Some(_) => Role::Member,
        },
        ("method_reference", _) if name.node.prev_sibling().is_none() => Role::Reference,
        ("method_reference", _) if parent.node.child(0).is_some_and(|first| first.kind() == "this") => Role::Call,
        ("field_access", Some("field")) | ("method_reference", _) => Role::Member,
        ("method_declaration" | "class_declaration" | "interface_declaration" | "enum_declaration", Some("name"))
        | ("record_declaration" | "constructor_declaration" | "compact_constructor_declaration", Some("name"))
        | ("annotation_type_declaration" | "enum_constant" | "annotation" | "marker_annotation", Some("name"))
        | ("element_value_pair", Some("key"))
        | ("scoped_identifier" | "labeled_statement" | "break_statement" | "continue_statement", _)
        | ("package_declaration" | "import_declaration", _) => Role::Fixed,
        _ => Role::Reference,
    }
}

fn has_modifier(node: Node<'_>, modifier: &str) -> bool {
    child_of_kind(node, "modifiers").is_some_and(|modifiers| child_of_kind(modifiers, modifier).is_some())
}

/// Names that Go calls by itself.
fn go_calls(name: &str) -> bool {
    let starts = ["Test", "Benchmark", "Example", "Fuzz"];
    matches!(name, "main" | "init") || starts.iter().any(|start| name.starts_with(start))
}

pub(super) fn go(context: &RoleContext<'_>, name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some(parent) = ancestors.last() else { return Role::Fixed };
    let depth = ancestors.len();
    if name.kind() != "identifier" {
        return Role::Member;
    }
    match (parent.kind(), name.field) {
        ("function_declaration", Some("name")) if go_calls(text_of(name.node, context.text)) => Role::Fixed,
        ("function_declaration", Some("name")) => Role::Global,
        ("var_spec" | "const_spec", Some("name")) => local_or_global(Language::Go, ancestors, depth),
        ("parameter_declaration" | "variadic_parameter_declaration", Some("name")) => Role::Local { outer: depth },
        // The key of a struct is a field, and that of a map a variable.
        ("literal_element", _) if parent.field == Some("key") => Role::Fixed,
        ("expression_list", _) => {
            let around = ancestors.iter().rev().nth(1);
            let declares = |placed: &Placed<'_>| match (placed.kind(), parent.field) {
                ("short_var_declaration", Some("left")) | ("type_switch_statement", Some("alias")) => true,
                ("range_clause" | "receive_statement", Some("left")) => child_of_kind(placed.node, ":=").is_some(),
                _ => false,
            };
            if around.is_some_and(declares) { Role::Local { outer: depth } } else { Role::Reference }
        }
        _ => Role::Reference,
    }
}

const RUST_PATTERNS: [&str; 9] = [
    "tuple_pattern",
    "tuple_struct_pattern",
    "struct_pattern",
    "field_pattern",
    "slice_pattern",
    "ref_pattern",
    "mut_pattern",
    "reference_pattern",
    "or_pattern",
];

pub(super) fn rust(context: &RoleContext<'_>, name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some(parent) = ancestors.last() else { return Role::Fixed };
    let depth = ancestors.len();
    let is_in = |kinds: &[&str]| ancestors.iter().any(|placed| kinds.contains(&placed.kind()));
    if is_in(&["macro_definition", "attribute_item", "inner_attribute_item", "foreign_mod_item"]) {
        return Role::Fixed;
    }
    match name.kind() {
        "identifier" => {}
        "shorthand_field_identifier" => {
            let plain = parent.node.child_count() == 1;
            return match rust_pattern(context, name, ancestors) {
                Role::Local { outer } if plain => Role::Shorthand { declares: Some(outer) },
                _ => Role::Fixed,
            };
        }
        _ => return Role::Member,
    }
    if is_in(&["token_tree"]) {
        let is_plain = macros_around(context, ancestors).all(is_plain_macro);
        return if is_plain { rust_token(name.node, parent.node) } else { Role::Fixed };
    }
    match (parent.kind(), name.field) {
        ("shorthand_field_initializer", _) => Role::Shorthand { declares: None },
        ("function_item", Some("name")) => {
            let outer = &ancestors[..depth - 1];
            let is_method =
                outer.iter().rev().nth(1).is_some_and(|own| matches!(own.kind(), "impl_item" | "trait_item"));
            match innermost_scope(Language::Rust, outer) {
                _ if is_method || text_of(name.node, context.text) == "main" => Role::Fixed,
                Some(_) => Role::Local { outer: depth - 1 },
                None => Role::Global,
            }
        }
        ("const_item" | "static_item", Some("name")) => {
            let in_body = outer_kind(ancestors, 2).is_some_and(|kind| matches!(kind, "impl_item" | "trait_item"));
            if in_body { Role::Fixed } else { local_or_global(Language::Rust, ancestors, depth) }
        }
        ("scoped_identifier", Some("name")) if is_in(&["use_declaration"]) => rust_use(context, ancestors, true),
        ("scoped_identifier", Some("name")) => {
            let path = parent.node.child_by_field_name("path").map_or("", |path| text_of(path, context.text));
            if is_own_path(path) { Role::Reference } else { Role::Fixed }
        }
        ("use_list", _) => rust_use(context, ancestors, false),
        ("scoped_identifier" | "scoped_use_list" | "scoped_type_identifier" | "use_declaration", _)
        | ("use_as_clause" | "use_wildcard" | "lifetime" | "label" | "macro_invocation" | "mod_item", _)
        | ("enum_variant" | "function_signature_item" | "extern_crate_declaration", Some("name"))
        | ("visibility_modifier" | "const_parameter" | "type_binding", _)
        | ("tuple_struct_pattern", Some("type")) => Role::Fixed,
        _ => rust_pattern(context, name, ancestors),
    }
}

fn outer_kind<'t>(ancestors: &[Placed<'t>], up: usize) -> Option<&'t str> {
    ancestors.iter().rev().nth(up).map(Placed::kind)
}

fn is_own_path(path: &str) -> bool {
    matches!(path.split("::").next(), Some("crate" | "self" | "super"))
}

/// The last name of something that is used of the same crate. A path in the middle is no name of a function.
fn rust_use(context: &RoleContext<'_>, ancestors: &[Placed<'_>], last_of_path: bool) -> Role {
    let Some(at) = ancestors.iter().rposition(|placed| placed.kind() == "use_declaration") else { return Role::Fixed };
    let own = ancestors[at].node.child_by_field_name("argument");
    let is_own = own.is_some_and(|argument| is_own_path(text_of(argument, context.text)));
    // Within a path, only the outermost name is the one that is used.
    let inner = last_of_path && ancestors.iter().rev().nth(1).is_some_and(|placed| placed.kind().starts_with("scoped"));
    if is_own && !inner { Role::Import } else { Role::Fixed }
}

/// A name in a pattern that declares it, or a reference.
fn rust_pattern(context: &RoleContext<'_>, name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some((at, around, child)) = climb(name, ancestors, &RUST_PATTERNS) else { return Role::Reference };
    let declares = matches!(
        (around.kind(), child.field),
        ("parameter" | "let_declaration" | "for_expression" | "let_condition", Some("pattern"))
            | ("closure_parameters" | "captured_pattern", _)
            | ("match_pattern", None)
    );
    if !declares {
        return Role::Reference;
    }
    // A capital letter stands for a constant or a variant.
    if text_of(name.node, context.text).starts_with(char::is_uppercase) {
        return Role::Fixed;
    }
    Role::Local { outer: at + 1 }
}

/// The names of the macros among whose arguments something is, without their paths.
fn macros_around<'c>(context: &'c RoleContext<'_>, ancestors: &'c [Placed<'_>]) -> impl Iterator<Item = &'c str> {
    let trees = ancestors.iter().enumerate().filter(|(_, placed)| placed.kind() == "token_tree");
    trees.filter_map(|(at, tokens)| {
        let around = ancestors.get(at.checked_sub(1)?)?.node;
        let name = match around.kind() {
            "macro_invocation" => around.child_by_field_name("macro")?,
            _ => {
                let mut cursor = around.walk();
                let own: Vec<Node<'_>> =
                    around.children(&mut cursor).take_while(|own| own.id() != tokens.node.id()).collect();
                match own.as_slice() {
                    [.., name, mark] if mark.kind() == "!" => *name,
                    _ => return None,
                }
            }
        };
        text_of(name, context.text).rsplit("::").next()
    })
}

/// Whether a macro does nothing with the text of its arguments that a program could see.
fn is_plain_macro(name: &str) -> bool {
    const PLAIN: &str = "print println eprint eprintln write writeln format format_args panic todo unimplemented unreachable vec \
        assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne matches json anyhow bail ensure trace debug info \
        warn error";
    PLAIN.split_ascii_whitespace().any(|own| own == name)
}

/// A name among the arguments of a macro, which are not parsed.
fn rust_token(node: Node<'_>, tokens: Node<'_>) -> Role {
    // To ask a node for its siblings would take a search through the whole tree.
    let mut cursor = tokens.walk();
    let kinds: Vec<(usize, &str)> = tokens.children(&mut cursor).map(|own| (own.id(), own.kind())).collect();
    let Some(at) = kinds.iter().position(|(id, _)| *id == node.id()) else { return Role::Fixed };
    let kind = |at: Option<usize>| Some(kinds.get(at?)?.1);
    match (kind(at.checked_sub(1)), kind(Some(at + 1))) {
        // It may name a field, too.
        (Some("{" | ","), Some("}" | ",")) if kind(Some(0)) == Some("{") => Role::Fixed,
        (Some("."), _) => Role::Member,
        (Some("::" | "'" | "$" | "fn" | "struct" | "enum" | "let" | "for" | "|" | "mut" | "ref"), _) => Role::Fixed,
        (_, Some("::" | "!" | ":" | "=" | "=>" | "|")) => Role::Fixed,
        _ => Role::Reference,
    }
}

const C_DECLARATORS: [&str; 7] = [
    "pointer_declarator",
    "array_declarator",
    "init_declarator",
    "reference_declarator",
    "parenthesized_declarator",
    "attributed_declarator",
    "structured_binding_declarator",
];

pub(super) fn c(context: &RoleContext<'_>, name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some(parent) = ancestors.last() else { return Role::Fixed };
    if name.kind() != "identifier" {
        return Role::Member;
    }
    match (parent.kind(), name.field) {
        ("qualified_identifier" | "template_function", Some("name")) => return Role::Member,
        ("enumerator" | "preproc_def" | "preproc_function_def" | "preproc_ifdef", Some("name"))
        | ("preproc_params" | "preproc_defined" | "lambda_capture_initializer" | "attribute", _)
        | ("using_declaration" | "friend_declaration" | "concept_definition", _) => return Role::Fixed,
        ("array_declarator", Some("size")) | ("init_declarator", Some("value")) => return Role::Reference,
        _ => {}
    }
    if ancestors.iter().any(|placed| placed.kind().starts_with("gnu_asm")) {
        return Role::Fixed;
    }
    let is_extern = |placed: &Placed<'_>| {
        matches!(placed.kind(), "declaration" | "function_definition")
            && has_storage_class(placed.node, "extern", context.text)
    };
    // It is defined in another program, or found there by its name.
    let is_shared = || ancestors.iter().any(|placed| placed.kind() == "linkage_specification" || is_extern(placed));
    let Some((at, around, child)) = climb(name, ancestors, &C_DECLARATORS) else { return Role::Reference };
    let at_top = |upto: usize| innermost_scope(context.language, &ancestors[..upto]).is_none();
    match (around.kind(), child.field) {
        ("parameter_declaration" | "optional_parameter_declaration", Some("declarator")) => Role::Local { outer: at },
        ("declaration" | "for_range_loop", Some("declarator")) => {
            let outer = if around.kind() == "declaration" { at } else { at + 1 };
            match at_top(outer) {
                _ if is_extern(&around) => Role::Fixed,
                true if is_shared() => Role::Fixed,
                true => Role::Global,
                false => Role::Local { outer },
            }
        }
        ("function_declarator", Some("declarator")) => {
            let definition = climb(around, &ancestors[..at], &C_DECLARATORS);
            match definition {
                _ if text_of(name.node, context.text) == "main" || is_shared() => Role::Fixed,
                Some((at, placed, _))
                    if matches!(placed.kind(), "function_definition" | "declaration") && at_top(at) =>
                {
                    if placed.kind() == "declaration" { Role::Repeated } else { Role::Global }
                }
                _ => Role::Fixed,
            }
        }
        _ => Role::Reference,
    }
}

fn has_storage_class(node: Node<'_>, class: &str, text: &str) -> bool {
    let mut cursor = node.walk();
    let mut classes = node.children(&mut cursor).filter(|child| child.kind() == "storage_class_specifier");
    classes.any(|own| text_of(own, text) == class)
}

pub(super) fn solidity(context: &RoleContext<'_>, name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some(parent) = ancestors.last() else { return Role::Fixed };
    let depth = ancestors.len();
    if name.kind() != "identifier" {
        return Role::Fixed;
    }
    match (parent.kind(), name.field) {
        ("member_expression", Some("property")) | ("struct_member", Some("name")) | ("user_defined_type", _) => {
            Role::Member
        }
        ("variable_declaration", Some("name")) => Role::Local { outer: depth },
        ("parameter", Some("name")) if outer_kind(ancestors, 1) != Some("type_name") => Role::Local { outer: depth },
        ("function_definition", Some("name")) => {
            let visibility = child_of_kind(parent.node, "visibility").map_or("", |own| text_of(own, context.text));
            let inherits = child_of_kind(parent.node, "override_specifier").is_some()
                || child_of_kind(parent.node, "virtual").is_some();
            if matches!(visibility, "private" | "internal") && !inherits { Role::Global } else { Role::Fixed }
        }
        ("expression" | "assignment_expression" | "binary_expression" | "call_argument" | "array_access", _)
        | ("member_expression", Some("object"))
        | ("augmented_assignment_expression" | "update_expression" | "unary_expression" | "tuple_expression", _)
        | ("return_statement" | "ternary_expression" | "parenthesized_expression" | "slice_access", _)
        | ("call_expression" | "expression_statement" | "variable_declaration_statement" | "type_cast_expression", _)
        | ("if_statement" | "while_statement" | "for_statement" | "emit_statement" | "new_expression", _)
        | ("struct_expression" | "payable_conversion_expression" | "revert_arguments", _)
        | ("call_struct_argument" | "struct_field_assignment", Some("value")) => Role::Reference,
        _ => Role::Fixed,
    }
}
