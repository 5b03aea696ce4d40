//! https: a page fetched N times, one after the other, over TLS; the whole process is timed.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::bout::{Figure, rounds};
use crate::contestant::{Client, Ready, clients};
use crate::lab::{Lab, say};
use crate::process::output;
use crate::run::{Absent, Better, Measure, Scenario};
use crate::scenario::page::{Page, database};

const ABOUT: &str = "N sequential GETs of one page over HTTPS, its body to standard output; the whole process is timed, start-up \
    included, and its output is compared. M1 to M5, mean, distance to the fastest and factor to the previous N, as published \
    in 2015, where Go kept its connection and PHP opened one for each request: here both ways are timed apart. The server \
    is Rowcast with TLS, on this machine, so what was a network then is the cost of the client and of the handshake now.";

const PAGE: &str = "{\"id\":1,\"text\":\"Hello, world!\"}\n";
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
    let mut field = Vec::new();
    for client in ready {
        match fetch(&client, &page, 2, "new").and_then(|_| fetch(&client, &page, 2, "reuse")) {
            Ok(_) => field.push(client),
            Err(error) => {
                say(&format!("https: {} is absent: {error:#}", client.item.name));
                scenario.absent.push(Absent::new(&client.item.name, format!("{error:#}")));
            }
        }
    }
    scenario.contestants = field.iter().map(|client| client.entrant.clone()).collect();
    // M1 to M5, unless only few are wanted.
    let count = if lab.options.is_quick { lab.options.rounds } else { lab.options.rounds.max(5) };
    for (title, way) in WAYS {
        let takes_part: Vec<_> = field.iter().filter(|client| client.item.reuses || way == "new").collect();
        let names: Vec<String> = takes_part.iter().map(|client| client.item.name.clone()).collect();
        let measure = |pages: &u64| Measure::new(&format!("{title}, N = {pages}"), "s", Better::Less);
        let measures = lab.options.pages.iter().map(measure).collect();
        let run =
            |measure: usize, name: usize| fetch(takes_part[name], &page, lab.options.pages[measure], way);
        let (mut measures, absent) = rounds(lab, &names, count, measures, run);
        publish(&mut measures);
        scenario.measures.extend(measures);
        scenario.absent.extend(absent);
    }
    Ok(scenario)
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
fn publish(measures: &mut [Measure]) {
    for at in 0..measures.len() {
        let fastest = measures[at].cells.iter().map(|cell| cell.mean).fold(f64::INFINITY, f64::min);
        for index in 0..measures[at].cells.len() {
            let cell = &measures[at].cells[index];
            let (name, mean) = (cell.contestant.clone(), cell.mean);
            let before = at
                .checked_sub(1)
                .and_then(|before| measures[before].cells.iter().find(|it| it.contestant == name));
            let factor = before.map(|cell| mean / cell.mean);
            let mut cell = cell.clone();
            cell = cell.beside("mean s", mean).beside("distance s", mean - fastest);
            cell = cell.beside("distance %", (mean / fastest - 1.0) * 100.0);
            if let Some(factor) = factor {
                cell = cell.beside("factor to previous N", factor);
            }
            measures[at].cells[index] = cell;
        }
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
