//! Parses and writes ToUnicode tables of fonts.

use std::collections::BTreeMap;

const MOST_CODES: usize = 65_536;

/// Parses what it can. Ranges are bounded, so that a few bytes cannot stand for millions.
pub(super) fn read(table: &[u8]) -> BTreeMap<u32, String> {
    let mut found = BTreeMap::new();
    let mut rest = table;
    let mut mode = Mode::None;
    while let Some(token) = next_token(&mut rest) {
        match (token, &mode) {
            (Token::Word(b"beginbfchar"), _) => mode = Mode::Single,
            (Token::Word(b"beginbfrange"), _) => mode = Mode::Range,
            (Token::Word(b"endbfchar" | b"endbfrange"), _) => mode = Mode::None,
            (Token::Hex(code), Mode::Single) => {
                if let Some(Token::Hex(text)) = next_token(&mut rest) {
                    insert(&mut found, number(&code), &text);
                }
            }
            (Token::Hex(low), Mode::Range) => {
                let Some(Token::Hex(high)) = next_token(&mut rest) else { continue };
                let (low, high) = (number(&low), number(&high));
                match next_token(&mut rest) {
                    Some(Token::Hex(text)) => range(&mut found, low, high, &text),
                    Some(Token::Open) => {
                        let mut code = low;
                        while let Some(Token::Hex(text)) = next_token(&mut rest) {
                            insert(&mut found, code, &text);
                            code = code.saturating_add(1);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found
}

pub(super) fn write(table: &BTreeMap<u32, String>) -> Vec<u8> {
    let mut out = String::from("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n");
    let entries: Vec<(&u32, &String)> = table.iter().collect();
    for part in entries.chunks(100) {
        out.push_str(&format!("{} beginbfchar\n", part.len()));
        for (code, text) in part {
            let hex: String = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
            out.push_str(&format!("<{code:04X}> <{hex}>\n"));
        }
        out.push_str("endbfchar\n");
    }
    out.push_str("endcmap\nend\nend\n");
    out.into_bytes()
}

enum Mode {
    None,
    Single,
    Range,
}

fn range(found: &mut BTreeMap<u32, String>, low: u32, high: u32, text: &[u8]) {
    let Some((end, start)) = text.split_last_chunk::<2>().map(|(start, end)| (u16::from_be_bytes(*end), start)) else {
        return;
    };
    for (step, code) in (low..=high).enumerate().take(MOST_CODES) {
        let Some(unit) = u16::try_from(step).ok().and_then(|step| end.checked_add(step)) else { return };
        insert(found, code, &[start, &unit.to_be_bytes()].concat());
    }
}

fn insert(found: &mut BTreeMap<u32, String>, code: u32, text: &[u8]) {
    let units: Vec<u16> = match text {
        [single] => vec![u16::from(*single)],
        _ => text.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect(),
    };
    if found.len() < MOST_CODES
        && units.len() <= 32
        && let Ok(text) = String::from_utf16(&units)
    {
        found.insert(code, text);
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

enum Token<'a> {
    Hex(Vec<u8>),
    Open,
    Word(&'a [u8]),
}

fn next_token<'a>(rest: &mut &'a [u8]) -> Option<Token<'a>> {
    let until = |rest: &[u8], ends: &dyn Fn(u8) -> bool| rest.iter().position(|b| ends(*b)).unwrap_or(rest.len());
    loop {
        *rest = rest.trim_ascii_start();
        match *rest.first()? {
            b'%' => *rest = &rest[until(rest, &|b| b == b'\n' || b == b'\r')..],
            b'<' if rest.get(1) != Some(&b'<') => {
                let end = until(rest, &|b| b == b'>');
                let digits: Vec<u8> = rest[1..end].iter().filter_map(|b| hex(*b)).collect();
                *rest = rest.get(end + 1..).unwrap_or_default();
                let bytes = digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).unwrap_or(&0));
                return Some(Token::Hex(bytes.collect()));
            }
            b'[' => {
                *rest = &rest[1..];
                return Some(Token::Open);
            }
            b'<' | b'>' | b']' | b'/' | b'(' | b')' | b'{' | b'}' => *rest = &rest[1..],
            _ => {
                let end = until(rest, &|b| b.is_ascii_whitespace() || b"<>[]()/%{}".contains(&b)).max(1);
                let (word, behind) = rest.split_at(end);
                *rest = behind;
                return Some(Token::Word(word));
            }
        }
    }
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_and_written() {
        let table = b"1 beginbfchar <0003> <0020> endbfchar 2 beginbfrange <0010> <0012> <0041>\n<20> <21> [<00660069> <D83DDE00>] endbfrange";
        let found = read(table);
        let shown: Vec<String> = found.iter().map(|(code, text)| format!("{code:x}={text}")).collect();
        assert_eq!(shown, ["3= ", "10=A", "11=B", "12=C", "20=fi", "21=😀"]);
        assert_eq!(read(&write(&found)), found);
    }

    #[test]
    fn malicious_tables_are_bounded() {
        let found = read(b"beginbfrange <00000000> <ffffffff> <0000> endbfrange");
        assert!(found.len() <= MOST_CODES, "{}", found.len());
        for bytes in
            [&b"beginbfchar <"[..], b"beginbfrange <00> <01>", b"beginbfrange <01> <00> <0041>", b"<<<<>>[", b"%"]
        {
            assert!(read(bytes).is_empty());
        }
    }
}
