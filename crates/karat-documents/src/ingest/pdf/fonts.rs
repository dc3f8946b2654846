//! Rewrites fonts so that the decoding library finds nothing that it cannot handle.

use super::unicode;
use super::unpack::Unpacker;
use crate::ingest::IngestError;
use pdf_extract::{Dictionary, Document, Object, Stream};

const MOST_WIDTHS: usize = 65_536;
const MOST_BYTES: usize = 16 << 20;
const ENCODINGS: [&[u8]; 3] = [b"MacRomanEncoding", b"MacExpertEncoding", b"WinAnsiEncoding"];

/// A font as given to the library.
pub(super) struct Font {
    pub(super) dictionary: Dictionary,
    pub(super) bold: bool,
    /// The font program, for its encoding if nothing else states it.
    pub(super) program: Option<(&'static str, Stream)>,
}

/// Rewrites a font, keeping only what determines characters and widths.
pub(super) fn rewrite(from: &Document, font: &Dictionary, unpacker: &mut Unpacker<'_>) -> Result<Font, IngestError> {
    let subtype = name(from, font, b"Subtype").unwrap_or_default();
    let base = name(from, font, b"BaseFont").unwrap_or_else(|| b"Unknown".to_vec());
    let mut own = Dictionary::new();
    own.set("Type", Object::Name(b"Font".to_vec()));
    own.set("BaseFont", Object::Name(base.clone()));
    let descendant = array(from, font, b"DescendantFonts").and_then(|fonts| dictionary_of(from, fonts.first()?));
    let described = dictionary(from, descendant.unwrap_or(font), b"FontDescriptor");
    let bold = is_bold(&base, from, described);
    let table = to_unicode(from, font, unpacker)?;
    if let Some(table) = &table {
        own.set("ToUnicode", Object::Stream(Stream::new(Dictionary::new(), table.clone())));
    }
    let mut program = None;
    match (subtype.as_slice(), descendant) {
        (b"Type0", Some(descendant)) => {
            own.set("Subtype", Object::Name(b"Type0".to_vec()));
            own.set("Encoding", Object::Name(b"Identity-H".to_vec()));
            own.set("DescendantFonts", Object::Array(vec![Object::Dictionary(composite(from, descendant))]));
        }
        (b"Type3", _) => {
            let scale =
                array(from, font, b"FontMatrix").and_then(|m| number(from, m.first()?)).unwrap_or(0.001) * 1000.0;
            own.set("Subtype", Object::Name(b"Type3".to_vec()));
            let encoding = encoding(from, font).unwrap_or_else(|| Object::Name(ENCODINGS[2].to_vec()));
            own.set("Encoding", encoding);
            set_widths(&mut own, &widths(from, font, 0.0).unwrap_or_else(|| vec![500.0; 256]), scale);
        }
        _ => {
            let kind: &[u8] = if subtype == b"TrueType" { b"TrueType" } else { b"Type1" };
            own.set("Subtype", Object::Name(kind.to_vec()));
            let encoding = encoding(from, font);
            let missing = described.and_then(|d| number(from, d.get(b"MissingWidth").ok()?)).unwrap_or(0.0);
            match widths(from, font, missing) {
                Some(widths) => set_widths(&mut own, &widths, 1.0),
                // The library knows the widths of the standard fonts by exact name.
                None => own.set("BaseFont", Object::Name(core_font(&base, bold).to_vec())),
            }
            if table.is_none() && encoding.is_none() {
                program = described.map(|d| font_program(from, d, unpacker)).transpose()?.flatten();
            }
            match encoding {
                Some(encoding) => own.set("Encoding", encoding),
                None if table.is_some() => own.set("Encoding", Object::Name(ENCODINGS[2].to_vec())),
                None => {}
            }
        }
    }
    Ok(Font { dictionary: own, bold, program })
}

fn to_unicode(from: &Document, font: &Dictionary, unpacker: &mut Unpacker<'_>) -> Result<Option<Vec<u8>>, IngestError> {
    let Some(Object::Stream(stream)) = value(from, font, b"ToUnicode") else { return Ok(None) };
    let table = unpacker.stream(stream, MOST_BYTES)?.map(|table| unicode::read(&table)).unwrap_or_default();
    Ok((!table.is_empty()).then(|| unicode::write(&table)))
}

fn font_program(
    from: &Document,
    described: &Dictionary,
    unpacker: &mut Unpacker<'_>,
) -> Result<Option<(&'static str, Stream)>, IngestError> {
    for key in ["FontFile", "FontFile3"] {
        if let Some(Object::Stream(stream)) = value(from, described, key.as_bytes())
            && let Some(content) = unpacker.stream(stream, MOST_BYTES)?
        {
            let mut dictionary = Dictionary::new();
            let subtype = name(from, &stream.dict, b"Subtype").unwrap_or_default();
            dictionary.set("Subtype", Object::Name(subtype));
            return Ok(Some((key, Stream::new(dictionary, content))));
        }
    }
    Ok(None)
}

/// A composite font. Its widths have two forms, of which one is written.
fn composite(from: &Document, font: &Dictionary) -> Dictionary {
    let mut own = Dictionary::new();
    own.set("FontDescriptor", Object::Dictionary(Dictionary::new()));
    let default = font.get(b"DW").ok().and_then(|w| number(from, w)).unwrap_or(1000.0);
    own.set("DW", Object::Integer(default as i64));
    let (mut out, mut left) = (Vec::new(), MOST_WIDTHS);
    let given = array(from, font, b"W").map(Vec::as_slice).unwrap_or_default();
    let mut at = 0;
    while at + 1 < given.len() && left > 0 {
        let Some(first) = number(from, &given[at]).filter(|n| (0.0..65_536.0).contains(n)) else { break };
        let row: Vec<Object> = match resolved(from, &given[at + 1]) {
            Object::Array(row) => {
                at += 2;
                row.iter().map_while(|w| number(from, w)).take(left).map(real).collect()
            }
            last => {
                let last = number(from, last).unwrap_or(first).clamp(first, 65_535.0);
                let width = given.get(at + 2).and_then(|w| number(from, w)).unwrap_or(default);
                at += 3;
                (0..=(last - first) as usize).take(left).map(|_| real(width)).collect()
            }
        };
        left = left.saturating_sub(row.len() + 1);
        out.push(Object::Integer(first as i64));
        out.push(Object::Array(row));
    }
    own.set("W", Object::Array(out));
    own
}

fn encoding(from: &Document, font: &Dictionary) -> Option<Object> {
    let known = |name: &[u8]| ENCODINGS.contains(&name);
    match value(from, font, b"Encoding")? {
        Object::Name(name) => known(name).then(|| Object::Name(name.clone())),
        Object::Dictionary(given) => {
            let mut own = Dictionary::new();
            if let Some(base) = name(from, given, b"BaseEncoding").filter(|base| known(base)) {
                own.set("BaseEncoding", Object::Name(base));
            }
            let (mut differences, mut code) = (Vec::new(), 0);
            for item in array(from, given, b"Differences").into_iter().flatten() {
                match resolved(from, item) {
                    Object::Integer(n @ 0..=255) => {
                        code = *n;
                        differences.push(Object::Integer(code));
                    }
                    Object::Name(glyph) if code <= 255 => {
                        differences.push(Object::Name(glyph.clone()));
                        code += 1;
                    }
                    _ => code = 256,
                }
            }
            own.set("Differences", Object::Array(differences));
            Some(Object::Dictionary(own))
        }
        _ => None,
    }
}

fn widths(from: &Document, font: &Dictionary, missing: f64) -> Option<Vec<f64>> {
    let first = value(from, font, b"FirstChar").and_then(|n| number(from, n)).unwrap_or(0.0);
    let given = array(from, font, b"Widths")?;
    let mut all = vec![missing; 256];
    let first = (0.0..256.0).contains(&first).then_some(first as usize)?;
    for (width, given) in all[first..].iter_mut().zip(given) {
        *width = number(from, given).unwrap_or(missing);
    }
    Some(all)
}

fn set_widths(font: &mut Dictionary, widths: &[f64], scale: f64) {
    font.set("FirstChar", Object::Integer(0));
    font.set("LastChar", Object::Integer(255));
    font.set("Widths", Object::Array(widths.iter().map(|w| real(w * scale)).collect()));
}

fn is_bold(base: &[u8], from: &Document, described: Option<&Dictionary>) -> bool {
    let base = String::from_utf8_lossy(base).to_lowercase();
    let states = |key: &[u8]| described.and_then(|d| number(from, d.get(key).ok()?));
    let forced = states(b"Flags").is_some_and(|flags| flags >= 0.0 && (flags as u64) & (1 << 18) != 0);
    forced
        || states(b"FontWeight").is_some_and(|weight| weight >= 600.0)
        || ["bold", "black", "heavy", "semibold", "demi"].iter().any(|word| base.contains(word))
}

fn core_font(base: &[u8], bold: bool) -> &'static [u8] {
    let base = String::from_utf8_lossy(base).to_lowercase();
    match (base.contains("courier"), base.contains("times"), bold) {
        (true, _, true) => b"Courier-Bold",
        (true, _, false) => b"Courier",
        (_, true, true) => b"Times-Bold",
        (_, true, false) => b"Times-Roman",
        (_, _, true) => b"Helvetica-Bold",
        _ => b"Helvetica",
    }
}

