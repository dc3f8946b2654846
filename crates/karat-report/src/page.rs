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
    /// The header; `None` on a page that only leads to another.
    pub frame: Option<Frame>,
    pub body: Markup,
    pub styles: &'a [&'a str],
    /// Scripts, run in order in one async function, after those of the frame.
    pub scripts: &'a [&'a str],
    /// Markup after the scripts: long data, so that the page works before all of it is read.
    pub data: Markup,
    pub connects: bool,
}

/// The header of every page: where the page is, and the ways to its parts and to other pages.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Where the product's name leads; `None` in a file, which has no other pages.
    pub home: Option<String>,
    /// The pages above this one, then its own name; each with its address, unless it is shown or cannot be opened.
    pub breadcrumb: Vec<(String, Option<String>)>,
    /// A choice among pages like this one, after the breadcrumb. [`switcher`] makes one.
    pub switcher: Markup,
    /// Parts of this page, of which one is shown at a time (`#id` of an element in a `div.panel`), or pages beside it.
    pub tabs: Vec<FrameLink>,
    /// Other forms of this page, in the line of the tabs, or of the breadcrumb if there are none.
    pub links: Vec<FrameLink>,
    /// Controls beside the theme switch, such as a search field.
    pub controls: Markup,
    /// A message above the content, announced by screen readers.
    pub banner: Markup,
    /// Navigation beside the content.
    pub sidebar: Markup,
}

/// A link in the header.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct FrameLink {
    pub label: String,
    pub href: String,
    pub is_current: bool,
}

impl FrameLink {
    /// A link to another page, or to a part of this one.
    pub fn new(label: impl Into<String>, href: impl Into<String>) -> Self {
        Self { label: label.into(), href: href.into(), is_current: false }
    }

    fn draw(&self) -> Markup {
        html! { a href=(self.href) aria-current=[self.is_current.then_some("page")] { (self.label) } }
    }
}

/// A menu of other pages, which works without scripts. Each has a name, an address and a remark.
pub fn switcher(current: &str, label: &str, others: &[(String, String, Markup)]) -> Markup {
    html! {
        details.switcher {
            summary aria-label={ (label) ": " (current) } { (current) }
            nav aria-label=(label) {
                ul { @for (name, href, remark) in others { li { a href=(href) { b { (name) } " " span.dim { (remark) } } } } }
            }
        }
    }
}

impl Frame {
    fn draw(&self) -> Markup {
        let last = self.breadcrumb.len().saturating_sub(1);
        html! {
            header.top {
                div.top-bar {
                    @match &self.home {
                        Some(home) => { a.brand href=(home) { "Karat" } }
                        None => { span.brand { "Karat" } }
                    }
                    @if !self.breadcrumb.is_empty() || !self.switcher.0.is_empty() {
                        nav.crumbs aria-label="Breadcrumb" {
                            ol {
                                @for (at, (label, href)) in self.breadcrumb.iter().enumerate() {
                                    li.last[at == last && self.switcher.0.is_empty()] title=(label) {
                                        @match href { Some(href) => { a href=(href) { (label) } } None => { (label) } }
                                    }
                                }
                                @if !self.switcher.0.is_empty() { li.last { (self.switcher) } }
                            }
                        }
                    }
                    @if self.tabs.is_empty() { (self.other_pages()) }
                    div.controls { (self.controls) button.theme type="button" hidden { "Theme" } }
                }
                @if !self.tabs.is_empty() {
                    div.tabs {
                        nav aria-label="Tabs" { @for tab in &self.tabs { (tab.draw()) } }
                        (self.other_pages())
                    }
                }
            }
            (self.sidebar)
        }
    }

    fn other_pages(&self) -> Markup {
        if self.links.is_empty() {
            return Markup::default();
        }
        html! { nav.links aria-label="Other pages" { @for link in &self.links { (link.draw()) } } }
    }
}

