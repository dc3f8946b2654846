//! Where objects are kept: a bucket of an S3-compatible server, or a shared folder.

use crate::{Result, StoreError};
use karat_llm::http::is_local_address;
use reqwest::Url;
use std::fmt::{Display, Formatter};
use std::path::PathBuf;

/// The place of a store's objects, written as a URL. It holds no credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectLocation {
    pub(super) place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Bucket(Bucket),
    Folder(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) name: String,
    /// Without slashes at its ends; may be empty.
    pub(super) prefix: String,
    /// `None` for Amazon's own.
    pub(super) endpoint: Option<String>,
    pub(super) region: String,
    allows_http: bool,
}

impl ObjectLocation {
    /// Parses `s3://BUCKET/PREFIX?endpoint=URL&region=NAME` or `file:///FOLDER`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |reason: String| StoreError::BadObjectLocation { reason };
        let text = text.trim();
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let url = match scheme.as_deref() {
            // What follows may hold a password, so a refused address is not repeated.
            Some("s3" | "file") => Url::parse(text).map_err(|error| bad(format!("the address is invalid: {error}")))?,
            Some(_) => return Err(bad("the address begins neither with `s3://` nor with `file://`".to_owned())),
            None => return Err(bad("the text is no address".to_owned())),
        };
        if has_credentials(&url) {
            return Err(bad("the address contains a name or a password; put credentials into the variables \
                            AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                .to_owned()));
        }
        let place = if url.scheme() == "s3" { parse_bucket(&url).map(Place::Bucket) } else { parse_folder(&url) };
        Ok(Self { place: place.map_err(bad)? })
    }

    /// Creates a folder that is not there; a bucket is the business of its server.
    pub(crate) fn create_folder(&self) -> Result<()> {
        let Place::Folder(folder) = &self.place else { return Ok(()) };
        std::fs::create_dir_all(folder).map_err(|source| crate::write_error(folder.clone(), source))
    }
}

impl Display for ObjectLocation {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Place::Folder(folder) => match Url::from_file_path(folder) {
                Ok(url) => f.write_str(url.as_str()),
                Err(()) => write!(f, "file://{}", folder.display()),
            },
            Place::Bucket(bucket) => {
                let slash = if bucket.prefix.is_empty() { "" } else { "/" };
                write!(f, "s3://{}{slash}{}?", bucket.name, bucket.prefix)?;
                if let Some(endpoint) = &bucket.endpoint {
                    write!(f, "endpoint={endpoint}&")?;
                }
                let http = if bucket.allows_http { "&allow_http=true" } else { "" };
                write!(f, "region={}{http}", bucket.region)
            }
        }
    }
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn parse_bucket(url: &Url) -> Result<Bucket, String> {
    let name = url.host_str().unwrap_or_default().to_owned();
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_');
    if !(3..=63).contains(&name.len()) || !name.chars().all(is_name) || url.port().is_some() {
        return Err(format!("`{name}` is no name of a bucket: 3 to 63 small letters, digits, dots and hyphens"));
    }
    let prefix = url.path().trim_matches('/').to_owned();
    let is_step = |step: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '=');
        !matches!(step, "" | "." | "..") && step.chars().all(is_plain)
    };
    if !prefix.is_empty() && !prefix.split('/').all(is_step) {
        return Err("the prefix may have letters, digits, dots, hyphens, underscores and single slashes".to_owned());
    }
    let (mut endpoint, mut region, mut allows_http) = (None, None, false);
    for (key, value) in url.query_pairs() {
        match (&*key, &*value) {
            ("endpoint", value) => endpoint = Some(value.trim_end_matches('/').to_owned()),
            ("region", value) => region = Some(value.to_owned()),
            ("allow_http", "true") => allows_http = true,
            ("allow_http", "false") => allows_http = false,
            ("allow_http", _) => return Err("`allow_http` must be true or false".to_owned()),
            // The value of an unknown key may be a secret.
            (key, _) => return Err(format!("`{key}` is unknown; there are endpoint, region and allow_http")),
        }
    }
    if let Some(endpoint) = &endpoint {
        check_endpoint(endpoint, allows_http)?;
    }
    let region = match (region, &endpoint) {
        (Some(region), _) => region,
        // Servers other than Amazon's have one region, and most of them call it so.
        (None, Some(_)) => "us-east-1".to_owned(),
        (None, None) => return Err("the region is missing; write it as `?region=eu-central-1`".to_owned()),
    };
    if region.is_empty() || !region.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err("the region may have letters, digits and hyphens".to_owned());
    }
    Ok(Bucket { name, prefix, endpoint, region, allows_http })
}

