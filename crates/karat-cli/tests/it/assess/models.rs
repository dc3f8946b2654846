//! Several models on the same search: what each is asked, how each scores, and how they differ.

use super::{RECORD_FILE, project, verdicts};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{CommandOutput, Project, near};
use karat_format::assessment::{AssessmentReportV1, NoSoleAssessment};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The part of a prompt under a heading.
fn part(prompt: &str, heading: &str) -> Option<String> {
    let parts = prompt.split("<data-").find(|field| field[17..].starts_with("parts>"))?;
    let json = &parts[parts.find('[')?..=parts.rfind(']')?];
    let parts: Vec<Value> = serde_json::from_str(json).unwrap();
    let own = parts.iter().find(|part| part["heading"].as_str().unwrap().ends_with(heading))?;
    Some(own["id"].as_str().unwrap().to_owned())
}

fn prompt(body: &Value) -> &str {
    body["messages"].as_array().unwrap().iter().find(|m| m["role"] == "user").unwrap()["content"].as_str().unwrap()
}

/// One model that knows all answers, and one that is right half of the time and fails the other half.
fn answer(body: &Value) -> Result<Value, Fault> {
    let user = prompt(body);
    let about = |title: &str| user.contains(&format!(">\n{title}\n\n"));
    let weak = body["model"] == "weak";
    if weak && (about("Audits") || about("Backups")) {
        return Err(Fault::Broken);
    }
    let cited =
        |headings: &[&str]| -> Vec<String> { headings.iter().filter_map(|heading| part(user, heading)).collect() };
    if user.contains("Which parts bear on the requirement?") {
        let relevant = cited(&["2.1 Notices of Breaches", "2.2 Contact Persons", "3.1 Audits", "4.1 Backups"]);
        let relevant: Vec<Value> = relevant.iter().map(|id| json!({ "part": id, "reason": "r" })).collect();
        return Ok(json!({ "relevant": relevant }));
    }
    let (verdict, primary, supporting) = match () {
        () if about("Notice of breaches") && weak => {
            ("yes", cited(&["2.2 Contact Persons"]), cited(&["2.1 Notices of Breaches"]))
        }
        () if about("Notice of breaches") => {
            ("partial", cited(&["2.1 Notices of Breaches"]), cited(&["2.2 Contact Persons"]))
        }
        () if about("Audits") => ("yes", cited(&["3.1 Audits"]), vec![]),
        () if about("Backups") => ("no", vec![], vec![]),
        () => ("not_applicable", vec![], vec![]),
    };
    Ok(json!({ "verdict": verdict, "primary": primary, "supporting": supporting, "rationale": "because" }))
}

fn endpoints(port: u16) -> String {
    let of = |name: &str| {
        format!(
            "  {name}:\n    provider: openai\n    model: {name}\n    base_url: http://127.0.0.1:{port}/v1\n    retries: 0\n    price_in: 1\n    price_out: 2\n"
        )
    };
    ["good", "weak"].map(of).concat()
}

fn assess(project: &Project, more: &[&str]) -> CommandOutput {
    let mut command = project.command();
    command.env_remove("OPENAI_BASE_URL").env("OPENAI_API_KEY", "sk-none-of-yours");
    CommandOutput::start(command.args(["assess", RECORD_FILE, "--resamples", "500", "-q"]).args(more))
}

fn parse_json(ran: CommandOutput) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}\n{}", ran.out, ran.err))
}

/// A server that embeds and reranks, counts the texts it is sent, and says that each has ten tokens.
fn start_embedding_server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let texts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&texts);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counted = Arc::clone(&counted);
            std::thread::spawn(move || -> std::io::Result<()> {
                let mut reader = BufReader::new(stream.try_clone()?);
                let mut stream = stream;
                loop {
                    let (mut length, mut line) = (0, String::new());
                    while reader.read_line(&mut line)? > 2 {
                        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                            length = value.trim().parse().unwrap();
                        }
                        line.clear();
                    }
                    if length == 0 {
                        return Ok(());
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body)?;
                    let body: Value = serde_json::from_slice(&body)?;
                    let texts = if body["documents"].is_array() { &body["documents"] } else { &body["input"] };
                    let inputs = texts.as_array().unwrap();
                    counted.fetch_add(inputs.len(), Ordering::Relaxed);
                    let vector = |text: &Value| {
                        let text = text.as_str().unwrap().to_lowercase();
                        ["breach", "audit", "backup", "law"].map(|word| text.matches(word).count() as f64 + 0.1)
                    };
                    let data: Vec<Value> = inputs
                        .iter()
                        .enumerate()
                        .map(|(at, text)| json!({ "index": at, "embedding": vector(text) }))
                        .collect();
                    let score = |at| json!({ "index": at, "relevance_score": 1.0 / (at + 1) as f64 });
                    let scores: Vec<Value> = (0..inputs.len()).map(score).collect();
                    let usage = json!({ "prompt_tokens": 10 * inputs.len(), "total_tokens": 10 * inputs.len() });
                    let text = json!({ "data": data, "results": scores, "usage": usage }).to_string();
                    write!(
                        stream,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
                        text.len()
                    )?;
                }
            });
        }
    });
    (port, texts)
}

