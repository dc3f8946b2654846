//! Which names of a program may be renamed, and renaming them.

use super::classes::{Class, find_class, inherits_from_others};
use super::macros::{Macro, arguments_of, find_macro, macros_with_text};
use super::roles::{
    Role, RoleContext, evaluated_at, has_other_meaning, innermost_scope, is_reflective, known_from, role,
};
use super::walk::{Placed, child_of_kind, text_of, visit_placed};
use super::words;
use crate::language::Language;
use crate::symbols::tree;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A file of a program.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CodeText<'a> {
    pub language: Language,
    pub text: &'a str,
}

/// What was learnt about the names of a program.
#[derive(Clone, Debug, Default)]
pub struct NameSurvey {
    /// Names of local variables and parameters that can be renamed everywhere in the program.
    pub locals: BTreeSet<String>,
    /// The same of functions and variables of files, if no text of the program contains their names.
    pub globals: BTreeSet<String>,
    /// Every word of the files, which no new name may repeat.
    pub words: BTreeSet<String>,
    /// Why no name can be changed, if so.
    pub refused: Option<NamesRefused>,
}

/// Why the names of a program must stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamesRefused {
    /// A file has errors.
    Unreadable,
    /// This word lets code compute or read names while it runs.
    Reflective(String),
}

/// The use of a name at a place.
struct NameUse {
    range: Range<usize>,
    role: Role,
    /// Where it is looked up; `None` outside of everything.
    at: Option<usize>,
    /// Of a declaration: where it is known.
    scope: Option<Range<usize>>,
    /// Whether it declares a parameter that callers can name.
    is_parameter: bool,
    /// Whether it is the function of a call.
    is_called: bool,
}

/// The uses of names in one file.
struct FileNames<'a> {
    language: Language,
    text: &'a str,
    uses: BTreeMap<&'a str, Vec<NameUse>>,
    /// Comments; nothing that runs depends on them.
    comments: Vec<Range<usize>>,
    /// Words that occur in texts.
    in_texts: BTreeSet<&'a str>,
    /// Words that occur in texts that are values, and not only documentation.
    in_values: BTreeSet<&'a str>,
    /// Words that occur elsewhere, such as in the body of a macro.
    elsewhere: BTreeSet<&'a str>,
    /// The first word that lets it compute names.
    reflective: Option<&'a str>,
    /// Whether it calls functions with a collection of named arguments.
    passes_names: bool,
    /// Whether it reads names of functions, or asks for functions by names that it computes.
    reads_names: bool,
    /// Whether it reads the source of functions.
    reads_source: bool,
    classes: Vec<Class<'a>>,
    macros: Vec<Macro<'a>>,
}

