//! A suite of any size with tools that were run on it: texts as people and tools write them, code in the first cases, failures,
//! confidences and costs. The same numbers give the same bytes.

use super::draw::Draw;
use super::faults::{FAULTS, Fault, filler};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

/// How large.
#[derive(Clone, Copy)]
pub(crate) struct Large {
    pub(crate) cases: usize,
    pub(crate) tools: usize,
    /// How many of the cases have code.
    pub(crate) with_code: usize,
}

impl Large {
    /// What a report must be able to hold.
    pub(crate) const BENCHMARK: Self = Self { cases: 5_000, tools: 10, with_code: 200 };
    /// More columns than a screen has room for.
    pub(crate) const CROWD: Self = Self { cases: 60, tools: 50, with_code: 6 };

    /// Writes `karat.toml`, `cases.jsonl`, code and `submissions/` into a folder.
    pub(crate) fn write(self, folder: &Path) {
        fs::create_dir_all(folder.join("submissions")).unwrap();
        fs::write(folder.join("karat.toml"), "[suite]\nname = \"made-up\"\n").unwrap();
        let mut draw = Draw::from(7);
        let cases: Vec<Case> = (0..self.cases).map(|number| Case::drawn(number, &mut draw)).collect();
        lines(&folder.join("cases.jsonl"), cases.iter().map(Case::line));
        for case in &cases[..self.with_code.min(self.cases)] {
            case.write_code(&folder.join("cases").join(case.id()));
        }
        for number in 0..self.tools {
            let tool = Tool::numbered(number);
            let mut draw = Draw::from(1_000 + number as u64);
            let file = folder.join(format!("submissions/{}.jsonl", tool.name));
            lines(&file, cases.iter().map(|case| tool.trial(case, &mut draw)));
        }
    }
}

fn lines(path: &Path, values: impl Iterator<Item = Value>) {
    let mut out = BufWriter::new(fs::File::create(path).unwrap());
    values.for_each(|value| writeln!(out, "{value}").unwrap());
    out.flush().unwrap();
}

/// A fault somewhere, or the place where there is none.
struct Place {
    fault: &'static Fault,
    function: String,
    variable: &'static str,
    about: &'static str,
    line: usize,
}

impl Place {
    fn drawn(fault: &'static Fault, line: usize, draw: &mut Draw) -> Self {
        let verbs = ["load", "find", "save", "merge", "list", "move", "copy", "check", "send", "count", "read", "open"];
        let variables = ["term", "name", "query", "entry", "payload", "source", "value", "record", "input", "key"];
        let about = draw.one_of(&ABOUT);
        let function = format!("{}_{}", draw.one_of(&verbs), about.trim_end_matches('s'));
        Self { fault, function, variable: draw.one_of(&variables), about, line }
    }

    fn fill(&self, text: &str) -> String {
        let mut capital = self.function.clone();
        capital[..1].make_ascii_uppercase();
        let text = text.replace("{f}", &self.function).replace("{F}", &capital);
        text.replace("{v}", self.variable).replace("{n}", self.about).replace("{{", "{").replace("}}", "}")
    }
}

const ABOUT: [&str; 16] = [
    "orders",
    "invoices",
    "carts",
    "sessions",
    "reports",
    "messages",
    "uploads",
    "tickets",
    "accounts",
    "payments",
    "bookings",
    "contracts",
    "devices",
    "alerts",
    "notes",
    "profiles",
];

const TEAMS: [&str; 4] = ["checkout", "platform", "search", "mobile"];

struct Case {
    number: usize,
    places: Vec<Place>,
    /// One with nothing wrong in it has a place all the same: that of the mended fault.
    clean: bool,
    difficulty: &'static str,
}

impl Case {
    fn drawn(number: usize, draw: &mut Draw) -> Self {
        let clean = draw.happens(0.15);
        let fault = &FAULTS[number % FAULTS.len()];
        let most = if clean { 1 } else { 1 + draw.below(3) };
        let mut places: Vec<Place> = Vec::new();
        for _ in 0..most {
            // Each stands behind the one before, with harmless code in between.
            let height = |p: &Place| p.fault.begin.len() + p.fault.wrong.len() + p.fault.end.len() + 2;
            let top = places.iter().map(|p| height(p) + filler(fault.language).len()).sum::<usize>();
            let line = top + filler(fault.language).len() + fault.begin.len() + 1;
            places.push(Place::drawn(fault, line, draw));
        }
        Self { number, places, clean, difficulty: draw.one_of(&["easy", "medium", "medium", "hard"]) }
    }

    fn id(&self) -> String {
        format!("case-{:04}", self.number)
    }

    fn line(&self) -> Value {
        let first = &self.places[0];
        let fault = first.fault;
        let goldens: Vec<Value> = match self.clean {
            true => Vec::new(),
            false => self.places.iter().enumerate().map(|(i, place)| golden(i, place)).collect(),
        };
        json!({
            "id": self.id(),
            "name": first.fill("{n} that fit, by {v}"),
            "description": first.fill("A change to {f}, which a colleague asked for."),
            "language": fault.language,
            "difficulty": self.difficulty,
            "categories": [fault.category],
            "verdict": if self.clean { "safe" } else { "vulnerable" },
            "cwe": [fault.cwe],
            "repo": format!("made/{}", ABOUT[self.number / 40 % ABOUT.len()]),
            "pr": { "title": first.fill("Show {n} by {v}"), "description": first.fill("Adds {f}, so that the page of {n} can be narrowed down.") },
            "issues": goldens,
            "meta": { "team": TEAMS[self.number % TEAMS.len()], "year": 2019 + self.number % 7 },
        })
    }

