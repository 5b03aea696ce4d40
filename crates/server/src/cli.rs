//! The command line: what can be said, and what each command does.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use toml::Value;

use crate::cli::arguments::{ExportArgs, ImportArgs, SourceArgs};
use crate::config::{self, Config, Sources};
use crate::demo;
use crate::explain::{Asked, explain, page};
use crate::serve::serve;
use crate::transfer;

mod arguments;

const EXAMPLES: &str = "Examples:
  rowcast demo                                serve a sample blog, to try things out
  rowcast serve shop.db                       every table of shop.db at http://127.0.0.1:8080/records/TABLE
  rowcast serve shop.db --listen 0.0.0.0:80   for the whole network (read docs/configuration.md first)
  rowcast serve --config rowcast.toml         with everything in a file

Settings are taken from flags, then from ROWCAST_… variables, then from the file, then from the defaults.
docs/configuration.md lists them all.";

const EXPLAIN_EXAMPLES: &str = "Examples:
  rowcast policy explain --config rowcast.toml GET '/records/posts?filter=title,cs,rust'
  rowcast policy explain --config rowcast.toml --as '{\"role\":\"editor\"}' --body '{\"title\":\"x\"}' PUT /records/posts/1";

/// A fast REST API in front of the SQL database you already have.
#[derive(Parser)]
#[command(name = "rowcast", version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve a database
    #[command(after_help = EXAMPLES)]
    Serve(ServeArgs),
    /// Write a sample blog database and serve it
    Demo(DemoArgs),
    /// Write the records of a file into a table, all or none
    Import(ImportArgs),
    /// Write the records of a table into a file
    Export(ExportArgs),
    /// Check a configuration without serving it
    Check(CheckArgs),
    /// Look at what the rules make of a request
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Print a page of the documentation that is made from the program
    #[command(hide = true)]
    Docs { page: Page },
}

#[derive(Subcommand)]
enum PolicyCommand {
    /// Show which rules apply to a request, and its SQL, without running it
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
}

#[derive(Args)]
struct ExplainArgs {
    /// The method, for example GET
    method: String,
    /// Path and query, for example '/records/posts?filter=id,eq,1'
    target: String,
    /// Claims of who asks, as a JSON object; without it nobody has logged in
    #[arg(long = "as", value_name = "JSON")]
    claims: Option<String>,
    /// Address of who asks
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    address: String,
    /// Body of a write
    #[arg(long, value_name = "TEXT", default_value = "")]
    body: String,
    /// Answer with JSON
    #[arg(long)]
    json: bool,
    /// The database, if the configuration does not name it
    #[arg(long)]
    database: Option<String>,
    /// Read settings from this TOML file
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Clone, Copy, ValueEnum)]
enum Page {
    /// docs/configuration.md
    Configuration,
}

#[derive(Args)]
struct ServeArgs {
    /// A SQLite file, mysql://user@host/database or postgres://user@host/database
    database: Option<String>,
    /// Read settings from this TOML file
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Args)]
struct CheckArgs {
    #[command(flatten)]
    serve: ServeArgs,
    /// Take warnings for errors
    #[arg(long)]
    strict: bool,
}

#[derive(Args)]
struct DemoArgs {
    /// Where to write blog.db (default: a temporary directory that is removed at the end)
    directory: Option<PathBuf>,
    /// Write the database and stop
    #[arg(long)]
    no_serve: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Args, Default)]
struct Settings {
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, short, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Encrypt connections with the certificate in this PEM file, and those of its issuers after it
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<String>,
    /// The key of that certificate, in PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,
    /// Encrypt connections with a certificate made now, for development
    #[arg(long)]
    tls_self_signed: bool,
    /// Number of worker threads [default: one per core]
    #[arg(long, value_name = "N")]
    workers: Option<i64>,
    /// Be as lenient as php-crud-api with input that is not understood
    #[arg(long)]
    lenient: bool,
    /// How log lines look
    #[arg(long, value_name = "human|json")]
    log_format: Option<String>,
    /// Log a line for each request
    #[arg(long)]
    log_requests: bool,
    /// Any other setting, for example --set limits.bodyBytes=1000000
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Runs the program. Errors are one sentence on standard error, and exit code 1.
pub fn run() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve(args) => run_serve(args),
        Command::Demo(args) => run_demo(args),
        Command::Import(args) => run_import(args),
        Command::Export(args) => run_export(args),
        Command::Check(args) => run_check(args),
        Command::Policy(PolicyCommand::Explain(args)) => run_explain(args),
        Command::Docs { page } => run_docs(page),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(std::io::stderr(), "rowcast: {error:#}").ok();
            ExitCode::FAILURE
        }
    }
}

fn run_serve(args: ServeArgs) -> anyhow::Result<()> {
    serve(load(args)?)
}

