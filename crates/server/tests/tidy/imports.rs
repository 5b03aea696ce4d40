//! Who imports whom: `crate::…` paths of a file, the files that they mean, and circles among them.

use std::collections::BTreeMap;

use crate::source::{Source, find_word, line_of};

/// A path as it is written in the code, its groups taken apart.
#[derive(Debug, PartialEq)]
pub struct Import {
    pub line: usize,
    pub segments: Vec<String>,
}

/// One file uses another.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub source: usize,
    pub target: usize,
    pub line: usize,
    /// The path continues below `target`: it names an item there, not the module itself.
    pub names_item: bool,
}

/// All paths that begin with `root`, in `use` and anywhere else: `a::{b, c::d}` gives `a::b` and `a::c::d`.
pub fn paths_from(code: &str, root: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for offset in find_word(code, root) {
        // `treeql::sql` is not the root `sql`.
        if code[offset + root.len()..].starts_with("::") && !code[..offset].ends_with("::") {
            read_tree(code, offset, &mut Vec::new(), &mut imports);
        }
    }
    imports
}

/// All paths of `use` declarations.
pub fn uses(code: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for offset in find_word(code, "use") {
        if code[offset + 3..].starts_with(char::is_whitespace) {
            read_tree(code, offset + 3, &mut Vec::new(), &mut imports);
        }
    }
    imports
}

/// The files of one crate that use each other. `files` are the crate's sources.
pub fn edges(files: &[&Source]) -> Vec<Edge> {
    let index: BTreeMap<&str, usize> =
        files.iter().enumerate().map(|(position, file)| (file.path.as_str(), position)).collect();
    let mut edges = Vec::new();
    for (source, file) in files.iter().enumerate() {
        for import in paths_from(&file.product, "crate") {
            let (target, names_item) = resolve(&import.segments[1..], &index);
            edges.extend(target.map(|target| Edge { source, target, line: import.line, names_item }));
        }
        for (line, child) in children(file) {
            let target = module(folder_of(&file.path), &child, &index);
            edges.extend(target.map(|target| Edge { source, target, line, names_item: false }));
        }
    }
    edges
}

/// The first circle found, as edges that lead back to where they began.
pub fn circle(edges: &[Edge], files: usize) -> Option<Vec<Edge>> {
    let mut finished = vec![false; files];
    (0..files).find_map(|start| walk(start, edges, &mut Vec::new(), &mut finished))
}

fn walk(file: usize, edges: &[Edge], trail: &mut Vec<Edge>, finished: &mut [bool]) -> Option<Vec<Edge>> {
    if let Some(from) = trail.iter().position(|edge| edge.source == file) {
        return Some(trail[from..].to_vec());
    }
    if finished[file] {
        return None;
    }
    for edge in edges.iter().filter(|edge| edge.source == file && edge.target != file) {
        trail.push(edge.clone());
        let found = walk(edge.target, edges, trail, finished);
        trail.pop();
        if found.is_some() {
            return found;
        }
    }
    finished[file] = true;
    None
}

/// Reads one branch of a `use` tree and returns the byte behind it.
fn read_tree(code: &str, mut offset: usize, prefix: &mut Vec<String>, imports: &mut Vec<Import>) -> usize {
    let depth = prefix.len();
    loop {
        offset = skip_space(code, offset);
        let rest = &code[offset..];
        if rest.starts_with('{') {
            offset = read_group(code, offset + 1, prefix, imports);
            break;
        }
        let name = name_at(rest);
        let after = skip_space(code, offset + name.len());
        let goes_on = code[after..].starts_with("::");
        if !name.is_empty() && name != "self" {
            prefix.push(name.to_owned());
        }
        // A path in an expression may end in `::<T>`.
        if name.is_empty() || !goes_on {
            imports.push(Import { line: line_of(code, offset), segments: prefix.clone() });
            offset = after;
            break;
        }
        offset = after + 2;
    }
    prefix.truncate(depth);
    offset
}

fn read_group(code: &str, mut offset: usize, prefix: &mut Vec<String>, imports: &mut Vec<Import>) -> usize {
    loop {
        offset = skip_space(code, offset);
        match code[offset..].chars().next() {
            None => return offset,
            Some('}') => return offset + 1,
            Some(',') => offset += 1,
            Some(_) => {
                let branch = read_tree(code, offset, prefix, imports).max(offset + 1);
                // `as name` is of no interest here.
                offset = code[branch..].find([',', '}']).map_or(code.len(), |found| branch + found);
            }
        }
    }
}