impl Page<'_> {
    /// Renders the document.
    pub fn draw(&self) -> String {
        let banner = self.frame.as_ref().map(|frame| &frame.banner).filter(|banner| !banner.0.is_empty());
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
                    @if let Some(frame) = &self.frame { (PreEscaped(visible(&frame.draw().0))) }
                    main #main tabindex="-1" {
                        @if let Some(banner) = banner { p.banner role="status" { (PreEscaped(visible(&banner.0))) } }
                        (PreEscaped(visible(&self.body.0)))
                    }
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
        let scripts = [self.frame.as_ref().map_or(&[][..], |_| &FRAME_SCRIPTS[..]), self.scripts].concat();
        let wrapped = || format!("\n\"use strict\";\n(async () => {{\n{}\n}})();\n", scripts.join("\n"));
        (!scripts.is_empty()).then(wrapped)
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

/// Opens what is folded while a page is printed.
pub(crate) const PRINT: &str = include_str!("page/print.js");

/// The light/dark switch, tabs and menus.
const FRAME_SCRIPTS: [&str; 2] = [include_str!("page/theme.js"), include_str!("page/tabs.js")];

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
        let drawn = Page { body: body.clone(), ..page(hostile, &[]) }.draw();
        assert_eq!(drawn.matches("<script").count(), 0, "{drawn}");
        assert_eq!(drawn.matches("\\u{202e}").count(), 3, "{drawn}");
        let link = || FrameLink::new(hostile, hostile);
        let frame = Frame {
            home: Some(hostile.to_owned()),
            breadcrumb: vec![(hostile.to_owned(), Some(hostile.to_owned()))],
            switcher: switcher(hostile, hostile, &[(hostile.to_owned(), hostile.to_owned(), body.clone())]),
            tabs: vec![link()],
            links: vec![link()],
            controls: body.clone(),
            banner: body.clone(),
            sidebar: body.clone(),
        };
        let framed = Page { frame: Some(frame), body, ..page(hostile, &[]) }.draw();
        assert_eq!(framed.matches("<script").count(), 1, "only the script of the frame: {framed}");
        for page in [drawn, framed] {
            assert!(!page.contains(['\u{202e}', '\u{0}']) && !page.contains("\" onload"), "{page}");
        }
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

    #[test]
    fn frame_shows_where_the_page_is() {
        let frame = Frame {
            home: Some("/".to_owned()),
            breadcrumb: vec![("Runs".to_owned(), Some("/".to_owned())), ("starter".to_owned(), None)],
            tabs: vec![FrameLink { is_current: true, ..FrameLink::new("Cases", "#cases") }],
            links: vec![FrameLink::new("JSON", "/report.json")],
            banner: html! { "In progress" },
            ..Frame::default()
        };
        let drawn = Page { frame: Some(frame), ..page("a", &[]) }.draw();
        for part in [
            "<a class=\"brand\" href=\"/\">Karat</a>",
            "<a href=\"/\">Runs</a>",
            "<li class=\"last\" title=\"starter\">starter</li>",
            "<a href=\"#cases\" aria-current=\"page\">Cases</a>",
            "<a href=\"/report.json\">JSON</a>",
            "<p class=\"banner\" role=\"status\">In progress</p>",
            "class=\"theme\"",
        ] {
            assert!(drawn.contains(part), "no {part}: {drawn}");
        }
        // Without tabs there is no line of them, and the links are in the first one.
        let links = vec![FrameLink::new("JSON", "/report.json")];
        let flat = Page { frame: Some(Frame { links, ..Frame::default() }), ..page("a", &[]) }.draw();
        assert!(!flat.contains("class=\"tabs\"") && flat.contains("<a href=\"/report.json\">JSON</a>"), "{flat}");
        // Without a home the name is no link.
        let bare = Page { frame: Some(Frame::default()), ..page("a", &[]) }.draw();
        assert!(bare.contains("<span class=\"brand\">Karat</span>"), "{bare}");
        assert!(!bare.contains("class=\"tabs\"") && !bare.contains("class=\"crumbs\""), "{bare}");
        assert!(!Page::default().draw().contains("<header"), "a page without a frame has no header");
    }
}
