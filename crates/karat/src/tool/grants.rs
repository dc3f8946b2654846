//! What a tool asks for beyond the closed sandbox, and what the user allows.
//!
//! A suite may come from anybody, so the user must allow what its manifests ask for: by a flag, or by an earlier answer
//! for the same manifest in the same place.

use karat_format::tool::ToolManifestV1;
use karat_io::atomic_write;
use karat_llm::providers::is_local_address;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

/// One thing that the closed sandbox does not give: its index in [`GRANTS`], and its name, path or address where it has one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Grant(usize, String);

/// How a grant is written, where a value follows a `=`; what it lets a tool do; and the values that a manifest asks for.
type GrantKind = (&'static str, &'static str, fn(&ToolManifestV1) -> Vec<String>);

/// In the order in which they are listed.
const GRANTS: [GrantKind; 7] = [
    ("network", "use the network", |tool| flag(tool.network)),
    ("loopback", "use the services of this machine", |tool| flag(tool.loopback)),
    ("env=", "read your variable ", |tool| tool.pass_env.clone()),
    ("read=", "read ", |tool| tool.expose.iter().chain(&tool.manifest_dir).cloned().collect()),
    ("write=", "write to ", |tool| tool.writable.clone()),
    ("setup", "run a set-up command with the network before the first trial", |tool| flag(!tool.setup.is_empty())),
    ("key=", "have your key sent to ", |tool| {
        tool.llm.base_url.iter().filter(|url| !is_local_address(url)).cloned().collect()
    }),
];

/// A grant without a value has an empty one.
fn flag(is_asked: bool) -> Vec<String> {
    if is_asked { vec![String::new()] } else { Vec::new() }
}

fn invalid_grant(text: &str) -> String {
    format!(
        "invalid grant `{text}`: expected TOOL, or TOOL: followed by network, loopback, setup, env=NAME, read=PATH, write=PATH or key=ADDRESS, \
         separated by commas"
    )
}

impl Grant {
    fn parse(text: &str) -> Result<Self, String> {
        let parse = |(kind, (name, ..)): (usize, &GrantKind)| {
            let value = text.strip_prefix(*name)?;
            (value.is_empty() != name.ends_with('=')).then(|| Self(kind, value.to_owned()))
        };
        GRANTS.iter().enumerate().find_map(parse).ok_or_else(|| invalid_grant(text))
    }

    /// How it is written, and what it lets a tool do.
    fn texts(&self) -> (String, String) {
        let (name, effect, _) = GRANTS[self.0];
        (format!("{name}{}", self.1), format!("{effect}{}", self.1))
    }
}

pub(crate) fn requested(manifest: &ToolManifestV1) -> BTreeSet<Grant> {
    let kinds = GRANTS.iter().enumerate();
    kinds.flat_map(|(kind, (.., asked))| asked(manifest).into_iter().map(move |value| Grant(kind, value))).collect()
}

/// What `--allow` says: a tool, and what it may have beyond the closed sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub(crate) tool: String,
    /// `None` allows whatever the tool asks for.
    grants: Option<BTreeSet<Grant>>,
}

impl FromStr for Allowance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err(invalid_grant(text));
        }
        let Some((tool, list)) = text.split_once(':') else { return Ok(Self { tool: text.to_owned(), grants: None }) };
        let grants = list.split(',').map(Grant::parse).collect::<Result<_, _>>()?;
        Ok(Self { tool: tool.to_owned(), grants: Some(grants) })
    }
}

/// What a tool asks for and is not allowed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Request {
    pub tool: String,
    /// All that it asks for, allowed or not.
    requested: BTreeSet<Grant>,
    missing: BTreeSet<Grant>,
}

impl Request {
    /// What a manifest asks for beyond what is allowed; `None` if nothing is missing.
    pub(crate) fn new(tool: &str, manifest: &ToolManifestV1, allowed: &[Allowance]) -> Option<Self> {
        let requested = requested(manifest);
        let covers = |own: &Allowance, grant: &Grant| own.grants.as_ref().is_none_or(|grants| grants.contains(grant));
        let is_missing = |grant: &&Grant| !allowed.iter().any(|own| own.tool == tool && covers(own, grant));
        let missing: BTreeSet<Grant> = requested.iter().filter(is_missing).cloned().collect();
        (!missing.is_empty()).then(|| Self { tool: tool.to_owned(), requested, missing })
    }

    /// The value of `--allow` that allows all that is asked for.
    pub(crate) fn flag_value(&self) -> String {
        let grants: Vec<String> = self.requested.iter().map(|grant| grant.texts().0).collect();
        // A comma in a path cannot be written in a list.
        match grants.iter().any(|grant| grant.contains(',')) {
            true => self.tool.clone(),
            false => format!("{}:{}", self.tool, grants.join(",")),
        }
    }

