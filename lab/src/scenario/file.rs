//! file: 108,000 random letters written to a new file, read back and sent, by many at once.

use std::fs;
use std::io::{BufWriter, Write};

use anyhow::{Result, ensure};
use serde_json::json;

use crate::bout::{Figure, everyone, loaded, rounds};
use crate::contestant::Racer;
use crate::contract::{LETTERS, is_file, letters, reset_texts};
use crate::field::enter;
use crate::lab::Lab;
use crate::load::{Limit, Load, Tool};
use crate::run::{Better, Measure, Scenario};
use crate::sampler::Sample;
use crate::servers::Servers;
use crate::wire::Call;

const ABOUT: &str = "108,000 random letters ('A' and the 57 after it), written to a new file, read back and sent; ab -c 200, as \
    published in 2014 with -n 2000. Names are unique and files are removed, which the originals did not do; a failed request takes its \
    contestant out. Rowcast keeps records, not files: its users would create a text record of 108,000 letters and read it back, \
    so its figure is as many creates and then as many reads of them, over the time of both.";

/// Different bodies that Rowcast is sent; 200 of them are 21 MB.
const BODIES: usize = 200;
/// As published.
const FILES: u64 = 2_000;
const AT_ONCE: u64 = 200;

/// # Errors
///
/// If the database cannot be started.
pub fn run(lab: &Lab) -> Result<Scenario> {
    let servers = Servers::start(lab, false)?;
    let (field, absent) = enter(lab, "file", Some(&servers))?;
    let bodies = lab.path("texts.txt");
    let mut lines = BufWriter::new(fs::File::create(&bodies)?);
    let mut random = fastrand::Rng::with_seed(lab.options.seed);
    for _ in 0..BODIES {
        writeln!(lines, "{}", json!({"content": letters(&mut random)}))?;
    }
    lines.flush()?;
    let bodies = bodies.display().to_string();
    let measures = vec![Measure::new("file round trip, 200 at once", "files/s", Better::More)];
    let run = |_: usize, racer: usize| {
        let racer = &field.racers[racer];
        match &racer.service.texts {
            Some(texts) => record(lab, &servers, racer, texts, &bodies),
            None => file(lab, racer),
        }
    };
    let turns = everyone(&field.names(), &measures);
    let mut raced = rounds(lab, &field.names(), lab.options.round_range(), measures, turns, run);
    if lab.options.files < FILES {
        let files = lab.options.files.max(AT_ONCE);
        raced.reduced.push(format!("{files} files a round instead of {FILES}; `--published` makes them."));
    }
    Ok(field.close("file", "A file, there and back", ABOUT, absent, raced))
}

fn file(lab: &Lab, racer: &Racer) -> Result<Figure> {
    let load = Load::get(racer.url("/file"), AT_ONCE as u32, Limit::Requests(lab.options.files.max(AT_ONCE)));
    let load = Load { tool: Tool::Ab, ..load };
    Load { limit: Limit::Requests(20), connections: 10, ..load.clone() }.run(lab)?;
    let sample = Sample {
        call: Box::new(|_| Call::get(racer.url("/file"))),
        check: Box::new(|_, answer| is_file(answer)),
    };
    let (found, _, figure) = loaded(lab, racer, None, &load, &sample)?;
    let left = fs::read_dir(&racer.work)?.count();
    ensure!(left == 0, "{left} files are left behind");
    Ok(figure.with("seconds for all", found.seconds))
}

fn record(lab: &Lab, servers: &Servers, racer: &Racer, texts: &str, bodies: &str) -> Result<Figure> {
    reset_texts(servers)?;
    let count = lab.options.files.max(AT_ONCE);
    let create = Load::get(racer.url(texts), AT_ONCE as u32, Limit::Requests(count));
    let create = Load { method: "POST", bodies: Some(bodies.to_owned()), ..create };
    let probe = json!({"content": "x".repeat(LETTERS)}).to_string();
    let sample = Sample {
        call: Box::new(|_| Call { method: "POST", url: racer.url(texts), body: probe.clone() }),
        check: Box::new(|_, answer| match answer.body.trim().parse::<u64>() {
            Ok(_) if answer.status == 200 => Ok(()),
            _ => Err(format!("{} {}, not 200 and a key", answer.status, answer.body)),
        }),
    };
    let (created, _, first) = loaded(lab, racer, Some(servers.mariadb()), &create, &sample)?;
    let whole =
        servers.number(&format!("SELECT COUNT(*) FROM texts WHERE CHAR_LENGTH(content) = {LETTERS}"))?;
    ensure!(whole >= count, "{count} creates made {whole} whole texts");
    let read = racer.url(&format!("{texts}/[1-9][0-9]\\?include=content"));
    let read = Load { is_pattern: true, ..Load::get(read, AT_ONCE as u32, Limit::Requests(count)) };
    let sample = Sample {
        call: Box::new(|number| {
            Call::get(racer.url(&format!("{texts}/{}?include=content", number % 99 + 1)))
        }),
        check: Box::new(|_, answer| match answer.body.len() {
            length if answer.status == 200 && length > LETTERS => Ok(()),
            length => Err(format!("{} with {length} bytes", answer.status)),
        }),
    };
    let (found, _, second) = loaded(lab, racer, Some(servers.mariadb()), &read, &sample)?;
    let seconds = created.seconds + found.seconds;
    let mut figure = Figure::new(count as f64 / seconds);
    // A create and a read are one job, and cost what both cost.
    for (one, other) in first.beside.iter().zip(&second.beside) {
        let value = if one.name.starts_with("memory") || one.name.starts_with("database memory") {
            one.value.max(other.value)
        } else {
            one.value + other.value
        };
        figure = figure.with(&one.name, value);
    }
    Ok(figure.with("seconds for all", seconds))
}
