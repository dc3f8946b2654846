//! `karat key`: identity keys of findings.

use crate::args::KeyArgs;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{note, notes, print, print_stderr};
use karat::finding_keys::{KeyRequest, KeyedFinding, add_keys_to_sarif, finding_keys};
use karat_core::wording::{count, plural};
use karat_format::diagnostic::harmless;

pub(crate) fn run(args: &KeyArgs) -> Result<Exit> {
    if let (Some(from), Some(to)) = (&args.sarif, &args.output) {
        let keys = add_keys_to_sarif(from, to, &(&args.rules).into())?;
        print_stderr(&format!("wrote {} ({})", to.display(), count(keys, "key")));
        return Ok(Exit::Ok);
    }
    if args.v3 && args.source.is_none() {
        return Err(Failure::usage("--v3 reads symbols from the code: set its folder with --source DIR"));
    }
    let request = KeyRequest {
        files: args.files.clone(),
        format: args.from.clone(),
        source: args.source.clone(),
        profile: (&args.rules).into(),
    };
    let keys = finding_keys(&request, &mut notes)?;
    let shown = |own: &KeyedFinding| if args.v3 { own.v3.clone() } else { own.v2.clone() };
    let mut out = String::new();
    for own in &keys {
        out.push_str(&match args.json {
            true => serde_json::to_string(own).unwrap_or_default(),
            false => {
                let (trial, key) = (own.trial.to_string(), shown(own).unwrap_or_default());
                [own.case.as_str(), own.tool.as_str(), &trial, own.finding.as_str(), &key].map(one_field).join("\t")
            }
        });
        out.push('\n');
    }
    print(&out)?;
    let differing = keys.iter().filter(|own| own.differs).count();
    if differing > 0 {
        let findings = plural(differing, "finding has", "findings have");
        note(&format!("{findings} a key that differs from the computed one; the stated key is shown"));
    }
    let keyless = keys.iter().filter(|own| shown(own).is_none()).count();
    if keyless > 0 {
        let needs =
            if args.v3 { "a rule, and a location in readable code" } else { "file, rule_id, and lines or an anchor" };
        note(&format!("{} no key, which needs {needs}", plural(keyless, "finding has", "findings have")));
    }
    Ok(Exit::Ok)
}

/// Replaces characters that would break the line or the columns.
fn one_field(text: &str) -> String {
    harmless(&text.replace(['\t', '\n', '\r'], " ")).into_owned()
}