/// Finds the names of a program that can be renamed. `own_modules` are the names of its files and folders.
///
/// All versions of a program that must stay in step are surveyed together: a name that must stay in one stays in all.
pub fn survey_names(files: &[CodeText<'_>], own_modules: &[String]) -> NameSurvey {
    let mut survey = NameSurvey::default();
    let mut parsed = Vec::new();
    for file in files {
        survey.words.extend(words(file.text).map(|(_, word)| word.to_owned()));
        match FileNames::parse(*file, own_modules) {
            Some(names) => parsed.push(names),
            None => survey.refused = Some(NamesRefused::Unreadable),
        }
    }
    let reflective = parsed.iter().find_map(|file| file.reflective);
    let reflective = reflective.map(|word| NamesRefused::Reflective(word.to_owned()));
    survey.refused = survey.refused.take().or(reflective);
    if survey.refused.is_some() {
        return survey;
    }
    let shown = macros_with_text(parsed.iter().flat_map(|file| &file.macros));
    for file in parsed.iter_mut().filter(|file| is_c(file.language)) {
        file.elsewhere.extend(arguments_of(file.text, &shown));
    }
    let candidates: BTreeSet<&str> = parsed.iter().flat_map(|file| file.uses.keys().copied()).collect();
    for word in candidates {
        match kind_of(word, &parsed) {
            Some(Renamable::Local) => drop(survey.locals.insert(word.to_owned())),
            Some(Renamable::Global) => drop(survey.globals.insert(word.to_owned())),
            None => {}
        }
    }
    survey
}

enum Renamable {
    Local,
    Global,
}

/// Whether a word can be renamed wherever it is a name of the program.
fn kind_of(word: &str, files: &[FileNames<'_>]) -> Option<Renamable> {
    // `$` is no part of a word in any text, so nobody could see what refers to such a name.
    let is_wanted = word.len() > 1
        && word.contains(|c: char| c.is_alphabetic())
        && !word.contains('$')
        && !matches!(word, "self" | "cls");
    if !is_wanted || files.iter().any(|file| file.elsewhere.contains(word)) {
        return None;
    }
    let uses = || files.iter().flat_map(|file| file.uses.get(word).into_iter().flatten());
    let has = |test: fn(&Role) -> bool| uses().any(|own| test(&own.role));
    let is_global = has(|role| *role == Role::Global);
    let is_taken = has(|role| matches!(role, Role::Taken { .. }));
    let is_local = has(|role| {
        matches!(role, Role::Local { .. } | Role::Shorthand { declares: Some(_) } | Role::Taken { declares: Some(_) })
    });
    if files.iter().any(|file| file.uses.contains_key(word) && has_other_meaning(file.language, word, is_global)) {
        return None;
    }
    let is_key = || has(|role| matches!(role, Role::Member | Role::Shorthand { .. } | Role::Taken { .. }));
    // What reads the source of a function can compare its names with keys and texts.
    if files.iter().any(|file| file.reads_source)
        && (is_key() || files.iter().any(|file| file.in_values.contains(word)))
    {
        return None;
    }
    if has(|role| *role == Role::Fixed) || !(is_global || is_local) || (is_local && has(|role| *role == Role::Call)) {
        return None;
    }
    if is_global {
        let is_used = has(|role| matches!(role, Role::Reference | Role::Call | Role::Shorthand { .. }));
        let is_named = files.iter().any(|file| file.in_texts.contains(word));
        if !is_used || is_taken || is_named || has(|role| *role == Role::Member) || is_read_by_name(word, files) {
            return None;
        }
    }
    let is_parameter = uses().any(|own| own.is_parameter);
    if is_parameter && files.iter().any(|file| file.passes_names || file.in_values.contains(word)) {
        return None;
    }
    let declaring: BTreeSet<Language> =
        files.iter().filter(|file| file.declares(word)).map(|file| file.language).collect();
    let any_global = |language: Language| declaring.iter().any(|own| *own == language || is_c(*own) && is_c(language));
    for file in files {
        let reaches = match file.language {
            Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx => {
                file.declares(word) || file.imports(word)
            }
            Language::Java => file.declares(word),
            other => any_global(other),
        };
        let reaches = |own: &NameUse| is_global && reaches && !file.may_inherit(word, own, files);
        let scopes = file.scopes(word);
        if !file.uses.get(word).into_iter().flatten().all(|own| is_bound(own, reaches(own), &scopes)) {
            return None;
        }
    }
    Some(if is_global { Renamable::Global } else { Renamable::Local })
}

/// Whether a program may ask a function for its name, or for a function by this name. What is only called cannot be asked.
fn is_read_by_name(word: &str, files: &[FileNames<'_>]) -> bool {
    let is_value = |own: &NameUse| matches!(own.role, Role::Reference | Role::Shorthand { .. }) && !own.is_called;
    files.iter().filter(|file| file.reads_names).any(|reader| match reader.language {
        // A decorator gets the function, too.
        Language::Python => true,
        _ => files.iter().any(|file| file.takes_modules() || file.uses.get(word).into_iter().flatten().any(is_value)),
    })
}

fn is_c(language: Language) -> bool {
    matches!(language, Language::C | Language::Cpp)
}

impl<'a> FileNames<'a> {
    /// `None` if the file has errors or is too long.
    fn parse(file: CodeText<'a>, own_modules: &[String]) -> Option<Self> {
        let CodeText { language, text } = file;
        let tree = tree(language, text)?;
        if tree.root_node().has_error() {
            return None;
        }
        let context = RoleContext { language, text, own_modules };
        let mut names = FileNames {
            language,
            text,
            uses: BTreeMap::new(),
            comments: Vec::new(),
            in_texts: BTreeSet::new(),
            in_values: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
            reflective: None,
            passes_names: false,
            reads_names: false,
            reads_source: false,
            classes: Vec::new(),
            macros: Vec::new(),
        };
        let mut texts: Vec<Range<usize>> = Vec::new();
        let mut documentation: Vec<Range<usize>> = Vec::new();
        let mut known: BTreeSet<usize> = BTreeSet::new();
        visit_placed(&tree, |placed, ancestors| {
            let range = placed.node.byte_range();
            if placed.kind().ends_with("comment") {
                names.comments.push(range);
                return false;
            }
            if is_text(language, placed.kind()) {
                let is_statement =
                    ancestors.iter().rev().nth(1).is_some_and(|around| around.kind() == "expression_statement");
                // The examples in it may be run as tests.
                if is_statement && !text[range.clone()].contains(">>>") {
                    documentation.push(range.clone());
                }
                texts.push(range);
                return false;
            }
            names.classes.extend(find_class(language, placed, text));
            names.passes_names |= language == Language::Python
                && placed.kind() == "dictionary_splat"
                && ancestors.last().is_some_and(|around| around.kind() == "argument_list");
            names.macros.extend(find_macro(language, placed, text));
            let reads_source = reads_source(language, placed, ancestors, text);
            names.reads_source |= reads_source;
            names.reads_names |= reads_source || reads_name(language, placed, ancestors, text);
            let Some(role) = role(&context, placed, ancestors) else { return true };
            let word = &text[range.clone()];
            let outer = match role {
                Role::Local { outer }
                | Role::Shorthand { declares: Some(outer) }
                | Role::Taken { declares: Some(outer) } => Some(outer),
                _ => None,
            };
            let scope = outer.and_then(|outer| innermost_scope(language, &ancestors[..outer]));
            // A variable outside all functions would be known everywhere.
            let role = if outer.is_some() && scope.is_none() { Role::Fixed } else { role };
            if is_reflective(language, word, role) {
                names.reflective.get_or_insert(word);
            }
            known.insert(range.start);
            let is_parameter = language == Language::Python
                && scope.is_some_and(|scope| {
                    let mut within = ancestors.iter().rev().take_while(|own| own.node.id() != scope.node.id());
                    within.any(|own| matches!(own.kind(), "parameters" | "lambda_parameters"))
                });
            let is_called = placed.field == Some("function");
            let at = evaluated_at(language, placed, ancestors).unwrap_or(Some(range.start));
            let scope = scope.map(|own| known_from(language, ancestors, own)..own.node.end_byte());
            names.uses.entry(word).or_default().push(NameUse { range, role, at, scope, is_parameter, is_called });
            false
        });
        for (start, word) in words(text) {
            let is_within = |ranges: &[Range<usize>]| {
                let after = ranges.partition_point(|range| range.start <= start);
                after.checked_sub(1).is_some_and(|at| ranges[at].end > start)
            };
            if known.contains(&start) || is_within(&names.comments) {
                continue;
            }
            if is_within(&texts) {
                names.in_texts.insert(word);
                if !is_within(&documentation) {
                    names.in_values.insert(word);
                }
                // `format!("{name}")` refers to a variable.
                if language == Language::Rust && text[..start].ends_with('{') {
                    names.elsewhere.insert(word);
                }
            } else {
                names.elsewhere.insert(word);
            }
        }
        if language == Language::Rust {
            names.elsewhere.extend(texts.iter().flat_map(|range| counted_words(&text[range.clone()])));
        }
        Some(names)
    }

    /// Whether it takes other modules as a whole.
    fn takes_modules(&self) -> bool {
        let is_script = matches!(self.language, Language::JavaScript | Language::TypeScript | Language::Tsx);
        is_script && ["import *", "import(", "require("].iter().any(|text| self.text.contains(text))
    }

    /// Whether a use of a global may mean a function that a class inherits from one that is not part of the program.
    fn may_inherit(&self, word: &str, own: &NameUse, files: &[FileNames<'_>]) -> bool {
        let classes = || files.iter().flat_map(|file| &file.classes);
        let declares = |class: &Class<'_>| {
            let mut uses = self.uses.get(word).into_iter().flatten();
            uses.any(|other| other.role == Role::Global && class.range.contains(&other.range.start))
        };
        let mut around: Vec<&Class<'_>> =
            self.classes.iter().filter(|class| class.range.contains(&own.range.start)).collect();
        around.sort_by_key(|class| std::cmp::Reverse(class.range.start));
        let inner = around.into_iter().take_while(|class| !declares(class));
        inner.into_iter().any(|class| inherits_from_others(class, &classes))
    }

    fn declares(&self, word: &str) -> bool {
        self.has_role(word, Role::Global)
    }

    fn imports(&self, word: &str) -> bool {
        self.has_role(word, Role::Import)
    }

    fn has_role(&self, word: &str, role: Role) -> bool {
        self.uses.get(word).into_iter().flatten().any(|own| own.role == role)
    }

    /// Where any local variable of a name is known, from top to bottom and without overlaps.
    fn scopes(&self, word: &str) -> Vec<Range<usize>> {
        let mut all: Vec<Range<usize>> =
            self.uses.get(word).into_iter().flatten().filter_map(|own| own.scope.clone()).collect();
        all.sort_by_key(|scope| scope.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for scope in all {
            match merged.last_mut() {
                Some(last) if scope.start <= last.end => last.end = last.end.max(scope.end),
                _ => merged.push(scope),
            }
        }
        merged
    }
}

/// Whether a use of a word means something that the program declares; `reaches` says whether globals of this name are known, and
/// `scopes` where locals are.
fn is_bound(own: &NameUse, reaches: bool, scopes: &[Range<usize>]) -> bool {
    match own.role {
        Role::Member | Role::Global | Role::Local { .. } => true,
        Role::Shorthand { declares: Some(_) } | Role::Taken { declares: Some(_) } => true,
        Role::Import | Role::Call | Role::Repeated => reaches,
        Role::Fixed => false,
        Role::Reference | Role::Shorthand { .. } | Role::Taken { .. } => {
            let is_local = own.at.is_some_and(|at| {
                let behind = scopes.partition_point(|scope| scope.start <= at);
                behind.checked_sub(1).is_some_and(|before| scopes[before].contains(&at))
            });
            reaches || is_local
        }
    }
}

/// Whether code reads the name of a function, or asks for one by a name that it computes.
fn reads_name(language: Language, placed: Placed<'_>, ancestors: &[Placed<'_>], text: &str) -> bool {
    let Some(parent) = ancestors.last() else { return false };
    match (language, placed.kind(), placed.field) {
        (Language::Python, "identifier", Some("attribute")) => {
            let object = parent.node.child_by_field_name("object").map_or("", |object| text_of(object, text));
            let is_class = object == "cls" || object.starts_with("type(") || object.ends_with("__class__");
            match text_of(placed.node, text) {
                "__name__" | "__qualname__" => !is_class,
                own => own == "__dict__",
            }
        }
        (Language::Python, "identifier", Some("function")) if text_of(placed.node, text) == "dir" => true,
        (Language::Python, "identifier", Some("function")) if text_of(placed.node, text) == "getattr" => {
            let name = parent.node.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(1));
            !name.is_some_and(|name| name.kind() == "string" && child_of_kind(name, "interpolation").is_none())
        }
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "property_identifier", Some("property")) => {
            text_of(placed.node, text) == "name"
        }
        _ => false,
    }
}

/// Whether code of JavaScript reads the source of a function, which contains its names: what has no arguments turns no number into text.
fn reads_source(language: Language, placed: Placed<'_>, ancestors: &[Placed<'_>], text: &str) -> bool {
    let is_script = matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx);
    if !is_script || placed.kind() != "property_identifier" || text_of(placed.node, text) != "toString" {
        return false;
    }
    let Some(member) = ancestors.last() else { return false };
    let object = member.node.child_by_field_name("object");
    let is_name = object.is_some_and(|object| object.kind() == "identifier");
    let call = ancestors.iter().rev().nth(1).filter(|call| call.kind() == "call_expression");
    let arguments = call.and_then(|call| call.node.child_by_field_name("arguments"));
    is_name && arguments.is_none_or(|arguments| arguments.named_child_count() == 0)
}

