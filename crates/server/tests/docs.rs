//! Keeps the documentation true: what the pages list is what there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use treeql::error::Code;

#[test]
fn every_error_code_has_its_row_in_the_protocol() {
    let page = read("docs/protocol.md");
    let row = |code: &Code| format!("| {} | {} | `{}` |", code.number(), code.status(), code.message());
    let missing: Vec<String> = Code::ALL.iter().map(row).filter(|row| !page.contains(row)).collect();
    assert!(missing.is_empty(), "docs/protocol.md, section 5, lacks:\n{}", missing.join("\n"));
}

#[test]
fn the_page_of_the_configuration_is_what_the_program_prints() {
    let output = Command::new(env!("CARGO_BIN_EXE_rowcast"))
        .args(["docs", "configuration"])
        .output()
        .expect("the program can be started");
    let printed = String::from_utf8(output.stdout).expect("the page is UTF-8");
    assert!(printed.contains("`limits.bodyBytes`"), "the page lists the keys:\n{printed}");
    assert!(
        printed == read("docs/configuration.md"),
        "docs/configuration.md is out of date; run `make docs`"
    );
}

#[test]
fn the_tree_of_the_architecture_names_every_file_and_no_other() {
    let tree = Tree::read(&read("docs/architecture.md"));
    let gone: Vec<&String> = tree.named.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(gone.is_empty(), "docs/architecture.md, section 2, names what is not there: {gone:#?}");
    let mut files = BTreeSet::new();
    for package in names_in(&root().join("crates")) {
        collect(&format!("crates/{package}/src"), &mut files);
    }
    assert!(files.len() > 50, "the sources are found: {files:#?}");
    let unnamed: Vec<&String> = files.iter().filter(|path| !tree.covers(path)).collect();
    assert!(unnamed.is_empty(), "docs/architecture.md, section 2, lacks a line for: {unnamed:#?}");
}

#[test]
fn the_chores_that_pages_name_are_in_the_makefile() {
    let makefile = read("Makefile");
    for page in ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/style.md"] {
        let text = read(page);
        let chores = chores(&text);
        for chore in &chores {
            assert!(
                makefile.contains(&format!("\n{chore}:")),
                "{page} names `make {chore}`; the Makefile does not"
            );
        }
        if page == "README.md" {
            assert!(
                chores.contains("demo") && chores.contains("test"),
                "README.md begins with the two commands"
            );
        }
    }
}

/// Comments cite the protocol as `SPEC 8.4`, a section, or `SPEC: composite-key`, a difference with a name.
#[test]
fn what_comments_cite_of_the_protocol_is_there() {
    let page = read("docs/protocol.md");
    let mut files = BTreeSet::new();
    for package in names_in(&root().join("crates")) {
        collect(&format!("crates/{package}/src"), &mut files);
    }
    let mut missing = Vec::new();
    for file in files.iter().filter(|file| file.ends_with(".rs")) {
        let text = read(file);
        for (at, _) in text.match_indices("SPEC") {
            let cited = citations(&text[at + "SPEC".len()..]);
            let lacks = |cited: &String| {
                let places = [format!("## {cited} "), format!("`{cited}`")];
                !places.iter().any(|place| page.contains(place))
            };
            missing.extend(cited.into_iter().filter(lacks).map(|cited| format!("{file}: SPEC {cited}")));
        }
    }
    assert!(missing.is_empty(), "docs/protocol.md lacks what comments cite:\n{}", missing.join("\n"));
}

