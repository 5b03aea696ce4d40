//! The program itself: contestants keep the contract, a short race ends in a report, wrong arguments are told.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The product's program stands beside ours once the workspace is built.
fn rowcast() -> PathBuf {
    if let Some(path) = env::var_os("ROWCAST") {
        return path.into();
    }
    let path = Path::new(env!("CARGO_BIN_EXE_rowcast-lab")).with_file_name("rowcast");
    assert!(path.exists(), "no {}: run `cargo build -p rowcast`, or name it in ROWCAST", path.display());
    path
}

fn lab(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowcast-lab"));
    command.args(arguments).env("ROWCAST", rowcast()).output().expect("the lab can be started")
}

#[test]
fn contestants_keep_the_contract_and_a_short_race_ends_in_a_report() {
    let names = "rowcast,rowcast-sqlite,php-cli,php-fpm";
    let checked = lab(&["check", "--all", "--services", names]);
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}");
    // hello: three, core: three, file: two; php-cli leaves out the file on purpose.
    assert_eq!(String::from_utf8_lossy(&checked.stdout), "8 passed, 0 failed\n", "{said}");

    let out = tempfile::tempdir().expect("a folder");
    let folder = out.path().to_str().expect("its name is UTF-8");
    let words = ["race", "core", "--services", "rowcast,php-cli", "--measure", "read, ab -c 8"];
    let raced = lab(&[&words[..], &["--quick", "--rounds", "2", "--seed", "7", "--out", folder]].concat());
    assert!(raced.status.success(), "{}", String::from_utf8_lossy(&raced.stderr));
    let run: Value =
        serde_json::from_slice(&fs::read(out.path().join("run.json")).expect("a run")).expect("JSON");
    let scenario = &run["scenarios"][0];
    assert_eq!(scenario["absent"], Value::Array(Vec::new()));
    let cells = scenario["measures"][0]["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 2, "{scenario}");
    for cell in cells {
        let values = cell["values"].as_array().expect("values");
        assert!(values.len() == 2 && values.iter().all(|value| value.as_f64() > Some(0.0)), "{cell}");
        let beside = |name: &str| {
            let found = cell["beside"].as_array()?.iter().find(|it| it["name"] == name)?;
            found["value"].as_f64()
        };
        assert!(beside("answers checked") > Some(0.0) && beside("memory MiB") > Some(0.0), "{cell}");
        assert!(beside("database memory MiB") > Some(0.0), "{cell}");
    }
    let compared = lab(&["compare", folder, folder, "--out", folder]);
    assert!(compared.status.success());
    let page = fs::read_to_string(out.path().join("compare.md")).expect("a comparison");
    assert_eq!(page.matches("1.00 (").count(), 2, "a run is as fast as itself:\n{page}");
}

#[test]
fn the_survey_is_raced_on_three_databases_and_what_was_published_stands_beside_it() {
    let out = tempfile::tempdir().expect("a folder");
    let folder = out.path().to_str().expect("its name is UTF-8");
    let raced = lab(&["race", "survey", "--quick", "--rounds", "1", "--rows", "2000", "--out", folder]);
    assert!(raced.status.success(), "{}", String::from_utf8_lossy(&raced.stderr));
    let run: Value =
        serde_json::from_slice(&fs::read(out.path().join("run.json")).expect("a run")).expect("JSON");
    assert!(!run["command"].to_string().contains(folder), "{}", run["command"]);
    let scenario = &run["scenarios"][0];
    assert_eq!(scenario["absent"], Value::Array(Vec::new()));
    for measure in scenario["measures"].as_array().expect("measures") {
        let names: Vec<&Value> =
            measure["cells"].as_array().expect("cells").iter().map(|cell| &cell["contestant"]).collect();
        assert_eq!(names, ["rowcast-sqlite", "rowcast-mariadb", "rowcast-postgres"], "{measure}");
    }
    assert_eq!(scenario["reduced"][0], "2000 visitors instead of 6000000.");
    let page = fs::read_to_string(out.path().join("report.md")).expect("a report");
    let row =
        page.lines().find(|line| line.starts_with("| the same at its peak")).expect("what was published");
    assert!(row.contains("1,000 requests/s") && row.contains("rowcast-mariadb "), "{row}");
}

#[test]
fn a_name_that_nobody_has_is_told_with_those_that_there_are() {
    let output = lab(&["race", "hello", "--services", "cobol"]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no contestant 'cobol'") && said.contains("php-fpm"), "{said}");
    let output = lab(&["race", "marathon"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("no scenario 'marathon'"), "{said}");
}
