//! A model named in one word: `PROVIDER/MODEL` or `PROVIDER/MODEL@STYLE`.

use karat_format::document::suggest::nearest;
use karat_format::llm::{LlmV1, StyleV1};
use karat_format::plain_id;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_llm::providers;
use std::path::Path;

/// The tool that a word stands for, called after the model; or what is wrong with the word. Where answers come from a file,
/// the file stands in the model's place.
pub fn parse_reference(text: &str) -> Result<(String, ToolManifestV1), String> {
    let (name, rest) = text.split_once('/').ok_or("expected a `/` between provider and model")?;
    let entry = providers::entry(name).map_err(|error| error.to_string())?;
    if !entry.reads_prompts() {
        return Err(format!("`{name}` cannot be asked to review anything"));
    }
    let (what, style) = parted(rest)?;
    if what.trim().is_empty() {
        return Err("the model after the `/` is missing".to_owned());
    }
    let mut llm = LlmV1 { provider: Some(name.to_owned()), style, ..LlmV1::default() };
    let (mut model, mut called) = (Some(what.to_owned()), what.to_owned());
    if entry.remote.is_none() {
        let path = std::path::absolute(what).map_err(|error| format!("{what}: {error}"))?;
        llm.file = Some(path.to_string_lossy().into_owned());
        model = None;
        called = Path::new(what).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    let called = style.map_or(called.clone(), |style| format!("{called}@{}", style.as_str()));
    let id = plain_id(&called).ok_or_else(|| format!("nothing can be called {called:?}"))?;
    Ok((id, ToolManifestV1 { kind: ToolKindV1::Llm, model, llm, ..ToolManifestV1::default() }))
}

/// The model and the style. Names of models may hold an `@` themselves, so only what looks like a style is taken for one.
fn parted(text: &str) -> Result<(&str, Option<StyleV1>), String> {
    let Some((model, word)) = text.rsplit_once('@') else { return Ok((text, None)) };
    if let Some(style) = StyleV1::ALL.into_iter().find(|style| style.as_str() == word) {
        return Ok((model, Some(style)));
    }
    match nearest(word, StyleV1::ALL.iter().map(|style| style.as_str())) {
        Some(near) => Err(format!("there is no style `{word}`, did you mean `{near}`?")),
        None => Ok((text, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_models() {
        let check = |text: &str, expect: &str| {
            let told = match parse_reference(text) {
                Ok((name, tool)) => {
                    let (model, style) = (tool.model.unwrap_or_default(), tool.llm.style.map(StyleV1::as_str));
                    format!("{name} = {} {model} {}", tool.llm.provider.unwrap(), style.unwrap_or("-"))
                }
                Err(why) => format!("fault: {why}"),
            };
            assert_eq!(told, expect, "{text}");
        };
        check("anthropic/claude-sonnet-4", "claude-sonnet-4 = anthropic claude-sonnet-4 -");
        check("openai/gpt@adversarial", "gpt@adversarial = openai gpt adversarial");
        check("openai/org/name", "org/name = openai org/name -");
        check("openai/../name", "name = openai ../name -");
        check("openai/claude@20240229", "claude@20240229 = openai claude@20240229 -");
        check("openai/m\u{7}x", "m x = openai m\u{7}x -");
        check("scripted/a/answers.jsonl@direct", "answers@direct = scripted  direct");
        check("openai/gpt@advesarial", "fault: there is no style `advesarial`, did you mean `adversarial`?");
        check("antropic/m", "fault: unknown provider `antropic`; did you mean `anthropic`?");
        check("local/m", "fault: `local` cannot be asked to review anything");
        check("openai", "fault: expected a `/` between provider and model");
        check("openai/", "fault: the model after the `/` is missing");
        check("openai/..", "fault: nothing can be called \"..\"");
    }
}