#[test]
fn models_share_retrieval_and_have_separate_reports() {
    let server = Server::deciding_by_request(Behaviour::GOOD, answer);
    let (port, texts) = start_embedding_server();
    let providers = format!(
        "embedding_providers:\n  counted:\n    provider: http\n    model: v\n    base_url: http://127.0.0.1:{port}/v1\n"
    );
    let project = project(&endpoints(server.port));
    let template = project.read("templates/security/config.yml");
    project.write("templates/security/config.yml", format!("{template}{providers}"));
    let search = ["--embedding", "counted", "--bm25-weight", "0.5", "--no-rerank", "--json"];
    let mut flags = vec!["--evaluation", "good", "--evaluation", "weak"];
    flags.extend(search);
    let report = parse_json(assess(&project, &flags).expect(0));

    // Seven sections and four requirements, each embedded once, for all models.
    assert_eq!((texts.load(Ordering::Relaxed), &report["search"]["searches"]), (7 + 4, &json!(4)));
    assert_eq!(
        verdicts(&report, "good"),
        ["breaches partial", "audits yes", "backups no", "subcontractors not_applicable"]
    );
    assert_eq!(
        verdicts(&report, "weak"),
        ["breaches yes", "audits none", "backups none", "subcontractors not_applicable"]
    );

    for id in [
        "mean_combined_score",
        "mean_compliance_score",
        "mean_evidence_score",
        "assessment_accuracy",
        "citation_precision",
    ] {
        near(&report, &format!("/assessments/good/metrics/{id}/value"), 1.0);
    }
    // Breaches: a step off, a primary part demoted, a supporting one promoted. One right. Two met an outage and are left out.
    let evidence = (2.0 * 0.5 + 1.0 * 0.75) / 3.0;
    let combined = (0.5 * 0.5 + 0.5 * evidence + 1.0) / 2.0;
    near(&report, "/assessments/weak/metrics/mean_combined_score/value", combined);
    near(&report, "/assessments/weak/metrics/mean_compliance_score/value", 1.5 / 2.0);
    near(&report, "/assessments/weak/metrics/mean_evidence_score/value", evidence);
    near(&report, "/assessments/weak/metrics/assessment_accuracy/value", 0.5);
    let weak = &report["assessments"]["weak"];
    assert_eq!((&weak["answered"], &weak["left_out"], weak.get("answered_only")), (&json!(2), &json!(2), None));
    assert_eq!((&weak["unanswered"], &weak["lost"]), (&json!({ "unanswered": 2 }), &json!({ "wrong_role": 2 })));
    let left_out = &weak["requirements"][1];
    assert_eq!((&left_out["combined"], &left_out["parts"][0]["part"]), (&Value::Null, &json!("audit")));
    assert_eq!((&left_out["parts"][0]["credit"], &left_out["parts"][0]["lost"]), (&Value::Null, &Value::Null));
    let warned = "weak: 2 of 4 requirements got no answer (2 unanswered), and are left out of its figures";
    assert!(report["warnings"].to_string().contains(warned), "{}", report["warnings"]);

    let typed: AssessmentReportV1 = serde_json::from_value(report.clone()).unwrap();
    let several = typed.assessment().unwrap_err();
    assert_eq!(several, NoSoleAssessment::Several(vec!["good".to_owned(), "weak".to_owned()]));
    assert_eq!(several.to_string(), "there are assessments by good, weak: take one of `assessments` by its name");

    let pair = &report["comparison"]["pairs"][0];
    assert_eq!((&pair["a"], &pair["b"]), (&json!("good"), &json!("weak")));
    near(pair, "/metrics/0/difference", combined - 1.0);
    assert_eq!(pair["metrics"][0]["n"], 2, "{pair}");
    let row = &report["comparison"]["requirements"][1];
    assert_eq!((&row["golden"], &row["said"]), (&json!("yes"), &json!({ "good": "yes", "weak": null })));

    // Two questions for each requirement that is answered, one for each that is not.
    let spent = &report["measured"]["models"];
    assert_eq!((&spent["good"]["questions"], &spent["weak"]["questions"]), (&json!(8), &json!(6)));
    assert_eq!(server.requests(), 14);
    assert!(spent["good"]["usd"].as_f64().unwrap() > 0.0, "{spent}");

    // Known answers are not asked again, and the report is the same.
    let again = parse_json(assess(&project, &flags).expect(0));
    assert_eq!(server.requests(), 14 + 2, "only failed questions are asked again");
    assert_eq!((&again["assessments"], &again["comparison"]), (&report["assessments"], &report["comparison"]));
    // What was not asked is left out of a later comparison, too.
    let compared = project.json("compare latest --tools good,weak --json");
    let rows = compared["comparisons"][0]["metrics"].as_array().unwrap();
    for own in pair["metrics"].as_array().unwrap() {
        let row = rows.iter().find(|row| row["metric"] == own["metric"]).unwrap();
        let [a, b] = [row, own].map(|row| row["difference"].as_f64().unwrap());
        assert!((a - b).abs() < 1e-12, "{row}, and in the report {own}");
        assert_eq!(row["left_out"], 2, "{row}");
    }
    let table = assess(&project, &flags[..flags.len() - 1]).expect(0).out;
    insta::assert_snapshot!(table);

    // The next step explains what `explain` shows first: what any of them lost most of.
    let mut command = project.command();
    command.env_remove("OPENAI_BASE_URL").env("OPENAI_API_KEY", "sk-none-of-yours");
    let ran = CommandOutput::start(command.args(["assess", RECORD_FILE]).args(&flags[..flags.len() - 1])).expect(0);
    let step = ran.err.lines().find_map(|line| line.trim().strip_prefix("karat explain ")).unwrap_or_default();
    let (name, run) = step.split_once(" --run ").unwrap_or_else(|| panic!("{}", ran.err));
    let bundle = name.strip_suffix("/breaches").unwrap();
    let explained = project.json(&format!("explain {bundle} --run {run} --json"));
    assert_eq!(explained["requirements"][0]["requirement_id"], "breaches");
}