/// Follows references; dangling and cyclic ones give null.
pub(super) fn resolved<'d>(document: &'d Document, object: &'d Object) -> &'d Object {
    document.dereference(object).map_or(&Object::Null, |(_, object)| object)
}

pub(super) fn value<'d>(document: &'d Document, dictionary: &'d Dictionary, key: &[u8]) -> Option<&'d Object> {
    dictionary.get(key).ok().map(|object| resolved(document, object))
}

pub(super) fn dictionary<'d>(document: &'d Document, from: &'d Dictionary, key: &[u8]) -> Option<&'d Dictionary> {
    dictionary_of(document, from.get(key).ok()?)
}

pub(super) fn dictionary_of<'d>(document: &'d Document, object: &'d Object) -> Option<&'d Dictionary> {
    match resolved(document, object) {
        Object::Dictionary(dictionary) => Some(dictionary),
        Object::Stream(stream) => Some(&stream.dict),
        _ => None,
    }
}

pub(super) fn array<'d>(document: &'d Document, from: &'d Dictionary, key: &[u8]) -> Option<&'d Vec<Object>> {
    match value(document, from, key) {
        Some(Object::Array(items)) => Some(items),
        _ => None,
    }
}

pub(super) fn name(document: &Document, from: &Dictionary, key: &[u8]) -> Option<Vec<u8>> {
    match value(document, from, key) {
        Some(Object::Name(name)) => Some(name.clone()),
        _ => None,
    }
}

pub(super) fn number(document: &Document, object: &Object) -> Option<f64> {
    match resolved(document, object) {
        Object::Integer(n) => Some(*n as f64),
        Object::Real(n) if n.is_finite() => Some(f64::from(*n)),
        _ => None,
    }
}

pub(super) fn real(n: f64) -> Object {
    Object::Real(n as f32)
}
