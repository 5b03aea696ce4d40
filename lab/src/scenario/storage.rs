//! storage: 6,000,000 rows of a visitor's id and response, one by one, in bulk, with an index and without.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::bout::Figure;
use crate::lab::{Lab, fewer_rows, say};
use crate::run::{Absent, Better, Cell, Entrant, Measure, Scenario};
use crate::scenario::store::Store;
use crate::servers::Servers;
use crate::statistics::median;

const ABOUT: &str = "The storage of the survey service of 2012: rows of a random 64-bit id and a small response. Inserts one by \
    one on one connection, each a transaction of its own, into an empty table with a primary key, without one, and into the \
    full one; a bulk load into a table without a key; the building of the primary key; point reads without and with it. The same \
    through Rowcast before each engine: single creates, a bulk load of text/csv into a table with its key (it serves none without) and in the order of the ids, reads by key. \
    Inserts and reads are five windows of time each; a load and a key are made once. SQLite waits for the disk at each commit \
    (synchronous=FULL), as it does below Rowcast; MariaDB and PostgreSQL write their logs a moment later, as published.";

const WINDOWS: usize = 5;
const WITH_KEY: &str = "CREATE TABLE visitors (id BIGINT NOT NULL PRIMARY KEY, response SMALLINT NOT NULL)";
const WITHOUT_KEY: &str = "CREATE TABLE visitors (id BIGINT NOT NULL, response SMALLINT NOT NULL)";
const DROP: &str = "DROP TABLE IF EXISTS visitors";

/// Names and titles, in the order of the report.
const STORES: [(&str, &str); 6] = [
    ("sqlite", "SQLite, rusqlite, WAL, synchronous=FULL"),
    ("mariadb", "MariaDB, mysql_async"),
    ("postgres", "PostgreSQL, tokio-postgres"),
    ("rowcast-sqlite", "Rowcast before SQLite"),
    ("rowcast-mariadb", "Rowcast before MariaDB"),
    ("rowcast-postgres", "Rowcast before PostgreSQL"),
];

/// Those that no manifest has.
pub const STORES_OWN: &[&str] = &["sqlite", "mariadb", "postgres"];

const MEASURES: [(&str, &str, Better); 8] = [
    ("insert one by one, with a key", "rows/s", Better::More),
    ("insert one by one, without a key", "rows/s", Better::More),
    ("bulk load, without a key", "rows/s", Better::More),
    ("bulk load, with a key, in its order", "rows/s", Better::More),
    ("point read without an index", "reads/s", Better::More),
    ("build the index", "s", Better::Less),
    ("point read with the index", "reads/s", Better::More),
    ("insert one by one into the full table", "rows/s", Better::More),
];

/// What all stores are given.
struct Rows {
    rows: Vec<(i64, i16)>,
    file: PathBuf,
    /// The same in the order of their ids: with a key there, any other order measures the caches of the engines.
    ordered: PathBuf,
}

/// # Errors
///
/// If a server cannot be started or the rows cannot be written.
pub fn run(lab: &Lab) -> Result<Scenario> {
    let servers = Servers::start(lab, true)?;
    let rows = Rows::draw(lab)?;
    let mut measures: Vec<Measure> =
        MEASURES.iter().map(|(name, unit, better)| Measure::new(name, unit, *better)).collect();
    let mut scenario = Scenario {
        name: "storage".to_owned(),
        title: format!("Storage, {} rows", rows.rows.len()),
        about: ABOUT.to_owned(),
        ..Scenario::default()
    };
    for (name, title) in STORES.iter().filter(|(name, _)| lab.is_wanted(name)) {
        lab.tell(&format!("storage: {name}"));
        let mut step = |measure: usize, figures: Result<Vec<Figure>>| match figures {
            Ok(figures) => {
                let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
                lab.tell(&format!(
                    "storage: {name}: {}: {:.4} {unit}",
                    MEASURES[measure].0,
                    median(&values),
                    unit = MEASURES[measure].1
                ));
                measures[measure].cells.push(Cell::new(name, values, lab.options.seed));
            }
            Err(error) => {
                say(&format!("storage: {name}: {}: {error:#}", MEASURES[measure].0));
                scenario.absent.push(Absent::new(name, format!("{}: {error:#}", MEASURES[measure].0)));
            }
        };
        let done = match name.strip_prefix("rowcast-") {
            None => engine(lab, open(lab, &servers, name, &rows.file), &rows, &mut step),
            Some(below) => rowcast(lab, &servers, below, &rows, &mut step),
        };
        match done {
            Ok(()) => {
                let is_sqlite = *name == "sqlite";
                let version =
                    if is_sqlite { format!("SQLite {}", rusqlite::version()) } else { String::new() };
                scenario.contestants.push(Entrant {
                    name: (*name).to_owned(),
                    title: (*title).to_owned(),
                    version,
                });
            }
            Err(error) => scenario.absent.push(Absent::new(name, format!("{error:#}"))),
        }
    }
    measures.retain(|measure| !measure.cells.is_empty());
    measures.iter_mut().for_each(|measure| measure.judge(lab.options.seed));
    scenario.measures = measures;
    scenario.reduced = fewer_rows(lab, "rows");
    Ok(scenario)
}

type Step<'a> = dyn FnMut(usize, Result<Vec<Figure>>) + 'a;

fn open(lab: &Lab, servers: &Servers, name: &str, file: &Path) -> Result<Store> {
    match name {
        "sqlite" => Store::sqlite(lab, "storage.db"),
        "mariadb" => Store::mariadb(servers, file),
        _ => Store::postgres(servers),
    }
}

