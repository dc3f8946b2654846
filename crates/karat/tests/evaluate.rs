//! The example of the library does what it says.

#[path = "../examples/evaluate.rs"]
#[expect(dead_code, reason = "a test has a main of its own")]
mod example;

#[test]
fn the_example_evaluates_a_suite_end_to_end() {
    let store = tempfile::tempdir().unwrap();
    let lines = example::scores("starter", &["patterns"], store.path()).unwrap();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.starts_with("patterns: F1 0.") && line.contains("95 % Some("), "{line}");
    assert!(karat_store::Store::open(store.path()).unwrap().runs().unwrap().len() == 1);
    let unknown = example::scores("starter", &["nothing-of-that-name"], store.path()).unwrap_err();
    assert!(unknown.to_string().contains("nothing-of-that-name"), "{unknown}");
}
