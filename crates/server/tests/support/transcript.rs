//! A transcript: requests and their exact responses, read from a `.log` file and written back to it.

use std::fmt::Write;

use anyhow::{Context, Result, bail, ensure};

use crate::support::database::Engine;

const SEPARATOR: &str = "===";

pub struct Transcript {
    /// The lines above the first request, kept as they are.
    head: Vec<String>,
    pub only: Vec<Engine>,
    pub skip: Vec<Engine>,
    pub config: String,
    pub database: String,
    pub steps: Vec<Step>,
}

pub struct Step {
    /// Where the request stands in the file, from one.
    pub line: usize,
    pub request: Request,
    pub answers: Vec<Answer>,
}

/// A request line, headers and a body, as they stand in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// A response as one or more engines give it. No engines named: all that no other answer names.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub engines: Vec<Engine>,
    pub response: Response,
}

/// What must come back. Without a status it is a blank that `BLESS=1` fills in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    pub status: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Transcript {
    pub fn parse(text: &str) -> Result<Self> {
        let mut transcript = Transcript {
            head: Vec::new(),
            only: Vec::new(),
            skip: Vec::new(),
            config: "default".to_owned(),
            database: "blog".to_owned(),
            steps: Vec::new(),
        };
        // Not `lines`: a body may contain carriage returns, and they count.
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
        let start = transcript.read_head(&lines)?;
        transcript.read_steps(&lines, start)?;
        Ok(transcript)
    }

    pub fn plays_on(&self, engine: Engine) -> bool {
        (self.only.is_empty() || self.only.contains(&engine)) && !self.skip.contains(&engine)
    }

    pub fn render(&self) -> String {
        let mut text = String::new();
        for line in &self.head {
            push_line(&mut text, line);
        }
        for (number, step) in self.steps.iter().enumerate() {
            if number > 0 {
                push_line(&mut text, SEPARATOR);
            }
            push_message(&mut text, &step.request.line, &step.request.headers, &step.request.body);
            for answer in &step.answers {
                push_line(&mut text, &separator_for(&answer.engines));
                let response = &answer.response;
                if !response.status.is_empty() {
                    push_message(&mut text, &response.status, &response.headers, &response.body);
                }
            }
        }
        text
    }

    /// Returns the index of the first line of the first request.
    fn read_head(&mut self, lines: &[&str]) -> Result<usize> {
        for (index, line) in lines.iter().enumerate() {
            match line.split_once(':') {
                Some(("only", engines)) => self.only = Engine::parse_list(engines)?,
                Some(("skip", rest)) => self.skip.push(skipped_engine(rest)?),
                Some(("config", name)) => self.config = name.trim().to_owned(),
                Some(("database", name)) => self.database = name.trim().to_owned(),
                _ if line.is_empty() || line.starts_with('#') => {}
                _ => return Ok(index),
            }
            self.head.push((*line).to_owned());
        }
        bail!("there is no request")
    }

    fn read_steps(&mut self, lines: &[&str], start: usize) -> Result<()> {
        let mut from = start;
        let mut label: Option<Vec<Engine>> = None;
        loop {
            let to = (from..lines.len()).find(|&index| is_separator(lines[index])).unwrap_or(lines.len());
            let block = &lines[from..to];
            match (&label, self.steps.last_mut()) {
                // A plain separator after an answer begins the next request; a labelled one, another answer.
                (Some(engines), Some(step)) if step.answers.is_empty() || !engines.is_empty() => {
                    step.answers.push(Answer { engines: engines.clone(), response: Response::parse(block) });
                }
                _ => self.steps.push(Step {
                    line: from + 1,
                    request: Request::parse(block).with_context(|| format!("line {}", from + 1))?,
                    answers: Vec::new(),
                }),
            }
            if to == lines.len() {
                break;
            }
            let engines = Engine::parse_list(&lines[to][SEPARATOR.len()..]);
            label = Some(engines.with_context(|| format!("line {}", to + 1))?);
            from = to + 1;
        }
        let unanswered = self.steps.iter().find(|step| step.answers.is_empty());
        if let Some(step) = unanswered {
            bail!("line {}: this request has no response; end it with a line {SEPARATOR}", step.line);
        }
        Ok(())
    }
}

impl Step {
    pub fn answer_for(&self, engine: Engine) -> Option<&Answer> {
        let named = self.answers.iter().find(|answer| answer.engines.contains(&engine));
        named.or_else(|| self.answers.iter().find(|answer| answer.engines.is_empty()))
    }

    /// Gives `engine` this response, and joins it with the engines that answer alike. `all` are the engines
    /// that the transcript plays on.
    pub fn bless(&mut self, engine: Engine, response: Response, all: &[Engine]) {
        let blank = self.answer_for(engine).is_some_and(|answer| answer.response.status.is_empty());
        let mut answers: Vec<Answer> = Vec::new();
        for &other in all {
            let Some(given) = self.answer_for(other) else { continue };
            let fresh = other == engine || (blank && given.response.status.is_empty());
            let response = if fresh { &response } else { &given.response };
            match answers.iter_mut().find(|answer| answer.response == *response) {
                Some(answer) => answer.engines.push(other),
                None => answers.push(Answer { engines: vec![other], response: response.clone() }),
            }
        }
        if let [answer] = answers.as_mut_slice() {
            answer.engines.clear();
        }
        self.answers = answers;
    }
}

