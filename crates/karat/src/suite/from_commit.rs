//! Drafts a case from a commit.

use super::init::case_schema_link;
use super::left_out_notes;
use super::objects::{LeftOut, ObjectWriter, TreeError, is_safe_path};
use super::package::make_parents;
use super::yaml_text::{block_or_quoted, quoted};
use crate::failure::{Failure, Result};
use karat_core::ids::CaseId;
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use karat_core::suite::Trees;
use karat_core::wording::count;
use karat_format::case::UNFILLED_TITLE;
use karat_source::change::touched_lines;
use karat_source::git::{CommitId, Entry, GitError, Repository, is_binary};
use karat_source::language::Language;
use karat_source::repair::{is_lock_file, repair};
use karat_source::symbols::Symbols;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Longer files are left out.
pub(super) const MAX_FILE: u64 = 1 << 20;

const MAX_CASE: usize = 64 << 20;

/// A change of more files is taken with a note.
const MAX_FILES: usize = 30;

/// What a drafted case says about its change.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DraftedGoldens {
    /// A person has to write them; until then the case cannot be used.
    Unfilled,
    /// What this commit repaired.
    Repaired { fix: CommitId, title: String, description: String, places: Vec<(RepoPath, Lines)> },
    /// Nothing to report, as this change repaired what was wrong.
    Fixed,
}

/// A drafted case, whose goldens a person has to write or to check.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CaseSkeleton {
    /// Given, or made from the title of the commit.
    pub id: CaseId,
    pub commit: CommitId,
    pub title: String,
    pub description: String,
    /// The language of most changed files.
    pub language: Option<Language>,
    pub before: Vec<(RepoPath, Vec<u8>)>,
    pub after: Vec<(RepoPath, Vec<u8>)>,
    /// The first lines that the commit touched, preferably in a file of the language.
    pub first_touched: Option<(RepoPath, Lines)>,
    pub notes: Vec<String>,
    pub(super) goldens: DraftedGoldens,
    pub(super) twin: Option<CaseId>,
    /// The whole code before and after, if it is among the objects of the suite.
    pub(super) trees: Option<Trees>,
}

/// Takes a case from the change that a commit made to its first parent.
pub fn skeleton(repo: &Repository, rev: &str, id: Option<&str>) -> Result<CaseSkeleton> {
    let commit = repo.resolve(rev)?;
    let (title, description) = repo.message(&commit)?;
    let id = match id {
        Some(id) if valid_id(id) => id.to_owned(),
        Some(id) => {
            return Err(Failure::bad_input(format!(
                "invalid case id {id:?}: expected at most 100 letters, digits, `-`, `_` and `.`, with a letter or digit first"
            )));
        }
        None => slug(&title).unwrap_or_else(|| format!("commit-{}", commit.short())),
    };
    let parents = repo.parents(&commit)?;
    let changes = repo.changed_files(parents.first(), &commit)?;

    let mut left_out = LeftOut::new();
    if !changes.odd_paths.is_empty() {
        left_out.insert("having a name that not every system can hold", changes.odd_paths);
    }
    let mut files = Vec::new();
    let mut room = MAX_CASE;
    for change in &changes.files {
        match take(repo, change.old.as_ref(), change.new.as_ref(), &mut room)? {
            Ok(file) => files.push(file),
            Err(why) => {
                let side = change.new.as_ref().or(change.old.as_ref());
                left_out.entry(why).or_default().push(side.map_or(String::new(), |side| side.path.to_string()));
            }
        }
    }
    let mut notes: Vec<String> = left_out_notes(left_out).collect();
    if changes.files.len() > MAX_FILES {
        let files = count(changes.files.len(), "file");
        notes.push(format!(
            "commit {} touches {files}: a change this wide is rarely one change, check it",
            commit.short()
        ));
    }
    if parents.len() > 1 {
        notes.push(format!("commit {commit} is a merge; the change to its first parent was taken"));
    }
    if files.is_empty() {
        let notes: String = notes.iter().map(|note| format!("; {note}")).collect();
        return Err(Failure::bad_input(format!("commit {commit} changes no text file that a case could hold{notes}")));
    }
    let language = most_common_language(&files);
    let first_touched = first_touched(&files, language);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for [old, new] in files {
        before.extend(old);
        after.extend(new);
    }
    let id = CaseId::new(id);
    let (goldens, twin, trees) = (DraftedGoldens::Unfilled, None, None);
    Ok(CaseSkeleton {
        id,
        commit,
        title,
        description,
        language,
        before,
        after,
        first_touched,
        notes,
        goldens,
        twin,
        trees,
    })
}

