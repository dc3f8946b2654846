use crate::ingest::tests::{draw, refusal};
use crate::ingest::{IngestLimits, ingest};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use insta::assert_snapshot;
use std::io::Write;

/// A PDF of these objects, numbered from 1; the first is the catalog.
fn file(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n", n + 1).bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let xref = out.len();
    out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    places.iter().for_each(|place| out.extend(format!("{place:010} 00000 n \n").bytes()));
    out.extend(format!("trailer\n<< /Size {} /Root 1 0 R {trailer} >>\n", objects.len() + 1).bytes());
    out.extend(format!("startxref\n{xref}\n%%EOF\n").bytes());
    out
}

fn stream(dictionary: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<< /Length {} {dictionary} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

const FONTS: &str = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> \
    /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >> >>";

/// A PDF with one page per content stream, followed by more objects.
fn pdf_with(pages: &[String], resources: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec()];
    let kids: Vec<String> = (0..pages.len()).map(|n| format!("{} 0 R", 3 + 2 * n)).collect();
    let tree = format!(
        "<< /Type /Pages /Kids [{}] /Count {} /MediaBox [0 0 600 800] /Resources << {FONTS} {resources} >> >>",
        kids.join(" "),
        pages.len()
    );
    objects.push(tree.into_bytes());
    for (n, page) in pages.iter().enumerate() {
        objects.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", 4 + 2 * n).into_bytes());
        objects.push(stream("", page.as_bytes()));
    }
    objects.extend(more.iter().cloned());
    file(&objects, "")
}

fn pdf(pages: &[String]) -> Vec<u8> {
    pdf_with(pages, "", &[])
}