/// All steps on an engine.
fn engine(lab: &Lab, store: Result<Store>, rows: &Rows, step: &mut Step<'_>) -> Result<()> {
    let mut store = store?;
    for (measure, table) in [(0, WITH_KEY), (1, WITHOUT_KEY)] {
        store.run(&format!("{DROP}; {table}"))?;
        step(measure, inserts(lab, &mut store));
    }
    store.run(&format!("{DROP}; {WITHOUT_KEY}"))?;
    step(2, load(&mut store, rows));
    step(4, points(lab, &mut store, rows));
    let key = match store {
        // SQLite cannot add a primary key to a table.
        Store::Sqlite(_) => "CREATE UNIQUE INDEX visitors_id ON visitors (id)",
        _ => "ALTER TABLE visitors ADD PRIMARY KEY (id)",
    };
    let began = Instant::now();
    let built = store.run(key);
    step(5, built.map(|()| vec![Figure::new(began.elapsed().as_secs_f64())]));
    step(6, points(lab, &mut store, rows));
    step(7, inserts(lab, &mut store));
    store.run(DROP)
}

/// What a client of Rowcast can do: the table has a key from the start.
fn rowcast(lab: &Lab, servers: &Servers, below: &str, rows: &Rows, step: &mut Step<'_>) -> Result<()> {
    let mut store = match below {
        "sqlite" => Store::sqlite(lab, "storage-rowcast.db"),
        other => open(lab, servers, other, &rows.file),
    }?;
    store.run(&format!("{DROP}; {WITH_KEY}"))?;
    let url = match below {
        "sqlite" => lab.path("storage-rowcast.db").display().to_string(),
        "mariadb" => servers.mariadb_url(),
        _ => servers.postgres_url(),
    };
    let mut store = Store::rowcast(lab, &url, store)?;
    step(0, inserts(lab, &mut store));
    store.run("DELETE FROM visitors")?;
    let loaded = load(&mut store, rows);
    if loaded.is_err() {
        // What follows needs the rows, however they got there.
        store.run("DELETE FROM visitors")?;
        store.load_below(&rows.file, &rows.rows)?;
    }
    step(3, loaded);
    step(6, points(lab, &mut store, rows));
    step(7, inserts(lab, &mut store));
    store.run(DROP)
}

/// New rows for a time, in windows; every one is counted afterwards.
fn inserts(lab: &Lab, store: &mut Store) -> Result<Vec<Figure>> {
    let mut random = fastrand::Rng::with_seed(lab.options.seed ^ 0x1d5);
    let before = store.count()?;
    let mut inserted = 0;
    let figures = windows(lab, || {
        inserted += 1;
        store.insert(random.i64(0..), random.i16(0..3))
    })?;
    let after = store.count()?;
    ensure!(after - before == inserted, "{inserted} inserts made {} rows", after - before);
    Ok(figures)
}

/// Rows that are there, drawn at random; every answer is compared.
fn points(lab: &Lab, store: &mut Store, rows: &Rows) -> Result<Vec<Figure>> {
    let mut random = fastrand::Rng::with_seed(lab.options.seed ^ 0x9c1);
    windows(lab, || {
        let (id, response) = rows.rows[random.usize(..rows.rows.len())];
        let found = store.point(id)?;
        ensure!(found == response, "visitor {id} has response {found}, not {response}");
        Ok(())
    })
}

fn load(store: &mut Store, rows: &Rows) -> Result<Vec<Figure>> {
    let file = if matches!(store, Store::Rowcast { .. }) { &rows.ordered } else { &rows.file };
    let began = Instant::now();
    store.load(file, &rows.rows)?;
    let seconds = began.elapsed().as_secs_f64();
    let count = store.count()?;
    ensure!(count == rows.rows.len() as u64, "{count} of {} rows arrived", rows.rows.len());
    Ok(vec![Figure::new(count as f64 / seconds)])
}

/// How often a thing is done in a second, in each of five windows; once at least, however slow it is.
fn windows(lab: &Lab, mut once: impl FnMut() -> Result<()>) -> Result<Vec<Figure>> {
    let length = Duration::from_secs_f64(lab.options.seconds / 2.0);
    let mut figures = Vec::new();
    for _ in 0..WINDOWS {
        let began = Instant::now();
        let mut count = 0;
        while count == 0 || began.elapsed() < length {
            once()?;
            count += 1;
        }
        figures.push(Figure::new(f64::from(count) / began.elapsed().as_secs_f64()));
    }
    Ok(figures)
}

impl Rows {
    fn draw(lab: &Lab) -> Result<Rows> {
        let mut random = fastrand::Rng::with_seed(lab.options.seed);
        let rows: Vec<_> = (0..lab.options.rows).map(|_| (random.i64(0..), random.i16(0..3))).collect();
        let mut ordered = rows.clone();
        ordered.sort_unstable();
        Ok(Rows {
            file: write(lab.path("visitors.csv"), &rows)?,
            ordered: write(lab.path("visitors-ordered.csv"), &ordered)?,
            rows,
        })
    }
}

fn write(file: PathBuf, rows: &[(i64, i16)]) -> Result<PathBuf> {
    let mut lines = BufWriter::new(File::create(&file).with_context(|| file.display().to_string())?);
    writeln!(lines, "id,response")?;
    for (id, response) in rows {
        writeln!(lines, "{id},{response}")?;
    }
    lines.flush()?;
    Ok(file)
}