impl Request {
    fn parse(block: &[&str]) -> Result<Self> {
        let (line, headers, body) = split_message(block);
        let words = line.split(' ').count();
        ensure!(words == 2 && line.contains(" /"), "expected METHOD /PATH, found {line:?}");
        Ok(Self { line, headers, body })
    }
}

impl Response {
    fn parse(block: &[&str]) -> Self {
        let (status, headers, body) = split_message(block);
        Self { status, headers, body }
    }
}

fn is_separator(line: &str) -> bool {
    line == SEPARATOR || line.starts_with("=== ")
}

fn skipped_engine(rest: &str) -> Result<Engine> {
    let Some((engine, reason)) = rest.trim().split_once(' ') else {
        bail!("`skip:` needs an engine and a reason");
    };
    ensure!(!reason.trim().is_empty(), "`skip: {engine}` needs a reason");
    Engine::parse(engine)
}

fn separator_for(engines: &[Engine]) -> String {
    if engines.is_empty() {
        return SEPARATOR.to_owned();
    }
    let names: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
    format!("{SEPARATOR} {}", names.join(","))
}

/// First line, headers until an empty line, and the rest. The last line break of a block is not part of it.
fn split_message(block: &[&str]) -> (String, Vec<(String, String)>, String) {
    let empty = block.iter().position(|line| line.is_empty()).unwrap_or(block.len());
    let first = block[..empty].first().copied().unwrap_or_default().to_owned();
    let headers = block[..empty].iter().skip(1).map(|line| split_header(line)).collect();
    let body = block.get(empty + 1..).unwrap_or_default().join("\n");
    (first, headers, body)
}

pub fn split_header(line: &str) -> (String, String) {
    let (name, value) = line.split_once(':').unwrap_or((line, ""));
    (name.trim().to_owned(), value.trim().to_owned())
}

fn push_message(text: &mut String, first: &str, headers: &[(String, String)], body: &str) {
    push_line(text, first);
    for (name, value) in headers {
        writeln!(text, "{name}: {value}").expect("a String takes everything");
    }
    if !body.is_empty() {
        push_line(text, "");
        push_line(text, body);
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_STEPS: &str = "\
# Why this is so.
config: strict
skip: mysql it has no such type

GET /records/tags/1
Accept: */*
===
200
Content-Type: application/json

{\"id\":1}
===
POST /records/tags

{\"name\":\"x\"}

===
200

4
=== postgres
422
";

    fn blank() -> Step {
        Transcript::parse("GET /a\n===\n").unwrap().steps.remove(0)
    }

    fn response(body: &str) -> Response {
        Response { status: "200".to_owned(), headers: Vec::new(), body: body.to_owned() }
    }

    fn answers(step: &Step) -> Vec<(String, &str)> {
        let answers = step.answers.iter();
        answers.map(|answer| (separator_for(&answer.engines), answer.response.body.as_str())).collect()
    }

    #[test]
    fn a_file_is_read_and_written_back_as_it_was() {
        let transcript = Transcript::parse(TWO_STEPS).unwrap();
        assert_eq!(transcript.render(), TWO_STEPS);
        assert_eq!(transcript.config, "strict");
        assert_eq!(transcript.database, "blog");
        assert!(!transcript.plays_on(Engine::MySql) && transcript.plays_on(Engine::Sqlite));
    }

    #[test]
    fn a_labelled_separator_is_another_answer_and_a_plain_one_the_next_request() {
        let transcript = Transcript::parse(TWO_STEPS).unwrap();
        let [first, second] = transcript.steps.as_slice() else { panic!("two steps") };
        assert_eq!((first.line, second.line), (5, 13));
        assert_eq!(first.request.headers, [("Accept".to_owned(), "*/*".to_owned())]);
        assert_eq!(second.request.body, "{\"name\":\"x\"}\n");
        assert_eq!(second.answer_for(Engine::Sqlite).unwrap().response.body, "4");
        assert_eq!(second.answer_for(Engine::Postgres).unwrap().response.status, "422");
    }

    #[test]
    fn a_broken_file_is_refused_with_its_line() {
        for (text, message) in [
            ("only: sqlite\n", "there is no request"),
            ("skip: mysql\nGET /a\n===\n", "reason"),
            ("only: oracle\nGET /a\n===\n", "oracle"),
            ("GET /a\n", "line 1: this request has no response"),
            ("nonsense\n===\n", "METHOD /PATH"),
        ] {
            let error = Transcript::parse(text).err().expect(text);
            assert!(format!("{error:#}").contains(message), "{text:?} gave {error:#}");
        }
    }

    #[test]
    fn a_blessed_blank_answers_for_every_engine() {
        let mut step = blank();
        step.bless(Engine::MySql, response("1"), &Engine::ALL);
        assert_eq!(answers(&step), [("===".to_owned(), "1")]);
    }

    #[test]
    fn an_engine_that_differs_gets_its_own_answer() {
        let mut step = blank();
        step.bless(Engine::Sqlite, response("1"), &Engine::ALL);
        step.bless(Engine::MySql, response("1.0"), &Engine::ALL);
        assert_eq!(
            answers(&step),
            [("=== sqlite,postgres".to_owned(), "1"), ("=== mysql".to_owned(), "1.0")]
        );
    }

    #[test]
    fn engines_that_agree_again_share_an_answer() {
        let mut step = blank();
        step.bless(Engine::Sqlite, response("1"), &Engine::ALL);
        for engine in [Engine::Postgres, Engine::Sqlite, Engine::MySql] {
            step.bless(engine, response("2"), &Engine::ALL);
        }
        assert_eq!(answers(&step), [("===".to_owned(), "2")]);
    }
}