/// The words that stand for a width or a precision in a format, such as `{:width$}`.
fn counted_words(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('$').map(|(end, _)| {
        let before = &text[..end];
        let start = before
            .rfind(|c: char| c != '_' && !c.is_alphanumeric())
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        before[start..].trim_start_matches(|c: char| c.is_ascii_digit())
    })
}

/// Nodes whose content is text, not code.
fn is_text(language: Language, kind: &str) -> bool {
    // Elsewhere, `string` may contain code.
    if language == Language::Solidity && kind == "string" {
        return true;
    }
    matches!(
        kind,
        "string_content"
            | "string_fragment"
            | "interpreted_string_literal_content"
            | "raw_string_literal_content"
            | "heredoc_content"
            | "multiline_string_fragment"
            | "raw_string_content"
            | "raw_string_delimiter"
            | "system_lib_string"
            | "string_literal"
            | "unicode_string_literal"
            | "regex_pattern"
            | "jsx_text"
            | "simple_symbol"
            | "char_literal"
            | "character_literal"
            | "hash_bang_line"
    )
}

/// New names by old ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renaming {
    /// Each name must be one that a survey found.
    pub names: BTreeMap<String, String>,
}

impl Renaming {
    /// What has to be replaced in a file, from top to bottom; nothing if it cannot be parsed.
    pub fn splices(&self, file: CodeText<'_>, own_modules: &[String]) -> Vec<(Range<usize>, String)> {
        let Some(found) = FileNames::parse(file, own_modules) else { return Vec::new() };
        let mut splices = Vec::new();
        for (old, new) in &self.names {
            for own in found.uses.get(old.as_str()).into_iter().flatten() {
                match own.role {
                    Role::Member | Role::Fixed => {}
                    Role::Shorthand { .. } | Role::Taken { .. } => {
                        splices.push((own.range.clone(), format!("{old}: {new}")))
                    }
                    _ => splices.push((own.range.clone(), new.clone())),
                }
            }
        }
        for comment in &found.comments {
            for (start, word) in words(&file.text[comment.clone()]) {
                let start = comment.start + start;
                if let Some(new) = self.names.get(word).filter(|_| is_meant(found.text, start, word)) {
                    splices.push((start..start + word.len(), new.clone()));
                }
            }
        }
        splices.sort_by_key(|(range, _)| range.start);
        splices
    }
}

/// Whether a word of a comment is meant as the name, and not as a word of the language that the comment is written in.
fn is_meant(text: &str, start: usize, word: &str) -> bool {
    let before = text[..start].trim_end_matches(' ');
    let is_marked = before.ends_with("@param") || before.ends_with("@return") || text[..start].ends_with('`');
    let inner = word.trim_matches('_');
    let has_hump = inner.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    is_marked || inner.contains('_') || has_hump
}
