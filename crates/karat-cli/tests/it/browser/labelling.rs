//! The label page as people use it: with keys alone, and finding everything as they left it.

use super::browser;
use super::driver::Tab;
use crate::project::Project;
use crate::serve::Server;

fn asking(tab: &Tab) {
    tab.wait_for("#desk[data-state=asking]");
}

fn item(tab: &Tab) -> String {
    tab.eval("document.querySelector('#desk').dataset.item").as_str().unwrap_or_default().to_owned()
}

/// Presses a key and waits until another item is asked about.
fn answer(tab: &Tab, key: &str) {
    let before = item(tab);
    tab.press(key);
    tab.until(&format!(
        "document.querySelector('#desk').dataset.state === 'asking' && document.querySelector('#desk').dataset.item !== {}",
        serde_json::json!(before)
    ));
}

#[test]
fn twenty_pairs_are_labelled_with_keys_alone_and_found_as_left() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    project.run("run starter --name one --only py-* --seed 1 -q").expect(0);
    let server = Server::start(&project, &["--label"]);
    let tab = browser.page(server.told["label_url"].as_str().unwrap());
    tab.tab_to("#name");
    tab.type_text("anna");
    tab.press("Enter");
    asking(&tab);
    let mut asked = Vec::new();
    for number in 0..20 {
        asked.push(item(&tab));
        answer(&tab, ["y", "n", "p"][number % 3]);
    }
    let different: std::collections::BTreeSet<&String> = asked.iter().collect();
    assert_eq!(different.len(), 20, "no pair comes twice: {asked:?}");
    tab.wait_text("#headline", "20 labels");
    // What was taken back is asked again.
    tab.press("u");
    tab.wait_text("#headline", "19 labels");
    asking(&tab);
    assert_eq!(item(&tab), asked[19]);
    answer(&tab, "n");
    tab.wait_text("#headline", "20 labels");
    let left = item(&tab);
    tab.reload();
    asking(&tab);
    tab.wait_text("#headline", "20 labels");
    assert_eq!(item(&tab), left, "it goes on where one was");
    tab.quiet();
    let kept = project.json("label list --as anna --json");
    assert_eq!(kept.as_array().unwrap().len(), 20);
}
