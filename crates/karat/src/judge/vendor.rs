//! Whose model a name stands for, so that a judge and a tool of the same house can be told.

/// How the names of models begin, and whose they are.
const BEGINNINGS: &[(&str, &str)] = &[
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

/// Whose model it is, as far as its name tells. Routers put a path before the name, which is passed over.
pub fn of_model(model: &str) -> Option<&'static str> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let of_name = |name: &str| BEGINNINGS.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, vendor)| *vendor);
    // Some clouds put their own words before the name, such as `us.anthropic.claude-…`.
    of_name(&name).or_else(|| name.rsplit('.').find_map(of_name))
}

#[cfg(test)]
mod tests {
    use super::of_model;

    #[test]
    fn names_tell_whose_model_it_is() {
        let check = |model: &str, expect: Option<&str>| assert_eq!(of_model(model), expect, "{model}");
        check("claude-sonnet-4-20250514", Some("anthropic"));
        check("us.anthropic.claude-3-5-haiku", Some("anthropic"));
        check("openrouter/anthropic/claude-sonnet-4", Some("anthropic"));
        check("GPT-4o-mini", Some("openai"));
        check("meta-llama/Llama-3.1-8B", Some("meta"));
        check("my-own-model", None);
        check("", None);
    }
}
