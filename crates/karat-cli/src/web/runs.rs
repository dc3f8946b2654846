//! All runs.

use super::fault::Fault;
use super::reply::Reply;
use super::state::State;
use axum::Router;
use axum::extract::State as Shared;
use axum::routing::get;
use karat::report::page::{Page, THEME, text};

pub(super) fn routes() -> Router<State> {
    Router::new().route("/", get(list))
}

async fn list(Shared(state): Shared<State>) -> Result<Reply, Fault> {
    let runs = state.read(|store| Ok(store.runs()?)).await?;
    let rows: String = runs
        .iter()
        .map(|run| format!("<tr><td>{}</td><td>{}</td></tr>\n", text(&run.short_id), text(&run.suite)))
        .collect();
    let body = format!("<h1>Runs</h1>\n<table>{rows}</table>\n");
    Ok(Reply::page(&Page {
        title: "Runs",
        nav: &state.nav("Runs"),
        body: &body,
        styles: &[],
        scripts: &[THEME],
        connects: true,
    }))
}
