//! New names that a reader would accept for the same things.

use std::collections::{BTreeMap, BTreeSet};

/// Parts of names that mean the same.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("amount", &["quantity", "volume"]),
    ("answer", &["reply", "response"]),
    ("args", &["arguments", "params"]),
    ("batch", &["bundle", "lot"]),
    ("buf", &["buffer", "scratch"]),
    ("buffer", &["scratch", "storage"]),
    ("bytes", &["octets", "payload"]),
    ("callback", &["handler", "hook"]),
    ("chunk", &["piece", "portion"]),
    ("client", &["caller", "consumer"]),
    ("code", &["token", "symbol"]),
    ("column", &["col", "lane"]),
    ("config", &["settings", "setup"]),
    ("content", &["body", "payload"]),
    ("count", &["tally", "quantity"]),
    ("current", &["present", "active"]),
    ("customer", &["buyer", "patron"]),
    ("data", &["content", "payload"]),
    ("dest", &["target", "goal"]),
    ("dir", &["folder", "directory"]),
    ("directory", &["folder", "dir"]),
    ("element", &["member", "item"]),
    ("end", &["finish", "stop"]),
    ("entries", &["records", "rows"]),
    ("entry", &["record", "item"]),
    ("err", &["problem", "failure"]),
    ("error", &["problem", "failure"]),
    ("event", &["occurrence", "signal"]),
    ("events", &["occurrences", "signals"]),
    ("expected", &["wanted", "anticipated"]),
    ("field", &["column", "attribute"]),
    ("file", &["document", "path"]),
    ("first", &["leading", "initial"]),
    ("folder", &["directory", "place"]),
    ("found", &["located", "matched"]),
    ("group", &["cluster", "bunch"]),
    ("handle", &["process", "treat"]),
    ("header", &["heading", "preamble"]),
    ("i", &["idx", "pos"]),
    ("idx", &["position", "offset"]),
    ("index", &["position", "offset"]),
    ("input", &["source", "given"]),
    ("item", &["element", "piece"]),
    ("items", &["elements", "pieces"]),
    ("key", &["label", "handle"]),
    ("keys", &["labels", "handles"]),
    ("last", &["latest", "trailing"]),
    ("left", &["remaining", "rest"]),
    ("len", &["length", "extent"]),
    ("length", &["extent", "size"]),
    ("limit", &["bound", "ceiling"]),
    ("line", &["row", "record"]),
    ("lines", &["rows", "records"]),
    ("lookup", &["search", "find"]),
    ("match", &["hit", "fit"]),
    ("member", &["participant", "element"]),
    ("message", &["text", "notice"]),
    ("missing", &["absent", "lacking"]),
    ("msg", &["text", "notice"]),
    ("name", &["label", "title"]),
    ("names", &["labels", "titles"]),
    ("next", &["following", "upcoming"]),
    ("node", &["vertex", "element"]),
    ("number", &["figure", "numeral"]),
    ("offset", &["shift", "position"]),
    ("old", &["former", "previous"]),
    ("options", &["settings", "choices"]),
    ("order", &["sequence", "purchase"]),
    ("output", &["result", "outcome"]),
    ("owner", &["holder", "proprietor"]),
    ("page", &["sheet", "leaf"]),
    ("pair", &["couple", "tuple2"]),
    ("parent", &["container", "upper"]),
    ("part", &["portion", "piece"]),
    ("parts", &["portions", "pieces"]),
    ("path", &["location", "route"]),
    ("payload", &["content", "body"]),
    ("pending", &["waiting", "open_ones"]),
    ("place", &["spot", "location"]),
    ("pos", &["position", "offset"]),
    ("position", &["offset", "spot"]),
    ("previous", &["former", "earlier"]),
    ("price", &["charge", "tariff"]),
    ("product", &["article", "good"]),
    ("queue", &["backlog", "line_up"]),
    ("reader", &["source", "scanner"]),
    ("record", &["entry", "item"]),
    ("records", &["entries", "items"]),
    ("remaining", &["rest", "left_over"]),
    ("reply", &["answer", "response"]),
    ("request", &["query", "demand"]),
    ("res", &["outcome", "reply"]),
    ("response", &["reply", "answer"]),
    ("rest", &["remainder", "others"]),
    ("result", &["outcome", "product"]),
    ("results", &["outcomes", "products"]),
    ("root", &["base", "origin"]),
    ("row", &["record", "entry"]),
    ("rows", &["records", "entries"]),
    ("seen", &["visited", "known"]),
    ("session", &["visit", "sitting"]),
    ("size", &["extent", "magnitude"]),
    ("slot", &["cell", "opening"]),
    ("source", &["origin", "input"]),
    ("start", &["begin", "origin"]),
    ("state", &["condition", "status"]),
    ("status", &["state", "condition"]),
    ("store", &["storage", "keeper"]),
    ("stream", &["flow", "channel"]),
    ("tag", &["label", "mark"]),
    ("target", &["destination", "goal"]),
    ("task", &["job", "errand"]),
    ("tasks", &["jobs", "errands"]),
    ("text", &["content", "wording"]),
    ("tmp", &["temp", "scratch"]),
    ("token", &["marker", "ticket"]),
    ("total", &["grand_total", "whole"]),
    ("url", &["address", "link"]),
    ("user", &["account", "person"]),
    ("users", &["accounts", "persons"]),
    ("value", &["content", "datum"]),
    ("values", &["contents", "figures"]),
    ("wait", &["pause", "await_turn"]),
    ("width", &["breadth", "extent"]),
    ("worker", &["runner", "helper"]),
    ("writer", &["sink", "recorder"]),
];

