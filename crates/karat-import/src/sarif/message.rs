//! Renders messages, which may be a rule's template with arguments.

use super::model::{Component, Message, Rule};

/// The longest rendered message; arguments could otherwise multiply without bound.
const MAX_BYTES: usize = 1 << 20;

pub(super) fn render(message: Message, rule: Option<(&Component, &Rule)>) -> Option<String> {
    let Message { text, markdown, id, arguments } = message;
    let own = text.or(markdown).filter(|text| !text.trim().is_empty());
    if let Some(own) = own {
        return Some(if arguments.is_empty() { own } else { fill_template(&own, &arguments) });
    }
    let id = id?;
    let (component, rule) = rule?;
    let string = rule.messages.get(&id).or_else(|| component.messages.get(&id))?;
    string.text.as_ref().or(string.markdown.as_ref()).map(|template| fill_template(template, &arguments))
}

/// Replaces `{0}`, `{1}`, … by arguments, and `{{` and `}}` by single braces.
fn fill_template(template: &str, arguments: &[Option<String>]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let (piece, length) = expand_brace(&rest[at..], arguments);
        out.push_str(piece);
        rest = &rest[at + length..];
        if out.len() > MAX_BYTES {
            break;
        }
    }
    out.push_str(rest);
    if out.len() > MAX_BYTES {
        out.truncate(out.floor_char_boundary(MAX_BYTES));
        out.push('…');
    }
    out
}

/// The replacement for a text that starts with a brace, and how many bytes it replaces.
fn expand_brace<'a>(text: &'a str, arguments: &'a [Option<String>]) -> (&'a str, usize) {
    if text.starts_with("{{") || text.starts_with("}}") {
        return (&text[..1], 2);
    }
    let argument = || {
        let digits = text.bytes().skip(1).take_while(u8::is_ascii_digit).count();
        let index: usize = text[1..=digits].parse().ok()?;
        let value = arguments.get(index)?.as_deref().unwrap_or_default();
        text[1 + digits..].starts_with('}').then_some((value, digits + 2))
    };
    argument().unwrap_or((&text[..1], 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_replace_placeholders() {
        let arguments = [Some("x".to_owned()), None, Some("{0}".to_owned())];
        let check =
            |template: &str, expect: &str| assert_eq!(fill_template(template, &arguments), expect, "{template}");
        check("plain", "plain");
        check("a {0} b{0}", "a x bx");
        check("{1}|{2}|{3}", "|{0}|{3}");
        check("{{0}} }} {", "{0} } {");
        check("{é} {} {-1} }", "{é} {} {-1} }");
    }

    #[test]
    fn expanded_templates_are_bounded() {
        let long = fill_template(&"{0}".repeat(100_000), &[Some("é".repeat(10_000))]);
        assert!(long.len() <= MAX_BYTES + 3 && long.ends_with('…'));
    }
}
