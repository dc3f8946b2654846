//! Which names of a program may be renamed, and renaming them.

use super::roles::{Role, RoleContext, innermost_scope, is_reflective, role};
use super::walk::visit_placed;
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
    /// Whether every file could be parsed.
    pub is_complete: bool,
}

/// The use of a name at a place.
struct NameUse {
    range: Range<usize>,
    role: Role,
    /// Of a declaration: where it is known.
    scope: Option<Range<usize>>,
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
    /// Words that occur elsewhere, such as in the body of a macro.
    elsewhere: BTreeSet<&'a str>,
    is_reflective: bool,
}

/// Finds the names of a program that can be renamed. `own_modules` are the names of its files and folders.
///
/// All versions of a program that must stay in step are surveyed together: a name that must stay in one stays in all.
pub fn survey_names(files: &[CodeText<'_>], own_modules: &[String]) -> NameSurvey {
    let mut survey = NameSurvey { is_complete: true, ..NameSurvey::default() };
    let mut parsed = Vec::new();
    let passes_names = files.iter().any(passes_names);
    for file in files {
        survey.words.extend(words(file.text).map(|(_, word)| word.to_owned()));
        match FileNames::parse(*file, own_modules, passes_names) {
            Some(names) if !names.is_reflective => parsed.push(names),
            _ => survey.is_complete = false,
        }
    }
    if !survey.is_complete {
        return survey;
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
    let is_wanted = word.len() > 1 && word.contains(|c: char| c.is_alphabetic()) && !matches!(word, "self" | "cls");
    if !is_wanted || files.iter().any(|file| file.elsewhere.contains(word)) {
        return None;
    }
    let uses = || files.iter().flat_map(|file| file.uses.get(word).into_iter().flatten());
    let has = |test: fn(&Role) -> bool| uses().any(|own| test(&own.role));
    let is_global = has(|role| *role == Role::Global);
    let is_local = has(|role| matches!(role, Role::Local { .. } | Role::Shorthand { declares: Some(_) }));
    if has(|role| *role == Role::Fixed) || !(is_global || is_local) || (is_local && has(|role| *role == Role::Call)) {
        return None;
    }
    if is_global {
        let is_used = has(|role| matches!(role, Role::Reference | Role::Call | Role::Shorthand { .. }));
        if !is_used || has(|role| *role == Role::Member) || files.iter().any(|file| file.in_texts.contains(word)) {
            return None;
        }
    }
    let any_global = |language: Language| {
        let is_alike = |file: &&FileNames<'_>| file.language == language || is_c(file.language) && is_c(language);
        files.iter().filter(is_alike).any(|file| file.declares(word))
    };
    for file in files {
        let reaches = match file.language {
            Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx => {
                file.declares(word) || file.imports(word)
            }
            Language::Java => file.declares(word),
            other => any_global(other),
        };
        let reaches = is_global && reaches;
        if !file.uses.get(word).into_iter().flatten().all(|own| file.is_bound(word, own, reaches)) {
            return None;
        }
    }
    Some(if is_global { Renamable::Global } else { Renamable::Local })
}

/// Whether code calls functions with a collection of named arguments.
fn passes_names(file: &CodeText<'_>) -> bool {
    file.language == Language::Python && (file.text.contains("(**") || file.text.contains(", **"))
}

fn is_c(language: Language) -> bool {
    matches!(language, Language::C | Language::Cpp)
}

impl<'a> FileNames<'a> {
    /// `None` if the file has errors or is too long.
    fn parse(file: CodeText<'a>, own_modules: &[String], passes_names: bool) -> Option<Self> {
        let CodeText { language, text } = file;
        let tree = tree(language, text)?;
        if tree.root_node().has_error() {
            return None;
        }
        let context = RoleContext { language, text, own_modules, passes_names };
        let mut names = FileNames {
            language,
            text,
            uses: BTreeMap::new(),
            comments: Vec::new(),
            in_texts: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
            is_reflective: false,
        };
        let mut texts: Vec<Range<usize>> = Vec::new();
        let mut known: BTreeSet<usize> = BTreeSet::new();
        visit_placed(&tree, |placed, ancestors| {
            let range = placed.node.byte_range();
            if placed.kind().ends_with("comment") {
                names.comments.push(range);
                return false;
            }
            if is_text(language, placed.kind()) {
                texts.push(range);
                return false;
            }
            let Some(role) = role(&context, placed, ancestors) else { return true };
            let word = &text[range.clone()];
            let outer = match role {
                Role::Local { outer } | Role::Shorthand { declares: Some(outer) } => Some(outer),
                _ => None,
            };
            let scope = outer.and_then(|outer| innermost_scope(language, &ancestors[..outer]));
            // A variable outside all functions would be known everywhere.
            let role = if outer.is_some() && scope.is_none() { Role::Fixed } else { role };
            names.is_reflective |= is_reflective(language, word);
            known.insert(range.start);
            let scope = scope.map(|placed| placed.node.byte_range());
            names.uses.entry(word).or_default().push(NameUse { range, role, scope });
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
                // `format!("{name}")` refers to a variable.
                if language == Language::Rust && text[..start].ends_with('{') {
                    names.elsewhere.insert(word);
                }
            } else {
                names.elsewhere.insert(word);
            }
        }
        Some(names)
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

    /// Whether a use of a word means something that the program declares; `reaches` says whether globals of this name are known.
    fn is_bound(&self, word: &str, own: &NameUse, reaches: bool) -> bool {
        match own.role {
            Role::Member | Role::Global | Role::Local { .. } => true,
            Role::Import | Role::Call => reaches,
            Role::Fixed => false,
            Role::Reference | Role::Shorthand { .. } => {
                let all = self.uses.get(word).into_iter().flatten();
                let mut scopes = all.filter_map(|other| other.scope.as_ref());
                reaches || scopes.any(|scope| scope.contains(&own.range.start))
            }
        }
    }
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
        let Some(found) = FileNames::parse(file, own_modules, false) else { return Vec::new() };
        let mut splices = Vec::new();
        for (old, new) in &self.names {
            for own in found.uses.get(old.as_str()).into_iter().flatten() {
                match own.role {
                    Role::Member | Role::Fixed => {}
                    Role::Shorthand { .. } => splices.push((own.range.clone(), format!("{old}: {new}"))),
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
