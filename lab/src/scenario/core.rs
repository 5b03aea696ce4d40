//! core: list, read, create, update and delete over MariaDB.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::bout::{Figure, everyone, loaded, rounds};
use crate::contestant::Racer;
use crate::contract::{POSTS, is_answer, list, post, reset_posts};
use crate::field::enter;
use crate::lab::{Lab, Options};
use crate::load::{Limit, Load, Tool};
use crate::run::{Better, Measure, Scenario};
use crate::sampler::Sample;
use crate::servers::Servers;
use crate::wire::{Answer, Call};

const ABOUT: &str = "The core that was ported from language to language in 2016 and 2017: list, read, create, update and delete \
    on a table `posts` (id, user_id, category_id, content) of 100 records in MariaDB, with innodb_flush_log_at_trx_commit=0. \
    Reads by ab -c 8 and -c 10 with a connection for each request, as published, and by 32 kept connections of oha, which \
    every other operation gets. Rowcast takes part with its whole API. Rows are counted after creates and deletes.";

/// Ids of the rows that are deleted: a digit, then as many as the run is long.
const DELETED: (u64, &str) = (100_000, "1[0-9]{5}");
/// Rows that the checking client deletes. limit: at twenty a second, more than 15 minutes of one figure.
const SAMPLED: (u64, u64) = (2_000_000, 20_000);
const BODIES: u64 = 1000;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operation {
    /// By ab, a connection for each request.
    ReadAb(u32),
    Read(u32),
    List,
    Create,
    Update,
    Delete,
    Late(u64),
}

/// # Errors
///
/// If the database cannot be started.
pub fn run(lab: &Lab) -> Result<Scenario> {
    let servers = Servers::start(lab, false)?;
    let (field, absent) = enter(lab, "core", Some(&servers))?;
    reset_posts(&servers)?;
    let mut operations = vec![
        Operation::ReadAb(8),
        Operation::ReadAb(10),
        Operation::Read(32),
        Operation::List,
        Operation::Create,
        Operation::Update,
        Operation::Delete,
    ];
    operations.extend(lab.options.rates.iter().map(|rate| Operation::Late(*rate)));
    let measures: Vec<Measure> = operations.iter().map(|operation| operation.measure()).collect();
    let bodies = lab.path("updates.txt");
    let line = |number: u64| json!({"content": format!("changed to {number}")}).to_string() + "\n";
    fs::write(&bodies, (0..BODIES).map(line).collect::<String>())?;
    let bodies = bodies.display().to_string();
    let run = |measure: usize, racer: usize| {
        turn(lab, &servers, &field.racers[racer], operations[measure], &bodies)
    };
    let turns = everyone(&field.names(), &measures);
    let mut raced = rounds(lab, &field.names(), lab.options.round_range(), measures, turns, run);
    raced.reduced.extend(reduced(lab));
    Ok(field.close("core", "The core, ported", ABOUT, absent, raced))
}

/// What ab did of the published 100,000 requests.
fn reduced(lab: &Lab) -> Option<String> {
    let Options { seconds, requests, published, .. } = &lab.options;
    (!published).then(|| {
        format!(
            "ab asks for about {seconds} seconds each round, {requests} times at most, and not 100,000 times as \
             published; `--published` does that."
        )
    })
}

fn turn(lab: &Lab, servers: &Servers, racer: &Racer, operation: Operation, bodies: &str) -> Result<Figure> {
    let load = operation.load(lab, racer, bodies);
    if operation == Operation::Delete {
        servers.run(&to_delete())?;
    }
    let figure = timed(lab, servers, racer, operation, &load);
    // Everyone finds the table as the contract left it; truncating it takes longer than a warm-up.
    if matches!(operation, Operation::Create | Operation::Update | Operation::Delete) {
        reset_posts(servers)?;
    }
    figure
}

fn timed(lab: &Lab, servers: &Servers, racer: &Racer, operation: Operation, load: &Load) -> Result<Figure> {
    let load = load.warm_up(lab)?;
    let before = servers.number("SELECT COUNT(*) FROM posts")?;
    let sample = operation.sample(racer);
    let (found, requests, mut figure) = loaded(lab, racer, Some(servers.mariadb()), &load, &sample)?;
    let after = servers.number("SELECT COUNT(*) FROM posts")?;
    match operation {
        Operation::Create => {
            ensure!(after - before == requests, "{requests} creates made {} rows", after - before);
        }
        Operation::Delete => is_deleted(before, after, found.good)?,
        _ => ensure!(after == before, "{before} rows became {after}"),
    }
    if let Operation::Late(_) = operation {
        let carried = figure.value;
        figure = figure.with("requests/s", carried);
        figure.value = found.p99_ms;
    }
    Ok(figure)
}

/// Rows for the load and for the checking client to delete.
fn to_delete() -> String {
    let rows = |first: u64, count: u64| {
        let last = first + count - 1;
        format!("INSERT INTO posts SELECT seq, 1, 1, 'to be deleted' FROM seq_{first}_to_{last}")
    };
    format!("{}; {}", rows(DELETED.0, DELETED.0), rows(SAMPLED.0, SAMPLED.1))
}