/// What is put in front of a name without a synonym.
const PREFIXES: [&str; 5] = ["the", "own", "given", "this", "one"];
/// The same for functions and variables of a whole file.
const GLOBAL_PREFIXES: [&str; 3] = ["do", "app", "my"];

/// How compound names are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameStyle {
    /// `two_words`
    Snake,
    /// `twoWords`
    Camel,
}

/// A choice among so many things that depends on the seed and a text alone.
pub(super) fn choose(seed: u64, text: &str, among: usize) -> usize {
    let hash = blake3::hash(format!("{seed}\0{text}").as_bytes());
    let number = hash.as_bytes().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    usize::try_from(number % u64::try_from(among.max(1)).unwrap_or(1)).unwrap_or(0)
}

/// Makes names that occur nowhere yet.
pub(super) struct NameMaker {
    seed: u64,
    style: NameStyle,
    /// Every word that must not be used.
    taken: BTreeSet<String>,
    synonyms: BTreeMap<&'static str, &'static [&'static str]>,
}

impl NameMaker {
    pub(super) fn new(seed: u64, style: NameStyle, taken: BTreeSet<String>) -> Self {
        Self { seed, style, taken, synonyms: SYNONYMS.iter().copied().collect() }
    }

    /// A new name for an old one; `None` if no good one is left.
    pub(super) fn rename(&mut self, old: &str, is_global: bool) -> Option<String> {
        let core = old.trim_matches('_');
        let (lead, trail) = old.split_once(core).filter(|_| !core.is_empty())?;
        let shape = Shape::of(core);
        let parts = split(core);
        let mut by_synonym = parts.clone();
        let mut is_changed = false;
        for part in &mut by_synonym {
            if let Some(same) = self.synonyms.get(part.as_str()) {
                let choice = same[choose(self.seed, &format!("{old}.{part}"), same.len())];
                *part = choice.to_owned();
                is_changed = true;
            }
        }
        let prefixes: &[&str] = if is_global { &GLOBAL_PREFIXES } else { &PREFIXES };
        let first = choose(self.seed, old, prefixes.len());
        let prefixed = (0..prefixes.len()).map(|step| {
            let prefix = prefixes[(first + step) % prefixes.len()].to_owned();
            std::iter::once(prefix).chain(parts.iter().cloned()).collect::<Vec<_>>()
        });
        // A single word may be the name of something in a library.
        let by_synonym = (is_changed && (!is_global || by_synonym.len() > 1)).then_some(by_synonym);
        let mut candidates = by_synonym.into_iter().chain(prefixed).map(|parts| {
            let parts: Vec<String> = parts.iter().flat_map(|part| part.split('_')).map(str::to_owned).collect();
            format!("{lead}{}{trail}", shape.join(&parts, self.style))
        });
        let found = candidates.find(|name| !self.taken.contains(name))?;
        self.taken.insert(found.clone());
        Some(found)
    }

