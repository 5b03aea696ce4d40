//! The checks themselves. Each takes sources and returns what is wrong: `place: what; what to do`.

use crate::imports::{circle, edges, paths_from, uses};
use crate::source::{Source, closing, find_word, line_of};

/// The order of a crate's files, from the ground up.
pub struct House {
    pub package: &'static str,
    /// Folders (`plan/`) and files (`value.rs`). The longest name that fits a file is its part.
    pub floors: &'static [&'static [&'static str]],
    /// Parts of one floor of which the first may use the second.
    pub beside: &'static [(&'static str, &'static str)],
}

/// Only `homes` may name `word`.
pub struct Owner {
    pub word: &'static str,
    pub homes: &'static [&'static str],
}

/// A file or a function that may be longer than others. `name` is `crates/…/file.rs` or `crates/…/file.rs:function`.
pub struct Exception {
    pub name: &'static str,
    pub reason: &'static str,
}

pub fn floors(sources: &[Source], houses: &[House]) -> Vec<String> {
    let mut wrong = Vec::new();
    for house in houses {
        let files = files_of(sources, house.package);
        for file in files.iter().filter(|file| house.part(&file.path).is_none()) {
            wrong.push(format!("{}: on no floor; give it one in the table of tidy.rs", file.place(1)));
        }
        for edge in edges(&files) {
            let (source, target) = (files[edge.source], files[edge.target]);
            if let (Some(from), Some(to)) = (house.part(&source.path), house.part(&target.path))
                && !house.allows(from, to)
            {
                wrong.push(format!(
                    "{}: {} may not use {}; look down only, or move what both need to a floor below",
                    source.place(edge.line),
                    from.1,
                    to.1
                ));
            }
        }
    }
    wrong
}

pub fn circles(sources: &[Source], package: &str) -> Vec<String> {
    let files = files_of(sources, package);
    let mut edges = edges(&files);
    let mut wrong = Vec::new();
    // One edge of each circle is taken out, so that all are reported at once.
    while let Some(found) = circle(&edges, files.len()) {
        let steps = found
            .iter()
            .map(|edge| format!("{} uses {}", files[edge.source].place(edge.line), files[edge.target].path));
        let steps: Vec<String> = steps.collect();
        wrong.push(format!(
            "{}\n    a circle; move what both need to a third file below",
            steps.join("\n    ")
        ));
        edges.retain(|edge| (edge.source, edge.target) != (found[0].source, found[0].target));
    }
    wrong
}

/// Inside a folder, an item is imported from the file that has it, not from the `mod.rs` above.
pub fn parents(sources: &[Source], package: &str) -> Vec<String> {
    let files = files_of(sources, package);
    let mut wrong = Vec::new();
    for edge in edges(&files) {
        let (source, target) = (files[edge.source], files[edge.target]);
        let folder = ["mod.rs", "lib.rs"].iter().find_map(|name| target.path.strip_suffix(name));
        let is_child =
            folder.is_some_and(|folder| source.path.starts_with(folder) && source.path != target.path);
        if edge.names_item && is_child {
            let place = source.place(edge.line);
            wrong.push(format!(
                "{place}: imports its parent {}; import the sibling file directly",
                target.path
            ));
        }
    }
    wrong
}

pub fn relative_paths_and_globs(sources: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    for source in sources {
        for line in lines_with(&source.product, "super::") {
            wrong.push(format!("{}: `super::`; write the full path from `crate::`", source.place(line)));
        }
        for import in uses(&source.product) {
            if import.segments.last().is_some_and(|name| name == "*") {
                wrong.push(format!("{}: imports everything; name what is used", source.place(import.line)));
            }
        }
    }
    wrong
}

/// `modules` are paths such as `std::fs`, `words` single words; neither may stand in the package.
pub fn purity(sources: &[Source], package: &str, modules: &[&str], words: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    for source in files_of(sources, package) {
        for import in paths_from(&source.product, "std") {
            let path = import.segments.join("::");
            if modules.iter().any(|module| format!("{path}::").starts_with(&format!("{module}::"))) {
                let place = source.place(import.line);
                wrong.push(format!(
                    "{place}: {path} in {package}; it is pure: take what is needed as an argument"
                ));
            }
        }
        for word in words {
            for line in lines_with(&source.product, word) {
                wrong.push(format!(
                    "{}: `{word}` in {package}; what waits belongs to engine",
                    source.place(line)
                ));
            }
        }
    }
    wrong
}

