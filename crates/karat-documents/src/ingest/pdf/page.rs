//! Rewrites pages so that they contain only text.
//!
//! The decoding library trusts pages: it recurses into nested forms without limit and panics on missing operands. So it gets
//! a new document with one page, in which forms are inlined and every operation is known to be valid.

use super::fonts::{self, array, dictionary_at, dictionary_of, name, number, real, resolved, value};
use super::unpack::Unpacker;
use crate::ingest::Result;
use pdf_extract::content::{Content, Operation};
use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream, dictionary};
use std::collections::BTreeMap;

/// A page of text has a few thousand.
const MOST_BYTES: usize = 8 << 20;
const MOST_OPERATIONS: usize = 1_000_000;
const DEEPEST_FORM: usize = 12;
const DEEPEST_STATE: usize = 64;
const DEEPEST_TREE: usize = 64;

pub(super) struct Rewriter<'d, 'u> {
    from: &'d Document,
    unpacker: Unpacker<'u>,
    pub(super) to: Document,
    known: BTreeMap<ObjectId, usize>,
    /// By number of the font.
    pub(super) bold: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Damaged,
    Crowded,
}

const ROOT: ObjectId = (1, 0);
const TREE: ObjectId = (2, 0);
const PAGE: ObjectId = (3, 0);
const TEXT: ObjectId = (4, 0);

/// The objects of a font: its dictionary, its table of characters and its program.
fn font_ids(n: usize) -> [ObjectId; 3] {
    let first = 10 + u32::try_from(n).unwrap_or(u32::MAX / 4) * 3;
    [(first, 0), (first + 1, 0), (first + 2, 0)]
}

impl<'d, 'u> Rewriter<'d, 'u> {
    pub(super) fn new(from: &'d Document, unpacker: Unpacker<'u>) -> Self {
        let mut to = Document::with_version("1.7");
        to.set_object(ROOT, dictionary! { "Type" => "Catalog", "Pages" => TREE });
        to.set_object(TREE, dictionary! { "Type" => "Pages", "Kids" => vec![Object::from(PAGE)], "Count" => 1 });
        to.trailer.set("Root", ROOT);
        Self { from, unpacker, to, known: BTreeMap::new(), bold: Vec::new() }
    }

    /// Makes a page the only one of the new document.
    pub(super) fn page(&mut self, id: ObjectId) -> Result<Option<Fault>> {
        let from = self.from;
        let Some(page) = from.get_object(id).ok().and_then(|object| dictionary_of(from, object)) else {
            return Ok(Some(Fault::Damaged));
        };
        let mut writing = Writing { out: Vec::new(), font: vec![false], fault: None, count: 0 };
        let resources = inherited(from, page, b"Resources").and_then(|resources| dictionary_of(from, resources));
        self.apply_rotation(page, &mut writing);
        let content = self.content(page, &mut writing)?;
        self.draw(&content, resources, 0, &mut writing)?;
        let mut fonts = Dictionary::new();
        for n in 0..self.bold.len() {
            fonts.set(format!("F{n}"), font_ids(n)[0]);
        }
        let text = Content { operations: writing.out }.encode().unwrap_or_default();
        self.to.set_object(TEXT, Stream::new(Dictionary::new(), text));
        let page = dictionary! {
            "Type" => "Page",
            "Parent" => TREE,
            "MediaBox" => [0, 0, 1000, 1000].map(Object::Integer).to_vec(),
            "Resources" => dictionary! { "Font" => fonts },
            "Contents" => TEXT,
        };
        self.to.set_object(PAGE, page);
        Ok(writing.fault)
    }

    /// Removes font programs, for pages on which the library panicked.
    pub(super) fn drop_programs(&mut self) {
        for n in 0..self.bold.len() {
            if let Some(Object::Dictionary(font)) = self.to.objects.get_mut(&font_ids(n)[0]) {
                font.remove(b"FontDescriptor");
            }
        }
    }

