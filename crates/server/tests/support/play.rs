//! Plays one transcript against a running server and says every difference.

use anyhow::Result;

use crate::support::client::{Received, send};
use crate::support::database::Engine;
use crate::support::pattern::{Captures, fill, matches};
use crate::support::transcript::{Request, Response, Step, Transcript};

/// What a header of every response says about the transport is not part of a transcript.
const HEADERS_OF_TRANSPORT: [&str; 6] =
    ["connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"];

/// A step that was answered differently.
pub struct Difference {
    pub step: usize,
    pub line: usize,
    pub message: String,
    /// What to expect instead, if this is to be right.
    pub response: Option<Response>,
}

pub fn play(transcript: &Transcript, engine: Engine, port: u16) -> Vec<Difference> {
    let mut captures = Captures::new();
    let mut differences = Vec::new();
    for (index, step) in transcript.steps.iter().enumerate() {
        let outcome = play_step(step, engine, port, &mut captures);
        let (message, response) = match outcome {
            Ok(None) => continue,
            Ok(Some((message, response))) => (message, Some(response)),
            Err(error) => (format!("{error:#}"), None),
        };
        let message = format!("{}\n{message}", step.request.line);
        differences.push(Difference { step: index, line: step.line, message, response });
    }
    differences
}

fn play_step(
    step: &Step,
    engine: Engine,
    port: u16,
    captures: &mut Captures,
) -> Result<Option<(String, Response)>> {
    let received = send(port, &filled(&step.request, captures))?;
    let Some(answer) = step.answer_for(engine) else {
        let message = format!("  there is no response for {}", engine.name());
        return Ok(Some((message, as_expected(&received, None))));
    };
    let expected = &answer.response;
    if expected.status.is_empty() {
        let message = "  the response is blank; `make bless` fills it in".to_owned();
        return Ok(Some((message, as_expected(&received, None))));
    }
    let differences = compare(expected, &received, captures);
    if differences.is_empty() {
        return Ok(None);
    }
    Ok(Some((differences.join("\n"), as_expected(&received, Some(expected)))))
}

fn filled(request: &Request, captures: &Captures) -> Request {
    let headers = request.headers.iter().map(|(name, value)| (name.clone(), fill(value, captures)));
    Request {
        line: fill(&request.line, captures),
        headers: headers.collect(),
        body: fill(&request.body, captures),
    }
}

fn compare(expected: &Response, received: &Received, captures: &mut Captures) -> Vec<String> {
    let mut differences = Vec::new();
    let mut check = |what: &str, expected: &str, actual: &str| {
        if !matches(expected, actual, captures) {
            differences.push(format!("  {what}\n    expected {expected}\n    received {actual}"));
        }
    };
    check("status", &expected.status, &received.status);
    for (name, value) in &expected.headers {
        match received.header(name) {
            Some(actual) => check(name, value, &actual),
            None => check(name, value, "nothing"),
        }
    }
    check("body", &expected.body, &String::from_utf8_lossy(&received.body));
    differences
}

/// A received response as a transcript would say it: with the headers that it asked for so far, or with all.
fn as_expected(received: &Received, previous: Option<&Response>) -> Response {
    let headers = match previous {
        Some(previous) => {
            let asked = previous.headers.iter();
            asked.filter_map(|(name, _)| Some((name.clone(), received.header(name)?))).collect()
        }
        None => received.headers.iter().filter(|(name, _)| !is_transport(name)).map(titled).collect(),
    };
    let body = String::from_utf8_lossy(&received.body).into_owned();
    Response { status: received.status.clone(), headers, body }
}

fn is_transport(name: &str) -> bool {
    HEADERS_OF_TRANSPORT.iter().any(|transport| name.eq_ignore_ascii_case(transport))
}

/// `content-type` as people write it: `Content-Type`.
fn titled((name, value): &(String, String)) -> (String, String) {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    (words.collect::<Vec<String>>().join("-"), value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received() -> Received {
        let headers = [("content-type", "text/csv"), ("date", "today"), ("x-pages", "3")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Received { status: "200".to_owned(), headers, body: b"id\n7\n".to_vec() }
    }

    #[test]
    fn what_was_received_is_what_is_expected_after_blessing() {
        let expected = as_expected(&received(), None);
        assert_eq!(
            expected.headers,
            [("Content-Type".into(), "text/csv".into()), ("X-Pages".into(), "3".into())]
        );
        assert!(compare(&expected, &received(), &mut Captures::new()).is_empty());
    }

    #[test]
    fn every_difference_is_named() {
        let mut expected = as_expected(&received(), None);
        expected.status = "404".to_owned();
        expected.headers =
            vec![("Allow".to_owned(), "GET".to_owned()), ("X-Pages".to_owned(), "3".to_owned())];
        expected.body = "id\n7".to_owned();
        let differences = compare(&expected, &received(), &mut Captures::new());
        let subjects: Vec<&str> =
            differences.iter().map(|text| text.trim().split('\n').next().unwrap()).collect();
        assert_eq!(subjects, ["status", "Allow", "body"]);
    }
}
