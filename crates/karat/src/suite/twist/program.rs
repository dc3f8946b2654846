//! A program in all the versions that a case has of it, and variants that mean the same.

use super::dead_code::{function_lines, name_style, purpose};
use super::layout::{Insertion, Layout, layouts};
use super::moves::{CodeFileText, import_splices, plan_moves};
use super::new_names::{NameMaker, NameStyle, choose};
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use karat_source::language::Language;
use karat_source::rewrite::{
    CodeText, NamesRefused, Renaming, computes_imports, definition_lines, log_texts, names_modules, parses,
    survey_names, words,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The files of a program by path.
pub(super) type FileTree = BTreeMap<String, Vec<u8>>;

/// What can be done to code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TwistOperation {
    /// Variables and functions have other names.
    Rename,
    /// Functions stand in another order.
    Reorder,
    /// Functions that nothing calls were added.
    DeadCode,
    /// Files have other names.
    Move,
    /// Texts that only a log gets are different.
    LogText,
}

impl TwistOperation {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Rename, Self::Reorder, Self::DeadCode, Self::Move, Self::LogText];

    /// The name in cases.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rename => "rename",
            Self::Reorder => "reorder",
            Self::DeadCode => "dead-code",
            Self::Move => "move",
            Self::LogText => "log-text",
        }
    }
}

/// A program, and what else a case says about it.
pub(super) struct Program<'a> {
    /// All versions that must stay in step.
    pub(super) versions: &'a [FileTree],
    /// Which of them the goldens are about.
    pub(super) after: usize,
    /// Which of them is that before the change, if there is one.
    pub(super) before: Option<usize>,
    /// Everything that is said about the code and must stay true: proofs, other files, the pull request, the goldens.
    pub(super) outside: &'a str,
    /// The places of goldens, and what they quote.
    pub(super) marks: &'a [Mark],
    pub(super) seed: u64,
}

/// A place in the code after the change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mark {
    pub(super) file: Option<String>,
    pub(super) lines: Option<Lines>,
    pub(super) quote: Option<String>,
}

/// A variant of a program.
pub(super) struct TwistedProgram {
    pub(super) versions: Vec<FileTree>,
    /// The marks at their new places.
    pub(super) marks: Vec<Mark>,
    /// The new paths of files that were moved.
    pub(super) moves: BTreeMap<String, String>,
    /// How often each operation was done.
    pub(super) operations: BTreeMap<TwistOperation, usize>,
    /// Why operations could not be done at all.
    pub(super) refused: BTreeMap<TwistOperation, String>,
}

/// What will be replaced in the files of all versions, before lines change places.
type Splices = Vec<(Range<usize>, String)>;

