//! What it says when it starts, and when it cannot.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::program::files::{blog, database, folder, text};
use crate::program::running::{run, serve};
use crate::program::wire::get;

#[test]
fn it_says_where_it_listens_and_what_it_found() {
    let folder = folder();
    let server = serve(text(&blog(&folder)), &[]);
    let said = server.said.join("\n");
    let version = env!("CARGO_PKG_VERSION");
    for part in [
        &*format!("Rowcast {version} at http://127.0.0.1:{}/", server.port),
        "blog.db (SQLite 3.",
        "11 tables, 1 views, 10 relations",
    ] {
        assert!(said.contains(part), "no {part:?} in\n{said}");
    }
    server.stop();
}

/// The requests to try work on whatever database there is.
#[track_caller]
fn check_examples(script: &str) {
    let folder = folder();
    let path = database(&folder, "it's a \"database\".db", script);
    let server = serve(text(&path), &[]);
    let base = format!("http://127.0.0.1:{}", server.port);
    let targets: Vec<String> = server
        .said
        .iter()
        .filter_map(|line| line.trim().strip_prefix(&format!("curl '{base}"))?.strip_suffix('\''))
        .map(str::to_owned)
        .collect();
    assert_eq!(targets.len(), 3, "{:#?}", server.said);
    for target in targets {
        let answer = get(server.port, &target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.body);
    }
    server.stop();
}

#[test]
fn its_examples_work_on_a_blog() {
    check_examples(include_str!("../../../../tests/fixtures/blog.sqlite.sql"));
}

#[test]
fn its_examples_work_where_no_id_is_1() {
    check_examples("CREATE TABLE a (id integer PRIMARY KEY); INSERT INTO a VALUES (100)");
    check_examples("CREATE TABLE a (id varchar(9) PRIMARY KEY); INSERT INTO a VALUES ('x')");
}

#[test]
fn its_examples_work_on_empty_tables_views_and_tables_without_a_key() {
    check_examples(
        "CREATE TABLE a (id integer PRIMARY KEY, b_id REFERENCES b); CREATE TABLE b (id integer PRIMARY KEY)",
    );
    check_examples("CREATE VIEW v AS SELECT 1 AS x");
    check_examples("CREATE TABLE a (x)");
    check_examples("CREATE TABLE a (id date PRIMARY KEY, a_id REFERENCES a)");
}

#[test]
fn its_examples_work_with_names_that_need_escapes() {
    check_examples("CREATE TABLE \"it's, \"\"a\"\" & 50%+ b?\" (\"k'e,y\" integer PRIMARY KEY)");
}

#[test]
fn an_empty_file_is_an_empty_database() {
    let folder = folder();
    let path = folder.path().join("empty.db");
    fs::write(&path, "").unwrap();
    let server = serve(text(&path), &[]);
    assert!(server.said.join("\n").contains("There is no table yet"), "{:?}", server.said);
    assert_eq!(get(server.port, "/").status, 200);
    assert_eq!(get(server.port, "/records/a").status, 404);
    server.stop();
}

/// It ends with 1 and one sentence, which holds these parts; nothing goes to standard output.
#[track_caller]
fn check_refusal(arguments: &[&str], parts: &[&str]) {
    let ended = run(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat(), &[]);
    let lines: Vec<&str> = ended.errors.lines().collect();
    assert_eq!(
        (ended.code, lines.len(), &*ended.output),
        (Some(1), 1, ""),
        "{arguments:?}: {:?}",
        ended.errors
    );
    assert!(lines[0].starts_with("rowcast: "), "{lines:?}");
    for part in parts {
        assert!(lines[0].contains(part), "no {part:?} in {lines:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_an_error_that_names_the_next() {
    let folder = folder();
    let path = blog(&folder);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let ended = run(&["serve", text(&path), "--listen", &format!("127.0.0.1:{port}")], &[]);
    let next = port.saturating_add(1);
    let sentence =
        format!("rowcast: port {port} is taken; stop the other server or pass --listen 127.0.0.1:{next}\n");
    assert_eq!((ended.code, &*ended.errors, &*ended.output), (Some(1), &*sentence, ""));
}

#[test]
fn a_port_that_another_rowcast_has_is_taken() {
    let folder = folder();
    let path = blog(&folder);
    let first = serve(text(&path), &[]);
    let ended = run(&["serve", text(&path), "--listen", &format!("127.0.0.1:{}", first.port)], &[]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.errors.contains("is taken"), "{}", ended.errors);
    first.stop();
}

#[test]
fn a_database_that_cannot_be_served_is_an_error_that_says_what_to_do() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("notes.txt"), "Dear diary, today I wrote a test.").unwrap();
    fs::write(path("short"), "SQLite").unwrap();
    fs::write(path("broken.db"), [b"SQLite format 3\0".as_slice(), &[7; 4000]].concat()).unwrap();
    check_refusal(&[&path("missing.db")], &["there is no file", "missing.db", "rowcast demo"]);
    check_refusal(&[&path("notes.txt")], &["notes.txt is no SQLite database"]);
    check_refusal(&[&path("short")], &["short is no SQLite database"]);
    check_refusal(&[&path("broken.db")], &["broken.db"]);
    check_refusal(&[&path("")], &["is a directory"]);
    check_refusal(&[&format!("{}/x", path("notes.txt"))], &["notes.txt/x"]);
    check_refusal(&["oracle://host/x"], &["'oracle'", "use a file"]);
    check_refusal(&["sqlite:"], &["sqlite:shop.db"]);
    check_refusal(&[], &["no database given"]);
}

#[test]
fn a_file_that_may_not_be_read_is_an_error_about_permissions() {
    let folder = folder();
    let path = blog(&folder);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything; nothing can be refused to it.
    if fs::File::open(&path).is_err() {
        check_refusal(&[text(&path)], &["cannot be read", "check the permissions"]);
    }
}

#[test]
fn an_address_that_is_none_is_an_error() {
    let folder = folder();
    let path = blog(&folder);
    for (address, part) in [
        ("nonsense", "127.0.0.1:8080"),
        ("127.0.0.1", "127.0.0.1:8080"),
        ("203.0.113.7:8080", "no address of this"),
    ] {
        let ended = run(&["serve", text(&path), "--listen", address], &[]);
        assert_eq!((ended.code, ended.errors.lines().count()), (Some(1), 1), "{}", ended.errors);
        assert!(ended.errors.contains(part), "{}", ended.errors);
    }
}

#[test]
fn help_shows_examples() {
    for arguments in [&["--help"][..], &["serve", "--help"], &["-h"], &["serve", "-h"]] {
        let ended = run(arguments, &[]);
        assert_eq!(ended.code, Some(0));
        assert!(ended.output.contains("rowcast serve shop.db --listen 0.0.0.0:80"), "{}", ended.output);
        assert!(ended.output.contains("rowcast demo"), "{}", ended.output);
    }
}

#[test]
fn without_a_command_it_shows_its_help() {
    let ended = run(&[], &[]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.errors.contains("rowcast serve shop.db"), "{}", ended.errors);
}
