//! survey: the service of 2012 as Rowcast serves it today, with its real mix of reads, counts and new visitors.

use std::cell::{Cell as Slot, RefCell};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use crate::bout::{Figure, everyone, loaded, rounds};
use crate::contestant::Racer;
use crate::contract::is_answer;
use crate::field::enter;
use crate::lab::{Lab, fewer_rows};
use crate::load::{Limit, Load, Tool};
use crate::process::{Process, output};
use crate::report::figure;
use crate::run::{Absent, Better, Cell, Measure, Scenario};
use crate::sampler::Sample;
use crate::scenario::store::Store;
use crate::servers::{SQLITE_FILE, Servers};
use crate::wire::Call;

const ABOUT: &str = "The survey service of 2012 kept its visitors in a dictionary in memory and carried 300 to 400 requests a second, \
    1,000 at its peak. Here it is examples/survey with its own configuration: 70 % of the requests read a visitor by a random \
    64-bit id, 25 % count one up, 5 % create one; wrk on one thread, 32 kept connections. The visitors were loaded by `rowcast \
    import`, in the order of their ids. The limit of requests by one address is off, for one address is all visitors. Beside the load \
    visitors are created, counted up and read back, and compared; at the end rows and counts in the database must be what was \
    sent. SQLite waits for the disk at each commit, MariaDB and PostgreSQL write their logs a moment later.";

const MIX: &str = "the survey's mix";
const CONNECTIONS: u32 = 32;
/// wrk counts whole seconds.
const WARM_UP_SECONDS: f64 = 1.0;
const SECONDS: f64 = 2.0;
/// Shares of the mix.
const CREATES: f64 = 0.05;
const COUNTS: f64 = 0.25;
/// Ids of visitors that no load has: theirs are below.
const SAMPLED: u64 = 1 << 62;
/// limit: samples of one turn; at twenty a second there are far fewer.
const SAMPLES_MAX: u64 = 1_000_000;
/// What the service carried then, in requests a second: usually, and at its peak.
const PUBLISHED: (f64, f64) = (400.0, 1000.0);

/// SQLite's is `schema.sql`, MariaDB's that of the cluster; this says the same.
const POSTGRES: &str =
    "CREATE TABLE visitors (id BIGINT NOT NULL PRIMARY KEY, site VARCHAR(60) NOT NULL DEFAULT '',
        yes SMALLINT NOT NULL DEFAULT 0, no SMALLINT NOT NULL DEFAULT 0, closes SMALLINT NOT NULL DEFAULT 0,
        seen TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, answered TIMESTAMP);
    CREATE INDEX visitors_answered ON visitors (answered) WHERE answered IS NOT NULL;
    CREATE FUNCTION answer() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN NEW.answered := CURRENT_TIMESTAMP; RETURN NEW; END$$;
    CREATE TRIGGER visitors_answer BEFORE UPDATE OF yes, no ON visitors FOR EACH ROW
        WHEN (OLD.answered IS NULL) EXECUTE FUNCTION answer()";

/// Where visitors are kept: the contestant's name, and its engine.
const STORES: [(&str, &str); 3] =
    [("rowcast-sqlite", "sqlite"), ("rowcast-mariadb", "mariadb"), ("rowcast-postgres", "postgres")];

/// What was sent to one contestant in all its turns.
#[derive(Debug, Clone, Copy, Default)]
struct Sent {
    turns: u64,
    loaded: u64,
    sampled: u64,
}