impl CaseSkeleton {
    /// Stores the whole trees of the commit and its first parent as objects of the suite, instead of the changed files alone.
    pub(super) fn store_trees(&mut self, repo: &Repository, objects: &mut ObjectWriter) -> Result<()> {
        let failed = |error: TreeError| match error {
            TreeError::Io(error) => Failure::unwritten("an object of the suite", error),
            TreeError::Git(error) => error.into(),
            TreeError::TooLarge { .. } => Failure::bad_input(error),
        };
        let mut left_out = LeftOut::new();
        let parents = repo.parents(&self.commit)?;
        let before = match parents.first() {
            Some(parent) => Some(objects.put_commit(repo, parent, &mut left_out).map_err(failed)?),
            None => None,
        };
        let after = objects.put_commit(repo, &self.commit, &mut left_out).map_err(failed)?;
        self.trees = Some(Trees { before, after });
        // What the changed files alone could not hold is there now.
        self.notes.retain(|note| !note.starts_with("left out"));
        self.notes.extend(left_out_notes(left_out));
        Ok(())
    }

    /// Writes the case to `cases/<id>` below the suite's folder and returns that folder; an existing case is left alone.
    /// The case is written aside and then renamed, so that it is there as a whole or not at all.
    pub fn write(&self, suite_dir: &Path) -> io::Result<PathBuf> {
        if !valid_id(self.id.as_str()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("invalid case id {:?}", self.id.as_str())));
        }
        let cases = suite_dir.join("cases");
        let case = cases.join(self.id.as_str());
        if fs::symlink_metadata(&case).is_ok() {
            let message = format!("{}: this case already exists; give another id, or remove it first", case.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        fs::create_dir_all(suite_dir)?;
        make_parents(suite_dir, Path::new("cases/case"))?;
        let aside = suite_dir.join(format!(".karat-unfinished-{}-{}", self.id, std::process::id()));
        fs::create_dir(&aside)?;
        if let Err(error) =
            self.write_into(&aside, case_schema_link(suite_dir)).and_then(|()| fs::rename(&aside, &case))
        {
            // The first error says more.
            let _ = fs::remove_dir_all(&aside);
            return Err(error);
        }
        Ok(case)
    }

    fn write_into(&self, folder: &Path, schema_link: &str) -> io::Result<()> {
        let yaml = format!("{schema_link}{}", self.to_yaml());
        File::create_new(folder.join("case.yaml"))?.write_all(yaml.as_bytes())?;
        if self.trees.is_some() {
            return Ok(());
        }
        for (side, files) in [("before", &self.before), ("after", &self.after)] {
            let root = folder.join(side);
            fs::create_dir(&root)?;
            for (path, content) in files {
                if !is_safe_path(path) {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{path} leads out of the case")));
                }
                let target = root.join(path.as_str());
                if let Some(parent) = target.parent() {
                    fs::create_dir_all(parent)?;
                }
                File::create_new(target)?.write_all(content)?;
            }
        }
        Ok(())
    }

    /// The case as YAML, with comments on what to fill in.
    fn to_yaml(&self) -> String {
        let title = quoted(&self.title);
        let language = match self.language {
            Some(language) => format!("language: {}", language.name()),
            None => "# language: python".to_owned(),
        };
        let twin = self.twin.as_ref().map(|twin| format!("twin: {}\n", quoted(twin.as_str()))).unwrap_or_default();
        let trees = self.trees.as_ref().map(|Trees { before, after }| {
            let before = before.as_ref().map(|before| format!("  before: {before}\n")).unwrap_or_default();
            format!("# The whole code, in the suite's folder `objects`.\ntrees:\n{before}  after: {after}\n")
        });
        format!(
            "\
# Taken from commit {commit}.
{advice}id: {id}
name: {title}
{language}
# difficulty: medium        # easy, medium or hard
categories: []              # such as [security, performance]
{twin}{trees}pr:
  title: {title}
  description: {description}

{goldens}",
            commit = self.commit.as_str(),
            advice = match self.goldens {
                DraftedGoldens::Fixed => "",
                _ => "# Say below what a good tool reports for this change, then run `karat check` on the suite.\n",
            },
            id = quoted(self.id.as_str()),
            description = block_or_quoted(&self.description, "    "),
            trees = trees.unwrap_or_default(),
            goldens = self.goldens_yaml(),
        )
    }

    fn goldens_yaml(&self) -> String {
        let (head, title, description, places, target) = match &self.goldens {
            DraftedGoldens::Fixed => {
                let what = self.twin.as_ref().map(|twin| format!(" of `{twin}`")).unwrap_or_default();
                return format!(
                    "# This change is the fix{what}: there is nothing to report.\nverdict: safe\nissues: []\n"
                );
            }
            DraftedGoldens::Unfilled => {
                let head = "# One entry for each issue that the change brings in. Write `issues: []` if there is none: tools should \
                            then stay silent.\n"
                    .to_owned();
                (head, UNFILLED_TITLE, "", self.first_touched.as_slice(), "")
            }
            DraftedGoldens::Repaired { fix, title, description, places } => {
                let several = match places.len() {
                    0 | 1 => "",
                    _ => " Places that are the same issue become one entry.",
                };
                let head = format!("# Drafted from the fix {fix}: check the words and the lines.{several}\n");
                (head, title.as_str(), description.as_str(), places.as_slice(), "    target: true\n")
            }
        };
        let description = match description {
            "" => "    # description: Why it is wrong and what it does\n".to_owned(),
            text => format!("    description: {}\n", block_or_quoted(text, "      ")),
        };
        let entry = |number: usize, place: Option<&(RepoPath, Lines)>| {
            let lines = place.map(|(file, Lines { start, end })| {
                format!("    file: {}\n    line_start: {start}\n    line_end: {end}\n", quoted(file.as_str()))
            });
            let title = match place.filter(|_| places.len() > 1) {
                Some((file, lines)) => quoted(&format!("{title} ({})", self.place_name(file, *lines))),
                None => quoted(title),
            };
            // The most important place is the one that a case is about.
            let target = if number == 1 { target } else { "" };
            format!(
                "  - id: issue-{number}
    title: {title}
{description}    # severity: high        # critical, high, medium, low or info
    # category: security
{place}    # keywords: [words, that, a, report, uses]
{target}",
                place = lines.unwrap_or_default(),
            )
        };
        let entries: String = match places {
            [] => entry(1, None),
            _ => (1..).zip(places).map(|(number, place)| entry(number, Some(place))).collect(),
        };
        format!("{head}issues:\n{entries}")
    }

    /// The function that lines are in; their place if none is known.
    fn place_name(&self, file: &RepoPath, lines: Lines) -> String {
        let content = self.after.iter().find(|(path, _)| path == file).map(|(_, bytes)| String::from_utf8_lossy(bytes));
        let symbols = content.and_then(|text| Symbols::parse(Language::from_path(file)?, &text));
        let symbol = symbols.map(|symbols| symbols.around(lines)).unwrap_or_default();
        match symbol.split_once('#') {
            Some((name, _)) if name != "(file)" => name.to_owned(),
            _ => format!("{file}:{}", lines.start),
        }
    }
}

