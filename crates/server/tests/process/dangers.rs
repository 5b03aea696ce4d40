//! What `rowcast check` and a start say about a configuration that is dangerous, or names what does not exist.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::program::files::{database, folder, text};
use crate::program::running::{Ended, run, serve};

const TABLES: &str = "CREATE TABLE users (id integer PRIMARY KEY, name text, password text);
    CREATE VIEW people AS SELECT id, name, password FROM users";

fn check(content: &str, mode: u32, flags: &[&str]) -> Ended {
    let folder = folder();
    let database = database(&folder, "shop.db", TABLES);
    let file = folder.path().join("rowcast.toml");
    fs::write(&file, content).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    run(&[&["check", text(&database), "--config", text(&file)], flags].concat(), &[])
}

/// It is worth one warning with these words, which `--strict` takes for an error.
#[track_caller]
fn check_warning(content: &str, mode: u32, flags: &[&str], words: &[&str]) {
    let ended = check(content, mode, flags);
    assert_eq!(ended.code, Some(0), "{}", ended.errors);
    assert_eq!(ended.errors.lines().count(), 1, "{}", ended.errors);
    assert!(
        ended.errors.starts_with("warning: ") && ended.output.contains("warnings: 1"),
        "{}",
        ended.output
    );
    for word in words {
        assert!(ended.errors.contains(word), "no {word:?} in {}", ended.errors);
    }
    assert_eq!(check(content, mode, &[flags, &["--strict"]].concat()).code, Some(1));
}

#[track_caller]
fn check_error(content: &str, words: &[&str]) {
    let ended = check(content, 0o600, &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.errors);
    for word in words {
        assert!(ended.errors.contains(word), "no {word:?} in {}", ended.errors);
    }
}

const PUBLIC: [&str; 2] = ["--listen", "0.0.0.0:0"];
const OPEN: &str = "[[authorization.rules]]\ntables = \"*\"\nallow = \"all\"\n";

#[test]
fn open_writes_on_a_public_address_are_warned_of() {
    check_warning("", 0o600, &PUBLIC, &["may write to users", "127.0.0.1"]);
    assert_eq!(check("", 0o600, &[]).errors, "");
    let reads =
        "middlewares = \"authorization\"\n[[authorization.rules]]\ntables = \"*\"\nallow = \"list,read\"\n";
    assert_eq!(check(reads, 0o600, &PUBLIC).errors, "");
    let paths = format!(
        "middlewares = \"authorization\"\n{OPEN}[[authorization.paths]]\nmethods = \"GET\"\npath = \"**\"\nallow = true\n"
    );
    assert_eq!(check(&paths, 0o600, &PUBLIC).errors, "");
}

#[test]
fn authentication_in_plain_text_on_a_public_address_is_warned_of() {
    let keys = "middlewares = \"apiKeyAuth\"\n[apiKeyAuth]\nkeys = \"abc\"\n";
    check_warning(keys, 0o600, &PUBLIC, &["apiKeyAuth on 0.0.0.0:0", "tls.cert"]);
    assert_eq!(check(keys, 0o600, &[&PUBLIC[..], &["--tls-self-signed"]].concat()).errors, "");
}

#[test]
fn a_hidden_column_that_a_view_shows_is_warned_of() {
    let hide = |tables: &str| {
        format!(
            "middlewares = \"authorization\"\n[[authorization.rules]]\ntables = \"users\"\nallow = \"all\"\nhide = \"password\"\n\
             [[authorization.rules]]\ntables = \"*\"\nallow = \"all\"\n{tables}"
        )
    };
    check_warning(&hide(""), 0o600, &[], &["the view people", "'password'", "hidden in users"]);
    assert_eq!(check(&hide("hide = \"password\"\n"), 0o600, &[]).errors, "");
}

#[test]
fn a_secret_that_everybody_can_read_is_warned_of() {
    let secret = "[session]\nsecret = \"0123456789abcdef0123456789abcdef\"\n";
    check_warning(secret, 0o644, &[], &["session.secret", "chmod o-r"]);
    assert_eq!(check(secret, 0o640, &[]).errors, "");
    assert_eq!(check("[cors]\nmaxAge = 3\n", 0o644, &[]).errors, "");
}

#[test]
fn a_rule_about_what_does_not_exist_is_an_error() {
    let rule = |rest: &str| {
        format!("middlewares = \"authorization\"\n[[authorization.rules]]\nallow = \"all\"\n{rest}")
    };
    check_error(&rule("tables = \"user\"\n"), &["rule 1", "'user'", "did you mean 'users'?"]);
    check_error(&rule("tables = \"users\"\nhide = \"pasword\"\n"), &["hide", "did you mean 'password'?"]);
    check_error(&rule("tables = \"*\"\nhide = \"people.pasword\"\n"), &["hide", "of 'people'"]);
    check_error(&rule("tables = \"*\"\nreadOnly = \"nam\"\n"), &["readOnly", "did you mean 'name'?"]);
    check_error(&rule("tables = \"users\"\nfilter = \"nme,eq,1\"\n"), &["filter", "did you mean 'name'?"]);
    let tenancy = "middlewares = \"multiTenancy\"\n[[multiTenancy.rules]]\ntables = \"users\"\ncolumn = \"custmer\"\nvalue = \"1\"\n";
    check_error(tenancy, &["multiTenancy", "'custmer'"]);
}

#[test]
fn a_start_warns_too() {
    let folder = folder();
    let database = database(&folder, "shop.db", TABLES);
    let file = folder.path().join("rowcast.toml");
    fs::write(&file, "[apiKeyAuth]\nkeys = \"abc\"\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let server = serve(text(&database), &["--config", text(&file)]);
    assert!(server.stop().contains("apiKeyAuth.keys is in"));
}
