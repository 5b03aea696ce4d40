//! `rowcast import`: a file into a table, by the same code as a request.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use engine::database::Snapshot;
use engine::exec::{self, Progress, Recipe, Report, Spool, Spooled, Syntax};
use treeql::encode::Format;
use treeql::policy::Policy;
use treeql::request::{Operation, Query, Request, Values};

use crate::api::{cleaning, import_document, making};
use crate::config::Config;
use crate::transfer::create::{create, take_back};
use crate::transfer::options::ImportOptions;
use crate::transfer::progress::Line;
use crate::transfer::session::{format_of, told, with_database};

/// Bytes of standard input that are read at once.
const PIECE: usize = 256 * 1024;
/// What stands for standard input.
const STDIN: &str = "-";

/// Imports a file. The operator may do everything; sanitation and validation hold as they do for requests.
pub fn import(config: &Config, options: ImportOptions) -> anyhow::Result<()> {
    let syntax = match options.format.or_else(|| format_of(&options.file)) {
        Some(Format::Csv) => Syntax::Csv,
        Some(Format::Ndjson) => Syntax::Ndjson,
        Some(Format::Json) => Syntax::Json,
        None if options.file == STDIN => Syntax::Csv,
        None => bail!("{}: say what it is with --format csv, ndjson or json", options.file),
    };
    let (is_json, is_dry_run, is_shown) = (options.is_json, options.is_dry_run, options.is_shown);
    let start = Instant::now();
    let report = with_database(config, async |database| {
        let spooled = spool(&options.file).await?;
        if options.is_new {
            if syntax != Syntax::Csv {
                bail!("--create reads the columns off a CSV file; make the table yourself for other formats");
            }
            create(database, &spooled, &options).await?;
            if options.is_dry_run {
                return Ok(Report::default());
            }
        }
        let new = options.is_new.then(|| options.table.clone());
        let recipe = Arc::new(recipe(config, &database.snapshot(), options, syntax));
        match (load(recipe, spooled, is_shown).await, new) {
            (Err(failure), Some(table)) => Err(take_back(database, &table, failure).await),
            (result, _) => result,
        }
    })?;
    tell(&report, syntax, is_json, is_dry_run, start.elapsed())
}

async fn load(recipe: Arc<Recipe>, spooled: Spooled, is_shown: bool) -> anyhow::Result<Report> {
    // What is wrong with the table is told before the records are looked at.
    recipe.snapshot.plan(&recipe.request, &recipe.policy).map_err(|error| told(&error))?;
    let line = is_shown.then(|| Line::watch(&recipe.progress, Some(spooled.len()))).transpose()?;
    let report = exec::load(recipe, spooled).await;
    drop(line);
    report.map_err(|error| told(&error))
}

fn recipe(config: &Config, snapshot: &Arc<Snapshot>, options: ImportOptions, syntax: Syntax) -> Recipe {
    let mut request = Request::new(Operation::Create, options.table);
    request.query = Query {
        include: options.include.map(Into::into),
        exclude: options.exclude.map(Into::into),
        ..Query::default()
    };
    request.conflict = options.conflict;
    let policy = Arc::new(Policy::default());
    Recipe {
        snapshot: Arc::clone(snapshot),
        policy: Arc::clone(&policy),
        make_key: making(snapshot, &request.table),
        clean: cleaning(
            &config.record_rules,
            config.stations.json.as_ref(),
            snapshot,
            &policy,
            &request.table,
        ),
        request,
        values: Values::default(),
        syntax,
        names: options.names,
        is_skipping: options.is_skipping,
        is_dry_run: options.is_dry_run,
        record_bytes_max: usize::try_from(config.limits.body_bytes).unwrap_or(usize::MAX),
        // Nobody else is kept waiting by surprise.
        patience: Duration::MAX,
        progress: Arc::new(Progress::default()),
    }
}

/// A file as it is; standard input, and what is no plain file, by way of a temporary one.
async fn spool(name: &str) -> anyhow::Result<Spooled> {
    let mut source: Box<dyn Read> = if name == STDIN {
        Box::new(std::io::stdin().lock())
    } else {
        let file = File::open(name).with_context(|| format!("{name} cannot be read"))?;
        let data = file.metadata().with_context(|| format!("{name} cannot be read"))?;
        if data.is_dir() {
            bail!("{name} is a directory; give the path of a file");
        }
        if data.is_file() {
            return Ok(Spooled::File(file));
        }
        Box::new(file)
    };
    let mut spool = Spool::default();
    let mut piece = vec![0; PIECE];
    loop {
        let count = source
            .read(&mut piece)
            .with_context(|| format!("{} cannot be read", Path::new(name).display()))?;
        if count == 0 {
            return spool.finish().await.map_err(|error| told(&error));
        }
        spool.push(&piece[..count]).await.map_err(|error| told(&error))?;
    }
}

fn tell(
    report: &Report,
    syntax: Syntax,
    is_json: bool,
    is_dry_run: bool,
    elapsed: Duration,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        let mut document: serde_json::Value =
            serde_json::from_slice(&import_document(report, syntax, is_dry_run))?;
        document["seconds"] = elapsed.as_secs_f64().into();
        return Ok(writeln!(out, "{document}")?);
    }
    let seconds = elapsed.as_secs_f64();
    let (verb, end) = if is_dry_run { ("would be written", "; nothing was") } else { ("written", "") };
    #[expect(clippy::cast_precision_loss, reason = "it is a rate for people")]
    let rate = report.written as f64 / seconds.max(0.001);
    writeln!(out, "{} rows {verb} in {seconds:.1} s ({rate:.0} rows/s){end}", report.written)?;
    if report.ignored > 0 {
        writeln!(out, "{} left out, because their key is taken", report.ignored)?;
    }
    if report.refused > 0 {
        writeln!(out, "{} refused:", report.refused)?;
        for (_, error) in &report.errors {
            writeln!(out, "  {:#}", told(error))?;
        }
        let shown = report.errors.len() as u64;
        if report.refused > shown {
            writeln!(out, "  and {} more", report.refused - shown)?;
        }
    }
    Ok(())
}
