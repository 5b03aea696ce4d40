//! The contract: who answers wrongly is not timed.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use ureq::Agent;

use crate::contestant::Racer;
use crate::lab::Lab;
use crate::servers::Servers;
use crate::wire::{Answer, Call, client, send};

/// Records of `posts` at the start of everything.
pub const POSTS: u64 = 100;
/// Letters of one file.
pub const LETTERS: usize = 108_000;

/// Makes `posts` as the contract wants it.
///
/// # Errors
///
/// If the database refuses.
pub fn reset_posts(servers: &Servers) -> Result<()> {
    servers.run(&format!(
        "CREATE TABLE IF NOT EXISTS posts (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL,
             category_id INT NOT NULL, content VARCHAR(255) NOT NULL);
         TRUNCATE TABLE posts;
         INSERT INTO posts SELECT seq, seq % 90, seq % 10, CONCAT('post ', seq) FROM seq_1_to_{POSTS}"
    ))
}

/// Record number `id` of `posts` at the start.
pub fn post(id: u64) -> Value {
    json!({"id": id, "user_id": id % 90, "category_id": id % 10, "content": format!("post {id}")})
}

/// Plays the transcripts of a job against a service; the database must be as the transcripts say.
///
/// # Errors
///
/// With the request, what was expected and what came.
pub fn check(lab: &Lab, job: &str, racer: &Racer) -> Result<()> {
    let agent = client();
    if job == "file" {
        return match &racer.service.texts {
            Some(texts) => check_text(racer, &agent, texts),
            None => check_file(racer, &agent),
        };
    }
    // What goes between the tiers are records of the core.
    let name = if job == "transport" { "core" } else { job };
    let text = fs::read_to_string(lab.root.join("contract").join(format!("{name}.http")))?;
    for exchange in exchanges(&text) {
        exchange.play(racer, &agent)?;
    }
    Ok(())
}

/// One request and what must come.
struct Exchange<'a> {
    request: &'a str,
    body: String,
    status: u16,
    expected: String,
}

/// Paragraphs of a request line and a body, a line `=== status`, and the expected body; `#` begins a comment.
fn exchanges(text: &str) -> Vec<Exchange<'_>> {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let lines = paragraph.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines.collect::<Vec<_>>()
    });
    let exchange = |lines: Vec<&'_ str>| {
        let (request, rest) = lines.split_first()?;
        let request: &str = text.lines().find(|line| line == request)?;
        let at = rest.iter().position(|line| line.starts_with("=== "))?;
        let status = rest[at].trim_start_matches("=== ").parse().ok()?;
        Some(Exchange { request, body: rest[..at].concat(), status, expected: rest[at + 1..].concat() })
    };
    paragraphs.filter_map(exchange).collect()
}

impl Exchange<'_> {
    fn play(&self, racer: &Racer, agent: &Agent) -> Result<()> {
        let (method, path) = self.request.split_once(' ').context("a request is METHOD PATH")?;
        let method = ["GET", "POST", "PUT", "PATCH", "DELETE"].into_iter().find(|known| *known == method);
        let method = method.with_context(|| format!("{}: no such method", self.request))?;
        let path =
            path.replace("{posts}", &racer.service.core.posts).replace("{hello}", &racer.service.hello.path);
        let expected = match self.expected.as_str() {
            "{100 posts}" => list(racer, (1..=POSTS).map(post).collect()),
            other => other.replace("{hello body}", &racer.service.hello.body),
        };
        let answer = send(agent, &Call { method, url: racer.url(&path), body: self.body.clone() })?;
        let is_right =
            answer.status == self.status && (expected.is_empty() || is_same(&answer.body, &expected));
        ensure!(
            is_right,
            "{} answers {} {}, not {} {}",
            self.request,
            answer.status,
            start(&answer.body),
            self.status,
            start(&expected)
        );
        Ok(())
    }
}

/// A list of records, as this service wraps it.
pub fn list(racer: &Racer, records: Vec<Value>) -> String {
    match &racer.service.core.list {
        Some(member) => json!({ member: records }).to_string(),
        None => json!(records).to_string(),
    }
}