    fn apply_rotation(&self, page: &Dictionary, writing: &mut Writing) {
        let turned = inherited(self.from, page, b"Rotate").and_then(|turn| number(self.from, turn)).unwrap_or(0.0);
        let quarter = (turned / 90.0).rem_euclid(4.0) as u8;
        let matrix = match quarter {
            1 => [0, -1, 1, 0, 0, 0],
            2 => [-1, 0, 0, -1, 0, 0],
            3 => [0, 1, -1, 0, 0, 0],
            _ => return,
        };
        writing.push("cm", matrix.map(Object::Integer).to_vec());
    }

    fn content(&mut self, page: &Dictionary, writing: &mut Writing) -> Result<Vec<u8>> {
        let from = self.from;
        let parts: Vec<&Object> = match value(from, page, b"Contents") {
            Some(Object::Array(parts)) => parts.iter().map(|part| resolved(from, part)).collect(),
            Some(object) => vec![object],
            None => Vec::new(),
        };
        let mut content = Vec::new();
        for part in parts {
            let Object::Stream(stream) = part else { continue };
            match self.unpacker.stream(stream, MOST_BYTES)? {
                Some(unpacked) if content.len() + unpacked.len() <= MOST_BYTES => {
                    content.extend(unpacked);
                    content.push(b'\n');
                }
                Some(_) => writing.fault = Some(Fault::Crowded),
                None => writing.fault = Some(Fault::Damaged),
            }
        }
        Ok(content)
    }

    fn draw(
        &mut self,
        content: &[u8],
        resources: Option<&'d Dictionary>,
        depth: usize,
        writing: &mut Writing,
    ) -> Result<()> {
        let Ok(content) = Content::decode(content) else {
            writing.fault = Some(Fault::Damaged);
            return Ok(());
        };
        let from = self.from;
        let outside = writing.font.len();
        for Operation { operator, operands } in &content.operations {
            writing.count += 1;
            if writing.count > MOST_OPERATIONS {
                writing.fault = Some(Fault::Crowded);
                break;
            }
            let numbers: Vec<f64> = operands.iter().filter_map(|operand| number(from, operand)).collect();
            let plain = |n: usize| {
                (numbers.len() == n && operands.len() == n).then(|| numbers.iter().map(|n| real(*n)).collect())
            };
            match operator.as_str() {
                "BT" | "ET" | "T*" => writing.push(operator, Vec::new()),
                "q" if writing.font.len() < DEEPEST_STATE => {
                    writing.font.push(writing.has_font());
                    writing.push("q", Vec::new());
                }
                "Q" if writing.font.len() > outside => {
                    writing.font.pop();
                    writing.push("Q", Vec::new());
                }
                "cm" | "Tm" => plain(6).into_iter().for_each(|operands| writing.push(operator, operands)),
                "Td" | "TD" => plain(2).into_iter().for_each(|operands| writing.push(operator, operands)),
                "Tc" | "Tw" | "Tz" | "TL" | "Ts" => {
                    plain(1).into_iter().for_each(|operands| writing.push(operator, operands));
                }
                "Tf" => {
                    let (Some(Object::Name(name)), Some(size)) = (operands.first(), numbers.last()) else { continue };
                    let given =
                        resources.and_then(|r| dictionary_at(from, r, b"Font")).and_then(|fonts| fonts.get(name).ok());
                    let Some(n) = given.map(|font| self.font(font)).transpose()?.flatten() else { continue };
                    writing.push("m", vec![Object::Integer(n as i64), Object::Integer(0)]);
                    writing.push("S", Vec::new());
                    writing.push("Tf", vec![Object::Name(format!("F{n}").into_bytes()), real(*size)]);
                    if let Some(font) = writing.font.last_mut() {
                        *font = true;
                    }
                }
                "Tj" | "'" | "\"" | "TJ" => show(operator, operands, &numbers, writing),
                "Do" => {
                    let Some(Object::Name(name)) = operands.first() else { continue };
                    if depth < DEEPEST_FORM {
                        self.form(name, resources, depth, writing)?;
                    }
                }
                _ => {}
            }
        }
        while writing.font.len() > outside {
            writing.font.pop();
            writing.push("Q", Vec::new());
        }
        Ok(())
    }

