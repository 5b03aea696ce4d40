//! serve(): workers, listeners, the words at the start, and the end without loss.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use engine::database::{Database, Snapshot};
use engine::driver::measure;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::LocalSet;
use treeql::policy::{Secrets, is_secret};
use treeql::schema::{Schema, Table, TableKind};

use crate::api::Health;
use crate::config::Config;
use crate::http::{Tls, bind, check_free, serve_connection, serve_encrypted};
use crate::log;
use crate::middleware::metrics::Metrics;
use crate::pipeline::Pipeline;
use crate::scrape::{self, Scrape};

/// limit: how long the words at the start wait for all workers to be connected.
const START_PATIENCE: Duration = Duration::from_secs(5);
/// How often the end of the last request is looked for while draining.
const DRAIN_INTERVAL: Duration = Duration::from_millis(10);

/// Serves until SIGINT or SIGTERM; requests in flight are answered before it returns.
pub fn serve(config: Config) -> anyhow::Result<()> {
    log::start(config.log);
    let (address, listeners) = listen(&config)?;
    let database = config.open().map_err(anyhow::Error::msg)?;
    for danger in config.check(&database.snapshot().schema).map_err(anyhow::Error::msg)? {
        tracing::warn!("{danger}");
    }
    let config = Arc::new(config);
    let health = Arc::new(Health::default());
    let metrics = (config.metrics_listen.is_some() || config.metrics_path.is_some()).then(Arc::default);
    if metrics.is_some() {
        measure::switch_on();
    }
    let (drain, draining) = watch::channel(false);
    let (ready, readiness) = mpsc::channel();
    let workers: Vec<JoinHandle<()>> = listeners
        .into_iter()
        .enumerate()
        .map(|(number, listener)| {
            start_worker(number, listener, &config, (&database, &health, &metrics), &draining, &ready)
        })
        .collect::<anyhow::Result<_>>()?;
    for _ in &workers {
        readiness.recv_timeout(START_PATIENCE).ok();
    }
    // Before the address is told: who has read it may end the server at once.
    let signals = Signals::watch(config.tls.clone().filter(|tls| tls.has_files()))?;
    let scraped = config.metrics_listen.zip(metrics).map(|(address, metrics)| {
        scrape::start(address, Scrape { metrics, database: Arc::clone(&database) }, draining.clone())
    });
    let (metrics_address, scraper) = scraped.transpose()?.unzip();
    announce(address, metrics_address, &config, &database.snapshot())?;
    signals.wait()?;
    health.stop();
    if !config.drain_delay.is_zero() {
        // Balancers find out first, and then nobody is turned away.
        tracing::info!("stopping: not ready any more, still serving for {} s", config.drain_delay.as_secs());
        std::thread::sleep(config.drain_delay);
    }
    tracing::info!("stopping: no new connections, {} s for the requests in flight", config.drain.as_secs());
    drain.send(true).ok();
    for worker in workers.into_iter().chain(scraper) {
        worker.join().map_err(|_panic| anyhow!("a worker failed while stopping"))?;
    }
    database.close();
    if let Some(tenants) = &config.tenants {
        tenants.close();
    }
    Ok(())
}

/// One socket per worker, all on the same port.
fn listen(config: &Config) -> anyhow::Result<(SocketAddr, Vec<TcpListener>)> {
    let wanted = config.listen;
    let explain = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => anyhow!(
            "port {} is taken; stop the other server or pass --listen {}:{}",
            wanted.port(),
            wanted.ip(),
            wanted.port().saturating_add(1)
        ),
        io::ErrorKind::PermissionDenied => {
            anyhow!(
                "port {} needs more rights; pass --listen {}:8080 or run as root",
                wanted.port(),
                wanted.ip()
            )
        }
        io::ErrorKind::AddrNotAvailable => {
            anyhow!(
                "{} is no address of this machine; pass --listen 127.0.0.1:{}",
                wanted.ip(),
                wanted.port()
            )
        }
        _ => anyhow!("cannot listen on {wanted}: {error}"),
    };
    check_free(wanted).map_err(explain)?;
    let first = bind(wanted).map_err(explain)?;
    let address = first.local_addr()?;
    let mut listeners = vec![first];
    for _ in 1..config.workers {
        listeners.push(bind(address).map_err(explain)?);
    }
    Ok((address, listeners))
}

