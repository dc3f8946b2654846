//! The shell of every page: one self-contained, responsive, accessible document. Its content security policy lists the hashes
//! of its own scripts and styles, so nothing else can run.
//!
//! All markup is made by `maud`, which escapes by construction. What is not escaped is wrapped here and nowhere else: our own
//! style sheets and scripts, whose bytes the policy hashes, and [`drawing`]s.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use karat_format::diagnostic::stand_in;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// A page.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Page<'a> {
    pub title: &'a str,
    /// Markup above the content; empty on a standalone page.
    pub nav: Markup,
    pub body: Markup,
    pub styles: &'a [&'a str],
    /// Scripts, run in order in one async function; empty for a page without scripts.
    pub scripts: &'a [&'a str],
    /// Markup after the scripts: long data, so that the page works before all of it is read.
    pub data: Markup,
    pub connects: bool,
}

impl Page<'_> {
    /// Renders the document.
    pub fn draw(&self) -> String {
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(self.policy());
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    link rel="icon" href="data:,";
                    title { (visible(self.title)) }
                    style { (PreEscaped(self.style())) }
                }
                body {
                    a.skip href="#main" { "Skip to content" }
                    @if !self.nav.0.is_empty() {
                        header.top { (PreEscaped(visible(&self.nav.0))) }
                    }
                    main #main tabindex="-1" { (PreEscaped(visible(&self.body.0))) }
                    @if let Some(script) = self.script() {
                        script { (PreEscaped(script)) }
                    }
                    (self.data)
                }
            }
        };
        document.into_string()
    }

    /// The content security policy, for the HTTP header.
    pub fn policy(&self) -> String {
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
        let script = self.script().map(|script| format!("; script-src {}", hash(&script))).unwrap_or_default();
        // Scripts that may contact the server may submit forms to it too.
        let forms = if self.connects {
            "connect-src 'self'; base-uri 'none'; form-action 'self'"
        } else {
            "base-uri 'none'; form-action 'none'"
        };
        format!("default-src 'none'; img-src data:; style-src {}{script}; {forms}", hash(&self.style()))
    }

    fn style(&self) -> String {
        format!("{STYLE}{}", self.styles.concat())
    }

    fn script(&self) -> Option<String> {
        let wrapped = || format!("\n\"use strict\";\n(async () => {{\n{}\n}})();\n", self.scripts.join("\n"));
        (!self.scripts.is_empty()).then(wrapped)
    }
}

/// Replaces bidirectional and invisible characters by their code points, so that a text shows what it contains.
fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| !matches!(c, '\n' | '\t') && stand_in(c).is_some();
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_hidden(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A text as part of an SVG drawing.
pub fn text(text: &str) -> String {
    html! { (visible(text)) }.into_string()
}

/// An SVG drawing as part of a page; its texts come from [`text`].
pub fn drawing(svg: String) -> Markup {
    PreEscaped(svg)
}

/// The script function `plain(text)`, which replaces the same characters as pages do.
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
    fn scripts_and_terminal_hide_the_same_characters() {
        let class = PLAIN.split_once("/[").unwrap().1.split_once("]/gu").unwrap().0;
        // Each part is an escaped character or a range of two.
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
    fn texts_are_escaped() {
        let hostile = "<script>alert('x')</script>\" onload=\"y\u{202e}\u{0}&amp;";
        let shown = text(hostile);
        assert!(!shown.contains(['<', '>', '"', '\u{202e}', '\u{0}']), "{shown}");
        assert_eq!(text("a < b & \"c\"\n"), "a &lt; b &amp; &quot;c&quot;\n");
        let body = html! { p title=(hostile) { (hostile) } };
        let drawn = Page { nav: body.clone(), body, ..page(hostile, &[]) }.draw();
        assert_eq!(drawn.matches("<script").count(), 0, "{drawn}");
        assert!(!drawn.contains(['\u{202e}', '\u{0}']) && !drawn.contains("\" onload"), "{drawn}");
        assert_eq!(drawn.matches("\\u{202e}").count(), 5, "{drawn}");
    }

    #[test]
    fn content_security_policy_has_the_hash_of_the_script() {
        let page = page("a", &["let one = 1;", "let two = 2;"]);
        let drawn = page.draw();
        let script = drawn.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
        let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
        assert!(page.policy().contains(&format!("script-src 'sha256-{hash}'")), "{}", page.policy());
        assert!(drawn.contains(&format!("sha256-{hash}")), "the page has no policy with this hash");
        assert!(!page.policy().contains("connect-src") && !page.policy().contains("unsafe"));
    }
}
