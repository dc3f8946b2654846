//! What a name is used for at one place, in each language.

mod compiled;
mod scripting;

use super::walk::{Placed, child_of_kind};
use crate::language::Language;

/// What a name is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It declares a local variable or a parameter, which is known in the innermost scope among so many outer ancestors.
    Local { outer: usize },
    /// It declares a function or a variable of the whole file.
    Global,
    /// It refers to a variable or a function.
    Reference,
    /// It refers to a global of another file, by importing it.
    Import,
    /// It refers to a function, where functions and variables have separate names.
    Call,
    /// It repeats the declaration of a global that is defined elsewhere.
    Repeated,
    /// It names both a member and a variable: `{ name }` for `{ name: name }`. With a scope, it declares the variable.
    Shorthand { declares: Option<usize> },
    /// The same where it takes a value out of an object, which may be a module.
    Taken { declares: Option<usize> },
    /// It names something that is reached through something else, and can never be a local variable.
    Member,
    /// It must stay as it is.
    Fixed,
}

/// What the roles of a file depend on beside its tree.
pub(super) struct RoleContext<'a> {
    pub(super) language: Language,
    pub(super) text: &'a str,
    /// The names of the folders and files that imports can name.
    pub(super) own_modules: &'a [String],
}

/// The role of a node that is a name; `None` for every other node. Ancestors are the outermost first.
pub(super) fn role(context: &RoleContext<'_>, name: Placed<'_>, ancestors: &[Placed<'_>]) -> Option<Role> {
    if !is_name(context.language, name.kind()) {
        return None;
    }
    Some(match context.language {
        Language::Python => scripting::python(context, name, ancestors),
        Language::JavaScript | Language::TypeScript | Language::Tsx => scripting::ecmascript(context, name, ancestors),
        Language::Ruby => scripting::ruby(name, ancestors),
        Language::Java => compiled::java(name, ancestors),
        Language::Go => compiled::go(context, name, ancestors),
        Language::Rust => compiled::rust(context, name, ancestors),
        Language::C | Language::Cpp => compiled::c(context, name, ancestors),
        Language::Solidity => compiled::solidity(context, name, ancestors),
    })
}

/// Nodes that consist of several names.
const CONTAINING: [&str; 5] = [
    "scoped_identifier",
    "scoped_type_identifier",
    "qualified_identifier",
    "nested_identifier",
    "nested_type_identifier",
];

fn is_name(language: Language, kind: &str) -> bool {
    match language {
        Language::Ruby => matches!(kind, "identifier" | "constant" | "hash_key_symbol"),
        Language::Solidity => matches!(kind, "identifier" | "yul_identifier" | "enum_value"),
        _ => kind.contains("identifier") && kind != "blank_identifier" && !CONTAINING.contains(&kind),
    }
}

/// Nodes in which a local variable is known.
fn scope_kinds(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &[
            "function_definition",
            "lambda",
            "list_comprehension",
            "set_comprehension",
            "dictionary_comprehension",
            "generator_expression",
            "class_definition",
        ],
        Language::JavaScript | Language::TypeScript | Language::Tsx => &[
            "statement_block",
            "function_declaration",
            "generator_function_declaration",
            "function_expression",
            "generator_function",
            "arrow_function",
            "method_definition",
            "for_statement",
            "for_in_statement",
            "catch_clause",
            "class_static_block",
            "switch_body",
            "function_type",
            "constructor_type",
            "call_signature",
            "construct_signature",
            "method_signature",
            "abstract_method_signature",
            "function_signature",
        ],
        Language::Ruby => &["method", "singleton_method", "block", "do_block", "lambda"],
        Language::Java => &[
            "block",
            "constructor_body",
            "method_declaration",
            "constructor_declaration",
            "lambda_expression",
            "for_statement",
            "enhanced_for_statement",
            "catch_clause",
            "try_with_resources_statement",
            "switch_block_statement_group",
            "switch_rule",
        ],
        Language::Go => &[
            "block",
            "function_declaration",
            "method_declaration",
            "func_literal",
            "function_type",
            "method_elem",
            "if_statement",
            "for_statement",
            "expression_switch_statement",
            "type_switch_statement",
            "expression_case",
            "communication_case",
            "default_case",
            "type_case",
        ],
        Language::Rust => &[
            "block",
            "function_item",
            "function_signature_item",
            "closure_expression",
            "match_arm",
            "if_expression",
            "while_expression",
            "for_expression",
        ],
        Language::C | Language::Cpp => &[
            "compound_statement",
            "function_definition",
            "for_statement",
            "for_range_loop",
            "lambda_expression",
            "catch_clause",
            "if_statement",
            "while_statement",
            "switch_statement",
            "declaration",
            "field_declaration",
            "type_definition",
            "template_declaration",
        ],
        Language::Solidity => &[
            "function_definition",
            "constructor_definition",
            "modifier_definition",
            "fallback_receive_definition",
            "block_statement",
            "for_statement",
            "catch_clause",
            "try_statement",
        ],
    }
}