/// Embedders and rerankers are models that are paid for, like those that answer.
#[test]
fn calls_of_search_models_are_logged() {
    let (port, _) = start_embedding_server();
    let own = |block: &str| {
        format!(
            "{block}:\n  own:\n    provider: http\n    model: v\n    base_url: http://127.0.0.1:{port}/v1\n    batch: 4\n"
        )
    };
    let project = project("");
    let template = project.read("templates/security/config.yml");
    let reranking = own("rerank_providers").replace("    batch: 4\n", "");
    project.write("templates/security/config.yml", format!("{template}{}{reranking}", own("embedding_providers")));
    let flags = ["--embedding", "own", "--reranking", "own", "--bm25-weight", "0.5", "--name", "searched"];
    assess(&project, &flags).expect(0);
    let summary = project.json("logs summarize --run searched --json");
    let stages: Vec<String> = summary["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| {
            let words = ["stage", "model"].map(|key| stage[key].as_str().unwrap_or("-").to_owned());
            let numbers = ["calls", "requests", "tokens_in", "errors"].map(|key| stage[key].to_string());
            format!("{} {}", words.join(" "), numbers.join(" "))
        })
        .collect();
    // Seven sections in two batches and four queries; six of the sections have a text to be found by.
    let expect = ["ingest - 1 0 0 0", "search - 1 0 0 0", "embedding http/v 5 6 110 0", "rerank http/v 4 4 240 0"];
    assert_eq!(stages, expect);
    let id = project.ok("logs list").split_whitespace().next().unwrap().to_owned();
    let log = project.read(&format!(".karat/logs/{id}.jsonl"));
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls: Vec<String> = lines
        .iter()
        .filter(|line| line["event"] == "search_model_used")
        .map(|line| {
            assert_eq!((&line["bundle_id"], &line["template_id"]), (&json!("services"), &json!("security")));
            assert!(line["latency_ms"].is_number(), "{line}");
            format!("{} {} {}", line["stage"], line["requirement_id"], line["tokens_in"]).replace('"', "")
        })
        .collect();
    let mut expect = vec!["embedding null 70".to_owned()];
    for requirement in ["breaches", "audits", "backups", "subcontractors"] {
        expect.push(format!("embedding {requirement} 10"));
        expect.push(format!("rerank {requirement} 60"));
    }
    assert_eq!(calls, expect);
    // A call that fails is there, too, with its requirement.
    let refused = template.clone() + &own("embedding_providers").replace(&port.to_string(), "1");
    project.write("templates/security/config.yml", refused);
    let flags = ["--embedding", "own", "--bm25-weight", "0.5", "--no-rerank"];
    assess(&project, &flags).expect(5);
    let summary = project.json("logs summarize --run latest --json");
    assert_eq!(summary["errors"][0]["stage"], "embedding", "{summary}");
}

