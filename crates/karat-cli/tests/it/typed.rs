//! What the tutorial and the guides show as typed is typed, in an empty folder, and answers what they show.
//!
//! In these pages a block of kind `console` holds commands after `$ ` and, where it is shown, what they print: both streams,
//! 80 columns wide. A line `…` stands for any number of lines. Every command must end well; one that may not says so, as in
//! `karat gate …; echo "exit code $?"`. A block that names a file, such as `toml gate.toml`, is written to that file first.
//! What needs a key, a network or a browser stands in blocks of kind `sh`, which are not run. Blocks that no longer hold are
//! made anew with `KARAT_UPDATE=1`.

use crate::project::{Project, Ran, root};
use regex::Regex;
use std::collections::BTreeSet;

#[test]
fn the_tutorial() {
    check("tutorial");
}

#[test]
fn the_guide_of_who_builds() {
    check("guide-builder");
}

#[test]
fn the_guide_of_who_chooses() {
    check("guide-chooser");
}

#[test]
fn the_guide_of_who_studies() {
    check("guide-researcher");
}

#[test]
fn the_guide_of_who_assesses() {
    check("guide-compliance");
}

#[test]
fn the_guide_of_who_keeps_a_benchmark() {
    check("guide-keeper");
}

/// No page shows a verb or a flag that is not there. A command with `--help` at its end is read and not carried out.
#[test]
fn every_command_on_any_page_is_understood() {
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = pages.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.extend(["README.md", "suites/starter/README.md"].map(|path| root().join(path)));
    pages.sort();
    let (project, mut seen, mut wrong) = (Project::new(), BTreeSet::new(), Vec::new());
    for page in pages {
        for words in shown(&std::fs::read_to_string(&page).unwrap()) {
            if seen.insert(words.clone()) {
                let ran = Ran::start(project.command().args(&words).arg("--help"));
                if ran.code != Some(0) {
                    wrong.push(format!("{}: karat {}\n{}", page.display(), words.join(" "), ran.err));
                }
            }
        }
    }
    assert!(seen.len() > 100, "{} commands; were the pages read?", seen.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The words of every `karat …` in blocks of commands and of recipes.
fn shown(page: &str) -> Vec<Vec<String>> {
    // What a recipe fills in is some number or name.
    let filled = Regex::new(r"\$\{\{[^}]*\}\}|\$\w+").unwrap();
    let (mut found, mut kind) = (Vec::new(), None);
    for line in page.replace("\\\n", " ").lines() {
        match (line.strip_prefix("```"), &kind) {
            (Some(_), Some(_)) => kind = None,
            (Some(info), None) => kind = Some(info.split(' ').next().unwrap_or_default().to_owned()),
            (None, Some(kind)) if matches!(kind.as_str(), "sh" | "console" | "yaml") => {
                let line = match kind.as_str() {
                    "console" => line.strip_prefix("$ ").unwrap_or_default(),
                    _ => line.trim_start().trim_start_matches("- ").trim_start_matches("run: "),
                };
                let line = filled.replace_all(line.trim_start_matches("karat/target/release/"), "1");
                found.extend(line.strip_prefix("karat ").map(words).filter(|words| !words.is_empty()));
            }
            _ => {}
        }
    }
    found
}

/// The words of a command as a shell would split them, up to where another one begins or something is said about it.
fn words(line: &str) -> Vec<String> {
    let (mut found, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            ('#', None) if word.is_none() => break,
            ('|' | ';' | '>' | '<' | '&' | '…', None) => break,
            (c, None) if c.is_whitespace() => found.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    found.extend(word);
    found
}

#[test]
fn commands_end_where_a_shell_ends_them() {
    for (line, expected) in [
        ("run starter   # a word", vec!["run", "starter"]),
        ("run --only 'py-*' -q > /dev/null", vec!["run", "--only", "py-*", "-q"]),
        ("gate a --min f1=0.5; echo", vec!["gate", "a", "--min", "f1=0.5"]),
        ("judge ask 'a # b' \"c\" | head", vec!["judge", "ask", "a # b", "c"]),
    ] {
        assert_eq!(words(line), expected);
    }
    assert_eq!(shown("```yaml\n  - run: karat check a\n```\nkarat check b\n"), [["check", "a"]]);
}

#[track_caller]
fn check(name: &str) {
    let path = root().join(format!("docs/{name}.md"));
    let page = std::fs::read_to_string(&path).unwrap();
    let project = Project::new();
    let (mut told, mut wrong, mut commands) = (String::new(), Vec::new(), 0);
    for part in parts(&page) {
        match part {
            Part::Text(text) => told.push_str(text),
            Part::File(name, text) => project.write(name, text),
            Part::Typed(typed, shown) => {
                commands += 1;
                let ran = project.typed(&command(typed));
                let holds = ran.code == Some(0) && (shown.is_empty() || fits(&scrubbed(shown), &scrubbed(&ran.out)));
                if !holds {
                    wrong.push(format!("$ {typed}exit code {:?}\n{}", ran.code, ran.out));
                }
                let told_now = if holds { shown.to_owned() } else { renewed(shown, &ran.out) };
                told.push_str(&format!("$ {typed}{told_now}"));
            }
        }
    }
    assert!(commands > 3, "docs/{name}.md has {commands} commands; was the page read?");
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::write(path, told).unwrap();
    } else {
        assert!(wrong.is_empty(), "docs/{name}.md shows something else than this:\n{}", wrong.join("\n"));
    }
}

enum Part<'a> {
    Text(&'a str),
    /// A file that a block holds; its text is told as well, by parts before and after.
    File(&'a str, &'a str),
    /// What is typed, with its line ends, and what is shown beneath.
    Typed(&'a str, &'a str),
}

/// A page in parts, which put together are the page again, but for `$ ` before what is typed.
fn parts(page: &str) -> Vec<Part<'_>> {
    let (mut found, mut rest) = (Vec::new(), page);
    while let Some(start) = rest.find("\n```").map(|at| at + 1) {
        let head = line(&rest[start..]);
        let (before, body) = rest.split_at(start + head.len());
        let end = body.find("```\n").expect("a block ends");
        let body = &body[..end];
        found.push(Part::Text(before));
        let info = head.trim_start_matches('`').trim_end();
        if info == "console" {
            found.extend(steps(body));
        } else {
            if let Some((_, name)) = info.split_once(' ') {
                found.push(Part::File(name, body));
            }
            found.push(Part::Text(body));
        }
        let fence = before.len() + body.len();
        found.push(Part::Text(&rest[fence..fence + 4]));
        rest = &rest[fence + 4..];
    }
    found.push(Part::Text(rest));
    found
}

fn steps(body: &str) -> Vec<Part<'_>> {
    let (mut found, mut rest) = (Vec::new(), body);
    while let Some(after) = rest.strip_prefix("$ ") {
        let mut typed = line(after).len();
        while after[..typed].ends_with("\\\n") {
            typed += line(&after[typed..]).len();
        }
        let (typed, below) = after.split_at(typed);
        let next = if below.starts_with("$ ") { Some(0) } else { below.find("\n$ ").map(|at| at + 1) };
        let (shown, more) = below.split_at(next.unwrap_or(below.len()));
        found.push(Part::Typed(typed, shown));
        rest = more;
    }
    assert!(rest.is_empty(), "a block begins with `$ `: {rest}");
    found
}

