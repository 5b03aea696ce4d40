//! transport: ten threads, a thousand sequential calls each, between a web tier and a storage tier.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bout::{Figure, everyone, rounds};
use crate::contract::{is_answer, post, reset_posts};
use crate::field::enter;
use crate::lab::Lab;
use crate::load::{Limit, Load};
use crate::process::{Process, output};
use crate::run::{Absent, Better, Entrant, Measure, Scenario};
use crate::sampler::{Sample, beside};
use crate::scenario::page::Page;
use crate::servers::Servers;
use crate::wire::Call;

const ABOUT: &str = "Ten at once, 1,000 calls each, one record by its key from MariaDB: by the database's own protocol (mariadb-slap, \
    a kept connection or a new one for each call) and as JSON through Rowcast, over HTTP/1.1 with kept and with new \
    connections, over TLS, and over HTTP/2 (oha). In 2012 this raced SOAP bindings: 170 to 1,492 calls a second.";

const CALLERS: u64 = 10;
/// As published.
const CALLS: u64 = 1_000;

/// How a call gets there.
struct Way {
    name: &'static str,
    title: &'static str,
    /// More arguments of its tool.
    more: &'static [&'static str],
    is_tls: bool,
}

const WAYS: [Way; 7] = [
    Way { name: "driver", title: "mariadb-slap, kept connections", more: &[], is_tls: false },
    Way {
        name: "driver, new",
        title: "mariadb-slap, a new connection each",
        more: &["--detach=1"],
        is_tls: false,
    },
    Way { name: "rowcast http/1.1", title: "oha, kept connections", more: &[], is_tls: false },
    Way {
        name: "rowcast http/1.1, new",
        title: "oha, a new connection each",
        more: &["--disable-keepalive"],
        is_tls: false,
    },
    Way {
        name: "rowcast https/1.1",
        title: "oha, kept connections, TLS",
        more: &["--insecure"],
        is_tls: true,
    },
    Way {
        name: "rowcast https/1.1, new",
        title: "oha, a new connection each, TLS",
        more: &["--insecure", "--disable-keepalive"],
        is_tls: true,
    },
    Way {
        name: "rowcast http/2",
        title: "oha, one connection, ten streams, TLS",
        more: &["--insecure", "--http2", "-p", "10"],
        is_tls: true,
    },
];

/// # Errors
///
/// If the database or Rowcast cannot be started.
pub fn run(lab: &Lab) -> Result<Scenario> {
    let servers = Servers::start(lab, false)?;
    reset_posts(&servers)?;
    let mut absent = Vec::new();
    let (field, missing) = enter(lab, "transport", Some(&servers))?;
    absent.extend(missing);
    let rowcast = field.racers.first();
    let tls = Page::start(lab, &servers.mariadb_url());
    if let Err(error) = &tls {
        absent.push(Absent::new("https and http/2", format!("{error:#}")));
    }
    let tls = tls.ok();
    let is_there = |way: &&Way| match way {
        way if way.name.starts_with("driver") => true,
        way if way.is_tls => tls.is_some(),
        _ => rowcast.is_some(),
    };
    let ways: Vec<&Way> = WAYS.iter().filter(is_there).collect();
    let names: Vec<String> = ways.iter().map(|way| way.name.to_owned()).collect();
    let run = |_: usize, at: usize| {
        let way = ways[at];
        match (way.name.starts_with("driver"), way.is_tls, &tls, rowcast) {
            (true, ..) => driver(lab, &servers, way),
            (_, true, Some(page), _) => over_http(lab, &servers, way, page.port, &page.process),
            (_, _, _, Some(racer)) => over_http(lab, &servers, way, racer.port, &racer.process),
            _ => anyhow::bail!("is not there"),
        }
    };
    let measures = vec![Measure::new("one record, ten at once", "calls/s", Better::More)];
    let turns = everyone(&names, &measures);
    let raced = rounds(lab, &names, lab.options.round_range(), measures, turns, run);
    let calls = lab.options.calls;
    let reduced =
        if calls < CALLS { vec![format!("{calls} calls each instead of {CALLS}.")] } else { Vec::new() };
    let entrant = |way: &&Way| Entrant {
        name: way.name.to_owned(),
        title: way.title.to_owned(),
        version: String::new(),
    };
    Ok(Scenario {
        name: "transport".to_owned(),
        title: "Transport between the tiers".to_owned(),
        about: ABOUT.to_owned(),
        contestants: ways.iter().map(entrant).collect(),
        absent: [absent, raced.absent].concat(),
        measures: raced.measures,
        reduced: [raced.reduced, reduced].concat(),
        ..Scenario::default()
    })
}

