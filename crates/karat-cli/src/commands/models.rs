//! `karat models`: what is known of language models.

use crate::args::ModelsCommand;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{note, show};
use karat::suggestion;
use karat_format::diagnostic::harmless;
use karat_format::models::{ModelV1, ModelsV1};
use karat_llm::models::{ModelTable, today};
use karat_llm::providers::split_model;
use karat_report::grid::{Cell, draw, header};
use serde_json::json;

pub(crate) fn run(command: &ModelsCommand) -> Result<Exit> {
    match command {
        ModelsCommand::List { provider, json } => list(provider.as_deref(), *json),
        ModelsCommand::Show { id, json } => show_model(id, *json),
    }
}

/// Says so if prices and dates may have changed since the table was made. A table that cannot be read is reported by whoever needs it.
pub(crate) fn note_old_table() {
    if let Some(text) = load().ok().and_then(|table| table.age_note(&today())) {
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
    let today = today();
    let value = json!({
        "as_of": table.table.as_of, "defaults": table.table.defaults, "models": listed, "user_file": table.user_file,
    });
    show(json, &value, |look| {
        let mut rows = vec![header("", ["input", "output"])];
        for models in listed.chunk_by(|a, b| a.provider == b.provider) {
            rows.extend(models.first().map(|model| vec![Cell::over(&model.provider)]));
            rows.extend(models.iter().map(|model| row(model, &table, &today)));
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
    table.age_note(&today).iter().for_each(|text| note(text));
    Ok(Exit::Ok)
}

fn row(model: &ModelV1, table: &ModelTable, today: &str) -> Vec<Cell> {
    let price = |usd: Option<f64>| Cell::right(usd.map_or_else(|| "-".to_owned(), |usd| format!("{usd}")));
    let mark = if table.default_model(&model.provider) == Some(&model.id) { "*" } else { "" };
    let successor = model.successor.as_ref().map(|successor| format!("use {successor}"));
    let state = [status(model, today), successor].into_iter().flatten().collect::<Vec<_>>().join(": ");
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
    let (provider, name) = split_model(id);
    let found = match provider {
        Some(provider) => table.find(provider, name),
        None => ["anthropic", "openai", "google"].iter().find_map(|provider| table.find(provider, name)),
    };
    let Some(model) = found else {
        let hint = suggestion(name, table.table.models.iter().map(|model| model.id.as_str()), ".");
        let message = format!("the model `{}` is not listed{hint} It can be used; its price is unknown.", harmless(id));
        return Err(Failure::usage(message));
    };
    show(json, model, |_| toml_of(model))?;
    table.age_note(&today()).iter().for_each(|text| note(text));
    Ok(Exit::Ok)
}

fn toml_of(model: &ModelV1) -> String {
    ModelsV1 { models: vec![model.clone()], ..ModelsV1::default() }.to_toml()
}
