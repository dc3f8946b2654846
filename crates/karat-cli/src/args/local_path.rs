//! Refuses URLs where a path of this machine is expected, in every argument of every command.
//!
//! `-o s3://bucket/report.json` would otherwise create folders of those names and succeed.

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Arg, Command};
use karat_store::url_scheme;
use std::any::TypeId;
use std::path::{Path, PathBuf};

/// The command with every path argument checked, those of its subcommands included.
pub(crate) fn refuse_urls(command: Command) -> Command {
    let takes_path = |arg: &Arg| arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let check = |arg: Arg| match takes_path(&arg) {
        true => arg.value_parser(PathBufValueParser::new().try_map(|path| check_local(&path).map(|()| path))),
        false => arg,
    };
    command.mut_args(check).mut_subcommands(refuse_urls)
}

/// Refuses a path that reads as `scheme://…`.
pub(crate) fn check_local(path: &Path) -> Result<(), String> {
    let text = path.to_string_lossy();
    match url_scheme(&text) {
        Some(scheme) => Err(format!("a {scheme} URL is not a path on this machine; name a local file or folder")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn only_urls_are_refused() {
        let check = |path: &str, expect: bool| assert_eq!(check_local(Path::new(path)).is_ok(), expect, "{path}");
        check(".karat", true);
        check("/srv/karat", true);
        check("C:\\karat", true);
        check("a:b", true);
        check("./postgres://x", true);
        check("://x", true);
        check("4://x", true);
        check("postgres://db.internal/karat", false);
        check("s3://bucket/report.json", false);
        check("file:///srv/karat", false);
        check("sqlite+aio://x", false);
    }

    #[test]
    fn every_path_of_every_command_is_checked() {
        fn check(command: &Command, count: &mut usize) {
            for arg in command.get_arguments() {
                if arg.get_value_parser().type_id() != TypeId::of::<PathBuf>() {
                    continue;
                }
                let name = format!("{} {}", command.get_name(), arg.get_id());
                let alone = Command::new("karat").arg(Arg::new("path").value_parser(arg.get_value_parser().clone()));
                let parses = |value: &str| alone.clone().try_get_matches_from(["karat", value]).is_ok();
                assert!(!parses("postgres://db/karat"), "{name} takes a URL for a path");
                assert!(parses("some/folder"), "{name} refuses a path");
                *count += 1;
            }
            command.get_subcommands().for_each(|sub| check(sub, count));
        }
        let mut count = 0;
        check(&refuse_urls(crate::args::Arguments::command()), &mut count);
        assert!(count > 40, "{count} arguments take paths");
    }
}
