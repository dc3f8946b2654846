//! The table of models: what they cost, what they refuse, and until when they are served. The user's own table replaces entries.
//!
//! A suite has no table: it could hide what a judge costs, or send questions to another model. It states prices for its own judges.

use super::provider::ProviderError;
use jiff::civil::Date;
use jiff::{Span, Timestamp};
use karat_format::case::is_date;
use karat_format::diagnostic::Diagnostic;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::models::{ModelV1, ModelsV1, RefusalV1};
use std::io;
use std::path::PathBuf;
use std::sync::LazyLock;

/// The table in the binary.
static SHIPPED: LazyLock<ModelsV1> = LazyLock::new(|| {
    // A test makes sure that it has no faults.
    decode("models.toml", include_bytes!("../models.toml")).unwrap_or_default()
});

/// The table of models, with the user's entries in place of those of the binary.
#[derive(Clone, Debug)]
pub struct ModelTable {
    /// What it holds.
    pub table: ModelsV1,
    /// The file of the user that changed it.
    pub user_file: Option<PathBuf>,
    /// The day for which it is asked what is retired: that of the variable `KARAT_TODAY`, else today in UTC.
    pub today: String,
}

impl ModelTable {
    /// The table in the binary.
    pub fn shipped() -> Self {
        let today = Timestamp::now().strftime("%Y-%m-%d").to_string();
        Self { table: SHIPPED.clone(), user_file: None, today }
    }

    /// The table with what the user's `karat/models.toml` says, if there is one, in `XDG_CONFIG_HOME` or `~/.config`.
    pub fn load(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, ProviderError> {
        let mut loaded = Self::shipped();
        if let Some(today) = variable(TODAY).filter(|today| !today.is_empty()) {
            if !is_date(&today) {
                return Err(ProviderError::Other(format!(
                    "{TODAY}: expected a date such as 2026-11-19, not {today:?}"
                )));
            }
            loaded.today = today;
        }
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
        let Some(file) = folder.map(|folder| folder.join("karat").join("models.toml")) else { return Ok(loaded) };
        let shown = file.display().to_string();
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(loaded);
            }
            Err(error) => return Err(ProviderError::Other(format!("{shown}: {error}"))),
        };
        let own = decode(&shown, &bytes).map_err(ProviderError::Other)?;
        loaded.replace(own);
        loaded.user_file = Some(file);
        Ok(loaded)
    }

    fn replace(&mut self, own: ModelsV1) {
        let ModelsV1 { as_of, defaults, models } = &mut self.table;
        *as_of = own.as_of.or(as_of.take());
        defaults.extend(own.defaults);
        for model in own.models {
            models.retain(|other| other.provider != model.provider || !other.is_called(&model.id));
            models.push(model);
        }
    }

    /// The model that is asked where only its provider is named.
    pub fn default_model(&self, provider: &str) -> Option<&str> {
        self.table.defaults.get(provider).map(String::as_str)
    }

    /// What is known of a provider's model. A date behind its name stands for one of its versions.
    pub fn find(&self, provider: &str, model: &str) -> Option<&ModelV1> {
        let named = |name: &str| self.table.models.iter().find(|own| own.provider == provider && own.is_called(name));
        named(model).or_else(|| named(without_date(model)?))
    }

    /// Why a model must not be asked any more, with its successor; `None` if it is served.
    pub(super) fn retirement(&self, model: &ModelV1) -> Option<String> {
        let retired = model.retired.as_deref().filter(|_| model.is_retired(&self.today))?;
        let ModelV1 { id, provider, .. } = model;
        let instead = match &model.successor {
            Some(successor) => format!("use its successor {successor}"),
            None => "use another one; `karat models list` shows which there are".to_owned(),
        };
        Some(format!(
            "the model {id} was retired by {provider} on {retired}; {instead}, or, if your server still has it, say so in models.toml"
        ))
    }

    /// A note if the table is older than six months.
    pub fn age_note(&self) -> Option<String> {
        let stated = self.table.as_of.as_deref()?;
        let (as_of, today): (Date, Date) = (stated.parse().ok()?, self.today.parse().ok()?);
        let is_old = as_of.checked_add(Span::new().months(6)).is_ok_and(|limit| limit < today);
        is_old.then(|| {
            format!(
                "the table of models is of {stated}, more than six months ago: prices may have changed and models may have been \
                 retired; help: use a newer Karat, or state what changed in karat/models.toml of your configuration"
            )
        })
    }
}

