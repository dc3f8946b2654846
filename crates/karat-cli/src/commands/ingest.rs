//! `karat ingest`.

use crate::args::IngestArgs;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::show;
use karat_core::wording::count;
use karat_documents::ingest::{Document, IngestLimits, Section, ingest};
use karat_format::diagnostic::harmless;
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub(crate) fn run(args: &IngestArgs) -> Result<Exit> {
    let limits = IngestLimits::default();
    let documents = args.files.iter().map(|path| read(path, &limits)).collect::<Result<Vec<_>, _>>()?;
    show(args.json, &documents, |look| {
        documents.iter().map(|document| draw(document, look.width, args.verbose)).collect::<Vec<_>>().join("\n")
    })
}

fn read(path: &Path, limits: &IngestLimits) -> Result<Document> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    // Reading one byte past the limit is enough to detect a file that is too large.
    let most = u64::try_from(limits.file_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let file = File::open(path).map_err(|error| Failure::io(&name, error))?;
    file.take(most).read_to_end(&mut bytes).map_err(|error| Failure::io(&name, error))?;
    Ok(ingest(&name, &bytes, limits)?)
}

/// The tree of headings with their location and size, then the notes.
fn draw(document: &Document, width: usize, verbose: bool) -> String {
    let words: usize = document.sections.iter().map(words_of).sum();
    let facts = [document.format, &count(document.sections.len(), "section"), &count(words, "word")].join(", ");
    let mut out = format!("{} ({facts})\n", harmless(&document.name));
    for section in &document.sections {
        out.push_str(&line(section, width));
        if verbose {
            let margin = " ".repeat(margin(section) + 2);
            out.push_str(&format!("{margin}id {}\n", section.id));
            let shown = |line: &str| format!("{margin}{}", harmless(&line.replace('\t', "    ")));
            out.extend(section.body.lines().map(|line| format!("{}\n", shown(line).trim_end())));
        }
    }
    out.extend(document.notes.iter().map(|note| format!("note: {}\n", harmless(note))));
    out
}

/// A heading on the left; its location and number of words on the right.
fn line(section: &Section, width: usize) -> String {
    let heading = if section.heading.is_empty() { "(before the first heading)" } else { &section.heading };
    let facts = format!("{}, {}", section.place, count(words_of(section), "word"));
    let margin = " ".repeat(margin(section));
    let room = width.saturating_sub(margin.len() + facts.chars().count() + 2).max(20);
    format!("{margin}{:<room$}  {facts}\n", cut(&harmless(&heading.replace(['\n', '\t'], " ")), room))
}

fn margin(section: &Section) -> usize {
    2 * section.path.len() + 2
}

fn words_of(section: &Section) -> usize {
    section.body.split_whitespace().count()
}

fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