/// A template from somebody else cannot send text or keys to a URL the user did not name.
#[test]
fn template_cannot_replace_built_in_models() {
    let (port, texts) = start_embedding_server();
    let server = Server::deciding_by_request(Behaviour::GOOD, answer);
    let project = project(&format!(
        "  openai/gpt-4o:\n    provider: openai\n    model: gpt-4o\n    base_url: http://127.0.0.1:{}/v1\n",
        server.port
    ));
    let template = project.read("templates/security/config.yml").replace("bm25_weight: 1", "bm25_weight: 0.9");
    let providers = format!(
        "embedding_providers:\n  none:\n    provider: http\n    model: v\n    base_url: http://127.0.0.1:{port}/v1\n    key_env: HOME\n"
    );
    project.write("templates/security/config.yml", format!("{template}{providers}"));
    let report = parse_json(assess(&project, &["--json"]).expect(0));
    assert_eq!(texts.load(Ordering::Relaxed), 0);
    assert_eq!(report["search"]["embedding"], Value::Null, "{}", report["search"]);
    let mut command = project.command();
    command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_API_KEY");
    let ran = CommandOutput::start(command.args(["assess", RECORD_FILE, "--evaluation", "openai/gpt-4o", "-q"]));
    ran.expect_error(5, &["OPENAI_API_KEY holds no key"]);
    assert_eq!(server.requests(), 0);
}

#[test]
fn prompts_do_not_contain_the_golden_verdicts() {
    let server = Server::deciding_by_request(Behaviour::GOOD, answer);
    let project = project(&endpoints(server.port));
    assess(&project, &["--evaluation", "good"]).expect(0);
    for body in server.bodies() {
        let user = prompt(&body);
        for secret in ["Notice is owed, but", "golden", "services/", "primary_evidence", "\"contacts\""] {
            assert!(!user.contains(secret), "{secret}: {user}");
        }
        assert!(user.contains("Does the supplier use subcontractors?: no"), "{user}");
    }
}

#[test]
fn failing_model_does_not_affect_others() {
    let server = Server::deciding_by_request(Behaviour::GOOD, |body| match body["model"] == "weak" {
        true => Err(Fault::Unauthorized),
        false => answer(body),
    });
    let project = project(&endpoints(server.port));
    let ran = assess(&project, &["--evaluation", "weak", "--evaluation", "good", "--json"]).expect(5);
    assert!(!ran.err.contains("sk-none-of-yours") && !ran.out.contains("sk-none-of-yours"), "{}", ran.err);
    let report = parse_json(ran);
    near(&report, "/assessments/good/metrics/mean_combined_score/value", 1.0);
    let weak = &report["assessments"]["weak"];
    assert_eq!((&weak["unanswered"], &weak["left_out"]), (&json!({ "unreachable": 4 }), &json!(4)));
    let reason = "the assessor could not be asked";
    for (id, estimate) in weak["metrics"].as_object().unwrap() {
        assert_eq!((&estimate["value"], &estimate["undefined"]), (&Value::Null, &json!(reason)), "{id}");
    }
    // Nothing was compared, and nothing is worse; and what is stored is not complete.
    for metric in report["comparison"]["pairs"][0]["metrics"].as_array().unwrap() {
        assert_eq!((&metric["n"], &metric["p"]), (&json!(0), &Value::Null), "{metric}");
    }
    assert_eq!(project.json("store list --json")[0]["status"], "incomplete");
    let table = project.ok("report latest");
    assert!(table.contains(reason) && !table.contains("no evidence") && !table.contains("no golden"), "{table}");
    let compared = project.json("compare latest --tools good,weak --json");
    assert_eq!(compared["comparisons"][0]["metrics"][0]["because"], format!("weak has no value: {reason}"));
}

