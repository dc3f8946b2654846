//! `karat calibrate`.

mod matching;
mod sui;

use crate::args::{CalibrateCommand, FittedArgs};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::save;
use crate::terminal::{print_stderr, word};
use karat::profile::to_difference;
use karat_core::profile::Profile;
use karat_report::grid::{Cell, draw, wrap};
use std::path::PathBuf;

pub(crate) fn run(command: &CalibrateCommand) -> Result<Exit> {
    match command {
        CalibrateCommand::Sui(args) => sui::run(args),
        CalibrateCommand::Match(args) => matching::run(args),
    }
}

/// Refuses an output file that is not `.toml` before any work is done.
fn check(args: &FittedArgs) -> Result<()> {
    let is_other = |path: &&PathBuf| path.extension().is_none_or(|extension| extension != "toml");
    let Some(path) = args.file.as_ref().filter(is_other) else { return Ok(()) };
    let advice = "a profile is a .toml file; print the figures as JSON with --json";
    Err(Failure::usage(format!("{}: {advice}", path.display())))
}

/// Writes the profile with the fitted values to the output file, if any, with a comment on their origin.
fn write(args: &FittedArgs, profile: &Profile, from: &str) -> Result<()> {
    let Some(path) = &args.file else { return Ok(()) };
    let from: String = from.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    save(path, format!("# {from}\n{}", to_difference(profile)).as_bytes())?;
    let shown = path.display().to_string();
    print_stderr(&format!("wrote {shown}; use it with --profile {}", word(&shown)));
    Ok(())
}

/// Draws a table with words in the first column and numbers in the others.
pub(super) fn table(rows: &[impl AsRef<[String]>], width: usize) -> String {
    let cell = |(column, text): (usize, &String)| if column == 0 { Cell::left(text) } else { Cell::right(text) };
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| row.as_ref().iter().enumerate().map(cell).collect()).collect();
    draw(&cells, width, false)
}

fn row(name: &str, numbers: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(numbers).collect()
}

/// The sentences below the tables, each from a new line.
fn sentences(all: &[String], width: usize) -> String {
    all.iter().map(|sentence| wrap(sentence, width.min(100)).join("\n") + "\n").collect()
}
