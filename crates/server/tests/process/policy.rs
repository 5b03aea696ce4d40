//! What `rowcast policy explain` says, and what the start says about columns that look like secrets.

use std::fs;

use serde_json::{Value as Json, from_str};
use tempfile::TempDir;

use crate::program::files::{blog, database, folder, text};
use crate::program::running::{Ended, run, serve};
use crate::program::wire::get;

const RULES: &str = r#"
middlewares = "authorization,multiTenancy,pageLimits,joinLimits,validation"
[pageLimits]
records = 10
[[authorization.rules]]
who = "role=editor"
tables = "*"
allow = "all"
[[authorization.rules]]
tables = "posts"
allow = "list,read,update"
filter = "author_id,eq,{id}"
hide = "usr_note"
readOnly = "views"
[[authorization.rules]]
tables = "comments"
allow = "list"
[[multiTenancy.rules]]
tables = "posts"
column = "lang_cd"
value = "en"
[[validation.rules]]
columns = "title"
maxLength = 5
message = "is too long"
"#;

fn explain(folder: &TempDir, arguments: &[&str]) -> Ended {
    let config = folder.path().join("rowcast.toml");
    fs::write(&config, RULES).unwrap();
    let path = blog(folder);
    run(
        &[&["policy", "explain", "--config", text(&config), "--database", text(&path)], arguments].concat(),
        &[],
    )
}

fn explained(arguments: &[&str]) -> Json {
    let ended = explain(&folder(), &[&["--json"], arguments].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.errors);
    from_str(&ended.output).unwrap()
}

#[test]
fn an_explanation_says_which_rule_decides_and_why_others_do_not() {
    let json = explained(&["--as", r#"{"id":7}"#, "GET", "/records/posts?join=comments"]);
    let posts = &json["tables"][0];
    let why = |rule: usize| posts["rules"][rule]["why"].as_str().unwrap();
    assert_eq!((why(0), why(2)), ("is for role=editor", "is about comments"));
    assert_eq!(posts["rules"][1]["decides"], true);
    assert_eq!(posts["rules"][1]["place"], "authorization.rules, rule 2");
    assert_eq!(posts["rows"][0], "filter=author_id,eq,{id} (authorization.rules, rule 2)");
    assert_eq!(posts["rows"][1], "lang_cd = en (multiTenancy.rules, rule 1)");
    let treatment = |name: &str| {
        let columns = posts["columns"].as_array().unwrap();
        columns.iter().find(|column| column["column"] == name).unwrap()["treatment"].clone()
    };
    assert_eq!(treatment("usr_note"), "hidden");
    assert_eq!(treatment("views"), "read-only");
    assert_eq!(treatment("lang_cd"), "forced");
    assert_eq!(treatment("title"), "shown");
    let editor = explained(&["--as", r#"{"role":"editor"}"#, "GET", "/records/posts"]);
    assert_eq!(editor["tables"][0]["rules"][1]["why"], "rule 1 has decided");
}

#[test]
fn an_explanation_says_where_every_value_of_the_sql_comes_from() {
    let json = explained(&[
        "--as",
        r#"{"id":7}"#,
        "GET",
        "/records/posts?filter=title,cs,mint&join=comments&page=1,5",
    ]);
    let list = &json["statements"][0];
    let sql = list["sql"].as_str().unwrap();
    assert!(sql.contains(r#""author_id" = ?2 AND "lang_cd" = ?3"#) && !sql.contains("usr_note"), "{sql}");
    let values: Vec<String> = list["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|value| format!("{} is {}", value["source"].as_str().unwrap(), value["value"]))
        .collect();
    let expected = [
        r#"request: filter on title is "mint""#,
        r#"claim {id} (authorization.rules, rule 2) is "7""#,
        r#"constant en (multiTenancy.rules, rule 1) is "en""#,
        "size of the list is 5",
    ];
    assert_eq!(values, expected);
    assert!(json["statements"][1]["sql"].as_str().unwrap().starts_with("SELECT COUNT(*)"));
    assert!(json["statements"][2]["sql"].as_str().unwrap().contains(r#"FROM "comments""#));
}

/// What is explained is what the server does: the same refusal, and nothing is written.
#[test]
fn an_explanation_refuses_what_the_server_refuses_and_writes_nothing() {
    let folder = folder();
    let body = r#"{"title":"x"}"#;
    let arguments = ["--as", r#"{"id":1}"#, "--body", body, "PUT", "/records/posts/1"];
    let ended = explain(&folder, &arguments);
    assert!(
        ended.output.contains(r#"UPDATE "posts" SET "title" = ?1 WHERE ("id" = ?2 AND"#),
        "{}",
        ended.output
    );
    assert!(
        ended.output.contains(r#"request: member of the record for posts.title: "x""#),
        "{}",
        ended.output
    );
    let config = folder.path().join("rowcast.toml");
    let server = serve(text(&folder.path().join("blog.db")), &["--config", text(&config)]);
    assert_eq!(get(server.port, "/records/posts/1").status, 404, "nobody is nobody's author");
    for target in [
        "/records/posts?filter=usr_note,eq,1",
        "/records/posts?size=50",
        "/records/authors",
        "/records/posts?order=titel",
    ] {
        let answer = get(server.port, target);
        let json = explained(&["GET", target]);
        assert_eq!(json["refusal"]["status"], answer.status, "{target}");
        assert_eq!(json["refusal"]["body"], from_str::<Json>(&answer.body).unwrap(), "{target}");
        assert_eq!(json["statements"].as_array().unwrap().len(), 0);
    }
    server.stop();
    let long = explained(&["--body", r#"{"title":"too long"}"#, "PUT", "/records/posts/1"]);
    assert_eq!(long["refusal"]["body"]["details"]["title"], "is too long");
}

#[test]
fn a_question_that_makes_no_sense_is_an_error() {
    for (arguments, part) in [
        (["--as", "[1]", "GET", "/records/posts"], "--as takes claims as a JSON object"),
        (["--as", "{}", "GET", "/status/ping"], "is not explained"),
        (["--as", "{}", "GET", "/records/posts/1/2"], "there is no GET"),
        (["--as", "{}", "G T", "/records/posts"], "is no method"),
    ] {
        let ended = explain(&folder(), &arguments);
        assert_eq!(ended.code, Some(1), "{arguments:?}");
        assert!(ended.errors.contains(part), "no {part:?} in {}", ended.errors);
    }
}

#[test]
fn the_start_says_which_columns_look_like_secrets() {
    let folder = folder();
    let script =
        "CREATE TABLE users (id integer PRIMARY KEY, name text, password text, apiKey text, token_count int)";
    let path = database(&folder, "users.db", script);
    let server = serve(text(&path), &[]);
    let said = server.said.join("\n");
    assert!(
        said.contains("hidden     users.password, users.apiKey: they look like passwords or keys"),
        "{said}"
    );
    server.stop();
    let server = serve(text(&path), &["--set", "publishSecrets=password,users.nmae"]);
    let said = server.said.join("\n");
    assert!(said.contains("hidden     users.apiKey: "), "{said}");
    assert!(said.contains("publishSecrets names 'users.nmae'"), "{said}");
    server.stop();
}
