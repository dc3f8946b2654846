//! Runs the commands of the tutorial and the guides in an empty folder and compares their output with the page.
//!
//! In these pages a block of kind `console` has commands after `$ ` and optionally their output: both streams, 80 columns wide.
//! A line `…` stands for any number of lines. Every command must succeed; one that fails is written as
//! `karat gate …; echo "exit code $?"`. A block with a file name, such as `toml gate.toml`, is written to that file first.
//! Commands that need a key, a network or a browser are in blocks of kind `sh`, which are not run. `KARAT_UPDATE=1` rewrites
//! blocks that are not current.

use crate::project::{CommandOutput, Project, root};
use regex::Regex;
use std::collections::BTreeSet;

#[test]
fn tutorial_is_current() {
    check_page("tutorial");
}

#[test]
fn builder_guide_is_current() {
    check_page("guide-builder");
}

#[test]
fn chooser_guide_is_current() {
    check_page("guide-chooser");
}

#[test]
fn researcher_guide_is_current() {
    check_page("guide-researcher");
}

#[test]
fn compliance_guide_is_current() {
    check_page("guide-compliance");
}

#[test]
fn keeper_guide_is_current() {
    check_page("guide-keeper");
}

/// Commands are run with `--help` appended, so they are parsed but not executed.
#[test]
fn every_command_in_the_docs_has_valid_arguments() {
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = pages.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.extend(["README.md", "suites/starter/README.md"].map(|path| root().join(path)));
    pages.sort();
    let (project, mut seen, mut wrong) = (Project::new(), BTreeSet::new(), Vec::new());
    for page in pages {
        for words in find_commands(&std::fs::read_to_string(&page).unwrap()) {
            if seen.insert(words.clone()) {
                let ran = CommandOutput::start(project.command().args(&words).arg("--help"));
                if ran.code != Some(0) {
                    wrong.push(format!("{}: karat {}\n{}", page.display(), words.join(" "), ran.err));
                }
            }
        }
    }
    assert!(seen.len() > 100, "{} commands; were the pages read?", seen.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The arguments of every `karat …` in `sh`, `console` and `yaml` blocks.
fn find_commands(page: &str) -> Vec<Vec<String>> {
    // Replaces variables of shells and workflows.
    let variable = Regex::new(r"\$\{\{[^}]*\}\}|\$\w+").unwrap();
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
                let line = variable.replace_all(line.trim_start_matches("karat/target/release/"), "1");
                found.extend(line.strip_prefix("karat ").map(split_words).filter(|words| !words.is_empty()));
            }
            _ => {}
        }
    }
    found
}

