//! The vendor of a model, by its name, to warn where a judge and a tool are of the same vendor.

const PREFIXES: &[(&str, &str)] = &[
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("chatgpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("codex", "openai"),
    ("gemini", "google"),
    ("gemma", "google"),
    ("llama", "meta"),
    ("mistral", "mistral"),
    ("mixtral", "mistral"),
    ("codestral", "mistral"),
    ("qwen", "alibaba"),
    ("deepseek", "deepseek"),
    ("grok", "xai"),
];

/// The vendor of a model. A router's path before the name is ignored.
pub fn vendor_of_model(model: &str) -> Option<&'static str> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let by_prefix =
        |name: &str| PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, vendor)| *vendor);
    // Some clouds add their own prefix, such as `us.anthropic.claude-…`.
    by_prefix(&name).or_else(|| name.rsplit('.').find_map(by_prefix))
}

#[cfg(test)]
mod tests {
    use super::vendor_of_model;

    #[test]
    fn vendors_are_found_by_name() {
        let check = |model: &str, expect: Option<&str>| assert_eq!(vendor_of_model(model), expect, "{model}");
        check("claude-sonnet-4-20250514", Some("anthropic"));
        check("us.anthropic.claude-3-5-haiku", Some("anthropic"));
        check("openrouter/anthropic/claude-sonnet-4", Some("anthropic"));
        check("GPT-4o-mini", Some("openai"));
        check("meta-llama/Llama-3.1-8B", Some("meta"));
        check("my-own-model", None);
        check("", None);
    }
}