    /// What is missing, one line each.
    pub fn describe(&self) -> Vec<String> {
        self.missing.iter().map(|grant| grant.texts().1).collect()
    }
}

/// Earlier answers, in a file of the user's own, never beside a suite.
pub(crate) struct Remembered {
    pub(crate) file: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct RememberedFile {
    #[serde(default)]
    allowed: BTreeSet<Answer>,
}

/// An answer is bound to the suite's place, the tool's name and the whole manifest.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Answer {
    suite: String,
    tool: String,
    /// BLAKE3 of the manifest and of the path of its folder.
    manifest: String,
}

impl Answer {
    fn new(suite: &str, tool: &str, manifest: &ToolManifestV1) -> Self {
        let mut bytes = serde_json::to_vec(manifest).unwrap_or_default();
        bytes.extend(manifest.manifest_dir.iter().flat_map(|folder| folder.bytes()));
        let manifest = blake3::hash(&bytes).to_hex().to_string();
        Self { suite: suite.to_owned(), tool: tool.to_owned(), manifest }
    }
}

impl Remembered {
    /// The answers of the user whose environment this is; `None` if it names neither a home nor a folder for settings.
    pub(crate) fn new(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
        Some(Self { file: folder.join("karat").join("allowed.json") })
    }

    /// Whether everything that a manifest asks for was allowed before. A file that cannot be read allows nothing.
    pub(crate) fn allows(&self, suite: &str, tool: &str, manifest: &ToolManifestV1) -> bool {
        self.read().is_ok_and(|known| known.allowed.contains(&Answer::new(suite, tool, manifest)))
    }

    pub(crate) fn allow(&self, suite: &str, tool: &str, manifest: &ToolManifestV1) -> io::Result<()> {
        let mut known = self.read()?;
        if !known.allowed.insert(Answer::new(suite, tool, manifest)) {
            return Ok(());
        }
        self.file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        atomic_write::write(&self.file, &mut |out| Ok(serde_json::to_writer_pretty(out, &known)?))
    }

    fn read(&self) -> io::Result<RememberedFile> {
        match std::fs::read(&self.file) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(RememberedFile::default()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_format::llm::LlmV1;

    fn greedy() -> ToolManifestV1 {
        ToolManifestV1 {
            network: true,
            loopback: true,
            pass_env: vec!["A_KEY".to_owned()],
            setup: vec!["true".to_owned()],
            expose: vec!["~/.config/tool".to_owned()],
            writable: vec!["/var/cache/tool".to_owned()],
            llm: LlmV1 { base_url: Some("https://models.example.org/v1".to_owned()), ..LlmV1::default() },
            ..ToolManifestV1::default()
        }
    }

    #[test]
    fn every_grant_is_asked_for_and_written_as_it_is_read() {
        let grants = requested(&greedy());
        assert_eq!(grants.len(), 7, "{grants:?}");
        for grant in &grants {
            let (written, effect) = grant.texts();
            assert_eq!(Grant::parse(&written), Ok(grant.clone()));
            assert!(!effect.is_empty());
        }
        assert!(requested(&ToolManifestV1::default()).is_empty());
    }

    #[test]
    fn what_is_not_listed_is_not_allowed() {
        let allow = |text: &str| -> Vec<Allowance> { vec![text.parse().unwrap()] };
        let missing = |text: &str| Request::new("x", &greedy(), &allow(text)).map(|request| request.missing.len());
        assert_eq!(missing("x"), None);
        assert_eq!(missing("y"), Some(7));
        assert_eq!(missing("x:network"), Some(6));
        assert_eq!(missing("x:network,setup,env=OTHER"), Some(5));
        let all = Request::new("x", &greedy(), &[]).unwrap().flag_value();
        assert_eq!(missing(&all), None, "{all}");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "x:", "x:net", "x:env", "x:env=", "x:network,", "x:read="] {
            assert!(text.parse::<Allowance>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_answer_counts_for_the_same_manifest_in_the_same_place_alone() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().display().to_string();
        let answers = Remembered::new(&|name| (name == "HOME").then(|| home.clone())).unwrap();
        assert!(!answers.allows("/suite", "x", &greedy()));
        answers.allow("/suite", "x", &greedy()).unwrap();
        assert!(answers.allows("/suite", "x", &greedy()));
        assert!(!answers.allows("/other", "x", &greedy()));
        assert!(!answers.allows("/suite", "y", &greedy()));
        let changed = ToolManifestV1 { command: vec!["sh".to_owned()], ..greedy() };
        assert!(!answers.allows("/suite", "x", &changed));
        std::fs::write(&answers.file, "half of a fi").unwrap();
        assert!(!answers.allows("/suite", "x", &greedy()));
        assert!(answers.allow("/suite", "x", &greedy()).is_err(), "what cannot be read is not overwritten");
    }
}
