//! Writes identity keys into scan findings, and leaves every other byte as it is.

use super::{ScanFinding, finding};
use crate::ImportError;
use crate::json;
use crate::note_counter::NoteCounter;
use karat_core::identity::key;
use karat_core::profile::IdentityRules;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Scan findings with their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyedScan {
    /// The text of the file with the keys.
    pub text: String,
    /// Findings that got a key.
    pub added: usize,
    /// Findings whose v2 key was another one.
    pub replaced: usize,
    /// Findings whose own key stays, since it is the same or no v2 key.
    pub kept: usize,
    /// Findings that no key can be built for.
    pub keyless: usize,
}

impl KeyedScan {
    /// Whether the text differs from that of the file.
    pub fn is_changed(&self) -> bool {
        self.added + self.replaced > 0
    }
}

/// The members of an object, by name, as they are written. Of repeated ones, the last counts.
type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

const KEY: &str = "identityKeyV2";
/// The other spelling that the importer reads.
const KEY_ALIAS: &str = "identity_key_v2";

/// Adds `details.identityKeyV2` to each finding of an array, or of the array `findings` of an object.
pub fn add_keys(path: &Path, text: &str, rules: &IdentityRules) -> Result<KeyedScan, ImportError> {
    // A byte order mark stays where it is.
    let document = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fault = |error| json::fault(path, error);
    let findings: Vec<&RawValue> = match document.trim_start().starts_with('{') {
        false => serde_json::from_str(document).map_err(fault)?,
        true => {
            let members: Members<'_> = serde_json::from_str(document).map_err(fault)?;
            if members.contains_key("case") || members.contains_key("outcome") {
                return Err(json::malformed(path, format!("is a submission; {WRITABLE}")));
            }
            let Some(list) = members.get("findings") else {
                return Err(json::malformed(path, format!("missing array `findings`; {WRITABLE}")));
            };
            serde_json::from_str(list.get()).map_err(fault)?
        }
    };
    let mut keyed = KeyedScan::default();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for raw in findings {
        let scanned: ScanFinding = serde_json::from_str(raw.get()).map_err(fault)?;
        let computed = finding(scanned, &mut NoteCounter::default()).and_then(|own| key::computed_key(&own, rules));
        let Some(computed) = computed else {
            keyed.keyless += 1;
            continue;
        };
        let members: Members<'_> = serde_json::from_str(raw.get()).map_err(fault)?;
        let details = members.get("details").copied().filter(|details| details.get() != "null");
        let Some(details) = details else {
            let value = format!("{{\"{KEY}\": {}}}", quoted(&computed));
            edits.push(match members.get("details") {
                Some(null) => (range(text, null), value),
                None => insertion(text, raw, "details", &value),
            });
            keyed.added += 1;
            continue;
        };
        let own: Members<'_> = serde_json::from_str(details.get()).map_err(fault)?;
        let Some(stated) = [KEY, KEY_ALIAS].iter().find_map(|name| own.get(*name)) else {
            edits.push(insertion(text, details, KEY, &quoted(&computed)));
            keyed.added += 1;
            continue;
        };
        let words: Option<String> = serde_json::from_str(stated.get()).map_err(fault)?;
        match words.filter(|words| !words.trim().is_empty()) {
            None => {
                edits.push((range(text, stated), quoted(&computed)));
                keyed.added += 1;
            }
            Some(words) if words == computed || !words.starts_with("v2|") => keyed.kept += 1,
            Some(_) => {
                edits.push((range(text, stated), quoted(&computed)));
                keyed.replaced += 1;
            }
        }
    }
    keyed.text = apply(text, edits);
    Ok(keyed)
}

/// What keys can be written into.
pub const WRITABLE: &str = "keys are written into scan-findings: a JSON array of findings, or an object with `findings`; for SARIF \
                            use `karat key --sarif IN -o OUT`";

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Where a value that was read from a text is in it.
fn range(text: &str, value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr().addr() - text.as_ptr().addr();
    start..start + value.get().len()
}

/// A new last member of an object, in the layout of its first one.
fn insertion(text: &str, object: &RawValue, name: &str, value: &str) -> (Range<usize>, String) {
    let own = object.get();
    let inner = &own[1..own.len() - 1];
    let end = range(text, object).start + 1 + inner.trim_end().len();
    let colon = if has_blank_after_colon(inner) { ": " } else { ":" };
    let indent = &inner[..inner.len() - inner.trim_start().len()];
    let separator = match (inner.trim().is_empty(), indent.contains('\n')) {
        (true, _) => return (end..range(text, object).end - 1, format!("\"{name}\": {value}")),
        (false, true) => format!(",{indent}"),
        (false, false) if colon == ": " => ", ".to_owned(),
        (false, false) => ",".to_owned(),
    };
    (end..end, format!("{separator}\"{name}\"{colon}{value}"))
}