/// mariadb-slap says how many seconds all calls took, to the millisecond.
fn driver(lab: &Lab, servers: &Servers, way: &Way) -> Result<Figure> {
    let calls = CALLERS * lab.options.calls;
    let before = servers.mariadb().usage().cpu_seconds;
    let mut command = Command::new("mariadb-slap");
    command.args([
        "--no-defaults",
        "--host=127.0.0.1",
        "--user=root",
        "--create-schema=lab",
        "--no-drop",
        "--csv",
    ]);
    command.arg(format!("--port={}", servers.mariadb_port)).arg(format!("--concurrency={CALLERS}"));
    command.arg(format!("--number-of-queries={calls}")).args(way.more);
    let printed = output(command.arg("--query=SELECT * FROM posts WHERE id = 1"))?;
    let spent = servers.mariadb().usage().cpu_seconds - before;
    // engine, mode, average seconds, least, most, clients, queries for each client
    let seconds: f64 =
        printed.trim().split(',').nth(2).and_then(|word| word.parse().ok()).context(printed)?;
    ensure!(seconds > 0.0, "mariadb-slap took no time; more --calls are needed");
    Ok(Figure::new(calls as f64 / seconds).with("database CPU µs/request", spent * 1e6 / calls as f64))
}

fn over_http(lab: &Lab, servers: &Servers, way: &Way, port: u16, rowcast: &Process) -> Result<Figure> {
    let scheme = if way.is_tls { "https://localhost" } else { "http://127.0.0.1" };
    let url = format!("{scheme}:{port}/records/posts/1");
    let calls = CALLERS * lab.options.calls;
    // Ten streams of one connection, or ten connections.
    let connections = if way.more.contains(&"--http2") { 1 } else { CALLERS as u32 };
    let more = way.more.iter().map(|word| (*word).to_owned()).collect();
    let load = Load { more, ..Load::get(url, connections, Limit::Requests(calls)) };
    let load = load.warm_up(lab)?;
    let sample = Sample {
        call: Box::new(|_| Call::get(load.url.clone())),
        check: Box::new(|_, answer| is_answer(answer, &post(1).to_string())),
    };
    let before = (rowcast.usage().cpu_seconds, servers.mariadb().usage().cpu_seconds);
    let (loaded, sampled) = beside(&sample, || load.run(lab));
    let after = (rowcast.usage().cpu_seconds, servers.mariadb().usage().cpu_seconds);
    ensure!(sampled.wrong.is_none(), "answered wrongly while timed: {}", sampled.wrong.unwrap_or_default());
    let (loaded, sampled) = (loaded?, sampled.count);
    ensure!(
        loaded.failed == 0 && loaded.good == calls,
        "{} of {calls} calls failed",
        calls - loaded.good.min(calls)
    );
    let requests = (loaded.good + sampled) as f64;
    Ok(Figure::new(loaded.good as f64 / loaded.seconds)
        .with("p50 ms", loaded.p50_ms)
        .with("p99 ms", loaded.p99_ms)
        .with("CPU µs/request", (after.0 - before.0) * 1e6 / requests)
        .with("database CPU µs/request", (after.1 - before.1) * 1e6 / requests)
        .with("answers checked", sampled as f64))
}
