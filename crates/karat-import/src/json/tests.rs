use super::*;
use crate::input::from_reader;

fn input(text: &str) -> Input<'_> {
    from_reader(Path::new("in.json"), Box::new(text.as_bytes())).unwrap()
}

fn show_result(result: Result<(), ImportError>, numbers: &[i64]) -> String {
    match result {
        Ok(()) => format!("{numbers:?}"),
        Err(error) => error.to_string(),
    }
}

fn collect_into(numbers: &mut Vec<i64>) -> impl FnMut(i64) -> Result<(), String> + '_ {
    |number| {
        numbers.push(number);
        if number < 0 { Err(format!("{number} is below 0")) } else { Ok(()) }
    }
}

#[test]
fn arrays_are_read_element_by_element() {
    let check = |text: &str, expect: &str| {
        let mut numbers = Vec::new();
        let result = for_each(input(text), ArrayPlace::Document, &[], collect_into(&mut numbers));
        assert_eq!(show_result(result.map(drop), &numbers), expect, "{text}");
    };
    check("[]", "[]");
    check(" [1, 2,\n3]\n", "[1, 2, 3]");
    check("[1, -2]", "in.json:1:7: -2 is below 0");
    check("", "in.json:1:1: the file is empty; expected JSON");
    check(" \n ", "in.json:2:2: the file is empty; expected JSON");
    check("<html>", "in.json:1:1: this is XML or HTML, not JSON; ask the tool for its JSON output");
    check("\n warning: x", "in.json:2:2: expected JSON, which starts with `{` or `[`, found `w`");
    check(
        "[1,\n2",
        "in.json:2:1: the file ends in the middle of its JSON (EOF while parsing a list); \
         copy the whole file, or run the tool to its end",
    );
    check("[1, 2} ", "in.json:1:6: not valid JSON: expected `,` or `]`");
    check("[1, \"x\"]", "in.json:1:7: invalid type: string \"x\", expected i64");
    check("{\"a\": 1}", "in.json:1:1: invalid type: map, expected an array");
    check("[1] [2]", "in.json:1:5: not valid JSON: trailing characters");
}

#[test]
fn documents_may_follow_each_other() {
    let check = |text: &str, expect: &str| {
        let mut numbers = Vec::new();
        let mut each = collect_into(&mut numbers);
        let result = for_each_document(input(text), |one: Vec<i64>| one.into_iter().try_for_each(&mut each));
        drop(each);
        assert_eq!(show_result(result, &numbers), expect, "{text}");
    };
    check("[1]\n[2]\n\n[3]", "[1, 2, 3]");
    check("[1]\n[-2]\n", "in.json: document 2: -2 is below 0");
    check(
        "[1]\n[2",
        "in.json:2:2: the file ends in the middle of its JSON (EOF while parsing a list); \
         copy the whole file, or run the tool to its end",
    );
}

#[test]
fn nested_array_is_streamed_and_other_fields_are_kept() {
    let check = |text: &str, expect: &str| {
        let mut numbers = Vec::new();
        let keep = ["version", "errors"];
        let result = for_each(input(text), ArrayPlace::Under("results"), &keep, collect_into(&mut numbers));
        let shown = match result {
            Ok(kept) => format!("{numbers:?} {}", serde_json::to_string(&kept).unwrap()),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expect, "{text}");
    };
    check(r#"{"version": "1", "x": [[{}]], "results": [1, 2], "errors": []}"#, r#"[1, 2] {"errors":[],"version":"1"}"#);
    check("{}", "in.json:1:2: missing array `results`; is this the right format?");
    check("[]", "in.json:1:1: invalid type: sequence, expected an object with an array `results`");
    check(r#"{"results": 3}"#, "in.json:1:14: invalid type: integer `3`, expected an array");
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    let deep = format!("[{}", "[".repeat(100_000));
    let error = read::<Value>(input(&deep)).unwrap_err().to_string();
    assert!(error.ends_with("nested more than 512 levels deep; no known format does that"), "{error}");
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let error = read::<Value>(input(&deep)).unwrap_err().to_string();
    assert_eq!(error, "in.json:1:128: nested too deeply; no known format does that");
}

#[test]
fn long_values_are_not_repeated_in_messages() {
    let text = format!("[\"{}\"]", "x".repeat(5000));
    let error = for_each(input(&text), ArrayPlace::Document, &[], |_: i64| Ok(())).unwrap_err().to_string();
    assert!(error.len() < 400, "{error}");
}

records! {
    struct Sample {
        text: Option<String> = "text",
        number: Option<f64> = "number",
        count: Option<u32> = "count",
        flag: Option<bool> = "flag",
        many: Vec<Option<u32>> = "many",
    }
}

#[test]
fn lenient_records_ignore_unusable_fields() {
    let check = |text: &str, expect: Sample| {
        let Loose(sample): Loose<Sample> = read(input(text)).unwrap();
        assert_eq!(sample, expect, "{text}");
    };
    let none = Sample::default();
    check("{}", none.clone());
    check("[1, {}]", none.clone());
    check(r#"{"text": null, "number": [], "count": -1, "flag": {}, "many": 7}"#, none.clone());
    check(r#"{"count": 1e300, "number": "x", "unknown": {"text": "y"}}"#, none.clone());
    check(
        r#"{"text": "a", "text": "b", "number": 1, "count": "4", "flag": true, "many": [1, null, 3.0, 2.5]}"#,
        Sample {
            text: Some("b".to_owned()),
            number: Some(1.0),
            count: Some(4),
            flag: Some(true),
            many: vec![Some(1), None, Some(3), None],
        },
    );
}
