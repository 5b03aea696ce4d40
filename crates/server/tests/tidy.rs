//! Keeps the house in order: who may use whom, and what stands nowhere. `docs/architecture.md` gives the reasons.

use std::path::Path;

use crate::checks::{Exception, House, Owner};
use crate::source::{Source, read_package, read_sources};

// In a folder of their own, because every file beside this one is a test program.
#[path = "tidy/checks.rs"]
mod checks;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/source.rs"]
mod source;

/// Each line is a floor, the ground first. A part uses what is below it and itself.
const HOUSES: &[House] = &[
    House {
        package: "treeql",
        floors: &[
            &["value.rs", "mode.rs", "nearest.rs"],
            &["error.rs"],
            &["schema/"],
            &["request/", "sql/", "row/"],
            &["policy/", "encode/"],
            &["plan/", "record/", "remodel/", "openapi/"],
            &["lib.rs"],
        ],
        beside: &[("sql/", "request/"), ("row/", "sql/")],
    },
    House {
        package: "engine",
        floors: &[
            &["driver/"],
            &["driver/sqlite/", "driver/mysql/", "driver/postgres/"],
            &["driver/dispatch.rs"],
            &["driver/mod.rs"],
            &["database.rs"],
            &["exec/", "databases.rs"],
            &["lib.rs"],
        ],
        beside: &[],
    },
    House {
        package: "server",
        floors: &[
            &["http/", "metrics.rs", "log.rs", "demo/"],
            &["auth/", "middleware/"],
            &["api/"],
            &["config/"],
            &["pipeline.rs", "scrape.rs"],
            &["serve.rs", "explain/", "transfer/"],
            &["cli/"],
            &["cli.rs"],
            &["main.rs"],
        ],
        beside: &[],
    },
];

const OWNERS: &[Owner] = &[
    // What differs between databases in text is a method of the dialect; the drivers say which one they speak.
    Owner { word: "Dialect::Sqlite", homes: &["treeql/src/sql/dialect", "engine/src/driver/"] },
    Owner { word: "Dialect::MySql", homes: &["treeql/src/sql/dialect", "engine/src/driver/"] },
    Owner { word: "Dialect::Postgres", homes: &["treeql/src/sql/dialect", "engine/src/driver/"] },
    Owner { word: "quick_xml", homes: &["treeql/src/request/xml.rs"] },
    Owner { word: "regex", homes: &["treeql/src/record/rule"] },
    Owner { word: "rusqlite", homes: &["engine/src/driver/sqlite/"] },
    Owner { word: "mysql_async", homes: &["engine/src/driver/mysql/"] },
    Owner { word: "tokio_postgres", homes: &["engine/src/driver/postgres/"] },
    Owner { word: "hyper", homes: &["server/src/http/"] },
    Owner { word: "hyper_util", homes: &["server/src/http/"] },
    Owner { word: "tokio_rustls", homes: &["server/src/http/"] },
    Owner { word: "rcgen", homes: &["server/src/http/tls.rs"] },
    Owner { word: "indicatif", homes: &["server/src/transfer/progress.rs"] },
    Owner { word: "flate2", homes: &["server/src/http/coding.rs"] },
    Owner { word: "prometheus_client", homes: &["server/src/middleware/exposition.rs"] },
    Owner { word: "clap", homes: &["server/src/cli.rs", "server/src/cli/"] },
];

/// What would make the pure crate wait, or depend on the machine.
const IMPURE_MODULES: &[&str] = &["std::net", "std::fs", "std::time"];
const IMPURE_WORDS: &[&str] = &["tokio", "async"];

const BANNED: &[(&str, &str)] = &[
    ("unsafe", "there is none in this project; find the safe way"),
    ("cfg(feature", "there is one product; make it an option or leave it out"),
    ("todo!", "finish it, or leave it out"),
    ("unimplemented!", "finish it, or leave it out"),
    ("#[ignore", "a test runs, or it goes"),
];