/// The words of a command as a shell would split them, up to an operator or a comment.
fn split_words(line: &str) -> Vec<String> {
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

/// A question that the docs or the help put to the local judge is decided as shown.
#[test]
fn questions_to_the_local_judge_are_decided_as_shown() {
    let project = Project::new();
    let (mut asked, mut wrong) = (0, Vec::new());
    let by_local = |command: &str| command.starts_with("karat judge ask ") && !command.contains("--judge");
    let mut check = |place: &str, command: &str, decided: &dyn Fn(&str) -> bool| {
        asked += 1;
        let ran = project.run_shell(command);
        if !decided(&ran.out) {
            wrong.push(format!("{place}: {command}\n{}", ran.out));
        }
    };
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    for path in pages.chain([root().join("README.md"), root().join("suites/starter/README.md")]) {
        let page = match path.extension() {
            Some(end) if end == "md" => std::fs::read_to_string(&path).unwrap(),
            _ => continue,
        };
        for part in page.contains("karat judge ask ").then(|| split_page(&page)).into_iter().flatten() {
            if let Part::Command(command, shown) = part
                && by_local(command)
            {
                let decided = |out: &str| !shown.is_empty() && matches_shown(shown, out);
                check(&path.display().to_string(), strip_comments(command).trim_end(), &decided);
            }
        }
    }
    let help =
        CommandOutput::start(project.command().env("COLUMNS", "200").args(["judge", "ask", "--help"])).expect(0).out;
    // A command may continue on the next line.
    let help = help.replace("\\\n", "");
    for line in help.lines().map(str::trim).filter(|line| by_local(line) && !line.contains("[OPTIONS]")) {
        // The decision stands at the end of the line.
        let (command, decision) = line.rsplit_once("  ").unwrap_or((line, ""));
        let (command, decision) = (command.trim(), decision.trim());
        check("help", command, &|out: &str| ["yes", "no"].contains(&decision) && out.starts_with(decision));
    }
    assert!(asked > 4, "{asked} questions; were the pages read?");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_end_at_operators_and_comments() {
    for (line, expected) in [
        ("run starter   # a word", vec!["run", "starter"]),
        ("run --only 'py-*' -q > /dev/null", vec!["run", "--only", "py-*", "-q"]),
        ("gate a --min f1=0.5; echo", vec!["gate", "a", "--min", "f1=0.5"]),
        ("judge ask 'a # b' \"c\" | head", vec!["judge", "ask", "a # b", "c"]),
    ] {
        assert_eq!(split_words(line), expected);
    }
    assert_eq!(find_commands("```yaml\n  - run: karat check a\n```\nkarat check b\n"), [["check", "a"]]);
}

#[track_caller]
fn check_page(name: &str) {
    let path = root().join(format!("docs/{name}.md"));
    let page = std::fs::read_to_string(&path).unwrap();
    let project = Project::new();
    let (mut new_page, mut wrong, mut commands) = (String::new(), Vec::new(), 0);
    for part in split_page(&page) {
        match part {
            Part::Text(text) => new_page.push_str(text),
            Part::File(name, text) => project.write(name, text),
            Part::Command(command, shown) => {
                commands += 1;
                let ran = project.run_shell(&strip_comments(command));
                let current =
                    ran.code == Some(0) && (shown.is_empty() || matches_shown(&scrub(shown), &scrub(&ran.out)));
                if !current {
                    wrong.push(format!("$ {command}exit code {:?}\n{}", ran.code, ran.out));
                }
                let new_output = if current { shown.to_owned() } else { renew(shown, &ran.out) };
                new_page.push_str(&format!("$ {command}{new_output}"));
            }
        }
    }
    assert!(commands > 3, "docs/{name}.md has {commands} commands; was the page read?");
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::write(path, new_page).unwrap();
    } else {
        assert!(wrong.is_empty(), "docs/{name}.md is not current:\n{}", wrong.join("\n"));
    }
}

enum Part<'a> {
    Text(&'a str),
    /// A block that is written to a file; its text follows as a separate part.
    File(&'a str, &'a str),
    /// A command with its line ends, and the output shown below.
    Command(&'a str, &'a str),
}

/// Splits a page into parts, which concatenated give the page again, except for `$ ` before commands.
fn split_page(page: &str) -> Vec<Part<'_>> {
    let (mut found, mut rest) = (Vec::new(), page);
    while let Some(start) = rest.find("\n```").map(|at| at + 1) {
        let head = first_line(&rest[start..]);
        let (before, body) = rest.split_at(start + head.len());
        let end = body.find("```\n").expect("unterminated block");
        let body = &body[..end];
        found.push(Part::Text(before));
        let info = head.trim_start_matches('`').trim_end();
        if info == "console" {
            found.extend(split_console(body));
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

fn split_console(body: &str) -> Vec<Part<'_>> {
    let (mut found, mut rest) = (Vec::new(), body);
    while let Some(after) = rest.strip_prefix("$ ") {
        let mut command = first_line(after).len();
        while after[..command].ends_with("\\\n") {
            command += first_line(&after[command..]).len();
        }
        let (command, below) = after.split_at(command);
        let next = if below.starts_with("$ ") { Some(0) } else { below.find("\n$ ").map(|at| at + 1) };
        let (shown, more) = below.split_at(next.unwrap_or(below.len()));
        found.push(Part::Command(command, shown));
        rest = more;
    }
    assert!(rest.is_empty(), "a block must begin with `$ `: {rest}");
    found
}

/// The first line of a text, with its line end.
pub(crate) fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}

/// A command without comments.
fn strip_comments(command: &str) -> String {
    command.lines().map(|line| line.split("  # ").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Replaces what differs between runs: run ids and durations.
fn scrub(text: &str) -> String {
    let patterns = [
        (r"\b01[0-9a-f]{6}(-[0-9a-f]{4})?\b", "RUN"),
        (r"\b\d+(\.\d+)? (ms|s)\b", "TIME"),
        // The last column of a leaderboard with one tool, whose trials took place now.
        (r"(?m)( s/trial\n  \S+ .*?) +\d+\.\d$", "$1 TIME"),
    ];
    patterns.iter().fold(text.to_owned(), |text, (pattern, word)| {
        Regex::new(pattern).unwrap().replace_all(&text, *word).into_owned()
    })
}

/// Whether a text is the shown one, where a line `…` stands for any lines.
pub(crate) fn matches_shown(shown: &str, text: &str) -> bool {
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

/// The text with the same omissions as shown before where they can be located, otherwise the whole text.
fn renew(shown: &str, text: &str) -> String {
    let (before, lines): (Vec<&str>, Vec<&str>) = (shown.lines().collect(), text.lines().collect());
    let mut new: Vec<&str> = Vec::new();
    for (place, chunk) in before.split(|line| *line == "…").enumerate() {
        // A chunk is located by one of its lines, and has the same length as before.
        let same = |line: &str| lines.iter().position(|other| scrub(other) == scrub(line));
        let mut known = chunk.iter().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let found = known.find_map(|(offset, line)| same(line)?.checked_sub(offset));
        let from = if place == 0 || chunk.is_empty() { Some(0) } else { found };
        let Some(part) = from.and_then(|from| lines.get(from..from + chunk.len())) else { return text.to_owned() };
        new.extend((place > 0).then_some("…"));
        new.extend(part);
    }
    let new: String = new.iter().map(|line| format!("{line}\n")).collect();
    if before.contains(&"…") && matches_shown(&scrub(&new), &scrub(text)) { new } else { text.to_owned() }
}

#[test]
fn renewed_output_keeps_omissions() {
    let (shown, text) = ("a 1\nb\n…\nx\ny 1\n…\n", "a 2\nb\nc\nd\nx\ny 2\nz\n");
    assert_eq!(renew(shown, text), "a 2\nb\n…\nx\ny 2\n…\n");
    assert_eq!(renew("…\ny\n", "x\ny\n"), "…\ny\n");
    assert_eq!(renew("gone\n…\nlost\n", "x\ny\n"), "x\ny\n");
    assert_eq!(renew("?\n", "x\ny\n"), "x\ny\n");
}

#[test]
fn split_page_is_lossless() {
    let page = "a\n\n```toml x.toml\nk = 1\n```\n\n```console\n$ one \\\n  two\nout\n$ three\n```\nend\n";
    let new_page: String = (split_page(page).iter())
        .map(|part| match part {
            Part::Text(text) => (*text).to_owned(),
            Part::File(..) => String::new(),
            Part::Command(command, shown) => format!("$ {command}{shown}"),
        })
        .collect();
    assert_eq!(new_page, page);
    assert_eq!(strip_comments("karat run  # a word\n"), "karat run");
}

#[test]
fn ellipsis_matches_any_lines() {
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
        assert_eq!(matches_shown(&scrub(shown), &scrub(text)), expected, "{shown:?} for {text:?}");
    }
    assert!(matches_shown(&scrub("Run 01a1ddc8 took 0.1 s\n"), &scrub("Run 01a1e06e-53f2 took 12 s\n")));
}