/// The first line of a text, with its end.
fn line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}

/// What is typed without what is said about it.
fn command(typed: &str) -> String {
    typed.lines().map(|line| line.split("  # ").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Without what differs from run to run: their names, and how long they took.
fn scrubbed(text: &str) -> String {
    let patterns = [(r"\b01[0-9a-f]{6}(-[0-9a-f]{4})?\b", "RUN"), (r"\b\d+(\.\d+)? (ms|s)\b", "TIME")];
    patterns.iter().fold(text.to_owned(), |text, (pattern, word)| {
        Regex::new(pattern).unwrap().replace_all(&text, *word).into_owned()
    })
}

/// Whether a text is what is shown, where `…` on a line of its own stands for any lines.
fn fits(shown: &str, text: &str) -> bool {
    let pattern: Vec<String> = shown.lines().map(|line| line.trim_end().to_owned()).collect();
    let lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
    let chunks: Vec<&[String]> = pattern.split(|line| line == "…").collect();
    let [first, middle @ .., last] = chunks.as_slice() else { return lines == pattern };
    let Some(mut left) = lines.strip_prefix(*first) else { return false };
    for chunk in middle.iter().filter(|chunk| !chunk.is_empty()) {
        let Some(at) = left.windows(chunk.len()).position(|lines| lines == *chunk) else { return false };
        left = &left[at + chunk.len()..];
    }
    left.ends_with(last)
}

/// A text with the same parts left out as before, as far as they can be found again; else the whole of it.
fn renewed(shown: &str, text: &str) -> String {
    let (before, lines): (Vec<&str>, Vec<&str>) = (shown.lines().collect(), text.lines().collect());
    let mut new: Vec<&str> = Vec::new();
    for (place, chunk) in before.split(|line| *line == "…").enumerate() {
        // A part is where one of its lines still is, and as long as it was.
        let same = |line: &str| lines.iter().position(|other| scrubbed(other) == scrubbed(line));
        let mut known = chunk.iter().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let found = known.find_map(|(offset, line)| same(line)?.checked_sub(offset));
        let from = if place == 0 || chunk.is_empty() { Some(0) } else { found };
        let Some(part) = from.and_then(|from| lines.get(from..from + chunk.len())) else { return text.to_owned() };
        new.extend((place > 0).then_some("…"));
        new.extend(part);
    }
    let new: String = new.iter().map(|line| format!("{line}\n")).collect();
    if before.contains(&"…") && fits(&scrubbed(&new), &scrubbed(text)) { new } else { text.to_owned() }
}

#[test]
fn what_was_left_out_stays_left_out() {
    let (shown, text) = ("a 1\nb\n…\nx\ny 1\n…\n", "a 2\nb\nc\nd\nx\ny 2\nz\n");
    assert_eq!(renewed(shown, text), "a 2\nb\n…\nx\ny 2\n…\n");
    assert_eq!(renewed("…\ny\n", "x\ny\n"), "…\ny\n");
    assert_eq!(renewed("gone\n…\nlost\n", "x\ny\n"), "x\ny\n");
    assert_eq!(renewed("?\n", "x\ny\n"), "x\ny\n");
}

#[test]
fn a_page_is_taken_apart_and_put_together() {
    let page = "a\n\n```toml x.toml\nk = 1\n```\n\n```console\n$ one \\\n  two\nout\n$ three\n```\nend\n";
    let told: String = (parts(page).iter())
        .map(|part| match part {
            Part::Text(text) => (*text).to_owned(),
            Part::File(..) => String::new(),
            Part::Typed(typed, shown) => format!("$ {typed}{shown}"),
        })
        .collect();
    assert_eq!(told, page);
    assert_eq!(command("karat run  # a word\n"), "karat run");
}

#[test]
fn dots_stand_for_any_lines() {
    for (shown, text, expected) in [
        ("a\nb\n", "a\nb\n", true),
        ("a\n", "a\nb\n", false),
        ("a\n…\n", "a\nb\nc\n", true),
        ("a\n…\nc\n", "a\nb\nc\n", true),
        ("a\n…\nd\n", "a\nb\nc\n", false),
        ("…\nc\n", "a\nb\nc\n", true),
        ("…\nb\n", "a\nb\nc\n", false),
        ("…\na\n…\nc\n", "x\na\nc\n", true),
        ("…\nc\n", "c\nb\nc\n", true),
    ] {
        assert_eq!(fits(&scrubbed(shown), &scrubbed(text)), expected, "{shown:?} for {text:?}");
    }
    assert!(fits(&scrubbed("Run 01a1ddc8 took 0.1 s\n"), &scrubbed("Run 01a1e06e-53f2 took 12 s\n")));
}