const FILE_LINES_MAX: usize = 400;
const LONG_FILES: &[Exception] = &[];

const FUNCTION_LINES_MAX: usize = 70;
const LONG_FUNCTIONS: &[Exception] = &[];

#[test]
fn a_file_uses_lower_floors_only() {
    check(|sources| checks::floors(sources, HOUSES));
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    check(|sources| HOUSES.iter().flat_map(|house| checks::circles(sources, house.package)).collect());
}

#[test]
fn a_child_does_not_import_its_parent() {
    check(|sources| HOUSES.iter().flat_map(|house| checks::parents(sources, house.package)).collect());
}

#[test]
fn paths_are_full_and_name_what_is_used() {
    check(checks::relative_paths_and_globs);
}

#[test]
fn treeql_is_pure() {
    check(|sources| checks::purity(sources, "treeql", IMPURE_MODULES, IMPURE_WORDS));
}

#[test]
fn dialects_and_libraries_stay_in_their_homes() {
    check(|sources| checks::owners(sources, OWNERS));
}

#[test]
fn what_is_banned_stands_nowhere() {
    check(|sources| checks::banned(sources, BANNED));
}

#[test]
fn a_file_begins_with_a_sentence() {
    check(checks::first_sentences);
}

#[test]
fn a_file_is_read_in_one_sitting() {
    check(|sources| checks::long_files(sources, FILE_LINES_MAX, LONG_FILES));
}

#[test]
fn a_function_fits_a_screen() {
    check(|sources| checks::long_functions(sources, FUNCTION_LINES_MAX, LONG_FUNCTIONS));
}

/// The lab has no floors and libraries of its own choice, but is read by the same people.
#[test]
fn the_lab_is_as_tidy_as_the_house() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/src");
    let sources = read_package(&root, "../lab").expect("the lab can be read");
    assert!(sources.len() > 10, "no sources below {}", root.display());
    let wrong = [
        checks::circles(&sources, "../lab"),
        checks::parents(&sources, "../lab"),
        checks::relative_paths_and_globs(&sources),
        checks::banned(&sources, BANNED),
        checks::first_sentences(&sources),
        checks::long_files(&sources, FILE_LINES_MAX, &[]),
        checks::long_functions(&sources, FUNCTION_LINES_MAX, &[]),
    ]
    .concat();
    assert!(wrong.is_empty(), "{} to put right:\n\n{}\n", wrong.len(), wrong.join("\n"));
}

fn check(rule: impl Fn(&[Source]) -> Vec<String>) {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = read_sources(&crates).expect("the sources can be read");
    assert!(sources.len() > HOUSES.len(), "no sources below {}", crates.display());
    let wrong = rule(&sources);
    assert!(wrong.is_empty(), "{} to put right:\n\n{}\n", wrong.len(), wrong.join("\n"));
}

/// Every rule finds what it is there for.
mod rules {
    use crate::checks::{self, Exception, House, Owner};
    use crate::source::Source;

    const HOUSE: House = House {
        package: "x",
        floors: &[&["a/", "b.rs", "c.rs"], &["d.rs", "lib.rs"]],
        beside: &[("c.rs", "b.rs")],
    };

    fn sources(files: &[(&str, &str)]) -> Vec<Source> {
        files.iter().map(|(path, text)| Source::new("x", path, text)).collect()
    }

    #[track_caller]
    fn finds(wrong: Vec<String>, expected: &[&str]) {
        assert_eq!(wrong.len(), expected.len(), "{wrong:#?}");
        for (message, part) in wrong.iter().zip(expected) {
            assert!(message.contains(part), "{message:?} does not say {part:?}");
        }
    }

