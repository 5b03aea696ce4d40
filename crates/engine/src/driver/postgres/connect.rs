//! Connections to PostgreSQL, and whether something stands in between.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::driver::pool::Poolable;
use crate::driver::tls::client_config;

/// limit: how long a connection may take to open.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);
/// limit: prepared statements of a connection; beyond it all are forgotten and prepared again when needed.
const STATEMENTS_MAX: usize = 1024;
/// A setting that reaches the server only if no pooler stands in between.
const PROBE: &str = "-c rowcast.direct=1";

/// What all connections to a database have in common.
pub struct Target {
    config: Config,
    verify: bool,
    /// Whether statements may be prepared under a name: not through a pooler that hands connections around.
    pub is_direct: Cell<bool>,
}

/// One connection.
pub struct Link {
    /// The library's client; many statements may be under way on it.
    pub client: Client,
    statements: RefCell<HashMap<u64, Statement>>,
}

impl Target {
    /// Reads a URL. The error is a sentence without the password.
    pub fn parse(url: &str, password: Option<&str>) -> Result<Target, String> {
        let (url, ssl_mode) = without_ssl_mode(url)?;
        let verify = ssl_mode.as_deref() == Some("verify-full");
        let native = match ssl_mode.as_deref() {
            None | Some("prefer") => SslMode::Prefer,
            Some("disable") => SslMode::Disable,
            Some("require" | "verify-full") => SslMode::Require,
            Some(other) => {
                return Err(format!(
                    "sslmode is '{other}', but takes disable, prefer, require or verify-full"
                ));
            }
        };
        let mut config: Config =
            url.parse().map_err(|error| format!("the URL of the database cannot be read: {error}"))?;
        if let Some(password) = password {
            config.password(password);
        }
        config.ssl_mode(native).connect_timeout(CONNECT_PATIENCE).application_name("rowcast");
        Ok(Target { config, verify, is_direct: Cell::new(true) })
    }

    /// A copy for another thread.
    pub fn for_worker(&self) -> Target {
        Target {
            config: self.config.clone(),
            verify: self.verify,
            is_direct: Cell::new(self.is_direct.get()),
        }
    }

    /// Opens a connection.
    pub async fn open(&self) -> Result<Link, tokio_postgres::Error> {
        let client = self.connect(&self.config).await?;
        Ok(Link { client, statements: RefCell::default() })
    }

    /// Opens a connection and finds out whether a pooler stands in between: it refuses the probe, or loses it.
    pub async fn open_and_probe(&self) -> Result<Link, tokio_postgres::Error> {
        let mut probing = self.config.clone();
        let given = self.config.get_options().map_or_else(String::new, |given| format!("{given} "));
        probing.options(format!("{given}{PROBE}"));
        let refused = match self.connect(&probing).await {
            Ok(client) => {
                let shown = client.simple_query("SELECT current_setting('rowcast.direct', true)").await?;
                let is_direct = shown.iter().any(|message| match message {
                    tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0) == Some("1"),
                    _ => false,
                });
                self.is_direct.set(is_direct);
                return Ok(Link { client, statements: RefCell::default() });
            }
            Err(error) => error,
        };
        let link = self.open().await.map_err(|_without| refused)?;
        self.is_direct.set(false);
        Ok(link)
    }

    async fn connect(&self, config: &Config) -> Result<Client, tokio_postgres::Error> {
        if config.get_ssl_mode() == SslMode::Disable {
            let (client, connection) = config.connect(tokio_postgres::NoTls).await?;
            drive(connection);
            return Ok(client);
        }
        let tls = MakeRustlsConnect::new(client_config(self.verify));
        let (client, connection) = config.connect(tls).await?;
        drive(connection);
        Ok(client)
    }
}

/// The URL without its `sslmode`, and that.
fn without_ssl_mode(url: &str) -> Result<(String, Option<String>), String> {
    let mut parsed =
        url::Url::parse(url).map_err(|error| format!("the URL of the database cannot be read: {error}"))?;
    let pairs: Vec<(String, String)> = parsed.query_pairs().into_owned().collect();
    let ssl_mode = pairs.iter().find(|(name, _)| name == "sslmode").map(|(_, value)| value.clone());
    let others: Vec<_> = pairs.iter().filter(|(name, _)| name != "sslmode").collect();
    parsed.set_query(None);
    if !others.is_empty() {
        parsed.query_pairs_mut().extend_pairs(others);
    }
    Ok((parsed.into(), ssl_mode))
}

/// Runs the connection beside the requests that use it.
fn drive(connection: impl Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static) {
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(%error, "a connection to PostgreSQL ended");
        }
    });
}

impl Link {
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
}
