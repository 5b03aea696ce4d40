//! The sample database of `rowcast demo`: a blog in SQLite, the same bytes on every machine.

mod blog;
mod calendar;
mod grammar;
mod leisure;
mod people;
mod trade;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use engine::driver::sqlite::loader::Loader;

/// Writes `blog.db` into `directory` and answers its path; `progress` gets a table, its rows so far and in total.
pub fn write(directory: &Path, progress: &mut dyn FnMut(&str, u64, u64)) -> anyhow::Result<PathBuf> {
    let path = directory.join("blog.db");
    // The file may hold what its owner tried out yesterday: it is never written twice.
    if path.exists() {
        return Ok(path);
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    fill(&path, progress)
        .with_context(|| format!("cannot write the sample database to {}", path.display()))?;
    Ok(path)
}

fn fill(path: &Path, progress: &mut dyn FnMut(&str, u64, u64)) -> anyhow::Result<()> {
    let mut loader = Loader::create(path)?;
    loader.script(include_str!("schema.sql"))?;
    blog::insert(&mut loader, progress)?;
    // An index is built faster from a full table than row by row.
    loader.script(include_str!("indexes.sql"))?;
    Ok(loader.finish()?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_table_is_filled_and_two_files_are_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let mut counts = BTreeMap::new();
        let first = write(&directory.path().join("a"), &mut |table, rows, total| {
            assert!(rows <= total);
            counts.insert(table.to_owned(), (rows, total));
        });
        let second = write(&directory.path().join("b"), &mut |_, _, _| ());

        let count = |table: &str| {
            let (rows, total) = counts[table];
            assert_eq!(rows, total, "{table}");
            rows
        };
        assert_eq!(count("users"), 120);
        assert_eq!(count("categories"), 8);
        assert_eq!(count("tags"), 40);
        assert_eq!(count("posts"), 10_000);
        assert_eq!(count("comments"), 50_000);
        assert_eq!(count("visitors"), 5_000);
        assert!((20_000..30_000).contains(&count("post_tags")));
        assert!(fs::read(first.unwrap()).unwrap() == fs::read(second.unwrap()).unwrap());
    }

    #[test]
    fn a_database_that_exists_is_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("blog.db"), "mine").unwrap();
        let path = write(directory.path(), &mut |_, _, _| panic!("nothing is written")).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "mine");
    }
}