fn run_check(args: CheckArgs) -> anyhow::Result<()> {
    let config = load(args.serve)?;
    let database = config.open().map_err(anyhow::Error::msg)?;
    let warnings = config.check(&database.snapshot().schema).map_err(anyhow::Error::msg)?;
    database.close();
    for warning in &warnings {
        writeln!(std::io::stderr(), "warning: {warning}")?;
    }
    match warnings.len() {
        0 => writeln!(std::io::stdout(), "The configuration is fine.")?,
        count if args.strict => bail!("{count} of what --strict takes for errors"),
        count => writeln!(std::io::stdout(), "The configuration works; warnings: {count}.")?,
    }
    Ok(())
}

fn run_import(mut args: ImportArgs) -> anyhow::Result<()> {
    let config = load_source(&mut args.source)?;
    transfer::import(&config, args.options()?)
}

fn run_export(mut args: ExportArgs) -> anyhow::Result<()> {
    let config = load_source(&mut args.source)?;
    transfer::export(&config, &args.options())
}

fn load_source(source: &mut SourceArgs) -> anyhow::Result<Config> {
    let settings = Settings { workers: Some(1), set: std::mem::take(&mut source.set), ..Settings::default() };
    let (database, config) = (source.database.take(), source.config.take());
    load(ServeArgs { database, config, settings })
}

fn run_explain(args: ExplainArgs) -> anyhow::Result<()> {
    let ExplainArgs { method, target, claims, address, body, json, database, config, settings } = args;
    let config = load(ServeArgs { database, config, settings })?;
    let explanation = explain(&config, &Asked { method, target, claims, address, body })?;
    let text = if json { serde_json::to_string_pretty(&explanation)? + "\n" } else { page(&explanation) };
    Ok(write!(std::io::stdout(), "{text}")?)
}

fn run_docs(page: Page) -> anyhow::Result<()> {
    let text = match page {
        Page::Configuration => config::page(),
    };
    Ok(write!(std::io::stdout(), "{text}")?)
}

fn load(args: ServeArgs) -> anyhow::Result<Config> {
    let flags = flags(args.settings, args.database)?;
    Config::load(&Sources { flags, file: args.config, environment: std::env::vars_os().collect() })
}

fn run_demo(args: DemoArgs) -> anyhow::Result<()> {
    // The guard removes the directory when the server has stopped.
    let (directory, _guard) = match args.directory {
        Some(directory) => (directory, None),
        None => {
            let guard = tempfile::Builder::new()
                .prefix("rowcast-demo-")
                .tempdir()
                .context("no temporary directory for the sample; give one: rowcast demo DIRECTORY")?;
            (guard.path().to_owned(), Some(guard))
        }
    };
    let file = demo::write(&directory, &mut progress())?;
    if args.no_serve {
        writeln!(std::io::stdout(), "{}", file.display())?;
        return Ok(());
    }
    let flags = flags(args.settings, Some(file.display().to_string()))?;
    let sources = Sources { flags, file: None, environment: std::env::vars_os().collect() };
    serve(Config::load(&sources)?)
}

/// A line that counts rows, rewritten in place on a terminal and left out elsewhere.
fn progress() -> impl FnMut(&str, u64, u64) {
    let is_terminal = std::io::stderr().is_terminal();
    move |table: &str, rows: u64, total: u64| {
        if is_terminal {
            let end = if rows == total { "\n" } else { "" };
            write!(std::io::stderr(), "\rWriting {table}: {rows} of {total} rows{end}").ok();
        }
    }
}

fn flags(settings: Settings, database: Option<String>) -> anyhow::Result<Vec<(String, Value)>> {
    let mut flags: Vec<(String, Value)> = Vec::new();
    for pair in &settings.set {
        let Some((key, value)) = pair.split_once('=') else {
            bail!("--set {pair} is not of the form KEY=VALUE, for example --set limits.bodyBytes=1000000");
        };
        flags.push((key.to_owned(), Value::String(value.to_owned())));
    }
    let mut put = |key: &str, value: Option<Value>| flags.extend(value.map(|value| (key.to_owned(), value)));
    put("database", database.map(Value::String));
    put("listen", settings.listen.map(Value::String));
    put("tls.cert", settings.tls_cert.map(Value::String));
    put("tls.key", settings.tls_key.map(Value::String));
    put("tls.selfSigned", settings.tls_self_signed.then_some(Value::Boolean(true)));
    put("workers", settings.workers.map(Value::Integer));
    put("strict", settings.lenient.then_some(Value::Boolean(false)));
    put("log.format", settings.log_format.map(Value::String));
    put("log.requests", settings.log_requests.then_some(Value::Boolean(true)));
    Ok(flags)
}
