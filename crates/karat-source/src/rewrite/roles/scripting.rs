//! The roles of names in Python, JavaScript, TypeScript and Ruby.

use super::{Role, RoleContext, climb, innermost_scope, local_or_global};
use crate::language::Language;
use crate::rewrite::walk::{Placed, child_of_kind, text_of};

const PYTHON_PATTERNS: [&str; 6] =
    ["pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "parenthesized_expression", "tuple"];

pub(super) fn python(context: &RoleContext<'_>, name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some(parent) = ancestors.last() else { return Role::Fixed };
    let depth = ancestors.len();
    let declared = |outer: usize| match innermost_scope(Language::Python, &ancestors[..outer]) {
        // A variable in the body of a class is an attribute.
        Some(scope) if scope.kind() == "class_definition" => Role::Fixed,
        Some(_) => Role::Local { outer },
        None => Role::Global,
    };
    match (parent.kind(), name.field) {
        ("attribute", Some("attribute")) => Role::Member,
        ("keyword_argument", Some("name")) | ("class_definition", Some("name")) => Role::Fixed,
        ("parameters" | "lambda_parameters", _)
        | ("default_parameter" | "typed_default_parameter", Some("name"))
        | ("typed_parameter", None) => python_parameter(context, ancestors),
        ("list_splat_pattern" | "dictionary_splat_pattern", _) if in_parameters(ancestors) => {
            python_parameter(context, ancestors)
        }
        ("function_definition", Some("name")) => match innermost_scope(Language::Python, &ancestors[..depth - 1]) {
            Some(scope) if scope.kind() == "class_definition" => Role::Member,
            Some(_) => Role::Local { outer: depth - 1 },
            None if is_called_by_name(text_of(name.node, context.text)) => Role::Fixed,
            None => Role::Global,
        },
        ("as_pattern_target", _) | ("named_expression", Some("name")) => declared(depth),
        ("aliased_import", Some("alias")) => Role::Fixed,
        _ if ancestors.iter().any(|placed| placed.kind() == "case_pattern") => Role::Fixed,
        _ if is_shown_by_name(ancestors) => Role::Fixed,
        ("dotted_name", _) => python_import(context, ancestors),
        _ => match climb(name, ancestors, &PYTHON_PATTERNS) {
            Some((at, around, child)) => match (around.kind(), child.field) {
                ("assignment", Some("left")) => declared(at),
                ("for_statement" | "for_in_clause", Some("left")) => declared(at),
                ("augmented_assignment", Some("left")) => declared(at),
                _ => Role::Reference,
            },
            None => Role::Reference,
        },
    }
}

fn in_parameters(ancestors: &[Placed<'_>]) -> bool {
    let outer = ancestors
        .iter()
        .rev()
        .find(|placed| !placed.kind().ends_with("_pattern") && placed.kind() != "typed_parameter");
    outer.is_some_and(|placed| matches!(placed.kind(), "parameters" | "lambda_parameters"))
}

/// Whoever calls a decorated function or a test decides by its parameters' names what it gets.
fn python_parameter(context: &RoleContext<'_>, ancestors: &[Placed<'_>]) -> Role {
    let function = ancestors.iter().rposition(|placed| matches!(placed.kind(), "function_definition" | "lambda"));
    let Some(at) = function else { return Role::Fixed };
    let is_decorated = at > 0 && ancestors[at - 1].kind() == "decorated_definition";
    let own = ancestors[at].node.child_by_field_name("name").map(|node| text_of(node, context.text));
    if is_decorated || own.is_some_and(|own| is_called_by_name(own) || own.starts_with("__")) {
        return Role::Fixed;
    }
    Role::Local { outer: ancestors.len() }
}

/// Whether pytest finds a function by its name.
fn is_called_by_name(function: &str) -> bool {
    function.starts_with("test") || function.starts_with("pytest_")
}

/// `f"{name=}"` prints the name.
fn is_shown_by_name(ancestors: &[Placed<'_>]) -> bool {
    let interpolation = ancestors.iter().rev().find(|placed| placed.kind() == "interpolation");
    interpolation.is_some_and(|placed| child_of_kind(placed.node, "=").is_some())
}

/// A name that a file of the same code is asked for.
fn python_import(context: &RoleContext<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some((at, statement)) =
        ancestors.iter().enumerate().rev().find(|(_, placed)| placed.kind().starts_with("import_"))
    else {
        return Role::Reference;
    };
    let within = ancestors.get(at + 1).copied();
    if statement.kind() != "import_from_statement" || within.is_none_or(|placed| placed.field == Some("module_name")) {
        return Role::Fixed;
    }
    let Some(module) = statement.node.child_by_field_name("module_name") else { return Role::Fixed };
    let first = text_of(module, context.text).split('.').next().unwrap_or_default();
    let is_own = module.kind() == "relative_import" || context.own_modules.iter().any(|own| own == first);
    if is_own { Role::Import } else { Role::Fixed }
}

const ECMASCRIPT_PATTERNS: [&str; 7] = [
    "array_pattern",
    "object_pattern",
    "pair_pattern",
    "rest_pattern",
    "assignment_pattern",
    "object_assignment_pattern",
    "parenthesized_expression",
];

pub(super) fn ecmascript(context: &RoleContext<'_>, name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some(parent) = ancestors.last() else { return Role::Fixed };
    let depth = ancestors.len();
    match name.kind() {
        "identifier" => {}
        "shorthand_property_identifier" => return Role::Shorthand { declares: None },
        "shorthand_property_identifier_pattern" => {
            return match ecmascript_pattern(name, ancestors) {
                Role::Local { outer } => Role::Taken { declares: Some(outer) },
                Role::Reference => Role::Taken { declares: None },
                _ => Role::Fixed,
            };
        }
        "statement_identifier" => return Role::Fixed,
        _ => return Role::Member,
    }
    if ancestors.iter().any(|placed| placed.kind() == "ambient_declaration") {
        return Role::Fixed;
    }
    match (parent.kind(), name.field) {
        ("function_declaration" | "generator_function_declaration", Some("name")) => {
            local_or_global(context.language, ancestors, depth - 1)
        }
        ("import_specifier", Some("name")) => ecmascript_import(context, ancestors),
        ("export_specifier", Some("name")) => {
            let is_elsewhere = ancestors.iter().any(|placed| placed.node.child_by_field_name("source").is_some());
            if is_elsewhere { Role::Fixed } else { Role::Reference }
        }
        ("import_specifier" | "export_specifier" | "import_clause" | "namespace_import" | "namespace_export", _)
        | ("import_require_clause" | "import_alias" | "nested_identifier", _)
        | ("function_expression" | "generator_function" | "class" | "class_declaration", Some("name"))
        | ("abstract_class_declaration" | "enum_declaration" | "internal_module" | "module", Some("name"))
        | ("function_signature", Some("name"))
        | ("jsx_opening_element" | "jsx_closing_element" | "jsx_self_closing_element", _)
        | ("index_signature" | "mapped_type_clause", Some("name")) => Role::Fixed,
        ("assignment_pattern", Some("right")) | ("object_assignment_pattern", Some("right")) => Role::Reference,
        ("required_parameter" | "optional_parameter", Some("value")) => Role::Reference,
        _ => ecmascript_pattern(name, ancestors),
    }
}

/// A name in a pattern that declares it, or a reference.
fn ecmascript_pattern(name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some((at, around, child)) = climb(name, ancestors, &ECMASCRIPT_PATTERNS) else { return Role::Reference };
    match (around.kind(), child.field) {
        ("variable_declarator", Some("name")) => local_or_global(Language::TypeScript, ancestors, at),
        ("formal_parameters", _) | ("arrow_function", Some("parameter")) | ("catch_clause", Some("parameter")) => {
            Role::Local { outer: at + 1 }
        }
        ("required_parameter" | "optional_parameter", Some("pattern")) => {
            // `constructor(private name)` declares a field.
            let is_field = ["accessibility_modifier", "readonly", "override_modifier"]
                .iter()
                .any(|kind| child_of_kind(around.node, kind).is_some());
            if is_field { Role::Fixed } else { Role::Local { outer: at + 1 } }
        }
        ("for_in_statement", Some("left")) if around.node.child_by_field_name("kind").is_some() => {
            Role::Local { outer: at + 1 }
        }
        _ => Role::Reference,
    }
}

/// A name that a file of the same code is asked for.
fn ecmascript_import(context: &RoleContext<'_>, ancestors: &[Placed<'_>]) -> Role {
    let source = ancestors.iter().rev().find_map(|placed| placed.node.child_by_field_name("source"));
    let is_own = source.is_some_and(|source| text_of(source, context.text).trim_matches(['"', '\'']).starts_with('.'));
    if is_own { Role::Import } else { Role::Fixed }
}

pub(super) fn ruby(name: Placed<'_>, ancestors: &[Placed<'_>]) -> Role {
    let Some(parent) = ancestors.last() else { return Role::Fixed };
    let depth = ancestors.len();
    let declared = |outer: usize| match innermost_scope(Language::Ruby, &ancestors[..outer]) {
        Some(_) => Role::Local { outer },
        None => Role::Fixed,
    };
    match name.kind() {
        "identifier" => {}
        // `{name:}` and `in {name:}` stand for a variable, too.
        "hash_key_symbol" if parent.node.child_by_field_name("value").is_none() => return Role::Fixed,
        _ => return Role::Member,
    }
    match (parent.kind(), name.field) {
        ("method" | "singleton_method", Some("name")) | ("setter", _) => Role::Member,
        ("method_parameters" | "lambda_parameters" | "block_parameters" | "destructured_parameter", _)
        | ("optional_parameter" | "splat_parameter" | "hash_splat_parameter" | "block_parameter", Some("name")) => {
            declared(depth)
        }
        ("keyword_parameter", Some("name")) | ("alias" | "undef" | "keyword_pattern", _) => Role::Fixed,
        ("call", Some("method")) if parent.node.child_by_field_name("receiver").is_some() => Role::Member,
        ("call", Some("method")) => Role::Fixed,
        ("assignment" | "operator_assignment", Some("left"))
        | ("left_assignment_list" | "destructured_left_assignment" | "rest_assignment", _)
        | ("for", Some("pattern"))
        | ("exception_variable", _) => declared(depth),
        _ if ancestors.iter().any(|placed| placed.kind() == "in_clause" || placed.kind() == "match_pattern") => {
            Role::Fixed
        }
        _ => Role::Reference,
    }
}
