//! How help is laid out: commands in groups, options under headings, examples and texts wrapped once to the terminal's width.
//!
//! `-h` is a summary with one line for each option; `--help` has everything, with examples. The texts themselves are at the
//! arguments: the first paragraph of a doc comment is the summary, and `after_help` has the examples.

use clap::builder::{Resettable, StyledStr, Styles};
use clap::{Arg, ArgAction, Command};

/// The commands as `karat --help` lists them. A test checks that each is in one group.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["init", "check", "run", "score", "import", "tools", "doctor"]),
    ("Understand", &["report", "explain", "plot", "serve", "replay", "metrics", "profile"]),
    ("Decide", &["compare", "gate", "baseline", "power", "fix"]),
    ("Judge and label", &["judge", "label", "calibrate", "models"]),
    ("Documents", &["assess", "ingest", "logs", "trec"]),
    ("Maintain", &["suite", "drift", "expect", "key", "store", "worker", "stop", "schema", "completions", "man"]),
];

/// Headings, with the ids of the options under each. What is not listed is an option of its command alone, and is listed first.
const HEADINGS: &[(&str, &[&str])] = &[
    (
        "Input",
        &[
            "submissions",
            "judgements",
            "labels",
            "from",
            "the_case",
            "case_from",
            "rule_map",
            "trial_number",
            "suite",
            "run",
            "recursive",
            "requirement",
            "session",
        ],
    ),
    ("Tools and cases", &["tools", "tool", "separate_styles", "model", "trials", "only", "skip", "shard"]),
    ("Limits", &["fail_fast", "max_failures", "max_tries", "isolation", "require_isolation", "allow", "max_cost"]),
    (
        "Retrieval",
        &["embedding", "reranking", "search_limit", "bm25_weight", "rerank_top_n", "min_candidate_length", "no_rerank"],
    ),
    (
        "Judge",
        &["judge", "consensus", "judge_cache", "allow_incomplete_judging", "save_judgements", "require_judge_licence"],
    ),
    (
        "Scoring",
        &[
            "profile",
            "sets",
            "count_untouched",
            "seed",
            "cluster",
            "bootstrap",
            "proportions",
            "resamples",
            "margin",
            "metrics",
            "metric",
        ],
    ),
    ("Store", &["store"]),
    ("Output", &["outputs", "output", "file", "format", "detail", "theme", "scale", "trec", "json"]),
    (GENERAL, &["threads", "verbose", "quiet", "help", "version"]),
];

/// Options that few people need. The summary of a command with many options leaves them out.
const RARE: &[&str] = &[
    "allow_incomplete_judging",
    "bootstrap",
    "case_from",
    "consensus",
    "count_untouched",
    "detail",
    "fail_fast",
    "intersection",
    "judge_cache",
    "min_candidate_length",
    "model_cutoff",
    "no_rerank",
    "proportions",
    "require_isolation",
    "resamples",
    "rule_map",
    "save_judgements",
    "search_limit",
    "seed",
    "separate_styles",
    "shard",
    "trec",
    "trial_number",
    "twisted",
];

const GENERAL: &str = "General";

/// From this many options on, a command has headings.
const SOME_OPTIONS: usize = 8;
/// From this many options on, the summary of a command leaves out the rare ones.
const MANY_OPTIONS: usize = 16;

/// The command with its help laid out for this width. It parses as before, except that only the program itself has `--version`.
pub(crate) fn arrange(command: Command, width: usize) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).global(true);
    let help = help.help("Print this summary; --help prints more").long_help("Print this help; -h prints a summary.");
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version).help("Print version");
    let command = command.disable_help_flag(true).disable_version_flag(true).args([help, version]);
    let table = command_table(&command, width);
    let command = arrange_command(command, width).term_width(width);
    let header = command.get_styles().get_header();
    let options = format!("{header}Options:{header:#}\n{{options}}");
    let template = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{table}\n{options}{{after-help}}");
    command.help_template(template)
}

fn arrange_command(command: Command, width: usize) -> Command {
    let styles = command.get_styles().clone();
    let text = command.get_after_help().map(|text| draw_blocks(&read_blocks(&text.to_string()), width, &styles));
    let command = match text {
        Some(text) => command.after_help(Resettable::<StyledStr>::Reset).after_long_help(text),
        None => command,
    };
    let options = command.get_arguments().filter(|arg| !arg.is_positional()).count();
    let command = command.mut_args(|arg| {
        let id = arg.get_id().as_str();
        let is_rare = options >= MANY_OPTIONS && RARE.contains(&id);
        // Options of all commands come last, since most people look for the others.
        let has_heading = !arg.is_positional() && (options >= SOME_OPTIONS || arg.is_global_set());
        let arg = match heading(id).filter(|_| has_heading) {
            Some(heading) => arg.help_heading(heading),
            None => arg,
        };
        if is_rare { arg.hide_short_help(true) } else { arg }
    });
    command.mut_subcommands(|command| arrange_command(command, width))
}

