//! A page within the site: navigation, what is on it, and what comes before and after.

use super::check::Drawn;
use super::outline::Outline;
use super::{plan, search};
use karat_report::page::{Frame, Page};
use maud::{Markup, PreEscaped, html};

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
        let body = html! {
            (contents(&page.outline))
            article {
                // The Markdown renderer escapes all text and passes no HTML on.
                (PreEscaped(&page.markup))
                (neighbours(before, self.pages.get(place + 1)))
            }
        };
        let title = page.outline.headings.first().map_or("", |heading| heading.title.as_str());
        let title = if title == "Karat" { "Karat".to_owned() } else { format!("{title} · Karat") };
        Some(self.draw(&title, page.entry.file, body, &[]))
    }

    /// The page that searches all text.
    pub(crate) fn search(&self) -> String {
        let body = html! {
            article {
                h1 { "Search" }
                p #said.dim role="status" {
                    "Search needs scripts; " a href="pages.html" { "all pages" } " are listed."
                }
                ol #results {}
            }
        };
        let index = search::index(self.pages, true);
        self.draw("Search · Karat", "search.html", body, &[&index, search::PAGE])
    }

    /// The page for addresses that lead nowhere.
    pub(crate) fn missing(&self) -> String {
        let body = html! {
            article {
                h1 { "There is no such page" }
                p {
                    "It may have been renamed. " a href="pages.html" { "All pages" } " are listed, and "
                    kbd { "/" } " searches them."
                }
            }
        };
        self.draw("There is no such page · Karat", "404.html", body, &[])
    }

    fn draw(&self, title: &str, file: &str, body: Markup, more: &[&str]) -> String {
        let mut scripts = vec![MENU];
        // The page that searches all text has a longer index, which would otherwise be stated twice.
        let (index, more) = match more {
            [index, more @ ..] => (*index, more),
            [] => (self.headings.as_str(), more),
        };
        scripts.push(index);
        scripts.extend(search::FIND);
        scripts.extend(more);
        Page { title, frame: Some(frame(file)), body, styles: &[STYLE], scripts: &scripts, ..Page::default() }.draw()
    }
}

fn frame(file: &str) -> Frame {
    let section = plan::SECTIONS.iter().find(|section| section.pages.iter().any(|entry| entry.file == file));
    let entry = plan::entries().find(|entry| entry.file == file).filter(|entry| entry.file != "index.html");
    let section = section.filter(|_| entry.is_some()).map(|section| (section.title.to_owned(), None));
    let entry = entry.map(|entry| (entry.name.to_owned(), None));
    Frame {
        home: Some("index.html".to_owned()),
        breadcrumb: section.into_iter().chain(entry).collect(),
        controls: controls(),
        sidebar: navigation(file),
        ..Frame::default()
    }
}

fn controls() -> Markup {
    html! {
        div.find hidden {
            input #find type="search" placeholder="Search" aria-label="Search; the key / leads here" autocomplete="off"
                role="combobox" aria-expanded="false" aria-controls="hits";
            kbd aria-hidden="true" { "/" }
            ol #hits role="listbox" aria-label="What was found" hidden {}
        }
        button.menu aria-expanded="false" aria-controls="pages" hidden { "Menu" }
    }
}

fn navigation(file: &str) -> Markup {
    html! {
        nav #pages aria-label="Pages" {
            @for section in plan::SECTIONS {
                h2 { (section.title) }
                ul {
                    @for entry in section.pages {
                        @let current = (entry.file == file).then_some("page");
                        li { a href=(entry.file) aria-current=[current] { (entry.name) } }
                    }
                }
            }
        }
    }
}

/// What is on a page; nothing where there is hardly anything to choose from.
fn contents(outline: &Outline) -> Markup {
    let shown: Vec<_> = outline.headings.iter().skip(1).filter(|heading| heading.level <= 3).collect();
    html! {
        @if shown.len() >= 3 {
            details.contents {
                summary { "On this page" }
                nav aria-label="On this page" {
                    ol {
                        @for heading in shown {
                            li class={ "l" (heading.level) } { a href={ "#" (heading.id) } { (heading.title) } }
                        }
                    }
                }
            }
        }
    }
}

fn neighbours(before: Option<&Drawn>, after: Option<&Drawn>) -> Markup {
    html! {
        nav.beside aria-label="Before and after" {
            @if let Some(page) = before { a rel="prev" href=(page.entry.file) { span { "Before" } (page.entry.name) } }
            @if let Some(page) = after { a rel="next" href=(page.entry.file) { span { "Next" } (page.entry.name) } }
        }
    }
}