    fn write_code(&self, folder: &Path) {
        for (side, faulty) in [("before", false), ("after", !self.clean)] {
            let mut text = Vec::new();
            for place in &self.places {
                let fault = place.fault;
                text.extend(filler(fault.language).iter().map(|line| place.fill(line)));
                let middle = if faulty { fault.wrong } else { fault.right };
                for line in fault.begin.iter().chain(middle).chain(fault.end) {
                    text.push(place.fill(line));
                }
                text.extend([String::new(), String::new()]);
            }
            let path = folder.join(side).join(self.places[0].fault.file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.join("\n") + "\n").unwrap();
        }
    }
}

fn golden(number: usize, place: &Place) -> Value {
    let fault = place.fault;
    json!({
        "id": format!("g{}", number + 1),
        "severity": fault.severity,
        "category": fault.category,
        "file": fault.file,
        "line_start": place.line,
        "line_end": place.line + fault.wrong.len() - 1,
        "function": place.function,
        "title": place.fill(fault.title),
        "description": place.fill(fault.description),
        "keywords": fault.keywords,
        "rule_id": fault.rule,
        "cwe": [fault.cwe],
        "target": number == 0,
    })
}

struct Tool {
    name: String,
    /// How much it finds, and how many false alarms it raises on a case.
    finds: f64,
    alarms: f64,
    usd: f64,
    static_analysis: bool,
}

impl Tool {
    fn numbered(number: usize) -> Self {
        let names = [
            "harbour",
            "lantern",
            "meridian",
            "quarry",
            "saltmarsh",
            "tamarind",
            "umber",
            "vellum",
            "wicket",
            "yarrow",
        ];
        let name = match number / names.len() {
            0 => names[number].to_owned(),
            more => format!("{}-{}", names[number % names.len()], more + 1),
        };
        let mut draw = Draw::from(number as u64);
        let static_analysis = number % 3 == 1;
        let (finds, alarms) = (0.3 + 0.55 * draw.share(), 0.1 + 1.2 * draw.share());
        let usd = if static_analysis { 0.0 } else { 0.002 + 0.03 * draw.share() };
        Self { name, finds, alarms, usd, static_analysis }
    }

    fn trial(&self, case: &Case, draw: &mut Draw) -> Value {
        let latency = (300.0 + 9_000.0 * draw.share()).round();
        let failed = ["crashed", "timed_out", "unparsable"].get(draw.below(200));
        let mut line = json!({
            "case": case.id(), "tool": self.name, "trial": 1, "outcome": failed.unwrap_or(&"reported"), "latency_ms": latency,
        });
        if !self.static_analysis {
            line["tokens_in"] = json!(900 + draw.below(4_000));
            line["tokens_out"] = json!(80 + draw.below(900));
            line["cost_usd"] = json!((self.usd * (0.5 + draw.share()) * 1e6).round() / 1e6);
        }
        if failed.is_some() {
            return line;
        }
        let findings = self.findings(case, draw);
        line["verdict"] = json!(if findings.is_empty() { "safe" } else { "vulnerable" });
        line["confidence"] = json!(percent(0.5 + 0.5 * draw.share()));
        line["findings"] = json!(findings);
        line
    }

    fn findings(&self, case: &Case, draw: &mut Draw) -> Vec<Value> {
        let ease = match case.difficulty {
            "easy" => 1.1,
            "hard" => 0.6,
            _ => 0.9,
        };
        let mut found = Vec::new();
        for place in case.places.iter().filter(|_| !case.clean) {
            if draw.happens(self.finds * ease) {
                let off = draw.below(3);
                found.push(self.finding(found.len(), place, place.line + off, draw));
            }
        }
        while draw.happens(self.alarms / (1.0 + self.alarms)) {
            let fault = &FAULTS[draw.below(FAULTS.len())];
            let line = 1 + draw.below(60);
            let mut alarm = Place::drawn(fault, line, draw);
            // An alarm lies in the code of the case, whatever it is about.
            alarm.function.clone_from(&case.places[0].function);
            let mut finding = self.finding(found.len(), &alarm, line, draw);
            finding["file"] = json!(case.places[0].fault.file);
            found.push(finding);
        }
        found
    }

    fn finding(&self, number: usize, place: &Place, line: usize, draw: &mut Draw) -> Value {
        let fault = place.fault;
        let mut finding = json!({
            "id": format!("f{}", number + 1),
            "message": place.fill(draw.one_of(fault.said)),
            "file": fault.file,
            "line_start": line,
            "line_end": line + draw.below(2),
            "severity": draw.one_of(&[fault.severity, fault.severity, "medium", "low"]),
            "category": fault.category,
            "confidence": percent(0.2 + 0.8 * draw.share()),
        });
        if self.static_analysis {
            finding["rule_id"] = json!(fault.rule);
            finding["cwe"] = json!([fault.cwe]);
        } else {
            finding["title"] = json!(place.fill(fault.title));
            finding["function"] = json!(place.function);
        }
        finding
    }
}

fn percent(share: f64) -> f64 {
    (share * 100.0).round() / 100.0
}
