//! Files that hold a request and what is made of it: compared, or rewritten with `BLESS=1`.

use std::fs;
use std::path::{Path, PathBuf};

/// Compares every file of a folder in `tests/` with what `render` makes of its head, the part before the first `---`.
pub fn compare(folder: &str, what: &str, render: impl Fn(&str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let differences: Vec<String> = paths.iter().filter_map(|path| check(path, &render)).collect();
    let count = differences.len();
    assert!(
        differences.is_empty(),
        "{count} {what} differ; if they are right: make bless\n\n{}",
        differences.join("\n")
    );
}

/// What differs in a file, unless it is blessed.
fn check(path: &Path, render: impl Fn(&str) -> String) -> Option<String> {
    let expected = fs::read_to_string(path).unwrap();
    let head = expected.split_once("\n--- ").map_or(expected.trim_end(), |(head, _)| head);
    let actual = format!("{head}\n{}", render(head));
    if actual == expected {
        return None;
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, actual).unwrap();
        return None;
    }
    Some(format!("{}\n\nexpected\n{expected}\nplanned\n{actual}", path.display()))
}
