//! Where settings come from, and what is said about those that are wrong.

use std::fs;

use tempfile::TempDir;

use crate::program::files::{blog, folder, text};
use crate::program::running::{Ended, run, start};
use crate::program::wire::{get, send};

fn config(folder: &TempDir, content: &str) -> String {
    let path = folder.path().join("rowcast.toml");
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn check(folder: &TempDir, content: &str, variables: &[&str], flags: &[&str]) -> Ended {
    let database = blog(folder);
    let file = config(folder, content);
    run(&[&["check", text(&database), "--config", &file], flags].concat(), variables)
}

/// It ends with 1 and one line with these parts.
#[track_caller]
fn check_refusal(content: &str, variables: &[&str], flags: &[&str], parts: &[&str]) {
    let folder = folder();
    let ended = check(&folder, content, variables, flags);
    assert_eq!(ended.code, Some(1), "{}", ended.errors);
    assert_eq!(ended.errors.trim_end().lines().count(), 1, "{}", ended.errors);
    for part in parts {
        assert!(ended.errors.contains(part), "no {part:?} in {}", ended.errors);
    }
}

#[test]
fn an_unknown_key_of_the_file_is_an_error_with_the_nearest() {
    check_refusal("lisen = \"127.0.0.1:0\"", &[], &[], &["rowcast.toml", "'lisen'", "did you mean 'listen'"]);
    check_refusal(
        "[limits]\nbodyByte = 3",
        &[],
        &[],
        &["'limits.bodyByte'", "did you mean 'limits.bodyBytes'"],
    );
    check_refusal("[limit]\nbodyBytes = 3", &[], &[], &["'limit'"]);
    check_refusal("zzzzzzz = 1", &[], &[], &["'zzzzzzz'", "docs/configuration.md"]);
}

#[test]
fn an_unknown_variable_or_setting_is_an_error_with_the_nearest() {
    check_refusal("", &["ROWCAST_LISEN=x"], &[], &["ROWCAST_LISEN", "did you mean 'ROWCAST_LISTEN'"]);
    check_refusal("", &[], &["--set", "limits.idz=1"], &["'limits.idz'", "did you mean 'limits.ids'"]);
    check_refusal("", &[], &["--set", "limits.ids"], &["KEY=VALUE"]);
}

#[test]
fn a_value_of_the_wrong_type_is_an_error_that_says_the_right_one() {
    check_refusal("workers = \"two\"", &[], &[], &["workers", "string", "a whole number"]);
    check_refusal("strict = 1", &[], &[], &["strict", "integer", "true or false"]);
    check_refusal("listen = 8080", &[], &[], &["listen", "text in quotes"]);
    check_refusal("limits = 3", &[], &[], &["limits"]);
    check_refusal("", &["ROWCAST_WORKERS=two"], &[], &["ROWCAST_WORKERS", "'two'", "a whole number"]);
    check_refusal("", &[], &["--set", "strict=maybe"], &["strict", "'maybe'", "true or false"]);
}

#[test]
fn a_value_out_of_range_or_without_meaning_is_an_error_that_names_it() {
    check_refusal("workers = -1", &[], &[], &["workers"]);
    check_refusal("[limits]\nids = -5", &[], &[], &["ids"]);
    check_refusal("", &[], &["--set", "limits.bodyBytes=-1"], &["bodyBytes"]);
    check_refusal("controllers = \"record\"", &[], &[], &["did you mean 'records'"]);
    check_refusal("basePath = \"api\"", &[], &[], &["begins with a slash"]);
    check_refusal("mapping = \"a\"", &[], &[], &["real=exposed"]);
    check_refusal("", &[], &["--log-format", "xml"], &["human or json"]);
    check_refusal("[log]\nlevel = \"loud\"", &[], &[], &["error, warn, info, debug or trace"]);
}

#[test]
fn a_file_that_is_no_toml_or_not_there_is_an_error() {
    let ended = check(&folder(), "listen = ", &[], &[]);
    assert_eq!(ended.code, Some(1));
    // The parser shows the place below its sentence.
    assert!(
        ended.errors.contains("rowcast.toml is no TOML") && ended.errors.contains("line 1"),
        "{}",
        ended.errors
    );
    let ended = run(&["serve", "--config", "/nowhere/rowcast.toml"], &[]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.errors.contains("/nowhere/rowcast.toml cannot be read"), "{}", ended.errors);
}

#[test]
fn a_configuration_that_is_fine_is_said_to_be() {
    let folder = folder();
    let ended = check(&folder, "workers = 1\n[limits]\nids = 3\n", &["ROWCAST_STRICT=false"], &[]);
    assert_eq!((ended.code, &*ended.errors), (Some(0), ""));
    assert!(ended.output.contains("fine"), "{}", ended.output);
}

/// The most ids in a path, which a setting bounds, as the server itself takes it.
fn ids_max(file: Option<i32>, variable: Option<i32>, flag: Option<i32>) -> usize {
    let folder = folder();
    let database = blog(&folder);
    let file = config(&folder, &file.map_or_else(String::new, |ids| format!("[limits]\nids = {ids}\n")));
    let variable = variable.map(|ids| format!("ROWCAST_LIMITS_IDS={ids}"));
    let flag = flag.map(|ids| format!("limits.ids={ids}"));
    let mut arguments = vec!["serve", text(&database), "--listen", "127.0.0.1:0", "--config", &file];
    arguments.extend(flag.iter().flat_map(|flag| ["--set", flag]));
    let variables: Vec<&str> = variable.iter().map(String::as_str).collect();
    let server = start(&arguments, &variables);
    let is_fine = |count: &usize| {
        get(server.port, &format!("/records/posts/{}", vec!["1"; *count].join(","))).status == 200
    };
    let max = (1..10).take_while(is_fine).last().unwrap_or(0);
    server.stop();
    max
}

#[test]
fn flags_win_over_variables_over_the_file_over_defaults() {
    assert_eq!(ids_max(Some(2), Some(3), Some(4)), 4);
    assert_eq!(ids_max(Some(2), Some(3), None), 3);
    assert_eq!(ids_max(Some(2), None, None), 2);
    assert_eq!(ids_max(None, None, None), 9);
}

#[test]
fn the_file_alone_is_enough() {
    let folder = folder();
    let database = blog(&folder);
    let content = format!(
        "database = {:?}\nlisten = \"127.0.0.1:0\"\nbasePath = \"/api\"\nstrict = false\n[limits]\nbodyBytes = 20\n",
        text(&database)
    );
    let server = start(&["serve", "--config", &config(&folder, &content)], &[]);
    assert_eq!(get(server.port, "/api/records/tags?order=nothing").status, 200);
    assert_eq!(
        send(server.port, "POST", "/api/records/tags", "{\"name\":\"more than 20 bytes\"}").status,
        413
    );
    server.stop();
}