fn heading(id: &str) -> Option<&'static str> {
    HEADINGS.iter().find(|(_, ids)| ids.contains(&id)).map(|(heading, _)| *heading)
}

/// The commands in their groups, each with its summary.
fn command_table(command: &Command, width: usize) -> String {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let of = |name: &str| command.get_subcommands().find(|one| one.get_name() == name);
    let group_width = GROUPS.iter().map(|(group, _)| group.len()).max().unwrap_or_default();
    let name_width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let indent = group_width + name_width + 6;
    let mut lines = String::new();
    for (group, names) in GROUPS {
        for (place, command) in names.iter().filter_map(|name| of(name)).enumerate() {
            let group = if place == 0 { *group } else { "" };
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let about = wrap(&about, width.saturating_sub(indent)).join(&format!("\n{:indent$}", ""));
            let name = command.get_name();
            let line = format!(
                "  {header}{group}{header:#}{0:1$}{literal}{name}{literal:#}{0:2$}{about}\n",
                "",
                group_width + 2 - group.len(),
                name_width + 2 - name.len(),
            );
            lines.push_str(&line);
        }
    }
    lines
}

/// A part of the text after the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// A line that ends with a colon.
    Heading(String),
    /// Commands, each with a note on what it does, if it has one.
    Examples(Vec<(String, Option<String>)>),
    Paragraph(String),
}

/// The parts of a text in which indented lines are examples, and an empty line ends a paragraph.
pub(crate) fn read_blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        if line.trim().is_empty() {
            is_new = true;
            continue;
        }
        if let Some(example) = line.strip_prefix("  ") {
            let (command, note) = example
                .trim()
                .split_once("  ")
                .map_or((example.trim(), None), |(command, note)| (command, Some(note.trim().to_owned())));
            let example = (command.to_owned(), note);
            match blocks.last_mut() {
                Some(Block::Examples(all)) => all.push(example),
                _ => blocks.push(Block::Examples(vec![example])),
            }
        } else if is_new && line.ends_with(':') {
            blocks.push(Block::Heading(line.to_owned()));
        } else {
            match blocks.last_mut() {
                Some(Block::Paragraph(text)) if !is_new => text.push_str(&format!(" {}", line.trim())),
                _ => blocks.push(Block::Paragraph(line.trim().to_owned())),
            }
        }
        is_new = false;
    }
    blocks
}

fn draw_blocks(blocks: &[Block], width: usize, styles: &Styles) -> String {
    let header = styles.get_header();
    let mut text = String::new();
    for (place, block) in blocks.iter().enumerate() {
        let drawn = match block {
            Block::Heading(heading) => format!("{header}{heading}{header:#}"),
            Block::Examples(examples) => draw_examples(examples, width),
            Block::Paragraph(paragraph) => wrap(paragraph, width).join("\n"),
        };
        let after_heading = place > 0 && matches!(blocks[place - 1], Block::Heading(_));
        text.push_str(match (place, after_heading) {
            (0, _) => "",
            (_, true) => "\n",
            (_, false) => "\n\n",
        });
        text.push_str(&drawn);
    }
    text
}

/// Notes stand beside their commands if all fit, and below them otherwise.
fn draw_examples(examples: &[(String, Option<String>)], width: usize) -> String {
    let chars = |text: &str| text.chars().count();
    let noted = || examples.iter().filter_map(|(command, note)| Some((command, note.as_deref()?)));
    let column = 2 + noted().map(|(command, _)| chars(command)).max().unwrap_or_default() + 3;
    let beside = noted().all(|(_, note)| column + chars(note) <= width);
    let mut lines = Vec::new();
    for (command, note) in examples {
        match note {
            Some(note) if beside => lines.push(format!("  {command:<0$}{note}", column - 2)),
            note => {
                lines.extend(break_command(command, width));
                let note = note.iter().flat_map(|note| wrap(note, width.saturating_sub(6)));
                lines.extend(note.map(|line| format!("      {line}")));
            }
        }
    }
    lines.join("\n")
}

/// A command that is wider than the screen is continued as a shell would take it.
fn break_command(command: &str, width: usize) -> Vec<String> {
    let mut lines = wrap(command, width.saturating_sub(6));
    let last = lines.len().saturating_sub(1);
    for (place, line) in lines.iter_mut().enumerate() {
        let indent = if place == 0 { "  " } else { "    " };
        let end = if place < last { " \\" } else { "" };
        *line = format!("{indent}{line}{end}");
    }
    lines
}

