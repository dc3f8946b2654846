//! `karat completions` and `karat man`: what the user's shell and manual know of Karat.

use crate::args::{self, Block, CompletionArgs, ManArgs, arrange, read_blocks};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::save;
use crate::terminal::{print, print_json, print_stderr};
use clap_complete::Shell;
use clap_mangen::Man;
use karat::suggestion;
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};

/// By this, a file of completions is known as ours, which may be replaced.
const MARK: &str = "# Completions of karat, written by `karat completions`.";

pub(crate) fn completions(args: &CompletionArgs) -> Result<Exit> {
    if !args.install {
        let shell = args.shell.ok_or_else(|| Failure::usage("name a shell, such as bash"))?;
        return print(&completion_script(shell));
    }
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let shell = match args.shell.or_else(|| Shell::from_shell_path(variable("SHELL")?)) {
        Some(shell) => shell,
        None => return Err(Failure::usage("the shell is not known; name it: `karat completions --install bash`")),
    };
    let file = completion_file(shell, &variable)?;
    if !is_ours(&file)? {
        let (file, help) = (file.display(), "move it away, or print the completions with `karat completions SHELL`");
        return Err(Failure::bad_input(format!("{file} was not written by Karat and is not replaced; {help}")));
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Failure::unwritten(folder.display(), error))?;
    }
    save(&file, completion_script(shell).as_bytes())?;
    if args.json {
        return print_json(&json!({ "shell": shell.to_string(), "written": file }));
    }
    print(&format!("{}\n", file.display()))?;
    print_stderr(&how_to_load(shell, &file));
    Ok(Exit::Ok)
}

fn completion_script(shell: Shell) -> String {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "karat", &mut out);
    let script = String::from_utf8_lossy(&out);
    // The first line of a zsh script says what it completes.
    match script.split_once('\n').filter(|(first, _)| first.starts_with("#compdef")) {
        Some((first, rest)) => format!("{first}\n{MARK}\n{rest}"),
        None => format!("{MARK}\n{script}"),
    }
}

/// The file in which a shell looks for the user's completions.
fn completion_file(shell: Shell, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Result<PathBuf> {
    // By the specification of these variables, a relative path is ignored.
    let base = |name: &str, below_home: &str| {
        let stated = variable(name).filter(|path| path.is_absolute());
        stated.or_else(|| Some(variable("HOME")?.join(below_home)))
    };
    let data = |path: &str| base("XDG_DATA_HOME", ".local/share").map(|folder| folder.join(path));
    let file = match shell {
        Shell::Bash => match variable("BASH_COMPLETION_USER_DIR") {
            Some(folder) => Some(folder.join("completions/karat")),
            None => data("bash-completion/completions/karat"),
        },
        Shell::Fish => base("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("fish/completions/karat.fish")),
        Shell::Zsh => data("zsh/site-functions/_karat"),
        shell => {
            let message = format!(
                "{shell} has no folder for completions; add the output of `karat completions {shell}` to its profile"
            );
            return Err(Failure::usage(message));
        }
    };
    file.ok_or_else(|| Failure::usage("HOME is not set; print the completions with `karat completions SHELL`"))
}

/// Whether a file may be written: there is none, or Karat wrote it. A link is somebody's own.
fn is_ours(file: &Path) -> Result<bool> {
    match std::fs::symlink_metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Failure::io(file.display(), error)),
        Ok(there) if !there.is_file() => Ok(false),
        Ok(_) => {
            let text = std::fs::read(file).map_err(|error| Failure::io(file.display(), error))?;
            Ok(String::from_utf8_lossy(&text).lines().take(2).any(|line| line == MARK))
        }
    }
}

fn how_to_load(shell: Shell, file: &Path) -> String {
    match shell {
        Shell::Zsh => {
            let folder = file.parent().unwrap_or(file).display();
            format!(
                "Start a new shell. If nothing is completed, add this to ~/.zshrc before `compinit`:\n  fpath=({folder} $fpath)"
            )
        }
        Shell::Bash => "Start a new shell. The package bash-completion must be installed.".to_owned(),
        _ => "Start a new shell.".to_owned(),
    }
}

/// A manual page.
struct Page {
    /// The words of the command, without `karat`.
    words: Vec<String>,
    file: String,
    roff: String,
}

pub(crate) fn man(args: &ManArgs) -> Result<Exit> {
    let pages = manual_pages()?;
    let Some(folder) = &args.out else {
        let Some(page) = pages.iter().find(|page| page.words == args.command) else {
            let typed = args.command.join(" ");
            let names: Vec<String> = pages.iter().map(|page| page.words.join(" ")).collect();
            let hint = suggestion(&typed, names.iter().map(String::as_str), ".");
            return Err(Failure::usage(format!("unknown command `{typed}`{hint} `karat --help` lists the commands")));
        };
        return print(&page.roff);
    };
    std::fs::create_dir_all(folder).map_err(|error| Failure::unwritten(folder.display(), error))?;
    let files: Vec<PathBuf> = pages.iter().map(|page| folder.join(&page.file)).collect();
    for (file, page) in files.iter().zip(&pages) {
        save(file, page.roff.as_bytes())?;
    }
    if args.json {
        return print_json(&json!({ "written": files }));
    }
    print(&files.iter().map(|file| format!("{}\n", file.display())).collect::<String>())
}

