//! The shell of every page: one self-contained, responsive, accessible document. Its content security policy lists the hashes
//! of its own scripts and styles, so nothing else can run.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use karat_format::diagnostic::stand_in;
use sha2::{Digest, Sha256};

/// A page. Untrusted text must be escaped by [`text`] before it becomes part of any markup.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Page<'a> {
    pub title: &'a str,
    /// Markup above the content; empty on a standalone page.
    pub nav: &'a str,
    pub body: &'a str,
    pub styles: &'a [&'a str],
    /// Scripts, run in order in one async function; empty for a page without scripts.
    pub scripts: &'a [&'a str],
    /// Markup after the scripts: long data, so that the page works before all of it is read.
    pub data: &'a str,
    /// Whether scripts and forms may contact the page's server.
    pub connects: bool,
}

impl Page<'_> {
    /// Renders the document.
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
        out.push_str("<a class=\"skip\" href=\"#main\">Skip to content</a>\n");
        out.push_str(&nav);
        out.push_str("<main id=\"main\" tabindex=\"-1\">\n");
        out.push_str(self.body);
        out.push_str("</main>\n");
        out.push_str(&script);
        out.push_str(self.data);
        out.push_str("</body>\n</html>\n");
        out
    }

    /// The content security policy, for the HTTP header.
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
    // Scripts that may contact the server may submit forms to it too.
    let forms = if connects {
        "; connect-src 'self'; base-uri 'none'; form-action 'self'"
    } else {
        "; base-uri 'none'; form-action 'none'"
    };
    policy.push_str(forms);
    policy
}

/// Escapes text for elements and attributes. Bidirectional and invisible characters are replaced by their code points.
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

/// The script function `plain(text)`, which replaces characters as [`text`] does.
pub const PLAIN: &str = include_str!("page/plain.js");

/// The light/dark switch for pages with scripts; needs a button of class `theme`.
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
