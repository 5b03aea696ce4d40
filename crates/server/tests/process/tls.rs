//! Encrypted connections, with curl as the client: HTTP/1.1 and HTTP/2, renewal, and clients that say nothing.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::program::files::{blog, database, folder, text};
use crate::program::running::{Running, serve, wait_until};
use crate::program::wire::{connect, exchange, request};

/// A certificate for localhost and its key, in files of the folder.
fn certificate(folder: &TempDir) -> (PathBuf, PathBuf) {
    let paths = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    renew(&paths.0, &paths.1);
    paths
}

fn renew(cert: &Path, key: &Path) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    fs::write(key, made.signing_key.serialize_pem()).unwrap();
    fs::write(cert, made.cert.pem()).unwrap();
}

fn secure(folder: &TempDir, database: &Path, arguments: &[&str]) -> Running {
    let (cert, key) = certificate(folder);
    serve(text(database), &[&["--tls-cert", text(&cert), "--tls-key", text(&key)], arguments].concat())
}

/// What curl prints after the answer, and whether it was content.
fn curl(server: &Running, folder: &TempDir, target: &str, arguments: &[&str]) -> (bool, String) {
    let url = format!("https://localhost:{}{target}", server.port);
    let output = Command::new("curl")
        .args(["-sS", "--max-time", "30", "--resolve", &format!("localhost:{}:127.0.0.1", server.port)])
        .args(["--cacert", text(&folder.path().join("cert.pem")), &url])
        .args(arguments)
        .output()
        .expect("there is curl; tests/install brings it");
    let shown = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&shown).into_owned())
}

const SHOW: [&str; 2] = ["-w", " %{http_version} %{http_code}"];

#[test]
fn a_client_chooses_its_version_and_plain_text_is_no_choice() {
    let folder = folder();
    let server = secure(&folder, &blog(&folder), &["--set", "middlewares=cors,sslRedirect"]);
    let (_, two) = curl(&server, &folder, "/records/tags/1?include=id", &[&SHOW[..], &["--http2"]].concat());
    assert_eq!(two, r#"{"id":1} 2 200"#);
    let (_, one) =
        curl(&server, &folder, "/records/tags/1?include=id", &[&SHOW[..], &["--http1.1"]].concat());
    assert_eq!(one, r#"{"id":1} 1.1 200"#);
    let (_, made) = curl(
        &server,
        &folder,
        "/records/tags",
        &["--http2", "--json", r#"{"name":"by night"}"#, "-o", "/dev/null", "-w", "%{http_code}"],
    );
    assert_eq!(made, "200");
    let plain = exchange(server.port, &request("GET", "/records/tags/1", ""));
    assert!(!plain.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&plain));
    server.stop();
}

#[test]
fn a_long_list_and_many_requests_share_a_connection() {
    let folder = folder();
    let script = "CREATE TABLE rows (id integer PRIMARY KEY, content text);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO rows SELECT i, printf('%0200d', i) FROM n";
    let server = secure(&folder, &database(&folder, "long.db", script), &[]);
    let (is_whole, list) = curl(&server, &folder, "/records/rows", &["--http2"]);
    let list: Json = serde_json::from_str(&list).unwrap();
    assert!(is_whole && list["records"].as_array().unwrap().len() == 20_000);
    // More at once than one connection may have under way.
    let (_, many) = curl(
        &server,
        &folder,
        "/records/rows/[1-300]?include=id",
        &["--http2", "--parallel", "--parallel-max", "300", "-w", "\n"],
    );
    assert_eq!(many.matches(r#"{"id":"#).count(), 300, "{many}");
    server.stop();
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    let folder = folder();
    let server = secure(&folder, &blog(&folder), &[]);
    let headers = folder.path().join("headers");
    let lines: String = (0..40).map(|n| format!("X-Long-{n}: {}\n", "a".repeat(5000))).collect();
    fs::write(&headers, lines).unwrap();
    let headers = format!("@{}", text(&headers));
    let (_, answer) =
        curl(&server, &folder, "/records/tags/1", &["--http2", "-H", &headers, SHOW[0], SHOW[1]]);
    assert!(!answer.contains("\"id\""), "{answer}");
    let (_, after) = curl(&server, &folder, "/records/tags/1", &["--http2", SHOW[0], SHOW[1]]);
    assert!(after.ends_with(" 2 200"), "{after}");
    server.stop();
}

#[test]
fn sighup_renews_the_certificate_and_a_bad_file_changes_nothing() {
    let folder = folder();
    let server = secure(&folder, &blog(&folder), &[]);
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let is_trusted = || curl(&server, &folder, "/records/tags/1", &[]).0;
    assert!(is_trusted());
    renew(&cert, &key);
    assert!(!is_trusted(), "curl trusts the new one, the server still has the old one");
    server.signal("HUP");
    wait_until("the new certificate", is_trusted);
    fs::write(&key, "no key").unwrap();
    server.signal("HUP");
    // A second signal is handled after the first.
    assert!(is_trusted());
    server.signal("TERM");
    let (status, errors) = server.wait();
    assert!(status.success());
    assert!(errors.contains("were read again"), "{errors}");
    assert!(errors.contains("stay as they are") && errors.contains("tls.key"), "{errors}");
}

#[test]
fn a_certificate_for_development_is_said_to_be_one() {
    let folder = folder();
    let server = serve(text(&blog(&folder)), &["--tls-self-signed"]);
    certificate(&folder);
    assert!(!curl(&server, &folder, "/records/tags/1", &[]).0, "nobody has signed it");
    let (is_fine, answer) = curl(&server, &folder, "/records/tags/1?include=id", &["-k"]);
    assert!(is_fine && answer == r#"{"id":1}"#, "{answer}");
    let line = server.said.iter().find(|line| line.contains("SHA-256")).expect("it says the fingerprint");
    assert_eq!(line.matches(':').count(), 31, "{line}");
    assert!(server.said.iter().any(|line| line.contains("curl -k 'https://")), "{:?}", server.said);
    server.stop();
}

#[test]
fn a_client_that_does_not_shake_hands_is_left() {
    let folder = folder();
    let server = secure(&folder, &blog(&folder), &["--set", "tls.handshakeSeconds=1"]);
    let mut silent: Vec<_> = (0..20).map(|_| connect(server.port)).collect();
    for stream in &mut silent {
        // The end, and not the patience of this test.
        assert_eq!(stream.read(&mut [0; 10]).expect("the server ends it"), 0);
    }
    assert!(curl(&server, &folder, "/records/tags/1", &[]).0);
    server.stop();
}

#[test]
fn ending_lets_an_answer_over_http2_arrive() {
    let folder = folder();
    let script = "CREATE TABLE rows (id integer PRIMARY KEY, content text);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
        INSERT INTO rows SELECT i, printf('%0200d', i) FROM n";
    let server = secure(&folder, &database(&folder, "long.db", script), &[]);
    let file = folder.path().join("list.json");
    let mut child = Command::new("curl")
        .args(["-sS", "--http2", "--limit-rate", "20M", "--cacert", text(&folder.path().join("cert.pem"))])
        .args(["-o", text(&file), &format!("https://localhost:{}/records/rows", server.port)])
        .spawn()
        .unwrap();
    wait_until("the first bytes", || fs::metadata(&file).is_ok_and(|data| data.len() > 0));
    server.signal("TERM");
    assert!(child.wait().unwrap().success());
    let list: Json = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(list["records"].as_array().unwrap().len(), 100_000);
    let (status, errors) = server.wait();
    assert!(status.success() && !errors.contains("panicked"), "{errors}");
}
