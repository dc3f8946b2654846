//! Derives a title from a Markdown comment.

/// The first line with words in it, without badges, tags, headings, emphasis and links.
pub(crate) fn title(body: &str) -> Option<String> {
    let mut rest = body;
    while !rest.is_empty() {
        // A comment may span lines, so it is removed before the text is split.
        let trimmed = rest.trim_start();
        if let Some(comment) = trimmed.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let (line, after) = trimmed.split_once('\n').unwrap_or((trimmed, ""));
        let words = plain(line);
        if words.chars().any(char::is_alphanumeric) {
            return Some(words);
        }
        rest = after;
    }
    None
}

fn plain(line: &str) -> String {
    let line = without_tags(&without_links(line));
    let line = line.trim().trim_start_matches(['#', '>', ' ']);
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    let line: String = line.chars().filter(|c| !matches!(c, '*' | '`')).collect();
    // Underscores are emphasis only at the edges of words; within words they are part of a name.
    let words = line.split_whitespace().map(|word| word.trim_matches('_')).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Drops `![alt](address)`, and keeps the text of `[text](address)`.
fn without_links(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let found = rest[open..].find("](").and_then(|middle| {
            let close = rest[open + middle..].find(')')?;
            Some((open + middle, open + middle + close))
        });
        let Some((middle, close)) = found else { break };
        let (before, text) = (&rest[..open], &rest[open + 1..middle]);
        match before.strip_suffix('!') {
            Some(before) => out.push_str(before),
            None => {
                out.push_str(before);
                // A badge inside a link is `[![alt](badge)](address)`: drop the badge, then the rest of the link follows.
                out.push_str(if text.starts_with("![") { "" } else { text });
            }
        }
        rest = &rest[close + 1..];
        if text.starts_with("![") {
            rest = rest.strip_prefix("](").and_then(|tail| tail.split_once(')')).map_or(rest, |(_, tail)| tail);
        }
    }
    out.push_str(rest);
    out
}

/// Drops HTML tags; a `<` that starts no tag stays, since it may be code.
fn without_tags(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        let tail = &rest[open..];
        let is_tag = tail[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        // Tags are short; searching further would take quadratic time for a line of many `<`.
        let near = &tail.as_bytes()[..tail.len().min(4096)];
        match near.iter().position(|byte| *byte == b'>').filter(|_| is_tag) {
            Some(close) => rest = &tail[close + 1..],
            None => {
                out.push('<');
                rest = &tail[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_plain_text() {
        let check = |body: &str, expect: Option<&str>| assert_eq!(title(body).as_deref(), expect, "{body:?}");
        check("Plain words.\nMore.", Some("Plain words."));
        check("## **Bold** heading", Some("Bold heading"));
        check("![badge](https://x.test/b.svg)\n\n_Emphasis_ on `snake_case`", Some("Emphasis on snake_case"));
        check("![badge](https://x.test/b.svg) Same line", Some("Same line"));
        check("[![alt](b.svg)](https://x.test) After", Some("After"));
        check("See [the docs](https://x.test/a) first", Some("See the docs first"));
        check("<!-- hidden\n lines --><b>Bold</b> if a < b", Some("Bold if a < b"));
        check("> - quoted item", Some("quoted item"));
        check("<!-- never closed", None);
        check("***\n---\n", None);
        check("", None);
        check("[unclosed ](", Some("[unclosed ]("));
        check("é < ü", Some("é < ü"));
    }
}
