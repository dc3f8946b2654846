//! `karat models`: what is known of language models.

use crate::args::ModelsCommand;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{note, show};
use karat::suggestion;
use karat_format::diagnostic::harmless;
use karat_format::models::{ModelV1, ModelsV1};
use karat_llm::models::ModelTable;
use karat_llm::provider::ProviderEnv;
use karat_llm::providers::{PROVIDERS, provider_of_model, split_model};
use karat_report::grid::{Cell, draw, header};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn run(command: &ModelsCommand) -> Result<Exit> {
    match command {
        ModelsCommand::List { provider, json } => list(provider.as_deref(), *json),
        ModelsCommand::Show { id, json } => show_model(id, *json),
    }
}

/// Says so if prices and dates may have changed since the table was made. A table that cannot be read is reported by whoever needs it.
pub(crate) fn note_old_table() {
    if let Some(text) = load().ok().and_then(|table| table.age_note()) {
        note(&text);
    }
}

fn load() -> Result<ModelTable> {
    let table = ModelTable::load(&|name| std::env::var(name).ok());
    table.map_err(|error| Failure::bad_input(error.to_string()))
}

fn list(provider: Option<&str>, json: bool) -> Result<Exit> {
    let table = load()?;
    let models = &table.table.models;
    if let Some(unknown) = provider.filter(|name| models.iter().all(|model| model.provider != *name)) {
        let mut known: Vec<&str> = models.iter().map(|model| model.provider.as_str()).collect();
        known.dedup();
        let hint = suggestion(unknown, known.iter().copied(), ".");
        return Err(Failure::usage(format!(
            "no models of `{unknown}` are listed{hint} Available: {}",
            known.join(", ")
        )));
    }
    let listed: Vec<&ModelV1> = models.iter().filter(|m| provider.is_none_or(|name| m.provider == name)).collect();
    let value = json!({
        "as_of": table.table.as_of, "defaults": table.table.defaults, "models": listed, "user_file": table.user_file,
    });
    show(json, &value, |look| {
        let mut rows = vec![header("", ["input", "output"])];
        for models in listed.chunk_by(|a, b| a.provider == b.provider) {
            rows.extend(models.first().map(|model| vec![Cell::over(&model.provider)]));
            rows.extend(models.iter().map(|model| row(model, &table)));
        }
        let mut text = draw(&rows, look.width, look.colour);
        let as_of = table.table.as_of.as_deref().unwrap_or("an unknown day");
        text.push_str(&format!(
            "\nUSD for a million tokens, as of {as_of}; `-`: not known. * asked where no model is named.\n"
        ));
        if let Some(file) = &table.user_file {
            text.push_str(&format!("With the entries of {}.\n", harmless(&file.display().to_string())));
        }
        text
    })?;
    table.age_note().iter().for_each(|text| note(text));
    Ok(Exit::Ok)
}

fn row(model: &ModelV1, table: &ModelTable) -> Vec<Cell> {
    let price = |usd: Option<f64>| Cell::right(usd.map_or_else(|| "-".to_owned(), |usd| format!("{usd}")));
    let mark = if table.default_model(&model.provider) == Some(&model.id) { "*" } else { "" };
    let successor = model.successor.as_ref().map(|successor| format!("use {successor}"));
    let state = [status(model, &table.today), successor].into_iter().flatten().collect::<Vec<_>>().join(": ");
    let name = format!("  {}{mark}", model.id);
    vec![Cell::left(name), price(model.input), price(model.output), Cell::over(state)]
}

fn status(model: &ModelV1, today: &str) -> Option<String> {
    match &model.retired {
        Some(day) if model.is_retired(today) => Some(format!("retired {day}")),
        Some(day) => Some(format!("until {day}")),
        None => model.legacy.then(|| "legacy".to_owned()),
    }
}

fn show_model(id: &str, json: bool) -> Result<Exit> {
    let table = load()?;
    let (stated, name) = split_model(id);
    let servers = PROVIDERS.iter().filter(|entry| entry.remote.is_some() && stated.is_none_or(|own| own == entry.name));
    let Some(model) = servers.clone().find_map(|entry| table.find(entry.name, name)) else {
        let ids = table.table.models.iter().map(|model| model.id.as_str());
        let hint = suggestion(name, ids, "");
        let provider = match stated {
            Some(stated) if servers.count() == 0 => {
                return Err(Failure::usage(format!("the provider `{stated}` serves no models")));
            }
            Some(stated) => stated,
            None => {
                let env = ProviderEnv { variable: &|name| std::env::var(name).ok(), folder: Path::new("") };
                let guessed = provider_of_model(name, &env);
                guessed.map_err(|error| Failure::usage(format!("{error}{hint}")))?
            }
        };
        let model = ModelV1 { provider: provider.to_owned(), id: name.to_owned(), ..ModelV1::default() };
        show(json, &described(&model, false), |_| toml_of(&model))?;
        let what =
            "is not in the table of models: it is used, its price is unknown, and it is not known what it refuses";
        note(&harmless(&format!("`{id}` {what}{hint}")));
        return Ok(Exit::Ok);
    };
    show(json, &described(model, true), |_| toml_of(model))?;
    table.age_note().iter().for_each(|text| note(text));
    Ok(Exit::Ok)
}

fn described(model: &ModelV1, is_listed: bool) -> Value {
    let mut value = json!(model);
    value["listed"] = json!(is_listed);
    value
}

fn toml_of(model: &ModelV1) -> String {
    ModelsV1 { models: vec![model.clone()], ..ModelsV1::default() }.to_toml()
}
