//! Symbols of source code in every language.

use karat_core::lines::Lines;
use karat_source::language::Language;
use karat_source::symbols::Symbols;

/// All languages, as the first byte chooses them.
pub const LANGUAGES: [Language; 11] = [
    Language::TypeScript,
    Language::Tsx,
    Language::JavaScript,
    Language::Python,
    Language::Java,
    Language::Go,
    Language::Rust,
    Language::C,
    Language::Cpp,
    Language::Ruby,
    Language::Solidity,
];

/// Every line has one well-formed symbol, and the same one each time.
pub fn check(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let language = LANGUAGES[usize::from(choice) % LANGUAGES.len()];
    let source = String::from_utf8_lossy(bytes);
    let Some(symbols) = Symbols::parse(language, &source) else { return };
    let again = Symbols::parse(language, &source);
    let at = |symbols: &Symbols, line| symbols.around(Lines { start: line, end: line });
    for line in 1..=symbols.line_count().min(300) {
        let symbol = at(&symbols, line);
        let ordinal =
            symbol.rsplit_once('#').and_then(|(name, n)| (!name.is_empty()).then(|| n.parse::<u32>().ok())?);
        assert!(ordinal.is_some_and(|n| n > 0), "line {line} lies in {symbol:?}");
        assert!(!symbol.contains(['\n', '\r']), "line {line} lies in {symbol:?}");
        assert_eq!(again.as_ref().map(|again| at(again, line)), Some(symbol));
    }
    symbols.around(Lines { start: 1, end: u32::MAX });
    at(&symbols, 0);
    at(&symbols, u32::MAX);
}
