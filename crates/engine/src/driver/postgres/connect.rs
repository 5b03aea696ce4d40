//! Connections to PostgreSQL, and whether something stands in between.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio_postgres::{Client, Config, NoTls, Statement, config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::driver::hosts::Hosts;
use crate::driver::pool::Poolable;
use crate::driver::postgres::tap::{Tapping, Valve};
use crate::driver::tls::{SslMode, Tls};

/// limit: how long a connection may take to open.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);
/// How long the machine at the other end may be silent, or not confirm what it was sent, before it is given up.
const KEEPALIVE: Duration = Duration::from_secs(10);
/// limit: prepared statements of a connection; beyond it all are forgotten and prepared again when needed.
const STATEMENTS_MAX: usize = 1024;
/// A setting that reaches the server only if no pooler stands in between.
const PROBE: &str = "-c rowcast.direct=1";

/// What all connections to a database have in common.
pub struct Target {
    hosts: Arc<Hosts<Config>>,
    /// How TLS is spoken; `None` for plain text.
    tls: Option<MakeRustlsConnect>,
    /// Whether statements may be prepared under a name: not through a pooler that hands connections around.
    pub is_direct: Cell<bool>,
    /// Whether nothing is encrypted, so that rows can be taken off the socket.
    is_plain: Cell<bool>,
    /// limit: how long a statement may take. A pooler would hand the setting to others.
    statement: Option<Duration>,
}

/// One connection.
pub struct Link {
    /// The library's client; many statements may be under way on it.
    pub client: Client,
    statements: RefCell<HashMap<u64, Statement>>,
    /// What carries bytes between the client and the socket.
    carrier: AbortHandle,
    /// How a second connection is made that cancels what this one does.
    canceller: Canceller,
}

/// What a connection was opened with.
enum Canceller {
    Plain,
    Tapped(Tapping),
    Tls(MakeRustlsConnect),
}

impl Target {
    /// Reads a URL. The error is a sentence without the password.
    pub fn parse(url: &str, password: Option<&str>, statement: Option<Duration>) -> Result<Target, String> {
        let (rest, tls) = Tls::split(url)?;
        let hosts = Arc::new(Hosts::parse(&rest, |url| config(url, password, &tls))?);
        let tls = match tls.mode {
            Some(SslMode::Disable) => None,
            _ => Some(MakeRustlsConnect::new(tls.client_config()?)),
        };
        Ok(Target { hosts, tls, is_direct: Cell::new(true), is_plain: Cell::new(false), statement })
    }

    /// How old a connection may become.
    pub fn lifetime(&self) -> Option<Duration> {
        self.hosts.lifetime()
    }

    /// A copy for another thread.
    pub fn for_worker(&self) -> Target {
        Target {
            hosts: Arc::clone(&self.hosts),
            tls: self.tls.clone(),
            is_direct: Cell::new(self.is_direct.get()),
            is_plain: Cell::new(self.is_plain.get()),
            statement: self.statement,
        }
    }

    /// Opens a connection.
    pub async fn open(&self) -> Result<Link, tokio_postgres::Error> {
        self.set_up(self.hosts.open(async |config: &Config| self.connect(config).await).await?).await
    }

    /// Opens a connection whose rows can be taken off it, where that is possible.
    pub async fn open_tapped(&self) -> Result<Link, tokio_postgres::Error> {
        self.set_up(self.hosts.open(async |config: &Config| self.connect_tapped(config).await).await?).await
    }

    async fn set_up(&self, link: Link) -> Result<Link, tokio_postgres::Error> {
        if let Some(patience) = self.statement.filter(|_| self.is_direct.get()) {
            let set = format!("SET statement_timeout = {}", patience.as_millis());
            link.client.batch_execute(&set).await?;
        }
        Ok(link)
    }

    /// Opens a connection and finds out whether a pooler stands in between: it refuses the probe, or loses it.
    pub async fn open_and_probe(&self) -> Result<Link, tokio_postgres::Error> {
        self.hosts.open(async |config: &Config| self.probe(config).await).await
    }