/// The variable that names another day than today.
const TODAY: &str = "KARAT_TODAY";

/// Whether a model can be told how hard to think.
pub fn takes_effort(model: &ModelV1) -> bool {
    !model.refuses(RefusalV1::Effort)
}

fn decode(shown: &str, bytes: &[u8]) -> Result<ModelsV1, String> {
    let decoded = decode_bytes::<ModelsV1>(shown, bytes, Syntax::Toml, &schema_of::<ModelsV1>());
    let (table, _) = decoded.into_result().map_err(|faults| describe(&faults))?;
    match table.faults().as_slice() {
        [] => Ok(table),
        faults => Err(format!("{shown}: {}", faults.join("; "))),
    }
}

fn describe(faults: &[Diagnostic]) -> String {
    let one = |fault: &Diagnostic| {
        let help = fault.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        format!("{}:{}:{}: {}{help}", fault.file, fault.line, fault.column, fault.message)
    };
    faults.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// The name before `-20250514` or `-2025-05-14`.
fn without_date(model: &str) -> Option<&str> {
    let is_date = |text: &str, separators: usize| {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        text.starts_with('-') && digits == 8 && text.len() == 8 + separators && text.matches('-').count() == separators
    };
    [(9, 1), (11, 3)].into_iter().find_map(|(length, separators)| {
        let at = model.len().checked_sub(length).filter(|at| model.is_char_boundary(*at) && *at > 0)?;
        is_date(&model[at..], separators).then(|| &model[..at])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::PROVIDERS;

    #[test]
    fn shipped_table_is_complete() {
        let table = decode("models.toml", include_bytes!("../models.toml")).unwrap();
        assert!(table.as_of.as_deref().is_some_and(is_date));
        let shipped = ModelTable::shipped();
        for (provider, model) in &table.defaults {
            let known = shipped.find(provider, model).unwrap_or_else(|| panic!("{model} is not listed"));
            assert!(known.retired.is_none() && known.input.is_some(), "{model}");
        }
        for model in &table.models {
            let id = &model.id;
            let remote = PROVIDERS.iter().any(|entry| entry.name == model.provider && entry.remote.is_some());
            assert!(remote, "{id}: unknown provider {}", model.provider);
            assert!(!model.sources.is_empty() && model.sources.iter().all(|url| url.starts_with("https://")), "{id}");
            assert!(model.read.is_some() && model.read <= table.as_of, "{id}: read after the table was made");
            if let Some(successor) = &model.successor {
                let next = shipped.find(&model.provider, successor);
                let next = next.unwrap_or_else(|| panic!("{id}: its successor {successor} is not listed"));
                assert!(next.id != *id && next.retired.is_none(), "{id}: {successor} is retired too");
            }
            if let (Some(released), Some(retired)) = (&model.released, &model.retired) {
                assert!(released < retired, "{id}");
            }
            assert!(model.retired.is_none() || model.successor.is_some() || model.id == "gpt-5.1", "{id}");
            assert!(!model.legacy || !model.is_retired("2026-11-19"), "{id} is legacy and retired");
        }
    }

    #[test]
    fn models_are_found_by_any_of_their_names() {
        let table = ModelTable::shipped();
        let check = |provider: &str, name: &str, expect: Option<&str>| {
            assert_eq!(table.find(provider, name).map(|model| model.id.as_str()), expect, "{provider} {name}");
        };
        check("anthropic", "claude-sonnet-5-5", Some("claude-sonnet-5-5"));
        check("anthropic", "claude-sonnet-5-5-20260928", Some("claude-sonnet-5-5"));
        check("anthropic", "claude-sonnet-4-0", Some("claude-sonnet-4-20250514"));
        check("anthropic", "claude-3-opus-latest", Some("claude-3-opus-20240229"));
        check("anthropic", "claude-3-5-sonnet-latest", Some("claude-3-5-sonnet-20241022"));
        check("anthropic", "claude-3-5-haiku-latest", Some("claude-3-5-haiku-20241022"));
        check("anthropic", "claude-3-7-sonnet-latest", Some("claude-3-7-sonnet-20250219"));
        check("openai", "gpt-5.4-2026-03-05", Some("gpt-5.4"));
        check("openai", "gpt-4o-2024-05-13", Some("gpt-4o-2024-05-13"));
        check("openai", "claude-sonnet-5-5", None);
        check("anthropic", "claude-sonnet-9", None);
        check("anthropic", "é-2026-03-05", None);
        check("anthropic", "", None);
    }

    #[test]
    fn retired_models_name_their_successor() {
        let why = |model: &str, today: &str| {
            let table = ModelTable { today: today.to_owned(), ..ModelTable::shipped() };
            table.retirement(table.find("anthropic", model).unwrap())
        };
        assert_eq!(why("claude-sonnet-4-20250514", "2026-06-14"), None);
        let message = why("claude-sonnet-4-20250514", "2026-06-15").unwrap();
        assert!(
            message.contains("retired by anthropic on 2026-06-15; use its successor claude-sonnet-5-5"),
            "{message}"
        );
        assert_eq!(why("claude-sonnet-5-5", "2036-01-01"), None);
    }

    #[test]
    fn age_is_counted_in_months() {
        let mut table = ModelTable::shipped();
        table.table.as_of = Some("2026-08-31".to_owned());
        for (today, is_old) in
            [("2026-08-31", false), ("2027-02-28", false), ("2027-03-01", true), ("2020-01-01", false)]
        {
            table.today = today.to_owned();
            assert_eq!(table.age_note().is_some(), is_old, "{today}");
        }
    }

    #[test]
    fn today_can_be_another_day() {
        let load = |today: &str| ModelTable::load(&|name| (name == TODAY).then(|| today.to_owned()));
        assert_eq!(load("2027-03-01").unwrap().today, "2027-03-01");
        let clock = load("").unwrap().today;
        assert!(is_date(&clock) && clock.as_str() > "2026-01-01", "{clock}");
        let message = load("tomorrow").unwrap_err().to_string();
        assert_eq!(message, "KARAT_TODAY: expected a date such as 2026-11-19, not \"tomorrow\"");
    }

    #[test]
    fn user_replaces_entries_as_a_whole() {
        let folder = std::env::temp_dir().join(format!("karat-models-{}", std::process::id()));
        let file = folder.join("karat/models.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let load = |text: &str| {
            std::fs::write(&file, text).unwrap();
            let home = folder.to_str().unwrap().to_owned();
            ModelTable::load(&move |name| (name == "XDG_CONFIG_HOME").then(|| home.clone())).map_err(|e| e.to_string())
        };
        let own = "as_of = \"2030-01-01\"\ndefaults = { openai = \"mine\" }\n[[models]]\nprovider = \"anthropic\"\n\
                   id = \"claude-sonnet-4-20250514\"\ninput = 1\noutput = 2\n[[models]]\nprovider = \"openai\"\nid = \"mine\"\n";
        let table = load(own).unwrap();
        let model = table.find("anthropic", "claude-sonnet-4-20250514").unwrap();
        assert_eq!((model.input, &model.retired, model.refuses.len()), (Some(1.0), &None, 0));
        assert_eq!(table.default_model("openai"), Some("mine"));
        assert_eq!(table.default_model("anthropic"), Some("claude-sonnet-5-5"));
        assert_eq!((table.table.as_of.as_deref(), table.user_file.as_ref()), (Some("2030-01-01"), Some(&file)));
        let check = |text: &str, expect: &str| {
            let message = load(text).unwrap_err();
            assert!(message.contains(expect) && message.contains("models.toml"), "{message}");
        };
        check("[[models]]\nprovider = \"openai\"\nid = \"m\"\nimput = 1\n", "models.toml:4:1: unknown key `imput`");
        check("[[models]]\nprovider = \"openai\"\nid = \"m\"\nretired = \"soon\"\n", "is no date");
        check("[[models]]\nprovider = \"openai\"\nid = \"m\"\ninput = 1\n", "give both");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