#[test]
fn links_between_pages_lead_to_files() {
    let mut pages = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned(), "CHANGELOG.md".to_owned()];
    pages.extend(names_in(&root().join("docs")).into_iter().map(|name| format!("docs/{name}")));
    let mut broken = Vec::new();
    for page in pages.iter().filter(|page| page.ends_with(".md")) {
        let folder = root().join(page);
        let folder = folder.parent().expect("a page lies in a folder");
        for link in read(page).split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            if !target.contains("://") && !folder.join(target).exists() {
                broken.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// A page that promises a test names one: a transcript by its path, a test function by its name.
#[test]
fn the_tests_that_the_page_on_security_names_are_there() {
    let page = read("docs/security.md");
    let mut files = BTreeSet::new();
    for package in names_in(&root().join("crates")) {
        collect(&format!("crates/{package}/src"), &mut files);
        collect(&format!("crates/{package}/tests"), &mut files);
    }
    let sources: String = files.iter().filter(|file| file.ends_with(".rs")).map(|file| read(file)).collect();
    let rows = page.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.rsplit_once(" | "));
    let named: Vec<&str> = rows
        .flat_map(|(_, tests)| tests.split('`').skip(1).step_by(2))
        .filter(|name| name.ends_with(".log") || (name.contains('_') && !name.contains([' ', '(', '='])))
        .collect();
    assert!(named.len() > 40, "the tables name tests: {named:#?}");
    let is_there = |name: &&&str| match name.strip_suffix(".log") {
        Some(_) => root().join("tests/transcripts").join(name).exists(),
        None => sources.contains(&format!("fn {name}(")),
    };
    let missing: Vec<&&str> = named.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "docs/security.md names tests that are not there: {missing:#?}");
}

/// The sections or the name after `SPEC` in a comment: ` 8.1, 8.2 and 10)` or `: composite-key)`.
fn citations(rest: &str) -> Vec<String> {
    let Some(name) = rest.strip_prefix(':') else {
        let end = rest.find([')', ':', ';', '\n']).unwrap_or(rest.len());
        let words = rest[..end].split([' ', ',']).map(|word| word.trim_end_matches('.'));
        let is_number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
        return words.filter(is_number).map(str::to_owned).collect();
    };
    let name = name.trim_start_matches([' ', '\n', '/']);
    let end = name.find(|next: char| !next.is_ascii_alphanumeric() && next != '-').unwrap_or(name.len());
    vec![name[..end].to_owned()]
}

/// The trees of the architecture page: blocks of text that begin with a folder, two blanks for each level below.
#[derive(Default)]
struct Tree {
    /// Files, and folders whose files are not named one by one.
    named: BTreeSet<String>,
}

impl Tree {
    fn read(page: &str) -> Tree {
        let mut tree = Tree::default();
        for block in page.split("```text\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            let first = block.split_whitespace().next().unwrap_or_default();
            if first.starts_with("crates/") || first == "./" {
                tree.add(block);
            }
        }
        tree
    }

    fn add(&mut self, block: &str) {
        let mut folders: Vec<(usize, String)> = Vec::new();
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let depth = line.len() - line.trim_start().len();
            let name = line.split_whitespace().next().unwrap_or_default();
            while folders.last().is_some_and(|(above, _)| *above >= depth) {
                folders.pop();
            }
            let above = folders.last().map_or("", |(_, path)| path);
            let path = format!("{above}{}", name.trim_start_matches("./"));
            // Its files are below: the folder itself stands for nothing any more.
            self.named.remove(above);
            self.named.insert(path.clone());
            if name.ends_with('/') {
                folders.push((depth, path));
            }
        }
    }

    fn covers(&self, file: &str) -> bool {
        self.named.contains(file)
            || self
                .named
                .iter()
                .any(|path| path.ends_with('/') && !path.is_empty() && file.starts_with(&**path))
    }
}

/// The words after `make` where it begins a line or a piece of code.
fn chores(text: &str) -> BTreeSet<String> {
    let starts = text.match_indices("make ").filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|before| matches!(before, '`' | '\n'))
    });
    let word = |at: usize| text[at..].chars().take_while(char::is_ascii_lowercase).collect::<String>();
    starts.map(|(at, make)| word(at + make.len())).filter(|chore| !chore.is_empty()).collect()
}

fn collect(folder: &str, files: &mut BTreeSet<String>) {
    for name in names_in(&root().join(folder)) {
        let path = format!("{folder}/{name}");
        if root().join(&path).is_dir() {
            collect(&path, files);
        } else {
            files.insert(path);
        }
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn citations_are_read_as_they_are_written() {
    assert_eq!(citations(" 8.1, 8.2 and 10)."), ["8.1", "8.2", "10"]);
    assert_eq!(citations(" section 5, in its order: 1001"), ["5"]);
    assert_eq!(citations(": composite-key)."), ["composite-key"]);
    assert_eq!(citations(":\n/// key-excluded-from-join)"), ["key-excluded-from-join"]);
}
