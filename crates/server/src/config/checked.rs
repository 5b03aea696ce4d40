//! Config: settings that have been checked, in the types that the parts take.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use engine::database::{self, Database};
use engine::driver::{self, Secret};
use treeql::mode::Mode;
use treeql::nearest::nearest;
use treeql::policy::Rules;
use treeql::schema::{Declared, Mapping, Publication, Schema};

use crate::api::{Controller, Documents, Explorer, Limits, RecordRules};
use crate::auth::Auth;
use crate::config::dangers::Dangers;
use crate::config::existing;
use crate::config::middlewares::Middlewares;
use crate::config::options::Options;
use crate::config::place::address;
use crate::config::rules::{record_rules, rules};
use crate::config::sources::Sources;
use crate::config::stations::{auth, stations};
use crate::config::surface::surface;
use crate::http::Tls;
use crate::log;
use crate::middleware::Stations;
use crate::middleware::reconnect::Reconnect;

/// Everything the server needs to know, checked.
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// How connections are encrypted, if they are.
    pub tls: Option<Arc<Tls>>,
    /// Number of worker threads.
    pub workers: usize,
    /// The database.
    pub database: database::Options,
    /// The databases of tenants.
    pub tenants: Option<Arc<Reconnect>>,
    /// Path prefix of the API, without a slash at the end.
    pub base_path: String,
    /// Groups of paths that exist.
    pub controllers: Vec<Controller>,
    /// Bounds of requests.
    pub limits: Limits,
    /// Who may do what.
    pub rules: Arc<Rules>,
    /// Descriptions of the API.
    pub documents: Arc<Documents>,
    /// The page for people at `/`, if there is one.
    pub explorer: Option<Explorer>,
    /// The middlewares that look at the head of a message.
    pub stations: Arc<Stations>,
    /// How people say who they are.
    pub auth: Option<Arc<Auth>>,
    /// What is done to records before they are written.
    pub record_rules: Arc<RecordRules>,
    /// What of it may be dangerous.
    pub dangers: Dangers,
    /// Where metrics are listened for, beside the API.
    pub metrics_listen: Option<SocketAddr>,
    /// The path of the metrics, with the API.
    pub metrics_path: Option<String>,
    /// What is logged.
    pub log: log::Options,
    /// How long it goes on serving when it is told to end.
    pub drain_delay: Duration,
    /// How long requests in flight have to end.
    pub drain: Duration,
}

impl Config {
    /// Puts the sources together and checks them. Errors say what to change.
    pub fn load(sources: &Sources) -> anyhow::Result<Config> {
        let options = sources.options()?;
        let on = Middlewares::parse(&options.middlewares.0).map_err(anyhow::Error::msg)?;
        let default_workers = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let workers = if options.workers == 0 { default_workers() } else { usize::from(options.workers) };
        let controllers = controllers(&options.controllers.0)?;
        let surface = surface(&options, &on, &controllers).map_err(anyhow::Error::msg)?;
        let base_path = base_path(&options.base_path)?;
        let has_page = options.explorer.0 && controllers.contains(&Controller::OpenApi);
        let listen = listen(&options.listen.0)?;
        let database = database_options(&options, workers)?;
        let tenants = on.when("reconnect", || Reconnect::compile(&options.reconnect, database.clone()));
        Ok(Config {
            documents: Arc::new(Documents::new(surface)),
            explorer: has_page.then(|| Explorer::new(&base_path)),
            listen,
            tls: Tls::compile(&options.tls, listen.ip()).map_err(anyhow::Error::msg)?.map(Arc::new),
            workers,
            database,
            tenants: tenants.map_err(anyhow::Error::msg)?.map(Arc::new),
            base_path,
            controllers,
            limits: Limits {
                body_bytes: options.limits.body_bytes,
                batch_rows: options.limits.batch_rows,
                ids: options.limits.ids,
                import_bytes: options.limits.import_bytes,
                import_patience: Duration::from_secs(options.limits.import_seconds),
            },
            stations: Arc::new(stations(&options, &on).map_err(anyhow::Error::msg)?),
            auth: auth(&options, &on).map_err(anyhow::Error::msg)?,
            record_rules: Arc::new(record_rules(&options, &on).map_err(anyhow::Error::msg)?),
            rules: Arc::new(rules(&options, &on).map_err(anyhow::Error::msg)?),
            dangers: Dangers::of(&options, &on, sources.file.as_deref(), !listen.ip().is_loopback()),
            metrics_listen: metrics_listen(&options.metrics.listen)?,
            metrics_path: metrics_path(&options.metrics.path)?,
            log: log::Options::parse(&options.log.format, &options.log.level, options.log.requests)
                .map_err(anyhow::Error::msg)?,
            drain_delay: Duration::from_secs(options.limits.drain_delay_seconds),
            drain: Duration::from_secs(options.limits.drain_seconds),
        })
    }

