//! Turns what a program prints to a terminal into a picture: `CLICOLOR_FORCE=1 karat … | terminal TITLE > picture.svg`.
//!
//! The picture is an SVG of text in a window, with its own dark ground, so that it looks the same on any page.

use karat_report::page::text;
use std::io::Read;
use std::process::ExitCode;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]
fn main() -> ExitCode {
    let mut printed = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut printed) {
        eprintln!("error: standard input: {error}");
        return ExitCode::FAILURE;
    }
    let title = std::env::args().nth(1).unwrap_or_default();
    print!("{}", picture(&title, &printed));
    ExitCode::SUCCESS
}

const CELL: f64 = 8.4;
const LINE: f64 = 19.0;
const TOP: f64 = 44.0;
const SIDE: f64 = 18.0;

/// The whole picture.
fn picture(title: &str, printed: &str) -> String {
    let lines: Vec<Vec<Run>> = printed.lines().map(runs).collect();
    let cells = |line: &Vec<Run>| line.iter().map(|run| run.text.chars().count()).sum::<usize>();
    let columns = lines.iter().map(cells).max().unwrap_or(0).max(40);
    let (width, height) = (columns as f64 * CELL + 2.0 * SIDE, lines.len() as f64 * LINE + TOP + SIDE);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"9\" fill=\"#12171e\"/>\n"
    );
    for (place, colour) in ["#e0605e", "#d9a441", "#4fae62"].iter().enumerate() {
        out.push_str(&format!("<circle cx=\"{}\" cy=\"18\" r=\"6\" fill=\"{colour}\"/>\n", 20 + 20 * place));
    }
    out.push_str(&format!("<text x=\"50%\" y=\"23\" text-anchor=\"middle\" fill=\"#8b97a6\">{}</text>\n", text(title)));
    for (place, line) in lines.iter().enumerate() {
        let y = TOP + LINE * (place as f64 + 0.75);
        let mut column = 0;
        for run in line {
            out.push_str(&run.draw(SIDE + column as f64 * CELL, y));
            column += run.text.chars().count();
        }
    }
    out.push_str("</svg>\n");
    out
}

/// Text in one style.
#[derive(Clone, Debug, Default, PartialEq)]
struct Run {
    bold: bool,
    dim: bool,
    colour: Option<u8>,
    text: String,
}

impl Run {
    /// Widths are stated, so that columns stay in line whatever font is there.
    fn draw(&self, x: f64, y: f64) -> String {
        let words = self.text.trim_end();
        let before = words.len() - words.trim_start().len();
        let words = words.trim_start();
        if words.is_empty() {
            return String::new();
        }
        let fill = match (self.colour, self.dim) {
            (Some(1), _) => "#ff8f8f",
            (Some(2), _) => "#7fd897",
            (Some(3), _) => "#f2c277",
            (Some(4 | 6), _) => "#7fb0ff",
            (_, true) => "#8b97a6",
            _ => "#e8edf3",
        };
        let weight = if self.bold { " font-weight=\"700\"" } else { "" };
        format!(
            "<text x=\"{:.1}\" y=\"{y:.1}\" fill=\"{fill}\"{weight} textLength=\"{:.1}\" xml:space=\"preserve\">{}</text>\n",
            x + before as f64 * CELL,
            words.chars().count() as f64 * CELL,
            text(words)
        )
    }
}

/// A line as runs of text, by the codes for styles in it. Codes that are not known change nothing.
fn runs(line: &str) -> Vec<Run> {
    let (mut found, mut now) = (Vec::new(), Run::default());
    for (place, part) in line.split("\u{1b}[").enumerate() {
        let rest = match (place, part.split_once('m')) {
            (0, _) | (_, None) => part,
            (_, Some((codes, rest))) => {
                for code in codes.split(';') {
                    match code.parse::<u8>() {
                        Ok(0) | Err(_) => now = Run::default(),
                        Ok(1) => now.bold = true,
                        Ok(2) => now.dim = true,
                        Ok(code @ 30..=37) => now.colour = Some(code - 30),
                        Ok(code @ 90..=97) => now.colour = Some(code - 90),
                        Ok(_) => {}
                    }
                }
                rest
            }
        };
        if !rest.is_empty() {
            found.push(Run { text: rest.to_owned(), ..now.clone() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, bold: bool, colour: Option<u8>) -> Run {
        Run { bold, dim: false, colour, text: text.to_owned() }
    }

    #[test]
    fn styles_hold_until_they_are_taken_back() {
        let line = "a \u{1b}[1m\u{1b}[32m0.9*\u{1b}[0m b";
        assert_eq!(runs(line), [run("a ", false, None), run("0.9*", true, Some(2)), run(" b", false, None)]);
    }

    #[test]
    fn text_stays_in_its_column() {
        let drawn = picture("<t>", "ab  \u{1b}[31m  cd\u{1b}[0m\n");
        assert!(drawn.contains("&lt;t&gt;"), "{drawn}");
        let x = SIDE + 6.0 * CELL;
        assert!(drawn.contains(&format!("<text x=\"{x:.1}\"")) && drawn.contains(">cd</text>"), "{drawn}");
    }
}