/// # Errors
///
/// If a server cannot be started or the visitors cannot be written.
pub fn run(lab: &Lab) -> Result<Scenario> {
    let servers = Servers::start(lab, true)?;
    let file = visitors(lab)?;
    let mut imported = Measure::new("visitors imported", "rows/s", Better::More);
    let mut absent = Vec::new();
    for (name, engine) in STORES.iter().filter(|(name, _)| lab.is_wanted(name)) {
        lab.tell(&format!("survey: importing {} visitors: {name}", lab.options.rows));
        match import(lab, &servers, engine, &file) {
            Ok(rate) => imported.cells.push(Cell::new(name, vec![rate], lab.options.seed)),
            Err(error) => absent.push(Absent::new(name, format!("importing its visitors: {error:#}"))),
        }
    }
    imported.judge(lab.options.seed);
    let (field, missing) = enter(lab, "survey", Some(&servers))?;
    let measures = vec![Measure::new(MIX, "requests/s", Better::More)];
    let sent = RefCell::new(vec![Sent::default(); field.racers.len()]);
    let number = Slot::new(0);
    let run = |_: usize, at: usize| {
        number.set(number.get() + 1);
        let first = SAMPLED + number.get() * SAMPLES_MAX;
        turn(lab, &servers, &field.racers[at], first, &mut sent.borrow_mut()[at])
    };
    let turns = everyone(&field.names(), &measures);
    let mut raced = rounds(lab, &field.names(), lab.options.round_range(), measures, turns, run);
    for (racer, sent) in field.racers.iter().zip(sent.into_inner()) {
        if let Err(error) = is_kept(lab, &servers, &racer.service.name, sent) {
            raced.absent.push(Absent::new(&racer.service.name, format!("after all rounds: {error:#}")));
            raced
                .measures
                .iter_mut()
                .for_each(|it| it.cells.retain(|cell| cell.contestant != racer.service.name));
        }
    }
    raced.measures.retain(|measure| !measure.cells.is_empty());
    let findings = raced.measures.iter().flat_map(|measure| &measure.cells).map(finding).collect();
    raced.measures.extend((!imported.cells.is_empty()).then_some(imported));
    raced.reduced.extend(fewer_rows(lab, "visitors"));
    absent.extend(missing);
    Ok(Scenario { findings, ..field.close("survey", "The survey", ABOUT, absent, raced) })
}

/// The visitors as CSV, by their ids: number n has the id that `mix.lua` asks for.
fn visitors(lab: &Lab) -> Result<PathBuf> {
    let id = |number: u64| number.wrapping_mul(2_654_435_761).wrapping_add(88_172_645_463_325_252) % SAMPLED;
    let mut ids: Vec<u64> = (0..lab.options.rows).map(id).collect();
    ids.sort_unstable();
    let file = lab.path("survey.csv");
    let mut lines = BufWriter::new(File::create(&file).with_context(|| file.display().to_string())?);
    writeln!(lines, "id,site")?;
    for id in ids {
        writeln!(lines, "{id},load.example")?;
    }
    lines.flush()?;
    Ok(file)
}

fn open(lab: &Lab, servers: &Servers, engine: &str, file: &Path) -> Result<Store> {
    match engine {
        "sqlite" => Store::sqlite(lab, SQLITE_FILE),
        "mariadb" => Store::mariadb(servers, file),
        _ => Store::postgres(servers),
    }
}

fn examples(lab: &Lab) -> PathBuf {
    lab.root.join("../examples/survey")
}