    async fn probe(&self, config: &Config) -> Result<Link, tokio_postgres::Error> {
        let mut probing = config.clone();
        let given = config.get_options().map_or_else(String::new, |given| format!("{given} "));
        probing.options(format!("{given}{PROBE}"));
        let refused = match self.connect(&probing).await {
            Ok(link) => {
                let shown =
                    link.client.simple_query("SELECT current_setting('rowcast.direct', true)").await?;
                let is_direct = shown.iter().any(|message| match message {
                    tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0) == Some("1"),
                    _ => false,
                });
                self.is_direct.set(is_direct);
                self.is_plain.set(is_direct && !is_encrypted(&link.client).await?);
                return Ok(link);
            }
            Err(error) => error,
        };
        let link = self.connect(config).await.map_err(|_without| refused)?;
        self.is_direct.set(false);
        Ok(link)
    }

    /// The library reads rows off encrypted connections, and off sockets of the file system. A server that refuses plain
    /// connections since is asked as usual.
    async fn connect_tapped(&self, config: &Config) -> Result<Link, tokio_postgres::Error> {
        let is_tcp = config.get_hosts().iter().all(|host| matches!(host, config::Host::Tcp(_)));
        if !self.is_plain.get() || !is_tcp {
            return self.connect(config).await;
        }
        let mut plain = config.clone();
        plain.ssl_mode(config::SslMode::Require).ssl_negotiation(config::SslNegotiation::Direct);
        let tapping = Tapping::default();
        match plain.connect(tapping.clone()).await {
            Ok((client, connection)) => Ok(Link::new(client, drive(connection), Canceller::Tapped(tapping))),
            Err(_refused) => self.connect(config).await,
        }
    }

    async fn connect(&self, config: &Config) -> Result<Link, tokio_postgres::Error> {
        let Some(tls) = &self.tls else {
            let (client, connection) = config.connect(NoTls).await?;
            return Ok(Link::new(client, drive(connection), Canceller::Plain));
        };
        let (client, connection) = config.connect(tls.clone()).await?;
        Ok(Link::new(client, drive(connection), Canceller::Tls(tls.clone())))
    }
}

/// Whether TLS is spoken on a connection.
async fn is_encrypted(client: &Client) -> Result<bool, tokio_postgres::Error> {
    let shown = client.simple_query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").await?;
    let is_plain = |message: &tokio_postgres::SimpleQueryMessage| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0) == Some("f"),
        _ => false,
    };
    Ok(!shown.iter().any(is_plain))
}

/// What a connection to the one host of a URL is opened with.
fn config(url: &str, password: Option<&str>, tls: &Tls) -> Result<Config, String> {
    let mut config: Config =
        url.parse().map_err(|error| format!("the URL of the database cannot be read: {error}"))?;
    config.ssl_mode(match tls.mode {
        Some(SslMode::Disable) => config::SslMode::Disable,
        None | Some(SslMode::Prefer) => config::SslMode::Prefer,
        Some(SslMode::Require | SslMode::VerifyFull) => config::SslMode::Require,
    });
    if let Some(password) = password {
        config.password(password);
    }
    config.connect_timeout(CONNECT_PATIENCE).application_name("rowcast");
    config.keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE / 5).keepalives_retries(3);
    config.tcp_user_timeout(KEEPALIVE);
    Ok(config)
}

/// Runs the connection beside the requests that use it.
fn drive(
    connection: impl Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static,
) -> AbortHandle {
    let carrying = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(%error, "a connection to PostgreSQL ended");
        }
    });
    carrying.abort_handle()
}

impl Link {
    fn new(client: Client, carrier: AbortHandle, canceller: Canceller) -> Link {
        Link { client, statements: RefCell::default(), carrier, canceller }
    }

    /// Where rows can be taken off.
    pub fn valve(&self) -> Option<&Valve> {
        match &self.canceller {
            Canceller::Tapped(Tapping(valve)) => Some(valve),
            Canceller::Plain | Canceller::Tls(_) => None,
        }
    }

    /// The prepared form of a statement, made on first use.
    pub async fn prepared(
        &self,
        statement: &treeql::sql::Statement,
    ) -> Result<Statement, tokio_postgres::Error> {
        if let Some(known) = self.statements.borrow().get(&statement.id) {
            return Ok(known.clone());
        }
        let prepared = self.client.prepare(&statement.text).await?;
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= STATEMENTS_MAX {
            statements.clear();
        }
        statements.insert(statement.id, prepared.clone());
        Ok(prepared)
    }

    /// Forgets the prepared form of a statement.
    pub fn forget(&self, statement: &treeql::sql::Statement) {
        self.statements.borrow_mut().remove(&statement.id);
    }
}

impl Poolable for Link {
    fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    async fn is_alive(&mut self) -> bool {
        tokio::time::timeout(CONNECT_PATIENCE, self.client.check_connection())
            .await
            .is_ok_and(|asked| asked.is_ok())
    }

    /// Asks the server to cancel, then closes the socket; else it would go on until all rows were sent.
    fn abandon(self) {
        let Link { client, carrier, canceller, .. } = self;
        if client.is_closed() {
            return;
        }
        let token = client.cancel_token();
        tokio::spawn(async move {
            let cancelled = async {
                match canceller {
                    Canceller::Plain => token.cancel_query(NoTls).await,
                    Canceller::Tapped(tapping) => token.cancel_query(tapping).await,
                    Canceller::Tls(tls) => token.cancel_query(tls).await,
                }
            };
            if !matches!(tokio::time::timeout(CONNECT_PATIENCE, cancelled).await, Ok(Ok(()))) {
                tracing::debug!("a statement could not be cancelled");
            }
            carrier.abort();
            drop(client);
        });
    }
}