/// A worker owns what it touches: runtime, socket, connections, sessions, prepared statements.
fn start_worker(
    number: usize,
    listener: TcpListener,
    config: &Arc<Config>,
    (database, health, metrics): (&Arc<Database>, &Arc<Health>, &Option<Arc<Metrics>>),
    draining: &watch::Receiver<bool>,
    ready: &mpsc::Sender<()>,
) -> anyhow::Result<JoinHandle<()>> {
    let (config, database, draining) = (Arc::clone(config), Arc::clone(database), draining.clone());
    let (ready, health, metrics) = (ready.clone(), Arc::clone(health), metrics.clone());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .on_thread_park(engine::driver::sqlite::end_turn)
        .build()
        .context("no runtime for a worker")?;
    let body = move || {
        let pipeline = Rc::new(Pipeline {
            database,
            tenants: config.tenants.clone(),
            base_path: config.base_path.clone(),
            controllers: config.controllers.clone(),
            limits: config.limits,
            rules: Arc::clone(&config.rules),
            documents: Arc::clone(&config.documents),
            explorer: config.explorer.clone(),
            stations: Arc::clone(&config.stations),
            auth: config.auth.clone(),
            record_rules: Arc::clone(&config.record_rules),
            health,
            counter: metrics.as_ref().map(|metrics| metrics.counter()),
            metrics: config.metrics_path.clone().zip(metrics),
            log_requests: config.log.requests,
        });
        LocalSet::new().block_on(&runtime, async {
            // Connected now, so that the first request takes no longer than the tenth.
            if let Err(error) = pipeline.database.snapshot().driver.session().await {
                tracing::warn!(%error, "a worker has no connection yet");
            }
            ready.send(()).ok();
            accept(listener, pipeline, &config, draining).await;
        });
    };
    std::thread::Builder::new()
        .name(format!("rowcast-{number}"))
        .spawn(body)
        .context("no thread for a worker")
}

/// Accepts connections until draining begins, then waits for those that are open.
async fn accept(
    listener: TcpListener,
    pipeline: Rc<Pipeline>,
    config: &Config,
    mut draining: watch::Receiver<bool>,
) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "a worker cannot listen"),
    };
    let open = Rc::new(());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = draining.changed() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, as a rule: connections that end will give some back.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(DRAIN_INTERVAL).await;
                continue;
            }
        };
        let (pipeline, draining, guard) = (Rc::clone(&pipeline), draining.clone(), Rc::clone(&open));
        match config.tls.clone() {
            None => tokio::task::spawn_local(async move {
                serve_connection(stream, pipeline, draining).await;
                drop(guard);
            }),
            Some(tls) => tokio::task::spawn_local(async move {
                serve_encrypted(stream, &tls, pipeline, draining).await;
                drop(guard);
            }),
        };
    }
    drop(listener);
    let end = Instant::now() + config.drain;
    while Rc::strong_count(&open) > 1 && Instant::now() < end {
        tokio::time::sleep(DRAIN_INTERVAL).await;
    }
    if Rc::strong_count(&open) > 1 {
        tracing::warn!(connections = Rc::strong_count(&open) - 1, "stopped with requests in flight");
    }
}

/// SIGINT and SIGTERM, which from now on no longer end the process by themselves, and SIGHUP, which reads the
/// certificate again.
struct Signals {
    runtime: tokio::runtime::Runtime,
    renewal: Option<(Arc<Tls>, Signal)>,
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn watch(tls: Option<Arc<Tls>>) -> anyhow::Result<Signals> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let guard = runtime.enter();
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        // Without files to read again SIGHUP does what it does elsewhere: it ends the process with its terminal.
        let renewal = match tls {
            Some(tls) => Some((tls, signal(SignalKind::hangup())?)),
            None => None,
        };
        drop(guard);
        Ok(Signals { runtime, renewal, interrupt, terminate })
    }

    /// The first signal returns; a second one ends the process at once.
    fn wait(mut self) -> anyhow::Result<()> {
        self.next();
        let second = move || {
            self.next();
            std::process::exit(130);
        };
        std::thread::Builder::new().name("rowcast-signal".to_owned()).spawn(second)?;
        Ok(())
    }

    fn next(&mut self) {
        let Signals { runtime, renewal, interrupt, terminate } = self;
        let renew = async {
            let Some((tls, hangup)) = renewal else { return std::future::pending().await };
            while hangup.recv().await.is_some() {
                match tls.reload() {
                    Ok(()) => tracing::info!("certificate and key were read again"),
                    Err(reason) => tracing::error!(%reason, "certificate and key stay as they are"),
                }
            }
            std::future::pending().await
        };
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                () = renew => {}
            }
        });
    }
}