/// Makes the table and imports all visitors; rows a second.
fn import(lab: &Lab, servers: &Servers, engine: &str, file: &Path) -> Result<f64> {
    let read = |name: &str| {
        let path = examples(lab).join(name);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    let schema = match engine {
        "sqlite" => read("schema.sql")?,
        "mariadb" => read("cluster/shard.sql")?,
        _ => POSTGRES.to_owned(),
    };
    open(lab, servers, engine, file)?.run(&schema)?;
    let url = match engine {
        "sqlite" => lab.path(SQLITE_FILE).display().to_string(),
        "mariadb" => servers.mariadb_url(),
        _ => servers.postgres_url(),
    };
    let began = Instant::now();
    let mut command = Command::new(&lab.rowcast);
    command.env_remove("ROWCAST").args(["import", "visitors"]).arg(file).args(["--database", &url]);
    output(&mut command)?;
    let seconds = began.elapsed().as_secs_f64();
    let count = open(lab, servers, engine, file)?.count()?;
    ensure!(count == lab.options.rows, "{count} of {} visitors arrived", lab.options.rows);
    Ok(count as f64 / seconds)
}

fn turn(lab: &Lab, servers: &Servers, racer: &Racer, first: u64, sent: &mut Sent) -> Result<Figure> {
    let script = examples(lab).join("mix.lua").display().to_string();
    let seconds = if lab.options.is_quick { 1.0 } else { SECONDS };
    let load = Load {
        tool: Tool::Wrk,
        more: vec!["-s".to_owned(), script],
        environment: vec![("VISITORS".to_owned(), lab.options.rows.to_string())],
        ..Load::get(racer.url(""), CONNECTIONS, Limit::Seconds(seconds))
    };
    sent.turns += 1;
    sent.loaded += Load { limit: Limit::Seconds(WARM_UP_SECONDS), ..load.clone() }.run(lab)?.good;
    let database: Option<&Process> = match racer.service.name.as_str() {
        "rowcast-mariadb" => Some(servers.mariadb()),
        "rowcast-postgres" => servers.postgres(),
        _ => None,
    };
    let (found, requests, figure) = loaded(lab, racer, database, &load, &sample(racer, first))?;
    sent.loaded += found.good;
    sent.sampled += requests - found.good;
    Ok(figure)
}

/// A new visitor, counted up once, read back; and the next.
fn sample(racer: &Racer, first: u64) -> Sample<'_> {
    let table = racer.url("/records/visitors");
    let id = move |number: u64| first + number / 3;
    let call = move |number: u64| match number % 3 {
        0 => {
            let body = json!({"id": id(number).to_string(), "site": "lab.example"}).to_string();
            Call { method: "POST", url: table.clone(), body }
        }
        1 => Call {
            method: "PATCH",
            url: format!("{table}/{}", id(number)),
            body: json!({"closes": 1}).to_string(),
        },
        _ => Call::get(format!("{table}/{}", id(number))),
    };
    let expected = move |number: u64| match number % 3 {
        0 => json!(id(number).to_string()),
        1 => json!(1),
        _ => json!({"id": id(number), "site": "lab.example", "yes": 0, "no": 0, "closes": 1}),
    };
    Sample {
        call: Box::new(call),
        check: Box::new(move |number, answer| is_answer(answer, &expected(number).to_string())),
    }
}

/// Rows and counts are those that were sent, as far as the dice of the load let it be known.
fn is_kept(lab: &Lab, servers: &Servers, name: &str, sent: Sent) -> Result<()> {
    let Some((_, engine)) = STORES.iter().find(|(store, _)| *store == name) else {
        bail!("{name} has no database here");
    };
    let mut store = open(lab, servers, engine, &lab.path("survey.csv"))?;
    // The contract created one visitor and counted it up.
    let created = store.count()? - lab.options.rows - 1;
    let counted = store.number("SELECT SUM(closes) FROM visitors")? - 1;
    for (what, found, share) in [("visitors", created, CREATES), ("counts", counted, COUNTS)] {
        let due = sent.loaded as f64 * share + sent.sampled as f64 / 3.0;
        // Five deviations of the dice, and what was on its way when a load ended.
        let slack = 5.0 * (sent.loaded as f64 * share * (1.0 - share)).sqrt()
            + f64::from(2 * CONNECTIONS) * sent.turns as f64;
        ensure!((found as f64 - due).abs() <= slack, "{found} {what} are kept, about {due:.0} were sent");
    }
    Ok(())
}

fn finding(cell: &Cell) -> String {
    let beside = |name: &str| cell.beside.iter().find(|it| it.name == name).map_or(0.0, |it| it.value);
    format!(
        "{} carries {} requests/s, {} times the published peak of 1,000 and {} times the usual 400; 99 % of the answers came \
         within {} ms.",
        cell.contestant,
        figure(cell.median),
        figure(cell.median / PUBLISHED.1),
        figure(cell.median / PUBLISHED.0),
        figure(beside("p99 ms"))
    )
}