impl Program<'_> {
    /// Makes a variant with these operations; an error says why it would not be right.
    pub(super) fn twist(&self, wanted: &[TwistOperation]) -> Result<TwistedProgram, String> {
        let codes: Vec<Vec<CodeFileText<'_>>> = self.versions.iter().map(code_files).collect();
        let all: Vec<CodeFileText<'_>> = codes.iter().flatten().copied().collect();
        let modules = modules(&all);
        let importable = importable_modules(&all);
        let paths: BTreeSet<&str> = self.versions.iter().flat_map(|files| files.keys().map(String::as_str)).collect();
        let style = all.first().map_or(NameStyle::Snake, |file| name_style(file.language));
        let mut taken: BTreeSet<String> = words(self.outside).map(|(_, word)| word.to_owned()).collect();
        taken.extend(all.iter().flat_map(|file| words(file.text)).map(|(_, word)| word.to_owned()));
        taken.extend(paths.iter().flat_map(|path| words(path)).map(|(_, word)| word.to_owned()));
        let mut names = NameMaker::new(self.seed, style, taken);
        let mut operations = BTreeMap::new();
        let mut count = |operation: TwistOperation, times: usize| {
            if times > 0 {
                operations.insert(operation, times);
            }
        };
        let mut refused = BTreeMap::new();
        let renaming = match wanted.contains(&TwistOperation::Rename) {
            true => self.choose_names(&all, &modules, &importable, &mut names).unwrap_or_else(|why| {
                refused.insert(TwistOperation::Rename, why);
                Renaming::default()
            }),
            false => Renaming::default(),
        };
        count(TwistOperation::Rename, renaming.names.len());
        let moves_refused = self.moves_refused(&all).filter(|_| wanted.contains(&TwistOperation::Move));
        let may_move = wanted.contains(&TwistOperation::Move) && moves_refused.is_none();
        refused.extend(moves_refused.map(|why| (TwistOperation::Move, why.to_owned())));
        let moves = if may_move { plan_moves(&all, &paths, self.outside, &mut names) } else { BTreeMap::new() };
        count(TwistOperation::Move, moves.len());
        let texts = match wanted.contains(&TwistOperation::LogText) {
            true => self.changed_log_texts(&all, &codes[self.after]),
            false => BTreeMap::new(),
        };
        count(TwistOperation::LogText, texts.len());
        let splices = |file: CodeFileText<'_>| -> Splices {
            let code = CodeText { language: file.language, text: file.text };
            let mut splices = renaming.splices(code, &importable);
            splices.extend(import_splices(file, &moves));
            for own in log_texts(file.language, file.text) {
                if let Some(new) = texts.get(&own.text) {
                    splices.push((own.range, new.clone()));
                }
            }
            splices.sort_by_key(|(range, _)| range.start);
            splices
        };
        let layouts = self.plan_layouts(&codes, wanted, &mut names, &mut count);
        let mut versions = Vec::with_capacity(self.versions.len());
        for (files, code) in self.versions.iter().zip(&codes) {
            let mut twisted = FileTree::new();
            for (path, bytes) in files {
                let bytes = match code.iter().find(|file| file.path == path) {
                    Some(file) => {
                        let renamed = apply_splices(file.text, &splices(*file));
                        let text =
                            layouts.get(&(path.as_str(), file.text)).map_or(renamed.clone(), |own| own.apply(&renamed));
                        if parses(file.language, file.text) && !parses(file.language, &text) {
                            return Err(format!("{path} could not be parsed any more"));
                        }
                        text.into_bytes()
                    }
                    None => bytes.clone(),
                };
                twisted.insert(moves.get(path).unwrap_or(path).clone(), bytes);
            }
            versions.push(twisted);
        }
        let marks = self.marks.iter().map(|mark| {
            let file = mark.file.as_deref().and_then(|path| codes[self.after].iter().find(|file| file.path == path));
            let layout = file.and_then(|file| layouts.get(&(file.path, file.text)));
            moved_mark(mark, file.copied(), layout, &splices, &moves)
        });
        let marks = marks.collect::<Result<Vec<Mark>, String>>()?;
        check_marks(&marks, &versions[self.after])?;
        Ok(TwistedProgram { versions, marks, moves, operations, refused })
    }

    /// New names for what can be renamed, or why nothing can.
    fn choose_names(
        &self,
        all: &[CodeFileText<'_>],
        modules: &[String],
        importable: &[String],
        names: &mut NameMaker,
    ) -> Result<Renaming, String> {
        let codes: Vec<CodeText<'_>> =
            all.iter().map(|file| CodeText { language: file.language, text: file.text }).collect();
        let survey = survey_names(&codes, importable);
        match survey.refused {
            Some(NamesRefused::Unreadable) => return Err("a file of its code has errors".to_owned()),
            Some(NamesRefused::Reflective(word)) => return Err(format!("code with `{word}` may depend on names")),
            None => {}
        }
        let outside: BTreeSet<&str> = words(self.outside).map(|(_, word)| word).collect();
        let cut: BTreeSet<String> = self.marks.iter().flat_map(|mark| self.cut_words(mark)).collect();
        let mut renaming = Renaming::default();
        for (word, is_global) in
            survey.locals.iter().map(|word| (word, false)).chain(survey.globals.iter().map(|word| (word, true)))
        {
            let stays = outside.contains(word.as_str()) || cut.contains(word) || modules.contains(word);
            if let Some(new) = (!stays).then(|| names.rename(word, is_global)).flatten() {
                renaming.names.insert(word.clone(), new);
            }
        }
        Ok(renaming)
    }

    /// Words of which a quote has a part.
    fn cut_words(&self, mark: &Mark) -> Vec<String> {
        let Some((text, range)) = self.quoted(mark) else { return Vec::new() };
        let is_cut = |start: usize, end: usize| {
            (start < range.start && range.start < end) || (start < range.end && range.end < end)
        };
        words(text)
            .filter(|(start, word)| is_cut(*start, start + word.len()))
            .map(|(_, word)| word.to_owned())
            .collect()
    }

    /// The text of a mark's file, and where its quote is.
    fn quoted(&self, mark: &Mark) -> Option<(&str, Range<usize>)> {
        let bytes = self.versions.get(self.after)?.get(mark.file.as_deref()?)?;
        let text = std::str::from_utf8(bytes).ok()?;
        Some((text, find_quote(text, mark.lines, mark.quote.as_deref()?)?))
    }

    /// Why no file can be moved, if so.
    fn moves_refused(&self, all: &[CodeFileText<'_>]) -> Option<&'static str> {
        let after = &self.versions[self.after];
        if self.marks.iter().filter_map(|mark| mark.file.as_ref()).any(|file| !after.contains_key(file)) {
            return Some("a golden names files by a pattern");
        }
        let is_computed = all.iter().any(|file| computes_imports(file.language, file.text));
        is_computed.then_some("code computes what it imports")
    }

    /// New texts for the log, by old ones. A text that is looked for anywhere stays.
    fn changed_log_texts(&self, all: &[CodeFileText<'_>], after: &[CodeFileText<'_>]) -> BTreeMap<String, String> {
        const ENDINGS: [&str; 3] = [" (noted)", " (for the record)", " (logged)"];
        let mut found = BTreeMap::new();
        for file in all {
            for own in log_texts(file.language, file.text) {
                let is_quoted = |mark: &Mark| mark.quote.as_ref().is_some_and(|quote| quote.contains(&own.text));
                let is_once = after.iter().map(|file| file.text.matches(&own.text).count()).sum::<usize>() <= 1;
                if own.text.len() < 8
                    || self.outside.contains(&own.text)
                    || self.marks.iter().any(is_quoted)
                    || !is_once
                {
                    continue;
                }
                let body = own.text.trim_end_matches("\\n");
                let ending = ENDINGS[choose(self.seed, &own.text, ENDINGS.len())];
                found.insert(own.text.clone(), format!("{body}{ending}{}", &own.text[body.len()..]));
            }
        }
        found
    }

    /// How the lines of each file are put in order, by path and text, since equal texts need one layout.
    fn plan_layouts<'t>(
        &self,
        codes: &[Vec<CodeFileText<'t>>],
        wanted: &[TwistOperation],
        names: &mut NameMaker,
        count: &mut impl FnMut(TwistOperation, usize),
    ) -> BTreeMap<(&'t str, &'t str), Layout> {
        let mut by_path: BTreeMap<&'t str, Vec<CodeFileText<'t>>> = BTreeMap::new();
        for file in codes.iter().flatten() {
            let versions = by_path.entry(file.path).or_default();
            if !versions.iter().any(|own| own.text == file.text) {
                versions.push(*file);
            }
        }
        let has_before = |path: &str| self.before.is_none_or(|before| self.versions[before].contains_key(path));
        let (mut reordered, mut inserted) = (0, 0);
        let mut found = BTreeMap::new();
        for (path, versions) in by_path {
            let texts: Vec<&str> = versions.iter().map(|file| file.text).collect();
            let Some(language) = versions.first().map(|file| file.language) else { continue };
            if texts.iter().any(|text| !text.ends_with('\n') || !parses(language, text)) {
                continue;
            }
            let insertion = (wanted.contains(&TwistOperation::DeadCode) && has_before(path))
                .then(|| self.plan_insertion(path, language, &texts, names))
                .flatten();
            let reorder = wanted.contains(&TwistOperation::Reorder);
            let keeps_marks = |layouts: &[Layout]| self.keeps_marks(path, &texts, layouts, codes);
            let plans = [(reorder, insertion.as_ref()), (false, insertion.as_ref()), (reorder, None), (false, None)];
            for (reorder, insertion) in plans {
                let own = layouts(self.seed, language, &texts, reorder, insertion);
                if !keeps_marks(&own) {
                    continue;
                }
                let plain = layouts(self.seed, language, &texts, false, insertion);
                reordered += usize::from(own != plain);
                inserted += usize::from(insertion.is_some());
                found.extend(texts.iter().map(|text| (path, *text)).zip(own));
                break;
            }
        }
        count(TwistOperation::Reorder, reordered);
        count(TwistOperation::DeadCode, inserted);
        found
    }

    /// A function that nothing calls, in front of a definition that all versions of a file have.
    fn plan_insertion(
        &self,
        path: &str,
        language: Language,
        texts: &[&str],
        names: &mut NameMaker,
    ) -> Option<Insertion> {
        let definitions: Vec<Vec<(String, usize)>> =
            texts.iter().map(|text| definition_lines(language, text)).collect();
        // The names that a version defines once, and not in its first line.
        let mut once: Vec<BTreeSet<&String>> = Vec::new();
        for own in &definitions {
            let mut times: BTreeMap<&String, (usize, usize)> = BTreeMap::new();
            for (name, line) in own {
                times.entry(name).or_insert((0, *line)).0 += 1;
            }
            once.push(times.into_iter().filter(|(_, own)| own.0 == 1 && own.1 > 0).map(|(name, _)| name).collect());
        }
        let is_shared = |name: &String| once.iter().all(|own| own.contains(name));
        let shared: Vec<&(String, usize)> = definitions.first()?.iter().filter(|(name, _)| is_shared(name)).collect();
        let (name, line) = shared.get(choose(self.seed, path, shared.len()))?;
        let first = texts.first()?.split_inclusive('\n').nth(*line)?;
        let indent = &first[..first.len() - first.trim_start().len()];
        let (purpose, words) = purpose(choose(self.seed, path, 3), choose(self.seed, &format!("{path}.name"), 3));
        let own = names.create(words)?;
        let is_module = texts
            .iter()
            .all(|text| text.lines().any(|line| line.starts_with("import ") || line.starts_with("export ")));
        let lines = function_lines(language, &own, purpose, indent.trim_end_matches(['\n', '\r']), is_module);
        let ends_with_both = first.ends_with("\r\n");
        let lines =
            lines.into_iter().map(|line| if ends_with_both { line.replace('\n', "\r\n") } else { line }).collect();
        Some(Insertion { before: name.clone(), lines })
    }

    /// Whether the lines of every mark of a file stay together.
    fn keeps_marks(&self, path: &str, texts: &[&str], layouts: &[Layout], codes: &[Vec<CodeFileText<'_>>]) -> bool {
        let after = codes[self.after].iter().find(|file| file.path == path);
        let Some(at) = after.and_then(|file| texts.iter().position(|text| *text == file.text)) else { return true };
        let own = self.marks.iter().filter(|mark| mark.file.as_deref() == Some(path));
        own.filter_map(|mark| mark.lines).all(|lines| layouts[at].place(range_of(lines)).is_some())
    }
}

/// The files of a version that can be rewritten.
fn code_files(files: &FileTree) -> Vec<CodeFileText<'_>> {
    let mut found = Vec::new();
    for (path, bytes) in files {
        let language = RepoPath::new(path).and_then(|path| Language::from_path(&path));
        if let (Some(language), Ok(text)) = (language, std::str::from_utf8(bytes)) {
            found.push(CodeFileText { path, language, text });
        }
    }
    found
}

/// The names by which Python can import a module or a package of the code itself: those at the root, and in `src`. Any other may be
/// that of a library.
fn importable_modules(files: &[CodeFileText<'_>]) -> Vec<String> {
    let own = files.iter().filter(|file| names_modules(file.language)).map(|file| {
        let path = file.path.strip_prefix("src/").unwrap_or(file.path);
        path.split('/').next().unwrap_or(path).trim_end_matches(".py").to_owned()
    });
    own.collect::<BTreeSet<String>>().into_iter().collect()
}

/// The names of files and folders, by which code may name modules.
fn modules(files: &[CodeFileText<'_>]) -> Vec<String> {
    let mut modules: BTreeSet<String> = BTreeSet::new();
    for file in files.iter().filter(|file| names_modules(file.language) || file.language == Language::Rust) {
        let path = file.path.rsplit_once('.').map_or(file.path, |(path, _)| path);
        modules.extend(path.split('/').map(str::to_owned));
    }
    modules.into_iter().collect()
}

fn range_of(lines: Lines) -> Range<usize> {
    let (start, end) = (lines.start.saturating_sub(1) as usize, lines.end as usize);
    start..end.max(start)
}

fn apply_splices(text: &str, splices: &Splices) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in splices {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(new);
        at = range.end;
    }
    out + text.get(at..).unwrap_or_default()
}

/// Where a quote is in a text; on its lines, if it has some.
fn find_quote(text: &str, lines: Option<Lines>, quote: &str) -> Option<Range<usize>> {
    let within = match lines {
        None => 0..text.len(),
        Some(lines) => {
            let range = range_of(lines);
            let length = |count: usize| text.split_inclusive('\n').take(count).map(str::len).sum::<usize>();
            length(range.start)..length(range.end)
        }
    };
    let start = within.start + text.get(within)?.find(quote)?;
    Some(start..start + quote.len())
}

/// A mark at its new place, with the new names in its quote.
fn moved_mark(
    mark: &Mark,
    file: Option<CodeFileText<'_>>,
    layout: Option<&Layout>,
    splices: &impl Fn(CodeFileText<'_>) -> Splices,
    moves: &BTreeMap<String, String>,
) -> Result<Mark, String> {
    let Some(file) = file else { return Ok(mark.clone()) };
    let lines = match (mark.lines, layout) {
        (Some(lines), Some(layout)) => {
            let place = layout.place(range_of(lines)).ok_or("the lines of a golden would be torn apart")?;
            let line = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            Some(Lines { start: line(place.start + 1), end: line(place.end) })
        }
        (lines, _) => lines,
    };
    let quote = match &mark.quote {
        None => None,
        Some(quote) => {
            let range = find_quote(file.text, mark.lines, quote).ok_or("the quote of a golden is not where it says")?;
            let inside: Splices = splices(file)
                .into_iter()
                .filter(|(own, _)| own.start >= range.start && own.end <= range.end)
                .map(|(own, new)| (own.start - range.start..own.end - range.start, new))
                .collect();
            Some(apply_splices(quote, &inside))
        }
    };
    Ok(Mark { file: Some(moves.get(file.path).map_or(file.path, String::as_str).to_owned()), lines, quote })
}

/// Refuses marks whose quote is not at their place.
fn check_marks(marks: &[Mark], after: &FileTree) -> Result<(), String> {
    for mark in marks {
        let (Some(file), Some(quote)) = (&mark.file, &mark.quote) else { continue };
        let Some(text) = after.get(file).and_then(|bytes| std::str::from_utf8(bytes).ok()) else { continue };
        if find_quote(text, mark.lines, quote).is_none() {
            return Err(format!("{quote:?} would not be at its place in {file}"));
        }
    }
    Ok(())
}