/// Refused parameters are omitted as with judges, and the report says so.
#[test]
fn refused_temperature_is_omitted() {
    let words = r#"{"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model.", "param": "temperature"}}"#;
    let server = Server::deciding_by_request(Behaviour::GOOD, move |body| match body.get("temperature") {
        Some(_) => Err(Fault::Says(400, words)),
        None => answer(body),
    });
    let project = project(&endpoints(server.port));
    let report = parse_json(assess(&project, &["--evaluation", "good", "--json"]).expect(0));
    near(&report, "/assessments/good/metrics/mean_combined_score/value", 1.0);
    assert_eq!(server.faults(), 1);
    let warned = "good: the model refuses `temperature`, so that sampling was the provider's default";
    assert!(report["warnings"].to_string().contains(warned), "{}", report["warnings"]);
    let requests = server.requests();
    let again = parse_json(assess(&project, &["--evaluation", "good", "--json"]).expect(0));
    assert_eq!((server.requests(), &again["warnings"]), (requests, &report["warnings"]));
}

#[test]
fn names_and_keys_are_checked_before_work_starts() {
    let project = project(&endpoints(9));
    let refused = |flags: &[&str], expect: &str| {
        let mut command = project.command();
        command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL");
        CommandOutput::start(command.args(["assess", RECORD_FILE]).args(flags)).expect_error(2, &[expect]);
    };
    refused(&["--evaluation", "goood"], "did you mean `good`?");
    refused(&["--evaluation", "baseline", "--evaluation", "baseline"], "`baseline` is given twice");
    refused(&["--requirement", "audit"], "did you mean `audits`?");
    refused(&["--embedding", "htp", "--bm25-weight", "0.5"], "did you mean `http`?");
    refused(&["--bm25-weight", "1.5"], "from 0 (vectors alone) to 1");
    refused(&["--stage", "retrieve", "--evaluation", "good"], "--stage retrieve uses no assessor");
    refused(&["--cluster", "language"], "only be clustered by bundle");
}

/// Two templates define a model of the same name with different answers, for the same bundle.
#[test]
fn templates_have_separate_models_and_results() {
    let endpoint = "llm_endpoints:\n  told:\n    provider: scripted\n    file: answers.jsonl\n";
    let project = project("");
    let template = project.read("templates/security/config.yml");
    let record = project.read(RECORD_FILE);
    for (id, verdict) in [("security", "yes"), ("second", "not_applicable")] {
        project.write(&format!("templates/{id}/config.yml"), format!("{template}{endpoint}"));
        let answer = |requirement: &str| {
            let relevance =
                json!({ "question": format!("services/{requirement}#relevance"), "answer": { "relevant": [] } });
            let content = json!({ "verdict": verdict, "primary": [], "supporting": [], "rationale": "r" });
            let verdict = json!({ "question": format!("services/{requirement}#verdict"), "answer": content });
            format!("{relevance}\n{verdict}\n")
        };
        let answers: String = ["breaches", "audits", "backups", "subcontractors"].map(answer).concat();
        project.write(&format!("templates/{id}/answers.jsonl"), answers);
        let own = record.replace("template_id: security", &format!("template_id: {id}"));
        project.write(&format!("both/{id}/services.golden-assessment.yml"), own);
        project.write(&format!("both/{id}/services.md"), project.read("docs/services.md"));
    }
    let flags = "both -r --evaluation told --no-rerank --resamples 200 -q";
    let report = project.json(&format!("assess {flags} --json --trec trec"));
    let of = |template: &str| -> Vec<&str> {
        let all = report["assessments"]["told"]["requirements"].as_array().unwrap();
        all.iter().filter(|one| one["template_id"] == template).map(|one| one["said"].as_str().unwrap()).collect()
    };
    assert_eq!((of("security"), of("second")), (vec!["yes"; 4], vec!["not_applicable"; 4]));
    let table = project.ok(&format!("assess {flags}"));
    assert_eq!(table.matches("  breaches  ").count(), 2, "{table}");
    // The TREC export is valid for our own reader: topics are unique.
    project.ok("trec trec/qrels.txt trec/run.txt");
}

