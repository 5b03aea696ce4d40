//! Databases of tenants: who gets which, and what nobody gets by a claim.

use std::fs;
use std::os::unix::fs::symlink;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use tempfile::TempDir;

use crate::program::files::{count, database, folder, text};
use crate::program::running::{Running, run, start};
use crate::program::wire::{Answer, exchange};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn notes(folder: &TempDir, name: &str, title: &str) {
    let script = format!(
        "CREATE TABLE notes (id integer PRIMARY KEY, title text); INSERT INTO notes VALUES (1, '{title}')"
    );
    database(folder, name, &script);
}

fn token(claims: &str) -> String {
    let message =
        [r#"{"typ":"JWT","alg":"HS256"}"#, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag))
}

fn ask(server: &Running, tenant: &str, method: &str, target: &str, body: &str) -> Answer {
    let header = match tenant {
        "" => String::new(),
        tenant => {
            let claims = serde_json::json!({"tenant": tenant, "exp": 4_000_000_000u64});
            format!("X-Authorization: Bearer {}\r\n", token(&claims.to_string()))
        }
    };
    let bytes = format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n{header}\r\n{body}",
        body.len()
    );
    Answer::parse(&exchange(server.port, bytes.as_bytes())).unwrap()
}

fn serve(folder: &TempDir, settings: &[&str]) -> Running {
    notes(folder, "main.db", "none");
    fs::create_dir(folder.path().join("tenants")).unwrap();
    for name in ["a", "b", "c"] {
        notes(folder, &format!("tenants/{name}.db"), name);
    }
    let main = folder.path().join("main.db");
    let secret = format!("jwtAuth.secrets={SECRET}");
    let address = format!("reconnect.address={}/tenants/{{tenant}}.db", folder.path().display());
    let mut arguments = vec!["serve", text(&main), "--listen", "127.0.0.1:0"];
    for setting in
        ["middlewares=jwtAuth,reconnect", "jwtAuth.mode=optional", &secret, &address].iter().chain(settings)
    {
        arguments.extend(["--set", setting]);
    }
    start(&arguments, &[])
}

#[test]
fn everyone_has_the_database_of_their_tenant() {
    let folder = folder();
    let server = serve(&folder, &["reconnect.open=2"]);
    // More of them than may be open, in turn.
    for round in 0..3 {
        for tenant in ["a", "b", "c"] {
            let answer = ask(&server, tenant, "GET", "/records/notes/1", "");
            assert_eq!(answer.body, format!(r#"{{"id":1,"title":"{tenant}"}}"#), "{round}");
        }
    }
    assert_eq!(ask(&server, "b", "POST", "/records/notes", r#"{"title":"new"}"#).body, "2");
    assert_eq!(ask(&server, "a", "GET", "/records/notes/2", "").status, 404);
    assert!(ask(&server, "b", "GET", "/records/notes?size=9", "").body.contains("new"));
    server.stop();
}

#[test]
fn each_tenant_has_a_schema_of_its_own() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let other = folder.path().join("tenants/b.db");
    rusqlite::Connection::open(other)
        .unwrap()
        .execute_batch("CREATE TABLE extra (id integer PRIMARY KEY)")
        .unwrap();
    assert_eq!(ask(&server, "b", "GET", "/records/extra", "").status, 200);
    assert_eq!(ask(&server, "a", "GET", "/records/extra", "").code(), Some(1001));
    server.stop();
}

#[test]
fn a_claim_leads_nowhere_else() {
    let folder = folder();
    let server = serve(&folder, &[]);
    for tenant in ["../main", "..", "a/../b", "a.db?x", "a%2Fb", "a\u{0}", "ä", "a b", &"a".repeat(65)] {
        let answer = ask(&server, tenant, "GET", "/records/notes/1", "");
        assert_eq!((answer.status, answer.code()), (403, Some(1014)), "{tenant}");
    }
    let nobody = ask(&server, "", "GET", "/records/notes/1", "");
    assert_eq!((nobody.status, nobody.code()), (403, Some(1014)), "{}", nobody.body);
    let missing = ask(&server, "zzz", "GET", "/records/notes/1", "");
    assert_eq!((missing.status, missing.code()), (503, Some(2001)));
    assert!(!missing.body.contains("zzz") && !missing.body.contains("tenants/"), "{}", missing.body);
    assert!(!folder.path().join("tenants/zzz.db").exists());
    assert_eq!(ask(&server, "a", "GET", "/records/notes/1", "").status, 200);
    server.stop();
}

#[test]
fn a_second_driver_of_a_file_takes_nobodys_locks_away() {
    let folder = folder();
    let server = serve(&folder, &[]);
    symlink("a.db", folder.path().join("tenants/same.db")).unwrap();
    assert_eq!(ask(&server, "a", "POST", "/records/notes", r#"{"title":"before"}"#).body, "2");
    assert_eq!(ask(&server, "same", "GET", "/records/notes/2", "").status, 200);
    // Another program that is the last one to close the file removes the log.
    let path = folder.path().join("tenants/a.db");
    assert_eq!(count(&path, "SELECT COUNT(*) FROM notes"), 2);
    assert!(path.with_extension("db-wal").exists(), "the log was removed while the server used it");
    assert_eq!(ask(&server, "a", "POST", "/records/notes", r#"{"title":"after"}"#).body, "3");
    assert_eq!(count(&path, "SELECT COUNT(*) FROM notes"), 3);
    server.stop();
}

#[test]
fn a_list_of_what_is_allowed_bounds_what_exists() {
    let folder = folder();
    let allowed = format!("reconnect.allowed={}/tenants/a.db", folder.path().display());
    let server = serve(&folder, &[&allowed]);
    assert_eq!(ask(&server, "a", "GET", "/records/notes/1", "").status, 200);
    assert_eq!(ask(&server, "b", "GET", "/records/notes/1", "").code(), Some(1014));
    server.stop();
}

#[test]
fn a_template_that_would_let_a_claim_name_anything_is_refused() {
    let folder = folder();
    notes(&folder, "main.db", "");
    let main = folder.path().join("main.db");
    let check = |settings: &[&str]| {
        let fixed = ["check", text(&main), "--set", "middlewares=reconnect"];
        let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let ended = run(&[&fixed[..], &settings].concat(), &[]);
        assert_eq!(ended.code, Some(1));
        ended.errors
    };
    assert!(check(&["reconnect.address={tenant}"]).contains("any file"));
    assert!(check(&["reconnect.address=x/{tenant"]).contains("brace"));
    assert!(check(&[]).contains("says nothing"));
    assert!(check(&["reconnect.database=x_{tenant}"]).contains("on SQLite"));
    assert!(check(&["reconnect.address=x/{tenant}", "reconnect.open=0"]).contains("1 to 60"));
}