/// A changed file before and after.
type Sides = [Option<(RepoPath, Vec<u8>)>; 2];

/// Reads a changed file whole, or says why it is left out.
fn take(
    repo: &Repository,
    old: Option<&Entry>,
    new: Option<&Entry>,
    room: &mut usize,
) -> Result<Result<Sides, &'static str>, GitError> {
    let mut sides = [None, None];
    let mut used = 0;
    for (side, entry) in sides.iter_mut().zip([old, new]) {
        let Some(entry) = entry else { continue };
        if !entry.is_file {
            return Ok(Err("being a link or a submodule"));
        }
        if !is_safe_path(&entry.path) {
            return Ok(Err("leading out of the case or into `.git`"));
        }
        match repo.content(entry, MAX_FILE)? {
            None => return Ok(Err("being longer than 1 MiB")),
            Some(bytes) if is_binary(&bytes) => return Ok(Err("being binary")),
            Some(bytes) => {
                used += bytes.len();
                *side = Some((entry.path.clone(), bytes));
            }
        }
    }
    let Some(left) = room.checked_sub(used) else { return Ok(Err("coming after the first 64 MiB")) };
    *room = left;
    Ok(Ok(sides))
}

fn most_common_language(files: &[Sides]) -> Option<Language> {
    let mut counts: BTreeMap<&str, (usize, Language)> = BTreeMap::new();
    for [old, new] in files {
        let path = new.as_ref().or(old.as_ref()).map(|(path, _)| path);
        if let Some(language) = path.and_then(Language::from_path) {
            counts.entry(language.name()).or_insert((0, language)).0 += 1;
        }
    }
    // The first of equally common languages is taken, in alphabetical order.
    counts.into_values().rev().max_by_key(|(count, _)| *count).map(|(_, language)| language)
}

