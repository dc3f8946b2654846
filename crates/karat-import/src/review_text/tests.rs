use super::super::testing::{check, check_fault, check_text, import_fixture, import_text};

#[test]
fn reviews_become_findings() {
    check(
        &import_fixture("review-text", "review-text/review.md"),
        r##"
        finding -: title="Query built from user input in shop/search.py:14-17" message="1. Query built from user input in `shop/search.py:14-17`\n\n**Severity:** High\n\nThe search word goes into the SQL text as it is.\n\n```python\n# shop/other.py:99 is only an example\ncursor.execute(\"SELECT * FROM items WHERE name = '%s'\" % word)\n```\n\nSuggested fix\n\nHand the word over as a parameter." file="shop/search.py" start="14" end="17" severity="high"
        finding -: title="Missing check" message="**File:** `shop/views.py`\n**Lines:** 30 to 33\n**Severity:** medium\n\nNobody looks whether the user is signed in." file="shop/views.py" start="30" end="33" severity="medium"
        finding -: title="the token never expires" message="**shop/session.py** (line 8): the token never expires\nand is kept for ever.\n\nImpact: a stolen token works next year too" file="shop/session.py" start="8" end="8" severity="critical"
        finding -: title="the cookie is sent over plain HTTP." message="Line 21: the cookie is sent over plain HTTP." file="shop/session.py" start="21" end="21" severity="critical"
        finding -: title="the name of the cookie is guessed from the user's name." message="Line 40: the name of the cookie is guessed from the user's name." file="shop/session.py" start="40" end="40" severity="critical"
        finding -: title="The list is drawn again for every key." message="The list is drawn again for every key." file="web/static/search.js"
        finding -: title="innerHTML is set to what the server sends." message="L52: `innerHTML` is set to what the server sends." file="web/static/search.js" start="52" end="52"
        note review-text/review.md: prose that names no location in the code ignored (2)
        "##,
    );
}

#[test]
fn list_items_become_findings() {
    check_text(
        "review-text",
        "- `a.py:3` - **[HIGH]** The query is built by hand\n  - Fix: use parameters\n- `b.py`: The file is never closed\n",
        r#"
        finding -: title="The query is built by hand" message="`a.py:3` - **[HIGH]** The query is built by hand\n\nFix: use parameters" file="a.py" start="3" end="3" severity="high"
        finding -: title="The file is never closed" message="`b.py`: The file is never closed" file="b.py"
        "#,
    );
}

/// A section may list its fields with labels.
#[test]
fn labelled_fields_make_one_finding() {
    check_text(
        "review-text",
        "### Off by one\n- **File**: lib/a.rb\n- **Line**: 12\n- **Severity**: low\n- **Description**: the last entry is lost\n### Next\n- **File**: lib/b.rb\n- **Line**: 2\n",
        r#"
        finding -: title="Off by one" message="**File**: lib/a.rb\n\n**Line**: 12\n\n**Severity**: low\n\n**Description**: the last entry is lost" file="lib/a.rb" start="12" end="12" severity="low"
        finding -: title="Next" message="**File**: lib/b.rb\n\n**Line**: 2" file="lib/b.rb" start="2" end="2"
        "#,
    );
}

#[test]
fn paragraphs_extend_to_the_next_location() {
    check_text(
        "review-text",
        "In `a.py:3` the index is off.\n\nIt should start at 0.\n\nThe name in lib/b.py:9 is taken.\n",
        r#"
        finding -: title="the index is off." message="In `a.py:3` the index is off.\n\nIt should start at 0." file="a.py" start="3" end="3"
        finding -: title="The name in lib/b.py:9 is taken." message="The name in lib/b.py:9 is taken." file="lib/b.py" start="9" end="9"
        "#,
    );
}

#[test]
fn prose_without_a_finding_gets_a_note() {
    check_text(
        "review-text",
        "The loop looks wrong to me, and the name is odd.",
        r#"
        partial failure - -: no finding could be recognised in 11 words of prose; a finding names a file and a line
        note in: prose that names no location in the code ignored (1)
        "#,
    );
    check_text(
        "review-text",
        "LGTM, but the loop is wrong.",
        r#"
        partial failure - -: no finding could be recognised in 6 words of prose; a finding names a file and a line
        note in: prose that names no location in the code ignored (1)
        "#,
    );
    check_text("review-text", "No issues found.", "note in: prose that names no location in the code ignored (1)");
}

#[test]
fn oversized_texts_are_refused() {
    check_fault("review-text", &"x ".repeat(5 << 20), "the text is longer than 8 MiB");
    check_fault("review-text", &"- a/b.py:1 x\n".repeat(10_001), "10001 locations are named");
    for hostile in ["x.y,".repeat(1 << 18), "a/".repeat(1 << 18), "#".repeat(1 << 18), "- ".repeat(1 << 16)] {
        import_text("review-text", &hostile).unwrap();
    }
}