#[test]
fn model_without_any_answer_is_an_error() {
    let project = project("  told:\n    provider: scripted\n    file: answers.jsonl\n    budget_calls: 1\n");
    project.write("templates/security/answers.jsonl", "");
    project.run(&format!("assess {RECORD_FILE} --evaluation told --no-rerank --resamples 200 -q")).expect(5);
    project.write(
        "templates/security/config.yml",
        project.read("templates/security/config.yml").replace("scripted", "scriptd"),
    );
    project.run(&format!("check {RECORD_FILE}")).expect(4);
}

/// A closed stdout does not prevent files from being written.
#[test]
fn closed_stdout_does_not_prevent_files() {
    use std::process::{Command, Stdio};
    let project = project("");
    let mut command = Command::new(env!("CARGO_BIN_EXE_karat"));
    command.current_dir(project.path("")).env("XDG_CONFIG_HOME", project.path(".user"));
    let arguments = ["assess", RECORD_FILE, "--no-rerank", "--resamples", "200", "-q", "-v", "-o", "a.json"];
    let mut running = command.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    drop(running.stdout.take());
    assert_eq!(running.wait().unwrap().code(), Some(0));
    assert!(project.read("a.json").contains("karat.assessment/1"));
}

#[test]
fn contradicting_flags_are_refused() {
    let project = project("");
    let refused = |flags: &str, expect: &str| {
        project.run(&format!("assess {RECORD_FILE} {flags}")).expect_error(2, &[expect]);
    };
    refused("--no-rerank --reranking embedded", "cannot be used with");
    let without_effect = [
        ("--bm25-weight 0.3", "--bm25-weight 0.3 has no effect: there is no embedder"),
        ("--rerank-top-n 80", "--rerank-top-n 80, beyond 50, has no effect: the search gives 50 candidates"),
        ("--margin 0.1", "--margin 0.1 has no effect: there are no two assessors to compare"),
        ("--judge-cache off", "--judge-cache has no effect: no model is asked"),
        ("--embedding folder --bm25-weight 1", "--embedding folder has no effect: at `bm25_weight` 1 no vectors"),
    ];
    for (flags, expect) in without_effect {
        let report = project.json(&format!("assess {RECORD_FILE} --resamples 200 -q --json {flags}"));
        let warnings: Vec<&str> = report["warnings"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
        assert!(warnings.iter().any(|warning| warning.starts_with(expect)), "{flags}: {warnings:?}");
    }
    let plain = project.json(&format!("assess {RECORD_FILE} --resamples 200 -q --json"));
    assert!(!plain["warnings"].to_string().contains("has no effect"), "{}", plain["warnings"]);

    refused("--embedding none --bm25-weight 0", "needs vectors");
    let output =
        project.ok(&format!("assess {RECORD_FILE} --no-rerank --resamples 200 -q --min-candidate-length 99999"));
    assert!(output.contains("4 requirements: no part was found"), "{output}");
}

/// Answers that could not be read count as missed, and are asked for again by the same command.
#[test]
fn unreadable_answers_do_not_stick() {
    let broken = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let state = Arc::clone(&broken);
    let server = Server::deciding_by_request(Behaviour::GOOD, move |body| match state.load(Ordering::Relaxed) {
        true => Err(Fault::Prose),
        false => answer(body),
    });
    let project = project(&endpoints(server.port));
    let ran = assess(&project, &["--evaluation", "good", "--json"]).expect_error(5, &["in the ledger of"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["assessments"]["good"]["unanswered"], json!({ "unreadable": 4 }));
    near(&report, "/assessments/good/metrics/mean_combined_score/value", 0.0);
    broken.store(false, Ordering::Relaxed);
    let before = server.requests();
    let report = parse_json(assess(&project, &["--evaluation", "good", "--json"]).expect(0));
    assert_eq!(server.requests() - before, 8);
    near(&report, "/assessments/good/metrics/mean_combined_score/value", 1.0);
}
