//! The site of this very repository.

#[expect(dead_code, reason = "tests of other pages use all of it")]
#[path = "../../../karat-cli/tests/it/browser/driver/mod.rs"]
mod driver;

use super::*;
use driver::{Browser, Screen};
use std::collections::BTreeSet;

struct Built {
    folder: tempfile::TempDir,
}

impl Built {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        build(&root(), folder.path()).unwrap_or_else(|faults| panic!("{}", faults.join("\n")));
        Self { folder }
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn pages(&self) -> Vec<(String, String)> {
        let names = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name.ends_with(".html"));
        names.sort();
        names.into_iter().map(|name| (name.clone(), self.read(&name))).collect()
    }
}

/// The values of an attribute, wherever it stands in markup.
fn values<'a>(markup: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    markup.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// A page without its script, whose texts are no markup.
fn markup(page: &str) -> &str {
    page.split("<script").next().unwrap_or_default()
}

/// The pages are looked at as a browser would see them, whatever the builder believes of them.
#[test]
fn every_link_leads_somewhere() {
    let site = Built::new();
    let pages = site.pages();
    assert!(pages.len() > 40, "{}", pages.len());
    let mut looked_at = 0;
    for (name, page) in &pages {
        for href in values(markup(page), "href").into_iter().filter(|href| !href.contains(':')) {
            let (file, anchor) = href.split_once('#').unwrap_or((href, ""));
            let file = if file.is_empty() { name } else { file };
            let there = site.folder.path().join(file);
            assert!(there.is_file(), "{name} leads to {href}, and there is no {file}");
            let has = |page: &str| values(page, "id").contains(&anchor);
            assert!(
                anchor.is_empty() || has(markup(&site.read(file))),
                "{name} leads to {href}, which has no such place"
            );
            looked_at += 1;
        }
    }
    assert!(looked_at > 2_000, "{looked_at} links are too few");
}

#[test]
fn no_page_loads_anything() {
    for (name, page) in Built::new().pages() {
        let page = markup(&page);
        let loads = values(page, "src").into_iter().filter(|src| !src.starts_with("data:")).count();
        assert_eq!(loads, 0, "{name}");
        assert!(!page.contains(" style=") && !page.contains(" onclick="), "{name} has what its policy forbids");
        assert!(page.contains("default-src 'none'"), "{name}");
    }
}

#[test]
fn every_page_is_in_the_navigation_once_and_knows_itself() {
    let files: Vec<&str> = plan::entries().map(|entry| entry.file).collect();
    assert_eq!(files.iter().collect::<BTreeSet<_>>().len(), files.len(), "two pages become the same file");
    let site = Built::new();
    for file in files {
        let page = site.read(file);
        assert_eq!(page.matches("aria-current=\"page\"").count(), 1, "{file}");
        assert!(page.contains("rel=\"prev\"") || file == "index.html", "{file}");
    }
}

/// The index is read as a browser reads it: from the script of the page.
fn index(page: &str) -> Vec<[String; 4]> {
    let script = page.split("const INDEX = ").nth(1).unwrap().split(";\n").next().unwrap();
    serde_json::from_str(script).unwrap()
}

#[test]
fn the_search_knows_headings_everywhere_and_all_text_in_one_place() {
    let site = Built::new();
    let (headings, texts) = (index(&site.read("metrics.html")), index(&site.read("search.html")));
    assert_eq!(headings.len(), texts.len());
    assert!(headings.iter().all(|[_, _, _, below]| below.is_empty()));
    let gate = texts.iter().find(|[_, _, href, _]| href == "compare.html#gate").unwrap();
    assert!(gate[3].contains("A demand is checked against an interval"), "{gate:?}");
}

#[test]
fn faults_are_told_all_at_once_and_nothing_is_written() {
    let (root, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir_all(root.path().join("docs")).unwrap();
    std::fs::write(root.path().join("docs/stray.md"), "# Stray\n").unwrap();
    let faults = build(root.path(), &out.path().join("site")).unwrap_err();
    assert!(faults.iter().any(|fault| fault.starts_with("docs/tutorial.md: ")), "{faults:?}");
    assert!(faults.iter().any(|fault| fault.starts_with("docs/stray.md is not in the navigation")), "{faults:?}");
    assert!(!out.path().join("site").exists());
}

/// Needs Chromium and axe-core, which `scripts/test-tools` fetches.
#[test]
fn pages_fit_every_screen_and_are_accessible() {
    let browser = match Browser::start() {
        Ok(browser) if driver::axe_core().is_some() => browser,
        Ok(_) => return,
        Err(why) if why == "no chromium" => return,
        Err(why) => panic!("{why}"),
    };
    let site = Built::new();
    for name in ["index.html", "tutorial.html", "metrics.html", "command-line.html", "search.html", "404.html"] {
        let tab = browser.page(&format!("file://{}", site.folder.path().join(name).display()));
        for screen in [Screen::LAPTOP, Screen::LAPTOP.dark(), Screen::PHONE, Screen::PHONE.dark(), Screen::WIDE] {
            tab.emulate(screen);
            tab.assert_fits();
            tab.assert_accessible();
        }
        tab.save_screenshots(&format!("site-{}", name.trim_end_matches(".html")));
        tab.assert_clean();
    }
}