fn manual_pages() -> Result<Vec<Page>> {
    // The texts are wrapped by the reader of the page; the width only needs to be wide enough.
    let plain = args::command();
    let mut arranged = arrange(args::command(), usize::from(u16::MAX)).disable_help_subcommand(true);
    arranged.build();
    let mut pages = Vec::new();
    add_pages(&arranged, &plain, &[], &mut pages).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(pages)
}

/// Adds the pages of a command and its subcommands. `plain` is the same command with its examples as they are stated.
fn add_pages(
    command: &clap::Command,
    plain: &clap::Command,
    words: &[String],
    pages: &mut Vec<Page>,
) -> io::Result<()> {
    let man = Man::new(command.clone()).manual("Karat").source(format!("karat {}", env!("CARGO_PKG_VERSION")));
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
    }
    let mut roff = String::from_utf8_lossy(&out).into_owned();
    let text = plain.get_after_help().map(ToString::to_string).unwrap_or_default();
    read_blocks(&text).iter().for_each(|block| roff.push_str(&block_as_roff(block)));
    pages.push(Page { words: words.to_vec(), file: man.get_filename(), roff });
    for sub in command.get_subcommands() {
        let words: Vec<String> = words.iter().cloned().chain([sub.get_name().to_owned()]).collect();
        let Some(plain) = plain.find_subcommand(sub.get_name()) else { continue };
        add_pages(sub, plain, &words, pages)?;
    }
    Ok(())
}

fn block_as_roff(block: &Block) -> String {
    match block {
        Block::Heading(heading) => format!(".SH {}\n", escape_roff(&heading.trim_end_matches(':').to_uppercase())),
        Block::Paragraph(text) => format!(".PP\n{}\n", escape_roff(text)),
        Block::Examples(examples) => {
            let mut lines = String::new();
            for (command, note) in examples {
                lines.push_str(&format!(".TP\n\\fB{}\\fR\n", escape_roff(command)));
                lines.push_str(&format!("{}\n", note.as_deref().map_or_else(|| "\\&".to_owned(), escape_roff)));
            }
            lines
        }
    }
}

/// Text as roff shows it literally: a hyphen that can be copied, and no request at the start of a line.
fn escape_roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_go_where_shells_look_for_them() {
        let check = |shell: Shell, variables: &[(&str, &str)], expect: &str| {
            let variable =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
            let found = completion_file(shell, &variable).map(|path| path.display().to_string());
            assert_eq!(found.unwrap_or_else(|failure| failure.text()), expect);
        };
        let home = ("HOME", "/home/me");
        check(Shell::Bash, &[home], "/home/me/.local/share/bash-completion/completions/karat");
        check(Shell::Bash, &[home, ("XDG_DATA_HOME", "/data")], "/data/bash-completion/completions/karat");
        check(Shell::Bash, &[home, ("BASH_COMPLETION_USER_DIR", "/own")], "/own/completions/karat");
        check(Shell::Fish, &[home], "/home/me/.config/fish/completions/karat.fish");
        check(Shell::Fish, &[home, ("XDG_CONFIG_HOME", "relative")], "/home/me/.config/fish/completions/karat.fish");
        check(Shell::Zsh, &[home], "/home/me/.local/share/zsh/site-functions/_karat");
        check(Shell::Zsh, &[], "HOME is not set; print the completions with `karat completions SHELL`");
        let none = "elvish has no folder for completions; add the output of `karat completions elvish` to its profile";
        check(Shell::Elvish, &[home], none);
    }

    #[test]
    fn every_command_has_a_page() {
        fn names(command: &clap::Command, words: &[String], all: &mut Vec<Vec<String>>) {
            all.push(words.to_vec());
            for sub in command.get_subcommands() {
                let words: Vec<String> = words.iter().cloned().chain([sub.get_name().to_owned()]).collect();
                names(sub, &words, all);
            }
        }
        let mut expect = Vec::new();
        names(&args::command(), &[], &mut expect);
        let pages = manual_pages().unwrap();
        assert_eq!(pages.iter().map(|page| page.words.clone()).collect::<Vec<_>>(), expect);
        for page in &pages {
            let title = ["karat".to_owned()].iter().chain(&page.words).cloned().collect::<Vec<_>>().join("-");
            assert_eq!(page.file, format!("{title}.1"));
            assert!(page.roff.contains(&format!(".TH {title} 1")), "{}", page.roff);
            assert!(page.roff.contains(".SH NAME") && page.roff.contains(".SH DESCRIPTION"), "{title}");
        }
        let run = &pages.iter().find(|page| page.words == ["run"]).unwrap().roff;
        assert!(run.contains(".SH JUDGE") && run.contains(".SH EXAMPLES"), "{run}");
        assert!(run.contains("\\fBkarat run code\\-review\\fR\n"), "{run}");
    }
}
