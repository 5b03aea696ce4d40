//! The description of the API: valid by the word of somebody else, true by asking for all that it says, and no more than
//! the caller may know.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of a test program for no test")]

use std::fs;
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value as Json, json};

use crate::program::files::{blog, database, folder, text};
use crate::program::running::{serve, start, wait_until};
use crate::program::wire::{Answer, exchange, get};
use crate::support::database::{Databases, Engine};
use crate::support::process::Server;
use crate::support::servers::admin_url;
use crate::support::suite::tests_folder;
use crate::support::wire::Wire;

mod program;
#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

#[test]
fn what_is_said_of_sqlite_is_valid() -> Result<()> {
    validate(Engine::Sqlite, String::new())
}

#[test]
fn what_is_said_of_mariadb_is_valid() -> Result<()> {
    admin_url(Engine::MySql).map_or(Ok(()), |url| validate(Engine::MySql, url))
}

#[test]
fn what_is_said_of_postgres_is_valid() -> Result<()> {
    admin_url(Engine::Postgres).map_or(Ok(()), |url| validate(Engine::Postgres, url))
}

/// Both editions, of both fixtures, in both modes, go through openapi-spec-validator.
fn validate(engine: Engine, admin_url: String) -> Result<()> {
    let databases = Databases::new(engine, admin_url)?;
    let folder = folder();
    let mut files = Vec::new();
    for fixture in ["blog", "types"] {
        let database = databases.create(fixture)?;
        for config in ["default", "lenient"] {
            let config_file = tests_folder().join(format!("configs/{config}.toml"));
            let server = Server::start_with(&config_file, &database.url, &[("WORKERS", "1")])?;
            let mut wire = Wire::new(server.port);
            for version in ["3.0", "3.1"] {
                let document = wire.get(&format!("/openapi?version={version}"))?.body;
                let file = folder.path().join(format!("{fixture}-{config}-{version}.json"));
                fs::write(&file, document)?;
                files.push(file);
            }
            server.stop()?;
        }
    }
    let output = tool("venv").arg("openapi-spec-validator").args(&files).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let valid = said.lines().filter(|line| line.ends_with(": OK")).count();
    ensure!(
        output.status.success() && valid == files.len(),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// A program of `tests/`.
fn tool(name: &str) -> Command {
    Command::new(tests_folder().join(name))
}

/// A short run; `make fuzz-api` is the long one.
#[test]
fn schemathesis_finds_no_difference_between_what_is_said_and_what_is_done() {
    let program = env!("CARGO_BIN_EXE_rowcast");
    let output = tool("fuzz-api")
        .args([program, "--phases", "examples,fuzzing", "--max-examples", "4", "--seed", "1"])
        .output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("passed"), "it asked for something: {said}");
}

fn document(port: u16, target: &str) -> Json {
    let answer = get(port, target);
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

fn with_header(port: u16, target: &str, header: &str) -> Answer {
    let request =
        format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}\r\n\r\n");
    Answer::parse(&exchange(port, request.as_bytes())).unwrap()
}

#[test]
fn an_unchanged_description_is_not_sent_again_and_a_changed_schema_is_told() {
    let folder = folder();
    let path = blog(&folder);
    let server = serve(text(&path), &[]);
    let first = get(server.port, "/openapi");
    assert!(first.head.contains("cache-control: private, no-cache"), "{}", first.head);
    let tag = first.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let again = with_header(server.port, "/openapi", &format!("If-None-Match: {tag}"));
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let newer = with_header(server.port, "/openapi?version=3.1", &format!("If-None-Match: {tag}"));
    assert_eq!(newer.status, 200, "another edition has another tag");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE newcomers (id integer PRIMARY KEY)")
        .unwrap();
    wait_until("the new table", || get(server.port, "/openapi").body.contains("/records/newcomers"));
    let changed = with_header(server.port, "/openapi", &format!("If-None-Match: {tag}"));
    assert_eq!(changed.status, 200);
    server.stop();
}

#[test]
fn the_address_is_the_one_that_was_asked_and_another_edition_is_refused() {
    let folder = folder();
    let path = blog(&folder);
    let server = serve(text(&path), &["--set", "basePath=/api"]);
    let said = document(server.port, "/api/openapi");
    assert_eq!(said["servers"], json!([{"url": "http://localhost/api"}]));
    let refused = get(server.port, "/api/openapi?version=2.0");
    assert_eq!((refused.status, refused.code()), (422, Some(1013)), "{}", refused.body);
    server.stop();
}

const KEYED: &str = r#"
middlewares = "apiKeyAuth,dbAuth,authorization,xsrf"
openApiBase = '{"info":{"title":"Shop","version":"2"},"servers":[{"url":"https://shop.example"}]}'
[apiKeyAuth]
mode = "optional"
keys = "open-sesame"
[dbAuth]
mode = "optional"
usersTable = "authors"
[[authorization.rules]]
who = "authenticated"
tables = "*"
allow = "all"
[[authorization.rules]]
tables = "posts"
allow = "list,read"
hide = "content"
"#;

#[test]
fn everybody_is_told_what_they_may_do() {
    let folder = folder();
    let path = blog(&folder);
    let config = folder.path().join("rowcast.toml");
    fs::write(&config, KEYED).unwrap();
    let arguments = ["serve", text(&path), "--listen", "127.0.0.1:0", "--config", text(&config)];
    let server = start(&arguments, &[]);
    let stranger = document(server.port, "/openapi");
    let known = with_header(server.port, "/openapi", "X-API-Key: open-sesame");
    let known: Json = serde_json::from_str(&known.body).unwrap();
    assert_eq!(stranger["paths"]["/records/posts"]["post"], Json::Null);
    assert_eq!(stranger["paths"]["/records/comments"], Json::Null);
    assert!(!stranger.to_string().contains("\"content\":{\"type\""), "a hidden column is told");
    let post = &known["paths"]["/records/posts"]["post"];
    assert_eq!(post["operationId"], "create_posts");
    let parameters = post["parameters"].as_array().unwrap();
    assert!(parameters.iter().any(|parameter| parameter["name"] == "X-XSRF-TOKEN"), "{parameters:?}");
    assert_eq!(
        known["paths"]["/login"]["post"]["requestBody"]["$ref"],
        "#/components/requestBodies/credentials"
    );
    assert_eq!(known["paths"]["/register"], Json::Null, "nobody can register");
    assert_eq!(known["security"], json!([{}, {"apiKeyAuth": []}, {"dbAuth": []}]));
    let schemes = &known["components"]["securitySchemes"];
    assert_eq!(schemes["apiKeyAuth"], json!({"type": "apiKey", "in": "header", "name": "X-API-Key"}));
    assert_eq!(schemes["dbAuth"]["in"], "cookie");
    assert_eq!(known["info"]["title"], "Shop");
    assert_eq!(known["servers"], json!([{"url": "https://shop.example"}]));
    server.stop();
}

#[test]
fn a_client_may_escape_the_address_of_a_record_as_a_whole() {
    let folder = folder();
    let script = "CREATE TABLE visits (day text, page text, hits integer, PRIMARY KEY (day, page));
                  INSERT INTO visits VALUES ('2026-01-31', 'a,b', 3)";
    let path = database(&folder, "visits.db", script);
    let server = serve(text(&path), &[]);
    for address in ["day=2026-01-31;page=a%2Cb", "day%3D2026-01-31%3Bpage%3Da%252Cb"] {
        let answer = get(server.port, &format!("/records/visits/{address}"));
        assert_eq!(answer.body, r#"{"day":"2026-01-31","page":"a,b","hits":3}"#);
    }
    server.stop();
}