/// What was found, and three requests to try on this very database.
fn announce(
    address: SocketAddr,
    metrics: Option<SocketAddr>,
    config: &Config,
    snapshot: &Snapshot,
) -> anyhow::Result<()> {
    let schema = &snapshot.schema;
    let views = schema.tables().filter(|(_, table)| table.kind == TableKind::View).count();
    let tables = schema.tables().count() - views;
    let mut out = io::stdout().lock();
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{address}{}", config.base_path);
    writeln!(out, "Rowcast {} at {url}/", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "  database   {} ({})", config.database.address, snapshot.driver.version())?;
    writeln!(out, "  found      {tables} tables, {views} views, {} relations", schema.foreign_key_count())?;
    if let Some(metrics) = metrics {
        writeln!(out, "  metrics    http://{metrics}/metrics")?;
    }
    let made = config.tls.as_ref().filter(|tls| !tls.has_files());
    if let Some(tls) = made {
        writeln!(out, "  certificate made for this run, SHA-256 {}", tls.fingerprint())?;
    }
    for line in secret_lines(schema, config.rules.secrets()) {
        writeln!(out, "  {line}")?;
    }
    if config.listen.ip().is_unspecified() {
        writeln!(out, "  note       everyone on the network can reach this address")?;
    }
    if let Some(requests) = examples(snapshot) {
        writeln!(out, "Try:")?;
        for request in requests {
            let trust = if made.is_some() { "-k " } else { "" };
            writeln!(out, "  curl {trust}'{url}{request}'")?;
        }
    } else {
        writeln!(out, "There is no table yet; one that is created is served within a second.")?;
    }
    out.flush().or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { bail!(error) })
}

/// limit: columns that are named in a line at the start.
const NAMES_MAX: usize = 8;

/// Which columns are hidden because they look like passwords or keys, and which names publish nothing.
fn secret_lines(schema: &Schema, secrets: &Secrets) -> Vec<String> {
    let columns =
        || schema.tables().flat_map(|(_, table)| (0..table.columns.len()).map(move |column| (table, column)));
    let hidden: Vec<String> = columns()
        .filter(|(table, column)| secrets.hide(table, *column))
        .map(|(table, column)| format!("{}.{}", table.alias, table.columns[column].alias))
        .collect();
    let mut lines = Vec::new();
    if !hidden.is_empty() {
        let more = if hidden.len() > NAMES_MAX { ", …" } else { "" };
        let named = hidden[..hidden.len().min(NAMES_MAX)].join(", ");
        lines.push(format!(
            "hidden     {named}{more}: they look like passwords or keys; publishSecrets publishes them"
        ));
    }
    for name in secrets.names().iter() {
        let one = Secrets::parse(name);
        if !columns().any(|(table, column)| is_secret(&table.columns[column]) && !one.hide(table, column)) {
            lines.push(format!("note       publishSecrets names '{name}', which hides nothing anyway"));
        }
    }
    lines
}

/// A list, a filter and a join of the table with the most relations. They work whatever the rows are.
fn examples(snapshot: &Snapshot) -> Option<[String; 3]> {
    let schema = &snapshot.schema;
    let links = |table: &Table| table.foreign_keys.len() + table.referenced_by.len();
    let (id, table) = schema
        .tables()
        .filter(|(_, table)| table.primary_key.is_some() && table.kind == TableKind::Table)
        .max_by_key(|(_, table)| links(table))
        .or_else(|| schema.tables().next())?;
    let name = encoded(&table.alias);
    // A comma ends a name in parameters.
    let related = table.foreign_keys.iter().map(|key| key.table).find(|other| {
        let table = schema.table(*other);
        *other != id && table.references(id).next().is_none() && !table.alias.contains([',', '!'])
    });
    let last = match related {
        Some(other) => format!("/records/{name}?join={}&size=1", encoded(&schema.table(other).alias)),
        None => format!("/records/{name}?page=1,3"),
    };
    let key = table.key().filter(|key| !key.alias.contains(','));
    let [first, second] = match key.map(|key| (encoded(&key.alias), key.kind.is_integer())) {
        Some((key, true)) => [format!("?size=3&order={key},desc"), format!("?filter={key},le,10")],
        Some((key, false)) => [format!("?size=3&order={key},desc"), format!("?filter={key},nis&size=1")],
        None => ["?size=3".to_owned(), String::new()],
    };
    Some([format!("/records/{name}{first}"), format!("/records/{name}{second}"), last])
}

/// A name as it can stand in a URL and in single quotes of a shell.
fn encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    name.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
