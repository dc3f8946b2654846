use super::*;

#[test]
fn stop_words_are_sorted_so_that_they_are_found() {
    assert!(STOP_WORDS.is_sorted());
    assert!(["about", "don", "your"].iter().all(|word| STOP_WORDS.contains(word)));
    assert!(NEGATIONS.iter().chain(&["", "zebra", "{", "\u{e9}t\u{e9}", "a"]).all(|word| !STOP_WORDS.contains(word)));
}

#[test]
fn texts_are_taken_apart() {
    let check = |text: &str, expect: &str, expect_names: &str| {
        let (mut names, stems) = (Vec::new(), stems(text).join(" "));
        pieces(text, |piece| {
            if let Piece::Word { word, named, .. } = piece {
                let own = Spelling::new(word, |_| {});
                names.extend(((named || own.is_name) && !own.is_stop_word).then_some(own.lower));
            }
        });
        assert_eq!((stems.as_str(), names.join(" ").as_str()), (expect, expect_names), "{text}");
    };
    check("getUserID leaks the HTTPServer_v2", "get user id leak http server", "getuserid httpserver_v2");
    check("`key` and d.Log, call open(x)", "key log call open", "key d log open");
    check("It doesn't wait 0.5 s", "not wait 0.5", "");
    check("", "", "");
    check("\0\u{202e}🦀 ` é", "", "");
}

#[test]
fn words_of_one_kind_have_one_stem() {
    for group in ["caches cached caching", "validation validate validates", "query queries", "stopped stopping stops"] {
        let stems: Vec<Cow<'_, str>> = group.split(' ').map(stem).collect();
        assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
    }
    let check = |words: &str, expect: &str| {
        assert_eq!(words.split(' ').map(stem).collect::<Vec<_>>().join(" "), expect);
    };
    check("process status is", "process status is");
    check("organisation abilities copied planned statements", "organiz ability copy plan statement");
}

#[test]
fn denials_numbers_and_operators_are_seen() {
    let check = |text: &str, expect: &str| {
        let mut word_weight: Vec<String> = Vec::new();
        pieces(text, |piece| match piece {
            Piece::Number(number) => word_weight.push(number.to_owned()),
            Piece::Operator(at) => word_weight.push(OPERATORS[at].to_owned()),
            Piece::Word { word, denied, .. } => {
                word_weight.extend((denied || Spelling::new(word, |_| {}).denies).then(|| format!("{word}!")));
            }
        });
        assert_eq!(word_weight.join(" "), expect, "{text}");
    };
    check("a === b never happens before 3.25 or 7", "=== never! 3.25 7");
    check("it won't, a->b?.c != d - e", "wo! -> ?. !=");
    check("a note on knots", "");
}

#[test]
fn only_whole_pairs_of_backticks_on_a_line_quote() {
    assert_eq!(quoted("a `b` c `d\n`e` f"), [(2, 4), (11, 13)]);
    let mut named = Vec::new();
    pieces("see `one two` or three `four\nfive` and `seven`", |piece| {
        if let Piece::Word { word, named: true, .. } = piece {
            named.push(word);
        }
    });
    assert_eq!(named.join(" "), "one two and");
}

#[test]
fn runs_of_letters_go_over_the_ends_of_words() {
    let runs = |text: &str| {
        let mut runs = Vec::new();
        grams(text, |run| {
            let letter = |at: u32| char::from_u32((run >> (48 - 16 * at)) as u32 & 0xffff).unwrap();
            runs.push((0..4).map(letter).collect::<String>());
        });
        runs.join("|")
    };
    assert_eq!(runs("Ab, c"), " ab |ab c|b c ");
    assert_eq!(runs("İ"), " i\u{307} ");
    assert_eq!((runs("a"), runs("")), (String::new(), String::new()));
}

#[test]
fn no_text_costs_more_than_its_beginning() {
    let long = "word ".repeat(300_000);
    assert_eq!(stems(&long), stems(&long[..4000]));
    let long = "é".repeat(300_000);
    assert_eq!(bounded(&long).chars().count(), 4000);
}