/// Whether the first member has a blank after its colon.
fn has_blank_after_colon(inner: &str) -> bool {
    let mut names = serde_json::Deserializer::from_str(inner.trim_start()).into_iter::<String>();
    let named = names.next().is_some_and(|name| name.is_ok());
    let after = &inner.trim_start()[names.byte_offset()..];
    named && after.trim_start().strip_prefix(':').is_some_and(|value| value.starts_with([' ', '\t']))
}

fn apply(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (range, new) in edits {
        out.push_str(&text[at..range.start]);
        out.push_str(&new);
        at = range.end;
    }
    out + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::profile::IdentityRules;

    const RULES: IdentityRules =
        IdentityRules { chunk_anchors: false, require_anchor: false, rule_fallback: true, include_source: false };

    fn keyed(text: &str) -> KeyedScan {
        let found = add_keys(Path::new("scan.json"), text, &RULES);
        found.unwrap_or_else(|error| panic!("{error}"))
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let found = keyed(text);
        assert_eq!(found.text, expect);
        assert!(serde_json::from_str::<serde_json::Value>(found.text.trim_start_matches('\u{feff}')).is_ok());
        assert_eq!(found.is_changed(), text != expect);
        // Writing twice changes nothing more.
        let again = keyed(expect);
        assert_eq!((again.text.as_str(), again.is_changed()), (expect, false));
    }

    const LOCATION: &str = r#""location":{"filepath":"a.ts","startLine":4}"#;

    #[test]
    fn keys_are_added_in_the_layout_of_the_file() {
        let compact = format!(r#"[{{{LOCATION},"details":{{"ruleId":"R"}}}}]"#);
        check(&compact, &compact.replace(r#""R"}"#, r#""R","identityKeyV2":"v2|a.ts|r|lines:4-4"}"#));
        let spaced =
            format!("\u{feff}{{\"n\": 1.50, \"findings\": [{{{LOCATION}, \"details\": {{\"ruleId\": \"R\"}}}}]}}\n");
        check(&spaced, &spaced.replace(r#""R"}"#, r#""R", "identityKeyV2": "v2|a.ts|r|lines:4-4"}"#));
        let pretty =
            format!("[\n  {{\n    {LOCATION},\n    \"details\": {{\n      \"ruleId\": \"R\"\n    }}\n  }}\n]\n");
        let expect = pretty.replace("\"R\"\n", "\"R\",\n      \"identityKeyV2\": \"v2|a.ts|r|lines:4-4\"\n");
        check(&pretty, &expect);
        check(&pretty.replace('\n', "\r\n"), &expect.replace('\n', "\r\n"));
        // In the place of what is there.
        for old in [r#""v2|old""#, "null", r#""""#] {
            let text = format!(r#"[{{{LOCATION},"details":{{"identity_key_v2":{old},"ruleId":"R","big":1.50e3}}}}]"#);
            check(&text, &text.replace(old, r#""v2|a.ts|r|lines:4-4""#));
        }
    }

    #[test]
    fn other_keys_and_findings_without_one_stay() {
        let text = format!(
            r#"[{{{LOCATION},"details":{{"ruleId":"R","identityKeyV2":"v3|own"}}}},{{{LOCATION}}},{{"details":null}},{{}},{{{LOCATION},"details":{{"ruleId":"R"}}}}]"#
        );
        let found = keyed(&text);
        assert_eq!((found.added, found.replaced, found.kept, found.keyless), (1, 0, 1, 3));
        assert!(found.text.contains(r#""identityKeyV2":"v3|own""#), "{}", found.text);
    }

    #[test]
    fn what_is_no_scan_is_refused() {
        let refused = |text: &str, expect: &str| {
            let error = add_keys(Path::new("x"), text, &RULES).err().unwrap();
            assert!(error.to_string().contains(expect), "{error}");
        };
        refused(r#"{"case":"c","tool":"t","findings":[]}"#, "is a submission; keys are written into scan-findings");
        refused(r#"{"runs":[]}"#, "missing array `findings`; keys are written into scan-findings");
        refused("[{\"details\":", "x:");
        refused("3", "invalid type");
    }
}
