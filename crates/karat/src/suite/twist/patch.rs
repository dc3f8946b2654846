//! Patches that turn one state of a program into another.

use karat_source::change::{ReplacedRange, replaced_ranges};
use std::collections::{BTreeMap, BTreeSet};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// A patch that `git apply` reads; `None` if a file that differs is no text, or only the line break at its end differs.
pub(super) fn write_patch(old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut patch = String::new();
    for path in paths {
        let (before, after) = (old.get(path), new.get(path));
        if before == after {
            continue;
        }
        let text = |bytes: Option<&Vec<u8>>| match bytes {
            None => Some(String::new()),
            Some(bytes) => String::from_utf8(bytes.clone()).ok(),
        };
        let (before_text, after_text) = (text(before)?, text(after)?);
        match (before, after) {
            (Some(_), Some(_)) => patch.push_str(&format!("--- a/{path}\n+++ b/{path}\n")),
            (None, _) => patch.push_str(&format!(
                "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
            )),
            (_, None) => patch.push_str(&format!(
                "diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n"
            )),
        }
        let hunks = hunks(&before_text, &after_text)?;
        if hunks.is_empty() {
            return None;
        }
        patch.push_str(&hunks);
    }
    Some(patch)
}

fn hunks(before: &str, after: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(before), lines(after));
    let replaced = replaced_ranges(before, after);
    let index = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let mut groups: Vec<Vec<&ReplacedRange>> = Vec::new();
    for range in &replaced {
        match groups.last_mut().and_then(|group| group.last().copied().map(|last| (group, last))) {
            Some((group, last)) if index(range.before.start) <= index(last.before.end) + 2 * CONTEXT => {
                group.push(range)
            }
            _ => groups.push(vec![range]),
        }
    }
    let mut out = String::new();
    for group in groups {
        let (first, last) = (group.first()?, group.last()?);
        let lead = index(first.before.start).min(CONTEXT);
        let (old_start, new_start) = (index(first.before.start) - lead, index(first.after.start) - lead);
        let old_end = (index(last.before.end) + CONTEXT).min(old.len());
        let mut body = String::new();
        let mut at = old_start;
        let mut sizes = (0, 0);
        let mut push = |sign: char, line: &str, sizes: &mut (usize, usize)| {
            body.push(sign);
            body.push_str(line);
            if !line.ends_with('\n') {
                body.push_str("\n\\ No newline at end of file\n");
            }
            sizes.0 += usize::from(sign != '+');
            sizes.1 += usize::from(sign != '-');
        };
        for range in group {
            old.get(at..index(range.before.start))?.iter().for_each(|line| push(' ', line, &mut sizes));
            old.get(index(range.before.start)..index(range.before.end))?
                .iter()
                .for_each(|line| push('-', line, &mut sizes));
            new.get(index(range.after.start)..index(range.after.end))?
                .iter()
                .for_each(|line| push('+', line, &mut sizes));
            at = index(range.before.end);
        }
        old.get(at..old_end)?.iter().for_each(|line| push(' ', line, &mut sizes));
        // An empty side is counted from the line in front of it.
        let start = |start: usize, size: usize| if size == 0 { start } else { start + 1 };
        let (old_at, new_at) = (start(old_start, sizes.0), start(new_start, sizes.1));
        out.push_str(&format!("@@ -{old_at},{} +{new_at},{} @@\n{body}", sizes.0, sizes.1));
    }
    Some(out)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_source::git::apply_patch;
    use std::fs;

    #[test]
    fn patches_turn_one_state_into_the_other() {
        let numbered = |skip: &[usize], add: &[(usize, &str)]| {
            let mut text = String::new();
            for number in 1..40 {
                text.extend(add.iter().filter(|(at, _)| *at == number).map(|(_, line)| format!("{line}\n")));
                if !skip.contains(&number) {
                    text.push_str(&format!("line {number}\n"));
                }
            }
            text.into_bytes()
        };
        let state = |files: &[(&str, Vec<u8>)]| -> BTreeMap<String, Vec<u8>> {
            files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.clone())).collect()
        };
        let old = state(&[("a/b.py", numbered(&[], &[])), ("same.py", b"x\n".to_vec()), ("gone.py", b"y\n".to_vec())]);
        let new = state(&[
            ("a/b.py", numbered(&[1, 9, 30], &[(5, "new"), (12, "newer"), (39, "last")])),
            ("same.py", b"x\n".to_vec()),
            ("fresh.py", b"z\nw\n".to_vec()),
        ]);
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in &old {
            fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            fs::write(folder.path().join(path), bytes).unwrap();
        }
        apply_patch(folder.path(), write_patch(&old, &new).unwrap().as_bytes()).unwrap();
        for (path, bytes) in &new {
            assert_eq!(fs::read(folder.path().join(path)).unwrap(), *bytes, "{path}");
        }
        assert!(!folder.path().join("gone.py").exists());
        assert_eq!(write_patch(&old, &old).as_deref(), Some(""));
        assert_eq!(write_patch(&state(&[("a", b"x".to_vec())]), &state(&[("a", b"x\n".to_vec())])), None);
    }
}