    #[test]
    fn a_look_up_or_aside_is_found() {
        let sources = sources(&[
            ("lib.rs", "mod a;\nmod b;"),
            ("a/mod.rs", "use crate::d::D;"),
            ("b.rs", "\nuse crate::c::C;"),
            ("c.rs", "use crate::b::B;"),
            ("d.rs", "use crate::{a::A, b::B};"),
            ("e.rs", ""),
        ]);
        let expected =
            ["e.rs:1: on no floor", "a/mod.rs:1: a/ may not use d.rs", "b.rs:2: b.rs may not use c.rs"];
        finds(checks::floors(&sources, &[HOUSE]), &expected);
    }

    #[test]
    fn two_circles_are_found_at_once() {
        let sources = sources(&[
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a::A;\nuse crate::c::C;"),
            ("c.rs", "use crate::b::B;"),
        ]);
        finds(checks::circles(&sources, "x"), &["a.rs:1 uses b.rs", "b.rs:2 uses c.rs"]);
    }

    #[test]
    fn a_child_that_imports_its_parent_is_found() {
        let sources = sources(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b;\nmod c;"),
            ("a/b.rs", "use crate::a::c::C;"),
            ("a/c.rs", "use crate::a::{c, B};"),
            ("d.rs", "use crate::a::B;"),
        ]);
        finds(checks::parents(&sources, "x"), &["a/c.rs:1: imports its parent a/mod.rs"]);
    }

    #[test]
    fn relative_paths_and_globs_are_found_outside_tests() {
        let text = "use super::a;\nuse crate::b::*;\n#[cfg(test)]\nmod tests { use super::*; }\n";
        finds(
            checks::relative_paths_and_globs(&sources(&[("a.rs", text)])),
            &["a.rs:1: `super::`", "a.rs:2"],
        );
    }

    #[test]
    fn impure_code_is_found() {
        let text = "use std::{fmt, fs::File};\nasync fn f() { std::time::Instant::now() }\n// tokio\n";
        let wrong =
            checks::purity(&sources(&[("a.rs", text)]), "x", &["std::fs", "std::time"], &["async", "tokio"]);
        finds(wrong, &["a.rs:1: std::fs::File", "a.rs:2: std::time::Instant::now", "a.rs:2: `async`"]);
    }

    #[test]
    fn a_library_away_from_home_is_found() {
        let sources =
            sources(&[("a.rs", "use lib::A;"), ("home/b.rs", "use lib::B;"), ("c.rs", "use lib_c::C;")]);
        finds(
            checks::owners(&sources, &[Owner { word: "lib", homes: &["x/src/home/"] }]),
            &["a.rs:1: `lib`"],
        );
    }

    #[test]
    fn banned_words_are_found_in_code_only() {
        let text = "#[test]\n#[ignore]\nfn f() { todo!() }\n// unsafe\nconst A: &str = \"unsafe\";\n";
        let wrong = checks::banned(&sources(&[("a.rs", text)]), super::BANNED);
        finds(wrong, &["a.rs:3: `todo!`", "a.rs:2: `#[ignore`"]);
    }

    #[test]
    fn a_silent_file_is_found() {
        let sources = sources(&[("a.rs", "//! A.\n"), ("b.rs", "// B.\n")]);
        finds(checks::first_sentences(&sources), &["b.rs:1"]);
    }

    #[test]
    fn what_is_long_is_found_and_so_is_a_stale_exception() {
        let text = "trait T { fn a(&self, b: [u8; 2]); }\nfn c() {\n\n\n}\nfn d() -> [u8; 2] { [0; 2] }\n";
        let sources = sources(&[("a.rs", text)]);
        finds(checks::long_functions(&sources, 3, &[]), &["a.rs:2: crates/x/src/a.rs:c has 4 lines"]);
        finds(checks::long_files(&sources, 5, &[]), &["a.rs:1: crates/x/src/a.rs has 6 lines"]);
        let exception = |reason| [Exception { name: "crates/x/src/a.rs", reason }];
        finds(checks::long_files(&sources, 5, &exception("a table")), &[]);
        finds(checks::long_files(&sources, 5, &exception("")), &["has 6 lines", "delete it"]);
        finds(checks::long_files(&sources, 6, &exception("a table")), &["delete it"]);
    }
}
