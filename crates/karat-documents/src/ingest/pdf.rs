//! Reads PDF: text in reading order, with headings by number and style.

mod fonts;
mod glyphs;
mod layout;
mod page;
mod paragraphs;
mod running_headers;
mod tables;
#[cfg(test)]
mod tests;
mod unicode;
mod unpack;

use super::outline::Outline;
use super::{DocumentFormat, Result, Source};
use glyphs::Canvas;
use karat_core::wording::count;
use karat_format::session::UnitV1;
use page::{Fault, Rewriter};
use pdf_extract::{Document, output_doc_page};
use std::panic::{AssertUnwindSafe, catch_unwind};
use unpack::Unpacker;

pub(super) const FORMAT: DocumentFormat =
    DocumentFormat { name: "pdf", extensions: &["pdf"], unit: UnitV1::Page, read };

fn read(source: &Source<'_>, outline: &mut Outline<'_>) -> Result<()> {
    source.refuse_other_kinds("pdf")?;
    let document = open(source)?;
    let pages = document.get_pages();
    if pages.is_empty() {
        return Err(source.unreadable("this PDF has no pages; open it and print it to a new one"));
    }
    if pages.len() > source.limits.pages {
        return Err(source.too_much("the number of its pages", source.limits.pages));
    }
    let mut rewriter = Rewriter::new(&document, Unpacker::new(source));
    let mut lines = Vec::new();
    let (mut unread, mut blank, mut crowded) = (Vec::new(), Vec::new(), Vec::new());
    for (number, id) in (1..).zip(pages.values()) {
        let fault = rewriter.page(*id)?;
        let canvas = draw_page(&rewriter).or_else(|| {
            rewriter.drop_programs();
            draw_page(&rewriter)
        });
        let canvas = canvas.unwrap_or_else(|| {
            unread.push(number);
            Canvas::default()
        });
        match fault {
            Some(Fault::Crowded) => crowded.push(number),
            Some(Fault::Damaged) if !unread.contains(&number) => unread.push(number),
            _ => {}
        }
        (0..canvas.turned).for_each(|_| outline.count("characters that do not stand upright left out"));
        let own = layout::lines(number, canvas.glyphs);
        if own.is_empty() && unread.last() != Some(&number) {
            blank.push(number);
        }
        lines.push(own);
    }
    if lines.iter().all(Vec::is_empty) {
        if !unread.is_empty() {
            return Err(source.broken(FORMAT.name));
        }
        let all = if pages.len() == 1 { "its page".to_owned() } else { format!("any of its {} pages", pages.len()) };
        let help = "it was probably scanned, so run text recognition (OCR) over it first";
        return Err(source.unreadable(format!("there is no text on {all}; {help}")));
    }
    for (numbers, what) in [
        (&unread, "could not be read, or not whole"),
        (&crowded, "draw more than is taken, and were cut"),
        (&blank, "have no text; they are empty, or were scanned"),
    ] {
        if !numbers.is_empty() {
            outline.note(format!("pages that {what}: {}", ranges(numbers)));
        }
    }
    let cleared = running_headers::remove(&mut lines);
    if cleared > 0 {
        outline.note(format!("running heads and feet left out ({})", count(cleared, "line")));
    }
    paragraphs::push(lines.into_iter().flatten().collect(), outline);
    Ok(())
}

fn open(source: &Source<'_>) -> Result<Document> {
    let head = &source.bytes[..source.bytes.len().min(1024)];
    if memchr::memmem::find(head, b"%PDF-").is_none() {
        return Err(source.unreadable("this is no PDF: it does not start like one; is it the right file?"));
    }
    let locked = || source.encrypted("a locked PDF");
    // Encrypted files are not opened even with the empty password: their objects cannot be measured first.
    if memchr::memmem::find(source.bytes, b"/Encrypt").is_some() {
        return Err(locked());
    }
    Unpacker::new(source).check_objects()?;
    let document = Document::load_mem(source.bytes).map_err(|error| {
        source.unreadable(format!("this PDF is damaged ({error}); open it and print it to a new one"))
    })?;
    if document.is_encrypted() { Err(locked()) } else { Ok(document) }
}

/// Draws the page rewritten last; `None` if the library panicked.
fn draw_page(rewriter: &Rewriter<'_, '_>) -> Option<Canvas> {
    let mut canvas = Canvas { bold: rewriter.bold.clone(), ..Canvas::default() };
    // The library panics on damaged font programs. One bad font costs a page, not the document.
    let result = catch_unwind(AssertUnwindSafe(|| output_doc_page(&rewriter.to, &mut canvas, 1)));
    matches!(result, Ok(Ok(()))).then_some(canvas)
}

/// Such as `2, 5–9`.
fn ranges(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for n in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *n => *last = *n,
            _ => parts.push((*n, *n)),
        }
    }
    let shown = parts.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}–{b}") });
    shown.collect::<Vec<_>>().join(", ")
}