    /// Opens the database. The error is a sentence for the operator.
    pub fn open(&self) -> Result<Arc<Database>, String> {
        Database::open(self.database.clone())
    }

    /// Compares the configuration with the database: what is dangerous about it, in sentences. Rules about what does not
    /// exist are an error, or where callers make tables only dangerous.
    pub fn check(&self, schema: &Schema) -> Result<Vec<String>, String> {
        let has_records = self.controllers.contains(&Controller::Records);
        let mut dangers = self.dangers.all(&self.rules, &self.stations, has_records, schema);
        match existing::check(&self.rules, schema) {
            // Rules hold for tables that are made later, too.
            Err(error) if self.controllers.contains(&Controller::Columns) => dangers.push(error),
            checked => checked?,
        }
        Ok(dangers)
    }
}

fn listen(text: &str) -> anyhow::Result<SocketAddr> {
    text.to_socket_addrs().ok().and_then(|mut found| found.next()).with_context(|| {
        format!("listen is '{text}', but takes an address and a port, for example 127.0.0.1:8080")
    })
}

fn metrics_listen(text: &str) -> anyhow::Result<Option<SocketAddr>> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.map(Some).with_context(|| {
        format!("metrics.listen is '{text}', but takes an address and a port, for example 127.0.0.1:9100")
    })
}

fn metrics_path(text: &str) -> anyhow::Result<Option<String>> {
    match text {
        "" => Ok(None),
        path if path.starts_with('/') && path.len() > 1 => Ok(Some(path.to_owned())),
        other => bail!("metrics.path is '{other}', but begins with a slash, for example /metrics"),
    }
}

fn database_options(options: &Options, workers: usize) -> anyhow::Result<database::Options> {
    let address = address(options)?;
    let mapping = Mapping::parse(&options.mapping).map_err(|error| anyhow::anyhow!("mapping: {error}"))?;
    let declared = Declared::parse(&options.primary_keys, &options.foreign_keys)
        .and_then(|keys| keys.with_ids(&options.ids));
    let declared = declared.map_err(anyhow::Error::msg)?;
    let tables = match options.tables.0.trim() {
        "" | "all" => Vec::new(),
        list => list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect(),
    };
    Ok(database::Options {
        address,
        password: password(options)?,
        driver: driver::Options {
            pool_size: pool_size(options.pool_size.0, workers)?,
            workers: u32::try_from(workers).context("too many workers")?,
            statement: (options.limits.statement_seconds > 0)
                .then(|| Duration::from_secs(options.limits.statement_seconds)),
        },
        watch_interval: Duration::from_secs(options.cache_time.0.max(1)),
        publication: Publication {
            mapping,
            tables,
            declared,
            quoted_bigints: options.big_integers_as_strings,
            first_of_composite_key: false,
        },
        mode: if options.strict.0 { Mode::Strict } else { Mode::Lenient },
        srid: options.geometry_srid.0,
        answer_bytes_max: match options.limits.answer_bytes {
            0 => usize::MAX,
            most => most,
        },
        merges_reads: options.merge_reads.0,
    })
}

/// speed: durable inserts wait for the disk together, the more of them the better: with four connections for each of two
/// workers MariaDB had 0.7 to 0.9 of the driver's inserts, with eight 1.4 (docs/performance.md). Servers take a hundred, as a
/// rule, of all who use them.
fn pool_size(configured: u32, workers: usize) -> anyhow::Result<u32> {
    let automatic = (workers * 8).min(32).max(workers * 4) + 1;
    let automatic = u32::try_from(automatic).context("too many workers")?;
    Ok(if configured == 0 { automatic } else { configured })
}

/// The password that is not part of the address, from a setting or a file.
fn password(options: &Options) -> anyhow::Result<Option<Secret>> {
    let file = &options.database_password_file;
    if file.is_empty() {
        let given = [&options.database_password, &options.password];
        let given = given.into_iter().find(|text| !text.is_empty()).cloned().unwrap_or_default();
        return Ok((!given.is_empty()).then_some(Secret(given)));
    }
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("databasePasswordFile: {file} cannot be read"))?;
    Ok(Some(Secret(text.trim_end_matches(['\r', '\n']).to_owned())))
}

fn base_path(text: &str) -> anyhow::Result<String> {
    let trimmed = text.trim_end_matches('/');
    if !trimmed.is_empty() && !trimmed.starts_with('/') {
        bail!("basePath is '{text}', but begins with a slash, for example /api");
    }
    Ok(trimmed.to_owned())
}

fn controllers(text: &str) -> anyhow::Result<Vec<Controller>> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| {
            Controller::parse(name).with_context(|| {
                let hint = nearest(name, Controller::names())
                    .map_or_else(String::new, |near| format!(", did you mean '{near}'?"));
                let all: Vec<&str> = Controller::names().collect();
                format!("controllers: unknown '{name}'{hint}; there are {}", all.join(", "))
            })
        })
        .collect()
}
