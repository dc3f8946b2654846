//! A page within the site: navigation, what is on it, and what comes before and after.

use super::check::Drawn;
use super::outline::Outline;
use super::{plan, search};
use karat_report::page::{Page, THEME, text};

const STYLE: &str = include_str!("layout/site.css");
const MENU: &str = include_str!("layout/menu.js");

/// What all pages share.
pub(crate) struct RunContext<'a> {
    pub(crate) pages: &'a [Drawn],
    headings: String,
}

impl<'a> RunContext<'a> {
    pub(crate) fn new(pages: &'a [Drawn]) -> Self {
        Self { pages, headings: search::index(pages, false) }
    }

    /// One of the pages.
    pub(crate) fn page(&self, place: usize) -> Option<String> {
        let page = self.pages.get(place)?;
        let before = place.checked_sub(1).and_then(|before| self.pages.get(before));
        let body = format!(
            "{}<article>\n{}{}</article>\n",
            contents(&page.outline),
            page.markup,
            neighbours(before, self.pages.get(place + 1))
        );
        let title = page.outline.headings.first().map_or("", |heading| heading.title.as_str());
        let title = if title == "Karat" { "Karat".to_owned() } else { format!("{title} · Karat") };
        Some(self.draw(&title, page.entry.file, &body, &[]))
    }

    /// The page that searches all text.
    pub(crate) fn search(&self) -> String {
        let body = "<article>\n<h1>Search</h1>\n<p id=\"said\" class=\"dim\" role=\"status\">Search needs scripts; \
                    <a href=\"pages.html\">all pages</a> are listed.</p>\n<ol id=\"results\"></ol>\n</article>\n";
        let index = search::index(self.pages, true);
        self.draw("Search · Karat", "search.html", body, &[&index, search::PAGE])
    }

    /// The page for addresses that lead nowhere.
    pub(crate) fn missing(&self) -> String {
        let body = "<article>\n<h1>There is no such page</h1>\n<p>It may have been renamed. <a href=\"pages.html\">All pages</a> \
                    are listed, and <kbd>/</kbd> searches them.</p>\n</article>\n";
        self.draw("There is no such page · Karat", "404.html", body, &[])
    }

    fn draw(&self, title: &str, file: &str, body: &str, more: &[&str]) -> String {
        let mut scripts = vec![THEME, MENU];
        // The page that searches all text has a longer index, which would otherwise be stated twice.
        let (index, more) = match more {
            [index, more @ ..] => (*index, more),
            [] => (self.headings.as_str(), more),
        };
        scripts.push(index);
        scripts.extend(search::FIND);
        scripts.extend(more);
        Page {
            title,
            nav: &navigation(file),
            body,
            styles: &[STYLE],
            scripts: &scripts,
            connects: false,
            ..Page::default()
        }
        .draw()
    }
}

fn navigation(file: &str) -> String {
    let mut out = String::from(
        "<div class=\"bar-top\"><a class=\"brand\" href=\"index.html\">Karat</a>\
         <button class=\"menu\" aria-expanded=\"false\" aria-controls=\"pages\" hidden>Menu</button>\
         <button class=\"theme\" hidden>Theme</button></div>\
         <div class=\"find\" hidden><input type=\"search\" id=\"find\" placeholder=\"Search\" aria-label=\"Search; the key / leads here\" \
         autocomplete=\"off\" role=\"combobox\" aria-expanded=\"false\" aria-controls=\"hits\"><kbd aria-hidden=\"true\">/</kbd>\
         <ol id=\"hits\" role=\"listbox\" aria-label=\"What was found\" hidden></ol></div>\n<nav id=\"pages\" aria-label=\"Pages\">\n",
    );
    for section in plan::SECTIONS {
        out.push_str(&format!("<h2>{}</h2>\n<ul>\n", text(section.title)));
        for entry in section.pages {
            let here = if entry.file == file { " aria-current=\"page\"" } else { "" };
            out.push_str(&format!("<li><a href=\"{}\"{here}>{}</a></li>\n", entry.file, text(entry.name)));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</nav>");
    out
}

/// What is on a page; nothing where there is hardly anything to choose from.
fn contents(outline: &Outline) -> String {
    let rows: Vec<String> = (outline.headings.iter().skip(1).filter(|heading| heading.level <= 3))
        .map(|h| format!("<li class=\"l{}\"><a href=\"#{}\">{}</a></li>\n", h.level, h.id, text(&h.title)))
        .collect();
    if rows.len() < 3 {
        return String::new();
    }
    format!(
        "<details class=\"contents\"><summary>On this page</summary><nav aria-label=\"On this page\"><ol>\n{}</ol></nav></details>\n",
        rows.concat()
    )
}

fn neighbours(before: Option<&Drawn>, after: Option<&Drawn>) -> String {
    let link = |page: Option<&Drawn>, rel: &str, word: &str| {
        page.map_or_else(String::new, |page| {
            let entry = page.entry;
            format!("<a rel=\"{rel}\" href=\"{}\"><span>{word}</span>{}</a>", entry.file, text(entry.name))
        })
    };
    format!(
        "<nav class=\"beside\" aria-label=\"Before and after\">{}{}</nav>\n",
        link(before, "prev", "Before"),
        link(after, "next", "Next")
    )
}