fn first_touched(files: &[Sides], language: Option<Language>) -> Option<(RepoPath, Lines)> {
    let text = |side: &Option<(RepoPath, Vec<u8>)>| {
        side.as_ref().map_or(String::new(), |(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
    };
    let touched = |[old, new]: &Sides| {
        let (path, _) = new.as_ref()?;
        Some((path.clone(), touched_lines(&text(old), &text(new)).into_iter().next()?))
    };
    // Seen from the new version, what the change wrote is what it would repair.
    let meant = |[old, new]: &Sides| {
        let (path, _) = new.as_ref().filter(|(path, _)| !is_lock_file(path))?;
        let written = repair(Language::from_path(path), &text(new), &text(old)).lines;
        let start = *written.keys().next()?;
        let end = (start..).take_while(|line| written.contains_key(line)).last()?;
        Some((path.clone(), Lines { start, end }))
    };
    let of_language = |[_, new]: &&Sides| {
        let own = new.as_ref().and_then(|(path, _)| Language::from_path(path));
        own.map(Language::name) == language.map(Language::name)
    };
    let in_language = || files.iter().filter(of_language);
    in_language().find_map(meant).or_else(|| in_language().find_map(touched)).or_else(|| files.iter().find_map(touched))
}

fn valid_id(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    id.len() <= 100 && id.starts_with(|c: char| c.is_ascii_alphanumeric()) && id.chars().all(fits) && !id.ends_with('.')
}

/// Lowercase words joined by dashes, cut at a word's end; `None` when no letter is left.
pub(super) fn slug(title: &str) -> Option<String> {
    let mut slug = String::new();
    let lower = title.to_lowercase();
    for word in lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if slug.is_empty() {
            slug.extend(word.chars().take(60));
        } else if slug.len() + 1 + word.len() <= 60 {
            slug.push('-');
            slug.push_str(word);
        } else {
            break;
        }
    }
    (!slug.is_empty()).then_some(slug)
}

#[cfg(test)]
#[path = "../../../karat-source/src/git/tests/scratch_repository.rs"]
pub(super) mod scratch_repository;
#[cfg(test)]
mod tests;
