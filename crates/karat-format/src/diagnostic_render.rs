//! Renders diagnostics for people.

use crate::diagnostic::{Diagnostic, Level, harmless};
use crate::diagnostic_groups::grouped;
use annotate_snippets::{AnnotationKind, Level as Heading, Origin, Renderer, Snippet};
use std::ops::Range;

/// Renders diagnostics like rustc, each followed by an empty line; those of one kind are grouped.
pub fn render(diagnostics: &[Diagnostic], colour: bool, width: usize) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(width.max(40));
    let shown = grouped(diagnostics.iter().cloned());
    shown.iter().map(|diagnostic| draw(diagnostic, &renderer) + "\n\n").collect()
}

fn draw(diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let heading = match diagnostic.level {
        Level::Error => Heading::ERROR,
        Level::Warning => Heading::WARNING,
        Level::Note => Heading::NOTE,
    };
    let title = heading.primary_title(harmless(&diagnostic.message)).id(diagnostic.code);
    // The position is given apart from the snippet, since the snippet may be only a part of its line.
    let mut origin = Origin::path(harmless(&diagnostic.file));
    if diagnostic.line > 0 {
        origin = origin.line(diagnostic.line).char_column(diagnostic.column);
    }
    let mut group = title.element(origin);
    if let Some(line) = &diagnostic.source_line {
        let line = harmless(line);
        let mut mark = AnnotationKind::Primary.span(within(&line, &diagnostic.underline));
        if let Some(label) = &diagnostic.label {
            mark = mark.label(harmless(label));
        }
        group = group.element(Snippet::source(line).line_start(diagnostic.line).annotation(mark));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Heading::HELP.message(harmless(help)));
    }
    if diagnostic.more > 0 {
        group = group.element(Heading::NOTE.message(format!("{} more like this", diagnostic.more)));
    }
    let drawn = renderer.render(&[group]);
    // The renderer takes a snippet after a position for one of another file, and marks it with `:::`.
    let lines: Vec<&str> = drawn.lines().filter(|line| unstyled(line).trim() != ":::").collect();
    lines.join("\n")
}

fn unstyled(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}

/// The range, clamped to the text, so that a hand-made diagnostic cannot panic.
fn within(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start);
    start..text.floor_char_boundary(range.end).max(start)
}
