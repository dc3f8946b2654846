//! `karat init`.

use crate::args::InitArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::{print, print_json, tell};

pub(crate) fn run(args: &InitArgs) -> Result<Exit, Failure> {
    let written = karat::suite::init::write(&args.folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::bad_input(error.to_string()),
        _ => Failure::unwritten(args.folder.display(), error),
    })?;
    let shown = |path: &String| format!("{}\n", args.folder.join(path).display());
    if args.json {
        print_json(&serde_json::json!({ "written": written }))?;
        return Ok(Exit::Ok);
    }
    print(&written.iter().map(shown).collect::<String>())?;
    let folder = args.folder.display();
    tell(&format!("\nNext:\n  karat check {folder}\n  karat score {folder}"));
    Ok(Exit::Ok)
}
