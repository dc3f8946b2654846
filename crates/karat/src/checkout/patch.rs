//! The change of a case as a unified diff, in the form git prints.

use crate::git::is_binary;
use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

/// Appends what happened to one file; nothing where nothing did.
pub(super) fn append(out: &mut String, path: &str, before: Option<&[u8]>, after: Option<&[u8]>) {
    if before == after {
        return;
    }
    out.push_str(&format!("diff --git a/{path} b/{path}\n"));
    let (old, new) = match (before, after) {
        (None, _) => {
            out.push_str("new file mode 100644\n");
            ("/dev/null".to_owned(), format!("b/{path}"))
        }
        (_, None) => {
            out.push_str("deleted file mode 100644\n");
            (format!("a/{path}"), "/dev/null".to_owned())
        }
        _ => (format!("a/{path}"), format!("b/{path}")),
    };
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if is_binary(before) || is_binary(after) {
        out.push_str(&format!("Binary files {old} and {new} differ\n"));
        return;
    }
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let input = InternedInput::new(&*before, &*after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let printer = BasicLineDiffPrinter(&input.interner);
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input).to_string();
    if !hunks.is_empty() {
        out.push_str(&format!("--- {old}\n+++ {new}\n{hunks}"));
    }
}
