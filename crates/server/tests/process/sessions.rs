//! Copies of cookies, guesses and paths: what ends, what is counted, and what does not exist for whom.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::program::files::{database, folder, text};
use crate::program::running::{Running, start};
use crate::program::wire::{Answer, exchange};

/// The hash is of `password1`.
const USERS: &str =
    "CREATE TABLE users (id integer PRIMARY KEY, username text UNIQUE, password text, logins integer);
    INSERT INTO users VALUES (1, 'ann', '$2y$04$X3Mv/wOKQYwcdYu1zIeqdOfiV8.1UOm.t69z.X4IYw/8EP4V6okRC', NULL),
        (2, 'bob', '$2y$04$X3Mv/wOKQYwcdYu1zIeqdOfiV8.1UOm.t69z.X4IYw/8EP4V6okRC', 3)";

fn users(folder: &TempDir) -> PathBuf {
    database(folder, "users.db", USERS)
}

fn serve(database: &Path, settings: &[&str]) -> Running {
    let mut arguments = vec!["serve", text(database), "--listen", "127.0.0.1:0"];
    let fixed = ["middlewares=dbAuth,authorization", "dbAuth.mode=optional", "dbAuth.passwordLength=4"];
    for setting in fixed.iter().chain(settings) {
        arguments.extend(["--set", setting]);
    }
    let rules = database.with_extension("toml");
    std::fs::write(&rules, "[[authorization.rules]]\ntables = \"*\"\nallow = \"all\"\nhide = \"password\"\n")
        .unwrap();
    arguments.extend(["--config", text(&rules)]);
    start(&arguments, &[])
}

/// A request with a cookie, or without one if it is empty.
fn ask(server: &Running, method: &str, target: &str, cookie: &str, body: &str) -> Answer {
    let cookie = if cookie.is_empty() { String::new() } else { format!("Cookie: {cookie}\r\n") };
    let bytes = format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n{cookie}\r\n{body}",
        body.len()
    );
    let received = exchange(server.port, bytes.as_bytes());
    let mut answer = Answer::parse(&received).unwrap();
    // Values of cookies are told apart by case.
    let end = received.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    answer.head = String::from_utf8_lossy(&received[..end]).into_owned();
    answer
}

fn cookie(answer: &Answer) -> String {
    let line = answer.head.lines().find(|line| line.to_lowercase().starts_with("set-cookie:"));
    let line = line.unwrap_or_else(|| panic!("no cookie in {answer:?}"));
    line.split_once(": ").unwrap().1.split(';').next().unwrap().to_owned()
}

