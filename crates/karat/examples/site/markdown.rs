//! From the Markdown of a page to its markup.

use super::links::Targets;
use super::outline::{options, words};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, format_html, parse_document};
use maud::{Markup, html};
use std::path::Path;

/// What a page says as markup. Everything that is wrong with it is added to the faults.
pub(crate) fn draw(source: &str, markdown: &str, targets: &Targets<'_>, faults: &mut Vec<String>) -> String {
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options());
    let nodes: Vec<&AstNode<'_>> = root.descendants().collect();
    let raw = |markup: String| arena.alloc(NodeValue::Raw(markup).into());
    for node in nodes {
        let mut data = node.data.borrow_mut();
        let line = data.sourcepos.start.line;
        let mut wrong = |fault: String| faults.push(format!("{source}:{line}: {fault}"));
        let new = match &mut data.value {
            NodeValue::Link(link) => {
                match targets.resolve(source, &link.url) {
                    Ok(url) if url.is_empty() => {
                        drop(data);
                        for child in node.children().collect::<Vec<_>>() {
                            node.insert_before(child);
                        }
                        node.detach();
                        continue;
                    }
                    Ok(url) => link.url = url,
                    Err(fault) => wrong(fault),
                }
                None
            }
            NodeValue::Image(image) => match targets.picture(source, &image.url).and_then(|path| data_url(&path)) {
                Ok(url) => Some(url),
                Err(fault) => {
                    wrong(fault);
                    None
                }
            },
            NodeValue::CodeBlock(code) => Some(block(&code.info, &code.literal)),
            NodeValue::HtmlBlock(_) | NodeValue::HtmlInline(_) => {
                wrong("HTML is not shown; say it in Markdown".to_owned());
                None
            }
            NodeValue::TableRow(true) if node.children().any(|cell| words(cell).trim().is_empty()) => {
                wrong("a column without a head; say what stands in it".to_owned());
                None
            }
            NodeValue::Table(_) => {
                drop(data);
                // What scrolls must be reached by keys too.
                node.insert_before(raw(SCROLL.to_owned()));
                node.insert_after(raw("</div>\n".to_owned()));
                continue;
            }
            _ => None,
        };
        let Some(new) = new else { continue };
        if matches!(data.value, NodeValue::Image(_)) {
            drop(data);
            let alt = words(node);
            if alt.trim().is_empty() {
                faults.push(format!("{source}:{line}: a picture without words; say in brackets what it shows"));
            }
            node.insert_before(raw(html! { img src=(new) alt=(alt.trim()); }.into_string()));
            node.detach();
        } else {
            data.value = NodeValue::Raw(new);
        }
    }
    let mut out = String::new();
    if let Err(error) = format_html(root, &options(), &mut out) {
        faults.push(format!("{source}: {error}"));
    }
    out
}

/// What is around a table.
const SCROLL: &str = "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">\n";

/// A block of code. What is typed is told from what is answered, and a file has its name above it.
fn block(info: &str, code: &str) -> String {
    let (kind, name) = info.split_once(' ').unwrap_or((info, ""));
    let is_console = kind == "console";
    let figure = html! {
        figure.code {
            @if !name.trim().is_empty() { figcaption { (name.trim()) } }
            pre class=[is_console.then_some("console")] tabindex="0" {
                code { @if is_console { (console(code)) } @else { (code) } }
            }
        }
    };
    figure.into_string()
}

/// Commands stand out, and their prompts are not copied with them. A command that ends in a backslash goes on.
fn console(code: &str) -> Markup {
    let mut goes_on = false;
    let lines = code.lines().map(|line| {
        let command = line.strip_prefix("$ ");
        let typed = command.or(goes_on.then_some(line));
        goes_on = typed.is_some_and(|typed| typed.ends_with('\\'));
        html! {
            @if command.is_some() { span.prompt { "$ " } }
            @match typed {
                Some(typed) => { span.typed { (typed) } }
                None => { (line) }
            }
            "\n"
        }
    });
    html! { @for line in lines { (line) } }
}

/// A picture as part of the page, since a page loads nothing.
fn data_url(path: &Path) -> Result<String, String> {
    let kind = match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => return Err(format!("{} is neither .svg nor .png", path.display())),
    };
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(format!("data:{kind};base64,{}", STANDARD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[track_caller]
    fn check(markdown: &str, wanted: &str, fault: Option<&str>) {
        let (root, outlines, mut faults) = (crate::root(), BTreeMap::new(), Vec::new());
        let targets = Targets { root: &root, outlines: &outlines, repository: None };
        let drawn = draw("docs/x.md", markdown, &targets, &mut faults);
        assert!(drawn.contains(wanted), "{drawn}");
        assert_eq!(faults.first().map(String::as_str), fault);
    }

    #[test]
    fn what_is_typed_is_told_from_what_is_answered() {
        check(
            "```console\n$ karat run a \\\n    b\n<out>\n```\n",
            "<span class=\"prompt\">$ </span><span class=\"typed\">karat run a \\</span>\n<span class=\"typed\">    b</span>\n&lt;out&gt;\n",
            None,
        );
        check(
            "```toml gate.toml\na = 1\n```\n",
            "<figcaption>gate.toml</figcaption><pre tabindex=\"0\"><code>a = 1\n",
            None,
        );
    }

    #[test]
    fn wide_tables_scroll_and_headings_have_names() {
        check(
            "| a |\n|---|\n| b |\n",
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">\n<table>",
            None,
        );
        check("## Ask why\n", "<h2 id=\"ask-why\">", None);
    }

    #[test]
    fn what_would_be_lost_is_a_fault() {
        check("a <b>c</b>\n", "a ", Some("docs/x.md:1: HTML is not shown; say it in Markdown"));
        check(
            "\n| a | |\n|---|---|\n| b | c |\n",
            "b",
            Some("docs/x.md:2: a column without a head; say what stands in it"),
        );
        check("\n[a](b.md)\n", "", Some("docs/x.md:2: there is no docs/b.md"));
        check(
            "![a](https://x.y/z.png)\n",
            "",
            Some("docs/x.md:1: https://x.y/z.png would be loaded from elsewhere; put the picture into docs/pictures"),
        );
    }
}