/// Equal as JSON, whatever the spaces, the order of members and the escapes; or else as text.
pub fn is_same(answer: &str, expected: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (parse(answer), parse(expected)) {
        (Some(answer), Some(expected)) => answer == expected,
        _ => answer == expected,
    }
}

/// What the checking client expects while timed: status 200 and this body.
pub fn is_answer(answer: &Answer, expected: &str) -> Result<(), String> {
    if answer.status == 200 && is_same(&answer.body, expected) {
        return Ok(());
    }
    Err(format!("{} {}, not 200 {}", answer.status, start(&answer.body), start(expected)))
}

/// The first of a body.
fn start(body: &str) -> String {
    body.chars().take(200).collect()
}

/// Two files: both whole, different, and gone afterwards.
fn check_file(racer: &Racer, agent: &Agent) -> Result<()> {
    let file = || send(agent, &Call::get(racer.url("/file")));
    let (first, second) = (file()?, file()?);
    for answer in [&first, &second] {
        if let Err(wrong) = is_file(answer) {
            bail!("GET /file answers {wrong}");
        }
    }
    ensure!(first.body != second.body, "GET /file answers the same letters twice");
    let left = fs::read_dir(&racer.work)?.count();
    ensure!(left == 0, "GET /file leaves {left} files in its folder");
    Ok(())
}

/// A text of a file's length, created and read back.
fn check_text(racer: &Racer, agent: &Agent, texts: &str) -> Result<()> {
    let record = json!({"content": letters(&mut fastrand::Rng::with_seed(1))});
    let call = Call { method: "POST", url: racer.url(texts), body: record.to_string() };
    let created = send(agent, &call)?;
    ensure!(created.status == 200, "POST {texts} answers {} {}", created.status, start(&created.body));
    let read = send(agent, &Call::get(racer.url(&format!("{texts}/{}?include=content", created.body))))?;
    is_answer(&read, &record.to_string()).map_err(anyhow::Error::msg)
}

/// Random letters, as many as a file has.
pub fn letters(random: &mut fastrand::Rng) -> String {
    (0..LETTERS).map(|_| char::from(random.u8(b'A'..=b'z'))).collect()
}

/// Makes `texts`, empty.
///
/// # Errors
///
/// If the database refuses.
pub fn reset_texts(servers: &Servers) -> Result<()> {
    servers.run(
        "CREATE TABLE IF NOT EXISTS texts (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, content MEDIUMTEXT NOT NULL);
         TRUNCATE TABLE texts",
    )
}

/// 108,000 letters from 'A' to 'z'.
pub fn is_file(answer: &Answer) -> Result<(), String> {
    let is_letter = |byte: u8| (b'A'..=b'z').contains(&byte);
    if answer.status != 200 || answer.body.len() != LETTERS {
        return Err(format!("{} with {} bytes, not 200 with {LETTERS}", answer.status, answer.body.len()));
    }
    let stranger = answer.body.bytes().find(|byte| !is_letter(*byte));
    stranger.map_or(Ok(()), |byte| Err(format!("a byte {byte} that is none of the 58 letters")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_cut_into_exchanges() {
        let text = "# Why.\n\n# One.\nPOST {posts}\n{\"a\":1}\n=== 200\n7\n\nGET {posts}/9\n=== 404\n";
        let found = exchanges(text);
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].request, found[0].body.as_str(), found[0].status),
            ("POST {posts}", "{\"a\":1}", 200)
        );
        assert_eq!((found[1].status, found[1].expected.as_str()), (404, ""));
    }

    #[test]
    fn json_is_compared_as_values_and_a_number_is_no_text() {
        assert!(is_same(r#"{"b": 2, "a": 1}"#, r#"{"a":1,"b":2}"#));
        assert!(!is_same(r#"{"a":"1"}"#, r#"{"a":1}"#));
        assert!(is_same("Hello, world!", "Hello, world!"));
        assert!(!is_same("Hello, world!\n", "Hello, world!"));
    }

    #[test]
    fn a_file_is_108000_of_58_letters() {
        let file = |body: String| is_file(&Answer { status: 200, body });
        assert!(file("Az".repeat(54_000)).is_ok());
        assert!(file("Az".repeat(53_999)).is_err());
        assert!(file(format!("{}{{", "A".repeat(107_999))).is_err());
    }
}