    fn form(
        &mut self,
        name_of: &[u8],
        resources: Option<&'d Dictionary>,
        depth: usize,
        writing: &mut Writing,
    ) -> Result<()> {
        let from = self.from;
        let forms = resources.and_then(|resources| dictionary_at(from, resources, b"XObject"));
        let Some(Object::Stream(form)) = forms.and_then(|forms| value(from, forms, name_of)) else { return Ok(()) };
        if name(from, &form.dict, b"Subtype") != Some(b"Form") {
            return Ok(());
        }
        let Some(content) = self.unpacker.stream(form, MOST_BYTES)? else { return Ok(()) };
        let matrix =
            array(from, &form.dict, b"Matrix").map(|m| m.iter().filter_map(|n| number(from, n)).collect::<Vec<_>>());
        writing.font.push(false);
        writing.push("q", Vec::new());
        if let Some(matrix) = matrix.filter(|matrix| matrix.len() == 6) {
            writing.push("cm", matrix.into_iter().map(real).collect());
        }
        let own = dictionary_at(from, &form.dict, b"Resources").or(resources);
        self.draw(&content, own, depth + 1, writing)?;
        writing.font.pop();
        writing.push("Q", Vec::new());
        Ok(())
    }

    /// The number of a font in the new document.
    fn font(&mut self, given: &'d Object) -> Result<Option<usize>> {
        let source = if let Object::Reference(id) = given { Some(*id) } else { None };
        if let Some(n) = source.and_then(|id| self.known.get(&id)) {
            return Ok(Some(*n));
        }
        let Some(dictionary) = dictionary_of(self.from, given) else { return Ok(None) };
        let font = fonts::rewrite(self.from, dictionary, &mut self.unpacker)?;
        let n = self.bold.len();
        let [id, table_id, program_id] = font_ids(n);
        let mut own = font.dictionary;
        // Streams must be separate objects.
        if let Some(table) = font.table {
            self.to.set_object(table_id, Stream::new(Dictionary::new(), table));
            own.set("ToUnicode", table_id);
        }
        if let Some((key, program)) = font.program {
            self.to.set_object(program_id, program);
            own.set("FontDescriptor", dictionary! { "Type" => "FontDescriptor", key => program_id });
        }
        self.to.set_object(id, own);
        self.bold.push(font.bold);
        if let Some(source) = source {
            self.known.insert(source, n);
        }
        Ok(Some(n))
    }
}

struct Writing {
    out: Vec<Operation>,
    /// Whether a font is set, for each saved state.
    font: Vec<bool>,
    fault: Option<Fault>,
    count: usize,
}

impl Writing {
    fn push(&mut self, operator: &str, operands: Vec<Object>) {
        self.out.push(Operation::new(operator, operands));
    }

    fn has_font(&self) -> bool {
        self.font.last().copied().unwrap_or_default()
    }
}

/// Shows text if a font is set; operators that also move to the next line are split.
fn show(operator: &str, operands: &[Object], numbers: &[f64], writing: &mut Writing) {
    if !writing.has_font() {
        return;
    }
    let kept = |object: &Object| matches!(object, Object::String(..) | Object::Integer(_) | Object::Real(_));
    match (operator, operands) {
        ("TJ", [Object::Array(parts)]) => {
            let parts = parts.iter().filter(|part| kept(part)).cloned().collect();
            writing.push("TJ", vec![Object::Array(parts)]);
        }
        ("Tj", [text @ Object::String(..)]) => writing.push("Tj", vec![text.clone()]),
        ("'", [text @ Object::String(..)]) => {
            writing.push("T*", Vec::new());
            writing.push("Tj", vec![text.clone()]);
        }
        ("\"", [_, _, text @ Object::String(..)]) => {
            if let [words, characters] = numbers {
                writing.push("Tw", vec![real(*words)]);
                writing.push("Tc", vec![real(*characters)]);
            }
            writing.push("T*", Vec::new());
            writing.push("Tj", vec![text.clone()]);
        }
        _ => {}
    }
}

fn inherited<'d>(document: &'d Document, page: &'d Dictionary, key: &[u8]) -> Option<&'d Object> {
    let mut at = page;
    for _ in 0..DEEPEST_TREE {
        if let Ok(found) = at.get(key) {
            return Some(found);
        }
        at = dictionary_at(document, at, b"Parent")?;
    }
    None
}