fn login(server: &Running, password: &str) -> String {
    let body = format!(r#"{{"username":"ann","password":"{password}"}}"#);
    let answer = ask(server, "POST", "/login", "", &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    cookie(&answer)
}

fn is_known(server: &Running, cookie: &str) -> bool {
    ask(server, "GET", "/me", cookie, "").status == 200
}

#[track_caller]
fn check_ends(settings: &[&str], ends_all: bool) {
    let folder = folder();
    let server = serve(&users(&folder), settings);
    let (one, other) = (login(&server, "password1"), login(&server, "password1"));
    assert!(is_known(&server, &one) && is_known(&server, &other));
    assert_eq!(ask(&server, "POST", "/logout", &one, "").status, 200);
    assert!(!is_known(&server, &one), "a copy of the cookie is worth nothing");
    assert_eq!(is_known(&server, &other), !ends_all);

    let (mine, stolen) = (login(&server, "password1"), login(&server, "password1"));
    let body = r#"{"username":"ann","password":"password1","newPassword":"password2"}"#;
    let changed = ask(&server, "POST", "/password", &mine, body);
    assert_eq!(changed.status, 200, "{changed:?}");
    assert!(is_known(&server, &cookie(&changed)), "who has changed it stays");
    for copy in [&mine, &stolen, &other] {
        assert!(!is_known(&server, copy));
    }
    assert!(is_known(&server, &login(&server, "password2")));
    server.stop();
}

#[test]
fn a_logout_ends_its_session_and_a_new_password_ends_all() {
    check_ends(&[], false);
}

#[test]
fn a_column_that_counts_ends_all_sessions_of_a_user() {
    check_ends(&["dbAuth.sessionColumn=logins"], true);
}

#[test]
fn what_a_column_counts_holds_for_other_servers() {
    let folder = folder();
    let file = users(&folder);
    let settings = ["dbAuth.sessionColumn=logins", "session.secret=0123456789abcdef0123456789abcdef"];
    let (one, other) = (serve(&file, &settings), serve(&file, &settings));
    let session = login(&one, "password1");
    assert!(is_known(&other, &session));
    assert_eq!(ask(&one, "POST", "/logout", &session, "").status, 200);
    assert!(!is_known(&other, &session));
    assert!(!ask(&one, "GET", "/me", &login(&one, "password1"), "").body.contains("logins"));
    one.stop();
    other.stop();
}

#[test]
fn guesses_are_counted_by_address_before_a_password_is_verified() {
    let folder = folder();
    let server = serve(&users(&folder), &["rateLimit.failures=3"]);
    let guess = r#"{"username":"ann","password":"guess"}"#;
    for _ in 0..3 {
        assert_eq!(ask(&server, "POST", "/login", "", guess).code(), Some(1012));
    }
    let right = r#"{"username":"ann","password":"password1"}"#;
    let refused = ask(&server, "POST", "/login", "", right);
    assert_eq!((refused.status, refused.code()), (429, Some(2004)));
    assert!(refused.head.to_lowercase().contains("retry-after: "), "{}", refused.head);
    assert!(refused.body.contains("rateLimit.failures"), "{}", refused.body);
    server.stop();
}

#[test]
fn requests_are_counted_by_user_wherever_they_come_from() {
    let folder = folder();
    let settings = ["rateLimit.requests=4", "rateLimit.seconds=600", "rateLimit.by=user"];
    let server = serve(&users(&folder), &settings);
    // The login itself is counted by address, as nobody is known yet.
    let session = login(&server, "password1");
    for left in (0..4).rev() {
        let answer = ask(&server, "GET", "/records/users/1", &session, "");
        let head = answer.head.to_lowercase();
        assert_eq!(answer.status, 200);
        assert!(head.contains("ratelimit-policy: \"requests\";q=4;w=600"), "{head}");
        assert!(head.contains(&format!("ratelimit: \"requests\";r={left};t=")), "{head}");
    }
    let refused = ask(&server, "GET", "/records/users/1", &session, "");
    assert_eq!(refused.status, 429);
    assert!(refused.head.to_lowercase().contains("ratelimit: \"requests\";r=0;t="), "{}", refused.head);
    assert!(refused.body.contains("rateLimit.requests"), "{}", refused.body);
    assert_eq!(ask(&server, "GET", "/records/users/1", "", "").status, 200, "others have their own");
    server.stop();
}

#[test]
fn a_path_that_no_rule_allows_does_not_exist() {
    let folder = folder();
    let file = users(&folder);
    let rules = file.with_extension("paths.toml");
    let text_of_rules = "middlewares = \"authorization\"\n[[authorization.rules]]\ntables = \"*\"\nallow = \"all\"\n\
        [[authorization.paths]]\nmethods = \"GET\"\npath = \"/records/users/**\"\nallow = true\n";
    std::fs::write(&rules, text_of_rules).unwrap();
    let arguments = ["serve", text(&file), "--listen", "127.0.0.1:0", "--config", text(&rules)];
    let server = start(&arguments, &[]);
    assert_eq!(ask(&server, "GET", "/records/users/1", "", "").status, 200);
    for (method, path) in [("DELETE", "/records/users/1"), ("GET", "/status/ping"), ("GET", "/")] {
        assert_eq!(ask(&server, method, path, "", "").code(), Some(1000), "{method} {path}");
    }
    server.stop();
}