fn check_endpoint(endpoint: &str, allows_http: bool) -> Result<(), String> {
    let url = Url::parse(endpoint).map_err(|error| format!("the endpoint is no address: {error}"))?;
    if has_credentials(&url) {
        return Err("the endpoint contains a name or a password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() || url.host_str().is_none() {
        return Err("the endpoint must be an address such as https://storage.example.org:9000".to_owned());
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if allows_http || is_local_address(endpoint) => Ok(()),
        "http" => {
            Err("the endpoint is not encrypted; use https, or add `allow_http=true` in a network you trust".into())
        }
        other => Err(format!("the endpoint begins with `{other}:`; expected https or http")),
    }
}

fn parse_folder(url: &Url) -> Result<Place, String> {
    if url.query().is_some() || url.fragment().is_some() {
        return Err("the address of a folder has no `?` and no `#`".to_owned());
    }
    let folder = url.to_file_path().ok().filter(|folder| folder.parent().is_some());
    folder.map(Place::Folder).ok_or_else(|| "a folder is written as `file:///ABSOLUTE/FOLDER`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_printed_as_they_are_read() {
        let check = |text: &str, expect: &str| {
            let location = ObjectLocation::parse(text).unwrap();
            assert_eq!(location.to_string(), expect);
            assert_eq!(ObjectLocation::parse(expect).unwrap(), location);
        };
        check("file:///shared/karat objects/", "file:///shared/karat%20objects");
        check("s3://runs?region=eu-central-1", "s3://runs?region=eu-central-1");
        check("s3://runs/a/b/?region=eu-central-1", "s3://runs/a/b?region=eu-central-1");
        check(
            "s3://runs/team?endpoint=http://127.0.0.1:9000/",
            "s3://runs/team?endpoint=http://127.0.0.1:9000&region=us-east-1",
        );
        check(
            "S3://runs?allow_http=true&endpoint=http://storage:9000&region=x",
            "s3://runs?endpoint=http://storage:9000&region=x&allow_http=true",
        );
    }

    #[test]
    fn bad_locations_are_refused_without_their_secrets() {
        let check = |text: &str, expect: &str| {
            let error = ObjectLocation::parse(text).unwrap_err().to_string();
            assert!(error.contains(expect), "{text}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        };
        check("/shared/folder", "is no address");
        check("https://user:hunter2@bucket", "neither with `s3://` nor with `file://`");
        check("s3://user:hunter2@bucket?region=x", "AWS_SECRET_ACCESS_KEY");
        check("s3://:hunter2@bucket?region=x", "AWS_SECRET_ACCESS_KEY");
        check("s3://bucket?endpoint=https://a:hunter2@b", "contains a name or a password");
        check("s3://bucket?secret_access_key=hunter2", "`secret_access_key` is unknown");
        check("s3://bucket", "the region is missing");
        check("s3://BUCKET?region=x", "no name of a bucket");
        check("s3://ab?region=x", "no name of a bucket");
        check("s3://bucket/a//b?region=x", "the prefix may have");
        check("s3://bucket/a%20b?region=x", "the prefix may have");
        check("s3://bucket?region=a/b", "the region may have");
        check("s3://bucket?endpoint=http://storage.example.org", "not encrypted");
        check("s3://bucket?endpoint=http://10.0.0.1:9000", "not encrypted");
        check("s3://bucket?endpoint=ftp://storage", "expected https or http");
        check("s3://bucket?endpoint=storage:9000", "must be an address");
        check("s3://bucket?endpoint=https://x&allow_http=yes", "true or false");
        check("file://host/share", "file:///ABSOLUTE/FOLDER");
        check("file:///", "file:///ABSOLUTE/FOLDER");
        check("file:///a?b=hunter2", "no `?`");
    }
}