/// Lines of at most this many characters, unless a word is longer.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command;
    use std::collections::{BTreeMap, BTreeSet};

    /// Every command with the words that name it.
    fn every_command(command: &Command, name: &str, visit: &mut dyn FnMut(&str, &Command)) {
        visit(name, command);
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            every_command(sub, &format!("{name} {}", sub.get_name()), visit);
        }
    }

    fn built(width: usize) -> Command {
        let mut command = arrange(command(), width);
        command.build();
        command
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.sort_unstable();
        let command = command();
        let mut known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        known.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn every_listed_option_exists_and_has_one_heading() {
        let mut headings: BTreeMap<&str, usize> = BTreeMap::new();
        HEADINGS.iter().flat_map(|(_, ids)| *ids).for_each(|id| *headings.entry(id).or_default() += 1);
        let mut known = BTreeSet::new();
        every_command(&built(80), "karat", &mut |_, command| {
            known.extend(command.get_arguments().map(|arg| arg.get_id().to_string()));
        });
        for (id, times) in &headings {
            assert_eq!(*times, 1, "{id} has several headings");
        }
        for id in headings.keys().chain(RARE) {
            assert!(known.contains(*id), "no command has an option {id}");
        }
    }

    #[test]
    fn summaries_have_a_line_for_each_option_and_fit_a_screen() {
        let mut wrong = Vec::new();
        every_command(&built(80), "karat", &mut |name, command| {
            let text = command.clone().render_help().to_string();
            if text.lines().count() > 48 {
                wrong.push(format!("{name} -h has {} lines:\n{text}", text.lines().count()));
            }
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_short_help_set()) {
                let summary = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let flag = arg.get_long().map_or_else(String::new, |long| format!("--{long}"));
                let is_one_line = text.lines().any(|line| line.contains(&flag) && line.contains(&summary));
                if summary.is_empty() || !is_one_line {
                    wrong.push(format!("{name} {}: {summary}", arg.get_id()));
                }
            }
        });
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn help_is_wrapped_once() {
        for width in [60, 80, 100] {
            every_command(&built(width), "karat", &mut |name, command| {
                for text in [command.clone().render_help(), command.clone().render_long_help()] {
                    let text = text.to_string();
                    for line in text.lines() {
                        // The usage is clap's own, and a long word stays whole.
                        let is_usage = line.starts_with("Usage:") || line.contains("[OPTIONS]");
                        let fits = line.chars().count() <= width || is_usage || !line.trim().contains(' ');
                        assert!(fits, "{name} at {width}: {line}");
                    }
                    for pair in text.lines().collect::<Vec<_>>().windows(2) {
                        let [line, next] = pair else { continue };
                        let indent = |line: &str| line.len() - line.trim_start().len();
                        let is_prose = next.trim_start().starts_with(char::is_lowercase)
                            && indent(line) == indent(next)
                            && !next.trim_start().starts_with("karat ")
                            && !next.trim().contains("  ")
                            && line.ends_with(|c: char| c.is_alphanumeric() || c == ',');
                        let word = next.split_whitespace().next().unwrap_or_default();
                        let would_fit = line.chars().count() + 1 + word.chars().count() <= width;
                        assert!(!is_prose || !would_fit, "{name} at {width} is broken early:\n{line}\n{next}");
                    }
                }
            });
        }
    }

    #[test]
    fn long_help_has_examples_and_the_summary_has_none() {
        every_command(&built(80), "karat", &mut |name, command| {
            let (short, long) =
                (command.clone().render_help().to_string(), command.clone().render_long_help().to_string());
            assert!(!short.contains("Example"), "{name}:\n{short}");
            let has_examples = command.get_after_long_help().is_some();
            assert!(!has_examples || long.contains("Example"), "{name}:\n{long}");
        });
    }

    #[test]
    fn examples_have_notes_beside_or_below() {
        let text = "Examples:\n  karat a   one\n  karat longer\n\nTwo lines of\nprose.";
        let blocks = read_blocks(text);
        assert_eq!(
            blocks,
            [
                Block::Heading("Examples:".to_owned()),
                Block::Examples(vec![
                    ("karat a".to_owned(), Some("one".to_owned())),
                    ("karat longer".to_owned(), None)
                ]),
                Block::Paragraph("Two lines of prose.".to_owned()),
            ]
        );
        let plain = Styles::plain();
        let wide = "Examples:\n  karat a   one\n  karat longer\n\nTwo lines of prose.";
        assert_eq!(draw_blocks(&blocks, 40, &plain), wide);
        let narrow = "Examples:\n  karat a\n      one\n  karat \\\n    longer\n\nTwo lines of\nprose.";
        assert_eq!(draw_blocks(&blocks, 14, &plain), narrow);
    }
}
