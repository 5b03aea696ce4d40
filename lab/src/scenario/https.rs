//! https: a page fetched N times, one after the other, over TLS; the whole process is timed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::bout::{Figure, Raced, everyone, rounds};
use crate::contestant::{Client, Ready, clients};
use crate::lab::{Lab, Options, say};
use crate::process::output;
use crate::run::{Absent, Beside, Better, Measure, Scenario};
use crate::scenario::page::{Page, database};

const ABOUT: &str = "N sequential GETs of one page over HTTPS, its body to standard output; the whole process is timed, start-up \
    included, and its output is compared. M1 to M5, mean, distance of the means to the fastest and factor to the previous N, \
    as published in 2015 for N up to 100 (N = 1000 is ours, and has three rounds unless more are asked for), where Go kept its connection and PHP opened one for each request: here both ways are timed apart. The server \
    is Rowcast with TLS, on this machine, so what was a network then is the cost of the client and of the handshake now.";

const PAGE: &str = "{\"id\":1,\"text\":\"Hello, world!\"}\n";
/// The largest N of the originals; a larger one takes minutes, and three rounds do unless more are asked for.
const PUBLISHED: u64 = 100;
const LONG_ROUNDS: usize = 3;
/// limit: a client that fails three times in a row is out.
const AGAIN_MAX: usize = 2;
/// The order in which the report has them, and their argument.
const WAYS: [(&str, &str); 2] = [("a kept connection", "reuse"), ("a new connection each", "new")];

/// # Errors
///
/// If a manifest is wrong.
pub fn run(lab: &Lab) -> Result<Scenario> {
    let mut scenario = Scenario {
        name: "https".to_owned(),
        title: "HTTPS clients".to_owned(),
        about: ABOUT.to_owned(),
        ..Scenario::default()
    };
    let page = match database(lab).and_then(|database| Page::start(lab, &database)) {
        Ok(page) => page,
        Err(error) => {
            scenario.absent.push(Absent::new("everyone", format!("no page to fetch: {error:#}")));
            return Ok(scenario);
        }
    };
    make_trust_store(&page)?;
    let (ready, absent) = clients(lab)?;
    scenario.absent = absent;
    let failures = Failures::default();
    let mut field = Vec::new();
    for client in ready {
        let fetch = |way: &str| failures.retried(&client, || fetch(&client, &page, 2, way));
        match fetch("new").and_then(|_| fetch("reuse")) {
            Ok(_) => field.push(client),
            Err(error) => {
                say(&format!("https: {} is absent: {error:#}", client.item.name));
                scenario.absent.push(Absent::new(&client.item.name, format!("{error:#}")));
            }
        }
    }
    scenario.contestants = field.iter().map(|client| client.entrant.clone()).collect();
    let mut raced = Raced::default();
    for (is_long, count) in counts(lab) {
        let pages: Vec<u64> =
            lab.options.pages.iter().copied().filter(|n| (*n > PUBLISHED) == is_long).collect();
        let some = race(lab, &field, &page, &pages, count, &failures);
        raced.measures.extend(some.measures);
        raced.absent.extend(some.absent);
        raced.reduced.extend(some.reduced);
    }
    // In the order of the published tables.
    let order = |measure: &Measure| WAYS.iter().position(|(title, _)| measure.name.starts_with(title));
    raced.measures.sort_by_key(order);
    for (title, _) in WAYS {
        publish(&mut raced.measures, title, &lab.options.pages);
    }
    scenario.measures = raced.measures;
    scenario.absent.extend(raced.absent);
    scenario.reduced = raced.reduced;
    scenario.findings = failures.told();
    Ok(scenario)
}

/// Rounds of the published numbers of pages, M1 to M5 unless only few are wanted, and of the longer one.
fn counts(lab: &Lab) -> [(bool, usize); 2] {
    let Options { rounds, is_quick, is_bounded, .. } = lab.options;
    let count = if is_quick { rounds } else { rounds.max(5) };
    [(false, count), (true, if is_bounded { count.min(LONG_ROUNDS) } else { count })]
}