pub fn owners(sources: &[Source], owners: &[Owner]) -> Vec<String> {
    let mut wrong = Vec::new();
    for Owner { word, homes } in owners {
        for source in sources {
            let path = format!("{}/src/{}", source.package, source.path);
            if homes.iter().any(|home| path.starts_with(home)) {
                continue;
            }
            for line in lines_with(&source.product, word) {
                let homes = homes.join(" or ");
                wrong.push(format!("{}: `{word}` belongs to {homes}; ask there", source.place(line)));
            }
        }
    }
    wrong
}

/// `banned` are words and why they are; tests may not use them either.
pub fn banned(sources: &[Source], banned: &[(&str, &str)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for source in sources {
        for (word, reason) in banned {
            for line in lines_with(&source.code, word) {
                wrong.push(format!("{}: `{word}`; {reason}", source.place(line)));
            }
        }
    }
    wrong
}

pub fn first_sentences(sources: &[Source]) -> Vec<String> {
    let silent = sources.iter().filter(|source| !source.text.starts_with("//! "));
    silent.map(|source| format!("{}: begin with `//! ` and what this file is", source.place(1))).collect()
}

pub fn long_files(sources: &[Source], lines_max: usize, exceptions: &[Exception]) -> Vec<String> {
    let lengths = sources.iter().map(|source| (source, name_of(source), 1, source.text.lines().count()));
    too_long(lengths, lines_max, exceptions, "what is its second subject?")
}

pub fn long_functions(sources: &[Source], lines_max: usize, exceptions: &[Exception]) -> Vec<String> {
    let lengths = sources.iter().flat_map(|source| {
        functions(&source.code)
            .into_iter()
            .map(move |(name, line, length)| (source, format!("{}:{name}", name_of(source)), line, length))
    });
    too_long(lengths, lines_max, exceptions, "let it read like a table of contents, the work below it")
}

/// Takes (source, name, line, length). An exception that nothing needs any more is wrong too.
fn too_long<'a>(
    lengths: impl Iterator<Item = (&'a Source, String, usize, usize)>,
    lines_max: usize,
    exceptions: &[Exception],
    advice: &str,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut needed = Vec::new();
    for (source, name, line, length) in lengths.filter(|(_, _, _, length)| *length > lines_max) {
        if exceptions.iter().any(|exception| exception.name == name && !exception.reason.is_empty()) {
            needed.push(name);
        } else {
            wrong.push(format!(
                "{}: {name} has {length} lines, more than {lines_max}; {advice}",
                source.place(line)
            ));
        }
    }
    for exception in exceptions.iter().filter(|exception| !needed.iter().any(|name| name == exception.name)) {
        wrong.push(format!(
            "tidy.rs: {} is no exception any more, or has no reason; delete it",
            exception.name
        ));
    }
    wrong
}

impl House {
    /// The floor and the name of the part that a file belongs to.
    fn part(&self, path: &str) -> Option<(usize, &'static str)> {
        let parts = self
            .floors
            .iter()
            .enumerate()
            .flat_map(|(floor, parts)| parts.iter().map(move |part| (floor, *part)));
        let fits = |part: &str| if part.ends_with('/') { path.starts_with(part) } else { path == part };
        parts.filter(|(_, part)| fits(part)).max_by_key(|(_, part)| part.len())
    }

    fn allows(&self, from: (usize, &str), to: (usize, &str)) -> bool {
        from.0 > to.0 || from == to || self.beside.contains(&(from.1, to.1))
    }
}

/// Name, line and number of lines of every function with a body.
fn functions(code: &str) -> Vec<(String, usize, usize)> {
    let mut functions = Vec::new();
    for offset in find_word(code, "fn") {
        let rest = code[offset + 2..].trim_start();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // `fn(u8)` is a type.
        if let Some(body) = body_at(code, offset).filter(|_| !name.is_empty()) {
            let line = line_of(code, offset);
            functions.push((name, line, line_of(code, closing(code, body) - 1) - line + 1));
        }
    }
    functions
}

/// Where the body of a signature opens; a declaration in a trait has none.
fn body_at(code: &str, signature: usize) -> Option<usize> {
    let mut offset = signature;
    loop {
        offset += code[offset..].find(['(', '[', '{', ';'])?;
        match code.as_bytes()[offset] {
            b'{' => return Some(offset),
            b';' => return None,
            _ => offset = closing(code, offset),
        }
    }
}

fn files_of<'a>(sources: &'a [Source], package: &str) -> Vec<&'a Source> {
    sources.iter().filter(|source| source.package == package).collect()
}

fn lines_with(code: &str, word: &str) -> Vec<usize> {
    find_word(code, word).into_iter().map(|offset| line_of(code, offset)).collect()
}

fn name_of(source: &Source) -> String {
    format!("crates/{}/src/{}", source.package, source.path)
}