fn name_at(rest: &str) -> &str {
    if rest.starts_with('*') {
        return "*";
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    &rest[..end]
}

fn skip_space(code: &str, offset: usize) -> usize {
    code.len() - code[offset..].trim_start().len()
}

/// Follows the path from the crate's root as far as there are files.
fn resolve(segments: &[String], index: &BTreeMap<&str, usize>) -> (Option<usize>, bool) {
    let root = index.get("lib.rs").or_else(|| index.get("main.rs")).copied();
    let mut found = root;
    let mut folder = String::new();
    for segment in segments {
        let Some(file) = module(&folder, segment, index) else {
            return (found, true);
        };
        found = Some(file);
        folder = format!("{folder}{segment}/");
    }
    (found, false)
}

/// The file of the module `name` whose parent keeps its children in `folder`.
fn module(folder: &str, name: &str, index: &BTreeMap<&str, usize>) -> Option<usize> {
    let places = [format!("{folder}{name}.rs"), format!("{folder}{name}/mod.rs")];
    places.iter().find_map(|path| index.get(path.as_str()).copied())
}

/// Where the children of a file are: beside a `mod.rs`, in a folder of its name otherwise.
fn folder_of(path: &str) -> &str {
    let root = path.strip_suffix("lib.rs").or_else(|| path.strip_suffix("main.rs"));
    match path.strip_suffix("mod.rs").or(root.filter(|folder| folder.is_empty())) {
        Some(folder) => folder,
        None => path.trim_end_matches(".rs"),
    }
}

/// The modules that a file declares, with their lines.
fn children(file: &Source) -> Vec<(usize, String)> {
    let mut children = Vec::new();
    for offset in find_word(&file.product, "mod") {
        let rest = file.product[offset + 3..].trim_start();
        let name = name_at(rest);
        if rest[name.len()..].trim_start().starts_with(';') {
            children.push((line_of(&file.product, offset), name.to_owned()));
        }
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(code: &str) -> Vec<String> {
        paths_from(code, "crate").iter().map(|import| import.segments.join("::")).collect()
    }

    fn sources(files: &[(&str, &str)]) -> Vec<Source> {
        files.iter().map(|(path, text)| Source::new("x", path, text)).collect()
    }

    /// `from -> to` for each edge, with a star where an item is named.
    fn drawn(files: &[(&str, &str)]) -> Vec<String> {
        let sources = sources(files);
        let files: Vec<&Source> = sources.iter().collect();
        let draw = |edge: &Edge| {
            let star = if edge.names_item { "*" } else { "" };
            format!("{} -> {}{star}", files[edge.source].path, files[edge.target].path)
        };
        edges(&files).iter().map(draw).collect()
    }

    #[test]
    fn a_group_is_taken_apart() {
        let code = "use crate::a::{self, b, c::{D, E as F},\n g::*};\nuse std::fs;\n";
        let paths = ["crate::a", "crate::a::b", "crate::a::c::D", "crate::a::c::E", "crate::a::g::*"];
        assert_eq!(written(code), paths);
        assert_eq!(paths_from(code, "crate")[4].line, 2);
        assert_eq!(uses(code).last().unwrap().segments, ["std", "fs"]);
    }

    #[test]
    fn a_path_within_code_counts() {
        assert_eq!(
            written("let x = crate::a::B::<u8>::new(crate::c::d { e });"),
            ["crate::a::B", "crate::c::d"]
        );
        assert_eq!(written("pub(crate) fn f() {}"), [""; 0]);
    }

    #[test]
    fn a_path_means_the_deepest_file() {
        let edges = drawn(&[
            ("lib.rs", "mod a;\npub mod d;"),
            ("a/mod.rs", "mod b;\nmod c;\npub use b::B;"),
            ("a/b.rs", "use crate::a::c::C;"),
            ("a/c.rs", "use crate::d;"),
            ("d.rs", "use crate::a::B;\nuse crate::Root;"),
        ]);
        assert_eq!(
            edges,
            [
                "lib.rs -> a/mod.rs",
                "lib.rs -> d.rs",
                "a/mod.rs -> a/b.rs",
                "a/mod.rs -> a/c.rs",
                "a/b.rs -> a/c.rs*",
                "a/c.rs -> d.rs",
                "d.rs -> a/mod.rs*",
                "d.rs -> lib.rs*",
            ]
        );
    }

    #[test]
    fn a_circle_is_found_however_long() {
        let round = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "use crate::a::A;"),
        ];
        let round = sources(&round);
        let files: Vec<&Source> = round.iter().collect();
        assert_eq!(circle(&edges(&files), files.len()).unwrap().len(), 3);
        let straight = sources(&[("a.rs", "use crate::b::B;"), ("b.rs", "use crate::c::C;"), ("c.rs", "")]);
        let files: Vec<&Source> = straight.iter().collect();
        assert_eq!(circle(&edges(&files), files.len()), None);
    }
}