/// All clients, both ways, so many pages.
fn race(
    lab: &Lab,
    field: &[Ready<Client>],
    page: &Page,
    pages: &[u64],
    count: usize,
    failures: &Failures,
) -> Raced {
    let names: Vec<String> = field.iter().map(|client| client.item.name.clone()).collect();
    let jobs: Vec<(&str, &str, u64)> =
        WAYS.iter().flat_map(|(title, way)| pages.iter().map(|pages| (*title, *way, *pages))).collect();
    let measure =
        |(title, _, pages): &(&str, &str, u64)| Measure::new(&named(title, *pages), "s", Better::Less);
    let measures: Vec<Measure> = jobs.iter().map(measure).collect();
    let mut turns = everyone(&names, &measures);
    turns.retain(|(job, name)| field[*name].item.reuses || jobs[*job].1 == "new");
    let run = |job: usize, name: usize| {
        failures.retried(&field[name], || fetch(&field[name], page, jobs[job].2, jobs[job].1))
    };
    // The published tables have five measurements, whatever it takes.
    rounds(lab, &names, count..=count, measures, turns, run)
}

fn named(title: &str, pages: u64) -> String {
    format!("{title}, N = {pages}")
}

/// Clients that crashed, and how often: Mono does so once in a hundred starts, whatever it runs.
#[derive(Default)]
struct Failures {
    counts: RefCell<BTreeMap<String, u32>>,
}

impl Failures {
    /// Starts a client again if it fails, but not for ever. What a failed one took is no figure.
    fn retried(&self, client: &Ready<Client>, fetch: impl Fn() -> Result<Figure>) -> Result<Figure> {
        let mut result = fetch();
        for _ in 0..AGAIN_MAX {
            let Err(error) = &result else { break };
            say(&format!("https: {} is started again: {error:#}", client.item.name));
            *self.counts.borrow_mut().entry(client.item.name.clone()).or_default() += 1;
            result = fetch();
        }
        result
    }

    fn told(self) -> Vec<String> {
        let told = |(name, count)| format!("{name} failed {count} times and was started again.");
        self.counts.into_inner().into_iter().map(told).collect()
    }
}

/// Runs the client to its end and compares what it wrote.
fn fetch(client: &Ready<Client>, page: &Page, count: u64, way: &str) -> Result<Figure> {
    let words = client.command(&client.item.start);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(page.url("/records/pages/1")).arg(count.to_string()).arg(way);
    command.current_dir(client.here()).env("CA", &page.certificate).env("OUT", client.out());
    let before = page.process.usage().cpu_seconds;
    let began = Instant::now();
    let written = output(&mut command)?;
    let seconds = began.elapsed().as_secs_f64();
    ensure!(
        written == PAGE.repeat(count as usize),
        "wrote {} bytes that are not {count} pages",
        written.len()
    );
    let server = page.process.usage().cpu_seconds - before;
    Ok(Figure::new(seconds).with("ms/request", seconds / count as f64 * 1000.0).with("server CPU s", server))
}

/// The columns of the published table: distances of the means, and the factor to the previous N.
fn publish(measures: &mut [Measure], title: &str, pages: &[u64]) {
    let mut previous: Vec<(String, f64)> = Vec::new();
    for pages in pages {
        let Some(measure) = measures.iter_mut().find(|it| it.name == named(title, *pages)) else { continue };
        let fastest = measure.cells.iter().map(|cell| cell.mean).fold(f64::INFINITY, f64::min);
        for cell in &mut measure.cells {
            let mean = cell.mean;
            let mut more =
                vec![("distance s", mean - fastest), ("distance %", (mean / fastest - 1.0) * 100.0)];
            if let Some((_, before)) = previous.iter().find(|(name, _)| *name == cell.contestant) {
                more.push(("factor to the previous N", mean / before));
            }
            cell.published =
                more.into_iter().map(|(name, value)| Beside { name: name.to_owned(), value }).collect();
        }
        previous = measure.cells.iter().map(|cell| (cell.contestant.clone(), cell.mean)).collect();
    }
}

/// What Java trusts instead of a PEM file.
fn make_trust_store(page: &Page) -> Result<()> {
    let store = format!("{}.jks", page.certificate.display());
    let mut command = Command::new("keytool");
    command.args([
        "-importcert",
        "-noprompt",
        "-alias",
        "page",
        "-storepass",
        "changeit",
        "-keystore",
        &store,
        "-file",
    ]);
    if let Err(error) = output(command.arg(&page.certificate)) {
        // Java is absent then, and says so itself.
        say(&format!("https: no trust store for Java: {error:#}"));
    }
    Ok(())
}