/// Ids are drawn with repeats, and some rows went while it was warmed up, so fewer go than requests come; how many is
/// known.
fn is_deleted(before: u64, after: u64, requests: u64) -> Result<()> {
    let there = before.saturating_sub(POSTS + SAMPLED.1) as f64;
    let expected = there * (1.0 - (-(requests as f64) / DELETED.0 as f64).exp());
    let deleted = before.saturating_sub(after);
    ensure!(
        deleted as f64 > expected * 0.9,
        "{requests} deletes took {deleted} rows, about {expected:.0} were due"
    );
    Ok(())
}

impl Operation {
    fn measure(self) -> Measure {
        let (name, unit, better) = match self {
            Operation::ReadAb(connections) => {
                (format!("read, ab -c {connections}"), "requests/s", Better::More)
            }
            Operation::Read(connections) => {
                (format!("read, oha, {connections} connections"), "requests/s", Better::More)
            }
            Operation::List => ("list of 100, oha, 32 connections".to_owned(), "requests/s", Better::More),
            Operation::Create => ("create, oha, 32 connections".to_owned(), "requests/s", Better::More),
            Operation::Update => ("update, oha, 32 connections".to_owned(), "requests/s", Better::More),
            Operation::Delete => ("delete, oha, 32 connections".to_owned(), "requests/s", Better::More),
            Operation::Late(rate) => (format!("read, 99 % within, at {rate} requests/s"), "ms", Better::Less),
        };
        Measure::new(&name, unit, better)
    }

    fn load(self, lab: &Lab, racer: &Racer, bodies: &str) -> Load {
        let options = &lab.options;
        let posts = &racer.service.core.posts;
        // One of 1 to 99, drawn by oha, which takes a dot of the address for a dot.
        let pattern = |ids: &str| racer.url(&format!("{posts}/{ids}"));
        let load = Load::get(pattern("[1-9][0-9]?"), 32, Limit::Seconds(options.seconds));
        let load = Load { is_pattern: true, ..load };
        match self {
            Operation::Read(connections) => Load { connections, ..load },
            Operation::ReadAb(connections) => {
                let limit = match options.published {
                    true => Limit::Requests(options.requests),
                    false => Limit::Either(options.seconds, options.requests),
                };
                let url = racer.url(&format!("{posts}/1"));
                Load { tool: Tool::Ab, is_pattern: false, url, connections, limit, ..load }
            }
            Operation::List => Load { is_pattern: false, url: racer.url(posts), ..load },
            Operation::Create => {
                let body = json!({"user_id": 1, "category_id": 2, "content": "a new post"}).to_string();
                Load { is_pattern: false, url: racer.url(posts), method: "POST", body, ..load }
            }
            Operation::Update => Load { method: "PUT", bodies: Some(bodies.to_owned()), ..load },
            Operation::Delete => Load { method: "DELETE", url: pattern(DELETED.1), ..load },
            Operation::Late(rate) => Load { rate: Some(rate), ..load },
        }
    }

    fn sample(self, racer: &Racer) -> Sample<'_> {
        let at = |id: u64| racer.url(&format!("{}/{id}", racer.service.core.posts));
        let posts = racer.url(&racer.service.core.posts);
        match self {
            Operation::ReadAb(_) | Operation::Read(_) | Operation::Late(_) => Sample {
                call: Box::new(move |number| Call::get(at(number % POSTS + 1))),
                check: Box::new(|number, answer| is_answer(answer, &post(number % POSTS + 1).to_string())),
            },
            Operation::List => Sample {
                call: Box::new(move |_| Call::get(posts.clone())),
                check: Box::new(|_, answer| is_answer(answer, &list(racer, (1..=POSTS).map(post).collect()))),
            },
            Operation::Create => Sample {
                call: Box::new(move |number| Call {
                    method: "POST",
                    url: posts.clone(),
                    body: json!({"user_id": 3, "category_id": 4, "content": format!("sample {number}")})
                        .to_string(),
                }),
                check: Box::new(|_, answer| is_key(answer)),
            },
            // A record that the load does not touch.
            Operation::Update => Sample {
                call: Box::new(move |number| Call {
                    method: "PUT",
                    url: at(POSTS),
                    body: json!({"content": format!("sample {number}")}).to_string(),
                }),
                check: Box::new(|_, answer| is_answer(answer, "1")),
            },
            Operation::Delete => Sample {
                call: Box::new(move |number| Call {
                    method: "DELETE",
                    url: at(SAMPLED.0 + number % SAMPLED.1),
                    body: String::new(),
                }),
                check: Box::new(|_, answer| is_answer(answer, "1")),
            },
        }
    }
}

/// A created record's key comes after those that were there.
fn is_key(answer: &Answer) -> Result<(), String> {
    let key = answer.body.trim().parse::<u64>().unwrap_or_default();
    if answer.status == 200 && key > POSTS {
        return Ok(());
    }
    Err(format!("{} {}, not 200 and a new key", answer.status, answer.body))
}
