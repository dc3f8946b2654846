//! Rewrites fonts so that the decoding library finds nothing that it cannot handle.

use super::unicode;
use super::unpack::Unpacker;
use crate::ingest::Result;
use pdf_extract::{Dictionary, Document, Object, Stream, dictionary};

const MOST_WIDTHS: usize = 65_536;
const MOST_BYTES: usize = 16 << 20;
const WIN_ANSI: &str = "WinAnsiEncoding";
const ENCODINGS: [&str; 3] = ["MacRomanEncoding", "MacExpertEncoding", WIN_ANSI];

pub(super) struct Font {
    pub(super) dictionary: Dictionary,
    pub(super) bold: bool,
    /// Its characters by code.
    pub(super) table: Option<Vec<u8>>,
    /// The font program, for its encoding if nothing else states it.
    pub(super) program: Option<(&'static str, Stream)>,
}

/// Rewrites a font, keeping only what determines characters and widths.
pub(super) fn rewrite(from: &Document, font: &Dictionary, unpacker: &mut Unpacker<'_>) -> Result<Font> {
    let subtype = name(from, font, b"Subtype").unwrap_or_default();
    let base = name(from, font, b"BaseFont").unwrap_or(b"Unknown");
    let mut own = dictionary! { "Type" => "Font", "BaseFont" => Object::Name(base.to_vec()) };
    let descendant = array(from, font, b"DescendantFonts").and_then(|fonts| dictionary_of(from, fonts.first()?));
    let described = dictionary_at(from, descendant.unwrap_or(font), b"FontDescriptor");
    let bold = is_bold(base, from, described);
    let table = to_unicode(from, font, unpacker)?;
    let mut program = None;
    match (subtype, descendant) {
        (b"Type0", Some(descendant)) => {
            own.set("Subtype", "Type0");
            own.set("Encoding", "Identity-H");
            own.set("DescendantFonts", vec![Object::from(composite(from, descendant))]);
        }
        (b"Type3", _) => {
            let scale =
                array(from, font, b"FontMatrix").and_then(|m| number(from, m.first()?)).unwrap_or(0.001) * 1000.0;
            own.set("Subtype", "Type3");
            own.set("Encoding", encoding(from, font).unwrap_or_else(|| WIN_ANSI.into()));
            set_widths(&mut own, &widths(from, font, 0.0).unwrap_or_else(|| vec![500.0; 256]), scale);
        }
        _ => {
            own.set("Subtype", if subtype == b"TrueType" { "TrueType" } else { "Type1" });
            let encoding = encoding(from, font);
            let missing = described.and_then(|d| number(from, d.get(b"MissingWidth").ok()?)).unwrap_or(0.0);
            match widths(from, font, missing) {
                Some(widths) => set_widths(&mut own, &widths, 1.0),
                // The library knows the widths of the standard fonts by exact name.
                None => own.set("BaseFont", core_font(base, bold)),
            }
            if table.is_none() && encoding.is_none() {
                program = described.map(|d| font_program(from, d, unpacker)).transpose()?.flatten();
            }
            match encoding {
                Some(encoding) => own.set("Encoding", encoding),
                None if table.is_some() => own.set("Encoding", WIN_ANSI),
                None => {}
            }
        }
    }
    Ok(Font { dictionary: own, bold, table, program })
}

fn to_unicode(from: &Document, font: &Dictionary, unpacker: &mut Unpacker<'_>) -> Result<Option<Vec<u8>>> {
    let Some(Object::Stream(stream)) = value(from, font, b"ToUnicode") else { return Ok(None) };
    let table = unpacker.stream(stream, MOST_BYTES)?.map(|table| unicode::read(&table)).unwrap_or_default();
    Ok((!table.is_empty()).then(|| unicode::write(&table)))
}

fn font_program(
    from: &Document,
    described: &Dictionary,
    unpacker: &mut Unpacker<'_>,
) -> Result<Option<(&'static str, Stream)>> {
    for key in ["FontFile", "FontFile3"] {
        if let Some(Object::Stream(stream)) = value(from, described, key.as_bytes())
            && let Some(content) = unpacker.stream(stream, MOST_BYTES)?
        {
            let subtype = name(from, &stream.dict, b"Subtype").unwrap_or_default();
            let dictionary = dictionary! { "Subtype" => Object::Name(subtype.to_vec()) };
            return Ok(Some((key, Stream::new(dictionary, content))));
        }
    }
    Ok(None)
}

/// A composite font. Its widths have two forms, of which one is written.
fn composite(from: &Document, font: &Dictionary) -> Dictionary {
    let default = font.get(b"DW").ok().and_then(|w| number(from, w)).unwrap_or(1000.0);
    let mut out = Vec::new();
    let mut left = MOST_WIDTHS;
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
    dictionary! { "FontDescriptor" => Dictionary::new(), "DW" => default as i64, "W" => out }
}

fn encoding(from: &Document, font: &Dictionary) -> Option<Object> {
    let known = |name: &[u8]| ENCODINGS.iter().any(|known| known.as_bytes() == name);
    match value(from, font, b"Encoding")? {
        Object::Name(name) => known(name).then(|| Object::Name(name.clone())),
        Object::Dictionary(given) => {
            let mut own = Dictionary::new();
            if let Some(base) = name(from, given, b"BaseEncoding").filter(|base| known(base)) {
                own.set("BaseEncoding", Object::Name(base.to_vec()));
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
            own.set("Differences", differences);
            Some(own.into())
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
    font.set("FirstChar", 0);
    font.set("LastChar", 255);
    font.set("Widths", widths.iter().map(|w| real(w * scale)).collect::<Vec<_>>());
}

fn is_bold(base: &[u8], from: &Document, described: Option<&Dictionary>) -> bool {
    let base = String::from_utf8_lossy(base).to_lowercase();
    let states = |key: &[u8]| described.and_then(|d| number(from, d.get(key).ok()?));
    let forced = states(b"Flags").is_some_and(|flags| flags >= 0.0 && (flags as u64) & (1 << 18) != 0);
    forced
        || states(b"FontWeight").is_some_and(|weight| weight >= 600.0)
        || ["bold", "black", "heavy", "semibold", "demi"].iter().any(|word| base.contains(word))
}

fn core_font(base: &[u8], bold: bool) -> &'static str {
    let base = String::from_utf8_lossy(base).to_lowercase();
    let (regular, heavy) = match base {
        base if base.contains("courier") => ("Courier", "Courier-Bold"),
        base if base.contains("times") => ("Times-Roman", "Times-Bold"),
        _ => ("Helvetica", "Helvetica-Bold"),
    };
    if bold { heavy } else { regular }
}

/// Follows references; dangling and cyclic ones give null.
pub(super) fn resolved<'d>(document: &'d Document, object: &'d Object) -> &'d Object {
    document.dereference(object).map_or(&Object::Null, |(_, object)| object)
}

pub(super) fn value<'d>(document: &'d Document, dictionary: &'d Dictionary, key: &[u8]) -> Option<&'d Object> {
    dictionary.get(key).ok().map(|object| resolved(document, object))
}

pub(super) fn dictionary_at<'d>(document: &'d Document, from: &'d Dictionary, key: &[u8]) -> Option<&'d Dictionary> {
    dictionary_of(document, from.get(key).ok()?)
}

pub(super) fn dictionary_of<'d>(document: &'d Document, object: &'d Object) -> Option<&'d Dictionary> {
    let object = resolved(document, object);
    object.as_dict().or_else(|_| object.as_stream().map(|stream| &stream.dict)).ok()
}

pub(super) fn array<'d>(document: &'d Document, from: &'d Dictionary, key: &[u8]) -> Option<&'d Vec<Object>> {
    value(document, from, key)?.as_array().ok()
}

pub(super) fn name<'d>(document: &'d Document, from: &'d Dictionary, key: &[u8]) -> Option<&'d [u8]> {
    value(document, from, key)?.as_name().ok()
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
