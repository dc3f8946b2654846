//! The shell of every page: one self-contained document, light and dark, for a screen of any width, a printer and a screen
//! reader. Its policy names the very scripts and styles that it holds, so nothing else in it can run.

use crate::diagnostic::stand_in;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// A page to draw. Text that others wrote must have gone through [`text`] before it is part of any markup.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'a> {
    /// What it is called: text, not markup.
    pub title: &'a str,
    /// Markup above the content, on pages that are one of several; empty on one that stands alone.
    pub nav: &'a str,
    /// The content, as markup.
    pub body: &'a str,
    /// Style sheets beside the shell's own.
    pub styles: &'a [&'a str],
    /// Scripts, run one after the other as one; they may wait. None makes a page without any.
    pub scripts: &'a [&'a str],
    /// Markup after the scripts: data that may be long, so that the page is alive before all of it is read.
    pub data: &'a str,
    /// Whether scripts and forms may ask the server that the page came from.
    pub connects: bool,
}

impl Page<'_> {
    /// The whole document.
    pub fn draw(&self) -> String {
        let (style, script) = (self.style(), self.script());
        let (title, policy) = (text(self.title), policy(&style, script.as_deref(), self.connects));
        let script = script.map_or_else(String::new, |script| format!("<script>{script}</script>\n"));
        let nav = match self.nav {
            "" => String::new(),
            nav => format!("<header class=\"top\">{nav}</header>\n"),
        };
        let mut out = String::with_capacity(self.body.len() + self.data.len() + style.len() + script.len() + 2_000);
        out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        out.push_str(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", text(&policy)));
        out.push_str(
            "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n",
        );
        out.push_str("<link rel=\"icon\" href=\"data:,\">\n");
        out.push_str(&format!("<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"));
        out.push_str("<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
        out.push_str(&nav);
        out.push_str("<main id=\"main\" tabindex=\"-1\">\n");
        out.push_str(self.body);
        out.push_str("</main>\n");
        out.push_str(&script);
        out.push_str(self.data);
        out.push_str("</body>\n</html>\n");
        out
    }

    /// What the page may load and run, for the header of a server that sends it.
    pub fn policy(&self) -> String {
        policy(&self.style(), self.script().as_deref(), self.connects)
    }

    fn style(&self) -> String {
        let mut style = STYLE.to_owned();
        self.styles.iter().for_each(|more| style.push_str(more));
        style
    }

    fn script(&self) -> Option<String> {
        let wrapped = || format!("\n\"use strict\";\n(async () => {{\n{}\n}})();\n", self.scripts.join("\n"));
        (!self.scripts.is_empty()).then(wrapped)
    }
}

fn policy(style: &str, script: Option<&str>, connects: bool) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let mut policy = format!("default-src 'none'; img-src data:; style-src {}", hash(style));
    if let Some(script) = script {
        policy.push_str(&format!("; script-src {}", hash(script)));
    }
    // Scripts that may ask the server may as well send the reader there, by a form.
    let forms = if connects {
        "; connect-src 'self'; base-uri 'none'; form-action 'self'"
    } else {
        "; base-uri 'none'; form-action 'none'"
    };
    policy.push_str(forms);
    policy
}

/// Text that stays text, in an element or in quotes. Marks that turn the direction of writing, and other invisible ones, are
/// shown by their number.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if stand_in(c).is_some() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// `plain(text)` for scripts: what [`text`] does to characters that cannot be seen or turn the direction of writing.
pub const PLAIN: &str = include_str!("page/plain.js");

/// A switch between light, dark and what the system says, for pages with scripts. It looks for a button of class `theme`.
pub const THEME: &str = include_str!("page/theme.js");

const STYLE: &str = include_str!("page/page.css");

#[cfg(test)]
mod tests {
    use super::*;

    fn page<'a>(title: &'a str, scripts: &'a [&'a str]) -> Page<'a> {
        Page { title, scripts, ..Page::default() }
    }

    #[test]
    fn scripts_hide_the_same_characters_as_the_terminal() {
        let class = PLAIN.split_once("/[").unwrap().1.split_once("]/gu").unwrap().0;
        // Each part is a character, or two with a hyphen between; all are written by their numbers.
        let numbers = class.replace("\\u", " ").replace(['{', '}'], "");
        let mut hidden = std::collections::BTreeSet::new();
        for part in numbers.replace("- ", "-").split_whitespace() {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| u32::from_str_radix(text, 16).unwrap();
            hidden.extend(number(from)..=number(to));
        }
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| !matches!(c, '\n' | '\t')) {
            assert_eq!(hidden.contains(&u32::from(c)), stand_in(c).is_some(), "{c:?}");
        }
    }

    #[test]
    fn nothing_that_others_wrote_is_markup() {
        let hostile = "<script>alert('x')</script>\" onload=\"y\u{202e}\u{0}&amp;";
        let shown = text(hostile);
        assert!(!shown.contains(['<', '>', '"', '\'', '\u{202e}', '\u{0}']), "{shown}");
        assert_eq!(text("a < b & \"c\"\n"), "a &lt; b &amp; &quot;c&quot;\n");
        assert_eq!(page(hostile, &[]).draw().matches("<script").count(), 0);
    }

    #[test]
    fn the_policy_names_the_script_that_the_page_holds() {
        let page = page("a", &["let one = 1;", "let two = 2;"]);
        let drawn = page.draw();
        let script = drawn.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
        let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
        assert!(page.policy().contains(&format!("script-src 'sha256-{hash}'")), "{}", page.policy());
        assert!(drawn.contains(&format!("sha256-{hash}")), "the document states its policy itself");
        assert!(!page.policy().contains("connect-src") && !page.policy().contains("unsafe"));
    }
}
