//! The words of a message, which may be a rule's words with arguments put in.

use super::model::{Component, Message, Rule};
use std::borrow::Cow;

/// The longest message that is made of a template; arguments could otherwise multiply without end.
const LONGEST: usize = 1 << 20;

/// The words of a result's message.
pub(super) fn words(message: Message, rule: Option<(&Component, &Rule)>) -> Option<String> {
    let Message { text, markdown, id, arguments } = message;
    let own = text.or(markdown).filter(|text| !text.trim().is_empty());
    if let Some(own) = own {
        return Some(if arguments.is_empty() { own } else { filled(&own, &arguments) });
    }
    let id = id?;
    let (component, rule) = rule?;
    let string = rule.messages.0.get(&id).or_else(|| component.messages.0.get(&id))?;
    string.text.as_ref().or(string.markdown.as_ref()).map(|template| filled(template, &arguments))
}

/// Puts arguments in the place of `{0}`, `{1}`, …; `{{` and `}}` stand for single braces.
fn filled(template: &str, arguments: &[Option<String>]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let (piece, length) = piece(&rest[at..], arguments);
        out.push_str(&piece);
        rest = &rest[at + length..];
        if out.len() > LONGEST {
            break;
        }
    }
    out.push_str(rest);
    if out.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|&end| out.is_char_boundary(end)).unwrap_or(0);
        out.truncate(end);
        out.push('…');
    }
    out
}

/// What a text that starts with a brace stands for, and how much of it that uses up.
fn piece<'a>(text: &'a str, arguments: &'a [Option<String>]) -> (Cow<'a, str>, usize) {
    if text.starts_with("{{") || text.starts_with("}}") {
        return (Cow::Borrowed(&text[..1]), 2);
    }
    let argument = || {
        let digits = text.bytes().skip(1).take_while(u8::is_ascii_digit).count();
        let index: usize = text[1..=digits].parse().ok()?;
        let value = arguments.get(index)?.as_deref().unwrap_or_default();
        text[1 + digits..].starts_with('}').then_some((Cow::Borrowed(value), digits + 2))
    };
    argument().unwrap_or((Cow::Borrowed(&text[..1]), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_take_the_place_of_numbers() {
        let arguments = [Some("x".to_owned()), None, Some("{0}".to_owned())];
        let check = |template: &str, expect: &str| assert_eq!(filled(template, &arguments), expect, "{template}");
        check("plain", "plain");
        check("a {0} b{0}", "a x bx");
        check("{1}|{2}|{3}", "|{0}|{3}");
        check("{{0}} }} {", "{0} } {");
        check("{é} {} {-1} }", "{é} {} {-1} }");
    }

    #[test]
    fn templates_do_not_multiply_without_end() {
        let long = filled(&"{0}".repeat(100_000), &[Some("é".repeat(10_000))]);
        assert!(long.len() <= LONGEST + 3 && long.ends_with('…'));
    }
}