/// The innermost scope among ancestors; `None` outside all functions.
pub(super) fn innermost_scope<'t>(language: Language, ancestors: &[Placed<'t>]) -> Option<Placed<'t>> {
    let kinds = scope_kinds(language);
    ancestors.iter().rev().find(|placed| kinds.contains(&placed.kind())).copied()
}

/// Where a variable that is declared in a scope begins to be known. In its own declaration, its name may mean something else.
pub(super) fn known_from(language: Language, ancestors: &[Placed<'_>], scope: Placed<'_>) -> usize {
    let declaring: &[&str] = match language {
        Language::Go => &["short_var_declaration", "var_spec", "const_spec", "range_clause", "receive_statement"],
        Language::Rust => &["let_declaration", "let_condition"],
        Language::Ruby => &["assignment", "operator_assignment", "exception_variable"],
        _ => &[],
    };
    let mut within = ancestors.iter().rev().take_while(|own| own.node.id() != scope.node.id());
    if let Some(declaration) = within.find(|own| declaring.contains(&own.kind())) {
        return declaration.node.end_byte();
    }
    match (language, scope.kind()) {
        (Language::Go, "type_switch_statement") | (Language::Rust, "for_expression") => {
            scope.node.child_by_field_name("value").map_or(scope.node.start_byte(), |value| value.end_byte())
        }
        _ => scope.node.start_byte(),
    }
}

/// Where a reference is looked up that is not evaluated where it stands: in Python, default values, annotations and what a
/// comprehension goes through belong to the code around. `None`: where it stands; of the start of a file, `Some(None)`.
pub(super) fn evaluated_at(language: Language, name: Placed<'_>, ancestors: &[Placed<'_>]) -> Option<Option<usize>> {
    if language != Language::Python {
        return None;
    }
    let child = |at: usize| ancestors.get(at).copied().unwrap_or(name);
    let is_outside = |(at, own): &(usize, &Placed<'_>)| match own.kind() {
        "function_definition" | "lambda" => {
            matches!(child(at + 1).field, Some("parameters" | "return_type"))
        }
        "list_comprehension" | "set_comprehension" | "dictionary_comprehension" | "generator_expression" => {
            let clause = child(at + 1);
            child_of_kind(own.node, "for_in_clause").is_some_and(|first| first.id() == clause.node.id())
                && child(at + 2).field == Some("right")
        }
        _ => false,
    };
    let (_, around) = ancestors.iter().enumerate().find(is_outside)?;
    Some(around.node.start_byte().checked_sub(1))
}

/// Names that Python knows without a declaration, in version 2 or 3.
const PYTHON_BUILTINS: &str = "abs aiter all anext any apply ascii basestring bin bool breakpoint buffer bytearray bytes \
    callable chr classmethod cmp coerce compile complex copyright credits delattr dict dir divmod enumerate eval exec \
    execfile exit file filter float format frozenset getattr globals hasattr hash help hex id input int intern isinstance \
    issubclass iter len license list locals long map max memoryview min next object oct open ord pow print property quit \
    range raw_input reduce reload repr reversed round set setattr slice sorted staticmethod str sum super tuple type \
    unichr unicode vars xrange zip WindowsError";

/// Whether a file could mean something else by a name than what it declares, or is asked for it from outside.
pub(super) fn has_other_meaning(language: Language, word: &str, is_global: bool) -> bool {
    if language != Language::Python {
        return false;
    }
    let is_special = word.starts_with("__") && word.ends_with("__");
    is_special || (is_global && PYTHON_BUILTINS.split_ascii_whitespace().any(|own| own == word))
}

/// Whether names of a file may be computed while it runs, so that none of them can be changed.
pub(super) fn is_reflective(language: Language, word: &str, role: Role) -> bool {
    match language {
        // `inspect` is also what a method may be called.
        Language::Python if word == "inspect" => role != Role::Member,
        Language::Python => matches!(
            word,
            "locals"
                | "globals"
                | "eval"
                | "exec"
                | "vars"
                | "getmembers"
                | "getfullargspec"
                | "get_type_hints"
                | "co_varnames"
                | "__code__"
                | "__annotations__"
                | "__kwdefaults__"
        ),
        Language::JavaScript | Language::TypeScript | Language::Tsx => word == "eval",
        Language::Ruby => matches!(
            word,
            "eval" | "binding" | "local_variables" | "instance_eval" | "class_eval" | "local_variable_get"
        ),
        _ => false,
    }
}

/// The nearest ancestor that is none of these kinds, with the place among all ancestors and the child that leads to it.
fn climb<'t>(name: Placed<'t>, ancestors: &[Placed<'t>], through: &[&str]) -> Option<(usize, Placed<'t>, Placed<'t>)> {
    let mut child = name;
    for (at, placed) in ancestors.iter().enumerate().rev() {
        if !through.contains(&placed.kind()) {
            return Some((at, *placed, child));
        }
        child = *placed;
    }
    None
}

/// A local variable if it is inside a scope, and otherwise a variable of the file.
fn local_or_global(language: Language, ancestors: &[Placed<'_>], outer: usize) -> Role {
    match innermost_scope(language, ancestors.get(..outer).unwrap_or_default()) {
        Some(_) => Role::Local { outer },
        None => Role::Global,
    }
}
