//! Pages whose every link leads somewhere.

use super::links::Targets;
use super::markdown;
use super::outline::Outline;
use super::plan::Entry;
use super::source::Source;
use std::collections::BTreeMap;
use std::path::Path;

/// A page that is ready to be put into the site.
pub(crate) struct Drawn {
    pub(crate) entry: &'static Entry,
    pub(crate) outline: Outline,
    pub(crate) markup: String,
}

/// All pages, or everything that is wrong with any of them.
pub(crate) fn pages(root: &Path, sources: &[Source]) -> Result<Vec<Drawn>, Vec<String>> {
    let outlines: BTreeMap<&'static str, Outline> =
        sources.iter().map(|source| (source.entry.file, Outline::parse(&source.text))).collect();
    let repository = std::env::var("KARAT_REPOSITORY").ok().filter(|address| !address.is_empty());
    let targets = Targets { root, outlines: &outlines, repository: repository.as_deref() };
    let (mut pages, mut faults) = (Vec::new(), Vec::new());
    for Source { entry, text } in sources {
        let markup = markdown::draw(entry.source, text, &targets, &mut faults);
        match outlines.get(entry.file).filter(|outline| outline.headings.first().is_some_and(|first| first.level == 1))
        {
            Some(outline) => pages.push(Drawn { entry, outline: outline.clone(), markup }),
            None => faults.push(format!("{}: a page begins with its title, such as `# Title`", entry.source)),
        }
    }
    if faults.is_empty() { Ok(pages) } else { Err(faults) }
}