fn at(x: f64, y: f64, font: &str, size: f64, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
    format!("BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
}

fn lines(x: f64, y: f64, texts: &[&str]) -> String {
    texts.iter().enumerate().map(|(n, text)| at(x, y - 12.0 * n as f64, "F1", 10.0, text)).collect()
}

const LONG: [&str; 3] = [
    "The processor shall implement technical and organisational measures that are fit for the risk",
    "of the processing, and shall look after them for as long as this agreement lasts, and inter-",
    "nally tell all who work for it what they are and why they matter to all of us.",
];

#[test]
fn headings_paragraphs_and_hyphenated_words() {
    let page = [
        at(50.0, 740.0, "F2", 20.0, "Data Processing Agreement"),
        lines(50.0, 700.0, &LONG),
        at(50.0, 640.0, "F2", 10.0, "2.3 Security Measures"),
        lines(50.0, 622.0, &LONG),
        at(50.0, 560.0, "F2", 10.0, "Definitions"),
        lines(
            50.0,
            542.0,
            &["(a) one thing;", "(b) another thing.", "- a bullet", "2.4 Audit", "The customer may look at it."],
        ),
    ];
    assert_snapshot!(draw("a.pdf", &pdf(&[page.concat()])), @r"
    1 «Data Processing Agreement» page 1
      The processor shall implement technical and organisational measures that are fit for the risk of the processing, and shall look after them for as long as this agreement lasts, and internally tell all who work for it what they are and why they matter to all of us.
    3 «2.3 Security Measures» [2.3] page 1 in «Data Processing Agreement»
      The processor shall implement technical and organisational measures that are fit for the risk of the processing, and shall look after them for as long as this agreement lasts, and internally tell all who work for it what they are and why they matter to all of us.
    2 «Definitions» page 1 in «Data Processing Agreement»
      (a) one thing;
      (b) another thing.
      - a bullet
    4 «2.4 Audit» [2.4] page 1 in «Definitions»
      The customer may look at it.
    ");
}

#[test]
fn columns_are_read_one_after_the_other() {
    let column = |name: &str| -> Vec<String> {
        (1..=6).map(|n| format!("{name} line {n} of a column that is quite full")).collect()
    };
    let (left, right) = (column("left"), column("right"));
    let mut page = at(50.0, 740.0, "F2", 16.0, "A Title That Goes Over Both of the Columns of It");
    for n in 0..6 {
        page += &at(50.0, 700.0 - 12.0 * n as f64, "F1", 10.0, &left[n]);
        page += &at(310.0, 700.0 - 12.0 * n as f64, "F1", 10.0, &right[n]);
    }
    assert_snapshot!(draw("a.pdf", &pdf(&[page])), @r"
    1 «A Title That Goes Over Both of the Columns of It» page 1
      left line 1 of a column that is quite full left line 2 of a column that is quite full left line 3 of a column that is quite full left line 4 of a column that is quite full left line 5 of a column that is quite full left line 6 of a column that is quite full right line 1 of a column that is quite full right line 2 of a column that is quite full right line 3 of a column that is quite full right line 4 of a column that is quite full right line 5 of a column that is quite full right line 6 of a column that is quite full
    ");
}

#[test]
fn columns_need_no_common_baselines() {
    let column = |name: &str, n: usize| format!("{name} line {n} of a column that is quite full");
    let mut page = String::new();
    for n in 0..6 {
        page += &at(50.0, 700.0 - 12.0 * n as f64, "F1", 10.0, &column("left", n));
        page += &at(310.0, 706.0 - 12.0 * n as f64, "F1", 10.0, &column("right", n));
    }
    let drawn = draw("a.pdf", &pdf(&[page]));
    assert!(drawn.contains("left line 5 of a column that is quite full right line 0"), "{drawn}");
}

#[test]
fn tables_keep_their_rows() {
    let mut page = lines(50.0, 740.0, &LONG);
    for (n, row) in [["Name", "Kept", "Why"], ["Log", "30 days", "law"], ["Mail", "never", "taste"]].iter().enumerate()
    {
        for (x, cell) in [50.0, 200.0, 350.0].iter().zip(row) {
            page += &at(*x, 680.0 - 14.0 * n as f64, "F1", 10.0, cell);
        }
    }
    assert_snapshot!(draw("a.pdf", &pdf(&[page])), @r"
    0 «» page 1
      The processor shall implement technical and organisational measures that are fit for the risk of the processing, and shall look after them for as long as this agreement lasts, and internally tell all who work for it what they are and why they matter to all of us.

      Name | Kept | Why
      Log | 30 days | law
      Mail | never | taste
    ");
}

#[test]
fn cells_may_have_several_lines() {
    // Lines of a cell are 12 points apart, rows 18.
    let cells = [
        (50.0, 740.0, "Measure"),
        (200.0, 740.0, "Greatest value"),
        (350.0, 740.0, "Kept by"),
        (200.0, 728.0, "in the year"),
        (50.0, 710.0, "Longest time until"),
        (200.0, 710.0, "4 hours"),
        (350.0, 710.0, "control room"),
        (50.0, 698.0, "all are restored"),
        (350.0, 698.0, "and guards"),
        (50.0, 680.0, "Loss of data"),
        (200.0, 680.0, "none"),
        (50.0, 668.0, "on disks"),
    ];
    let table: String = cells.iter().map(|(x, y, text)| at(*x, *y, "F1", 10.0, text)).collect();
    let page = [table, at(50.0, 640.0, "F1", 10.0, "A line below the table.")].concat();
    assert_snapshot!(draw("a.pdf", &pdf(&[page])), @r"
    0 «» page 1
      Measure | Greatest value in the year | Kept by
      Longest time until all are restored | 4 hours | control room and guards
      Loss of data on disks | none

      A line below the table.
    ");
}

#[test]
fn table_in_a_column_does_not_break_the_columns() {
    let column = |name: &str, n: usize| format!("{name} line {n} of a column that is quite full");
    let mut page = String::new();
    for n in 0..12 {
        let y = 700.0 - 12.0 * n as f64;
        page += &at(310.0, y, "F1", 10.0, &column("right", n));
        match n {
            6..10 => {
                for (x, cell) in [(50.0, "Kept"), (120.0, "days"), (190.0, "ever")] {
                    page += &at(x, y, "F1", 10.0, &format!("{cell} {n}"));
                }
            }
            _ => page += &at(50.0, y, "F1", 10.0, &column("left", n)),
        }
    }
    let drawn = draw("a.pdf", &pdf(&[page]));
    assert!(drawn.contains("Kept 8 | days 8 | ever 8\n"), "{drawn}");
    let (left, right) = (drawn.find("left line 11").unwrap(), drawn.find("right line 0").unwrap());
    assert!(left < right, "{drawn}");
}

#[test]
fn separated_headers_and_footers_of_two_pages_are_removed() {
    let page = |n: usize, top: f64| {
        [
            at(50.0, top, "F1", 8.0, "Agreement of the Parties"),
            lines(50.0, 740.0, &["The same is said on both of the pages.", &format!("It is said {n} times.")]),
            at(280.0, 30.0, "F1", 8.0, &format!("Page {n} of 2")),
        ]
        .concat()
    };
    let apart = draw("a.pdf", &pdf(&[page(1, 780.0), page(2, 780.0)]));
    assert!(apart.contains("note: running heads and feet left out (4 lines)"), "{apart}");
    assert_eq!(apart.matches("The same is said").count(), 2, "{apart}");
    let near = draw("a.pdf", &pdf(&[page(1, 752.0), page(2, 752.0)]));
    assert!(near.contains("note: running heads and feet left out (2 lines)"), "{near}");
}

#[test]
fn running_headers_and_footers_are_removed() {
    let page = |n: usize| {
        [
            at(50.0, 780.0, "F1", 8.0, "Agreement of the Parties"),
            at(50.0, 700.0 - 40.0 * n as f64, "F2", 10.0, &format!("{n}.1 Part")),
            lines(
                50.0,
                600.0 - 20.0 * n as f64,
                &["This is said on each of the pages,", &format!("for the {n}. time.")],
            ),
            at(280.0, 30.0, "F1", 8.0, &format!("Page {n} of 4")),
        ]
        .concat()
    };
    assert_snapshot!(draw("a.pdf", &pdf(&[page(1), page(2), page(3), page(4)])), @r"
    2 «1.1 Part» [1.1] page 1
      This is said on each of the pages, for the 1. time.
    2 «2.1 Part» [2.1] page 2
      This is said on each of the pages, for the 2. time.
    2 «3.1 Part» [3.1] page 3
      This is said on each of the pages, for the 3. time.
    2 «4.1 Part» [4.1] page 4
      This is said on each of the pages, for the 4. time.
    note: running heads and feet left out (8 lines)
    ");
}

#[test]
fn text_continues_over_pages_and_in_forms() {
    let first = lines(50.0, 60.0, &["A sentence that starts on one page, and that goes on and on until it comes to"]);
    let second = "q 1 0 0 1 0 0 cm /Fm Do Q\n".to_owned();
    let form = at(0.0, 700.0, "F1", 10.0, "its end on the next one.");
    let more = [stream("/Type /XObject /Subtype /Form /Matrix [1 0 0 1 50 0]", form.as_bytes())];
    let bytes = pdf_with(&[first, second], "/XObject << /Fm 7 0 R >>", &more);
    assert_snapshot!(draw("a.pdf", &bytes), @r"
    0 «» pages 1–2
      A sentence that starts on one page, and that goes on and on until it comes to its end on the next one.
    ");
}

#[test]
fn pages_without_text_are_reported() {
    let image = "q 600 0 0 800 0 0 cm 0 0 600 800 re f Q".to_owned();
    let expect = "a.pdf: there is no text on any of its 2 pages; it was probably scanned, so run text recognition (OCR) over it first";
    assert_eq!(refusal("a.pdf", &pdf(&[image.clone(), image.clone()])), expect);
    let some = draw("a.pdf", &pdf(&[at(50.0, 700.0, "F1", 10.0, "Words."), image.clone(), image]));
    assert!(some.contains("note: pages that have no text; they are empty, or were scanned: 2–3"), "{some}");
}

#[test]
fn damaged_and_locked_files_are_refused() {
    for (bytes, expect) in [
        (b"hello".to_vec(), "this is no PDF"),
        (b"%PDF-1.4\n".to_vec(), "this PDF is damaged"),
        (b"%PDF-1.4\nxref\n0 99999999\ntrailer\nstartxref\n9\n%%EOF".to_vec(), "damaged"),
        (file(&[b"<< /Type /Catalog >>".to_vec()], ""), "this PDF has no pages"),
        (file(&[b"<< /Type /Catalog >>".to_vec()], "/Encrypt << /Filter /Standard >>"), "this is a locked PDF"),
    ] {
        let error = refusal("a.pdf", &bytes);
        assert!(error.contains(expect), "{error}");
    }
}

fn packed(n: usize) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    (0..n).for_each(|_| encoder.write_all(&[b' '; 1 << 16]).unwrap());
    encoder.finish().unwrap()
}

#[test]
fn cycles_and_decompression_bombs_are_bounded() {
    let words = at(50.0, 700.0, "F1", 10.0, "Words.");
    // A form that draws itself twice.
    let form = stream("/Type /XObject /Subtype /Form", format!("{words} /Fm Do /Fm Do").as_bytes());
    let bytes = pdf_with(&[format!("{words} /Fm Do")], "/XObject << /Fm 5 0 R >>", &[form]);
    assert!(draw("a.pdf", &bytes).contains("Words."));
    // A page tree that contains itself, a page that is its own parent, and objects that refer to each other.
    let catalogue = b"<< /Type /Catalog /Pages 2 0 R >>".to_vec();
    for tree in
        ["<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>", "2 0 R", "<< /Type /Page /Parent 2 0 R /Contents 3 0 R >>"]
    {
        let bytes = file(&[catalogue.clone(), tree.as_bytes().to_vec(), b"3 0 R".to_vec()], "");
        refusal("a.pdf", &bytes);
    }
    let limits = IngestLimits { unpacked_bytes: 1 << 20, ..IngestLimits::default() };
    let refused = |bytes: &[u8]| ingest("a.pdf", bytes, &limits).expect_err("the document was accepted").to_string();
    let page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>".to_vec();
    let tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec();
    let bomb = stream("/Filter /FlateDecode", &packed(64));
    let error = refused(&file(&[catalogue.clone(), tree.clone(), page.clone(), bomb], ""));
    assert!(error.contains("what is packed in it exceeds the limit for one document"), "{error}");
    // Independent of the length of the dictionary.
    for padding in [0, 5000] {
        let entries = format!("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode{}", " ".repeat(padding));
        let objects = stream(&entries, &packed(64));
        let error = refused(&file(&[catalogue.clone(), tree.clone(), page.clone(), objects], ""));
        assert!(error.contains("what is packed in it exceeds the limit for one document"), "{error}");
    }
    let few = IngestLimits { pages: 2, ..IngestLimits::default() };
    let error = ingest("a.pdf", &pdf(&[words.clone(), words.clone(), words]), &few)
        .expect_err("the document was accepted")
        .to_string();
    assert!(error.contains("the number of its pages exceeds the limit for one document (2)"), "{error}");
}

#[test]
fn unknown_operations_and_damage_do_not_panic() {
    let page = format!(
        "(before any font) Tj\n{}/F9 10 Tf (no such font) Tj\n/Nothing Do\n1 2 cm\n(x) Tm\nQ Q Q\n[(a) /x 5 (b)] TJ\n{}",
        at(50.0, 700.0, "F1", 10.0, "First."),
        at(50.0, 600.0, "F1", 10.0, "Last."),
    );
    let drawn = draw("a.pdf", &pdf(&[page]));
    assert!(drawn.contains("First.") && drawn.contains("Last."), "{drawn}");
    let whole = pdf(&[lines(50.0, 700.0, &LONG)]);
    for n in (0..whole.len()).step_by(37) {
        let _ = ingest("a.pdf", &whole[..n], &IngestLimits::default());
        let mut damaged = whole.clone();
        damaged[n] = b"0<>/[(R \xff"[n % 9];
        let _ = ingest("a.pdf", &damaged, &IngestLimits::default());
    }
}