    /// The name of something new, of these words.
    pub(super) fn create(&mut self, words: &[&str]) -> Option<String> {
        let parts: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let plain = Shape::Lower.join(&parts, self.style);
        let numbered = (2..10).map(|number| format!("{plain}{number}"));
        let found = std::iter::once(plain.clone()).chain(numbered).find(|name| !self.taken.contains(name))?;
        self.taken.insert(found.clone());
        Some(found)
    }
}

/// The capital letters of a name.
#[derive(Clone, Copy)]
enum Shape {
    Lower,
    Capitalised,
    Screaming,
    /// `two_words` in a language of `twoWords`.
    Snake,
}

impl Shape {
    fn of(name: &str) -> Self {
        let has_lower = name.contains(char::is_lowercase);
        match name.chars().next() {
            _ if !has_lower => Self::Screaming,
            Some(first) if first.is_uppercase() => Self::Capitalised,
            _ if name.contains('_') => Self::Snake,
            _ => Self::Lower,
        }
    }

    fn join(self, parts: &[String], style: NameStyle) -> String {
        let capital = |part: &String| {
            let mut letters = part.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        };
        match (self, style) {
            (Self::Screaming, _) => parts.join("_").to_uppercase(),
            (Self::Capitalised, _) => parts.iter().map(capital).collect(),
            (Self::Snake, _) | (Self::Lower, NameStyle::Snake) => parts.join("_"),
            (Self::Lower, NameStyle::Camel) => {
                let rest: String = parts.iter().skip(1).map(capital).collect();
                format!("{}{rest}", parts.first().map_or("", String::as_str))
            }
        }
    }
}

/// The words of a name, in small letters.
fn split(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for run in name.split('_').filter(|run| !run.is_empty()) {
        let mut part = String::new();
        let mut last_lower = false;
        for c in run.chars() {
            if c.is_uppercase() && last_lower {
                parts.push(std::mem::take(&mut part));
            }
            last_lower = c.is_lowercase() || c.is_numeric();
            part.extend(c.to_lowercase());
        }
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_style_and_are_never_used_twice() {
        let mut maker = NameMaker::new(1, NameStyle::Camel, ["ownThing".to_owned()].into());
        let names: Vec<String> = ["entryCount", "thing", "MAX_ENTRY", "_privateRow", "EntryPart", "snake_row"]
            .iter()
            .map(|old| maker.rename(old, false).unwrap())
            .collect();
        assert!(names.iter().all(|name| name != "ownThing"), "{names:?}");
        assert!(names[0].contains(char::is_uppercase) && !names[0].contains('_'), "{names:?}");
        assert!(names[2].chars().all(|c| c == '_' || c.is_uppercase()), "{names:?}");
        assert!(names[3].starts_with('_') && names[4].starts_with(char::is_uppercase), "{names:?}");
        assert!(names[5].contains('_') && !names[5].contains(char::is_uppercase), "{names:?}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let again = NameMaker::new(1, NameStyle::Camel, ["ownThing".to_owned()].into()).rename("entryCount", false);
        assert_eq!(again.as_ref(), names.first());
    }
}
