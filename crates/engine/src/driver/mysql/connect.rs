//! Connections to MySQL and MariaDB.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, SslOpts};
use tokio::sync::Mutex;
use treeql::error::Error;

use crate::driver::hosts::Hosts;
use crate::driver::mysql::wire::Wire;
use crate::driver::pool::{Poolable, unreachable};
use crate::driver::tls::{SslMode, Tls};

/// limit: how long a connection may take to open.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);
/// How long a connection may be silent before the machine at the other end is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(10);
/// limit: prepared statements of a connection.
const STATEMENTS_MAX: usize = 512;
/// Bad values are errors and not silently changed (SPEC 11.1); double quotes are left alone, we do not use them.
const SQL_MODE: &str = "SET SESSION sql_mode = 'ANSI,TRADITIONAL'";

/// What all connections to a database have in common.
#[derive(Clone)]
pub struct Target {
    hosts: Arc<Hosts<Opts>>,
    /// Whether a wire cannot be tried, or could not be opened where the library could.
    is_library_only: Arc<AtomicBool>,
}

/// One connection. The lock is never contended: a connection has one user at a time.
pub enum Link {
    /// For everything.
    Library(Mutex<Conn>),
    /// For long lists.
    Wire(Box<Mutex<Wire>>),
}

impl Target {
    /// Reads a URL. The error is a sentence without the password.
    pub fn parse(url: &str, password: Option<&str>, statement: Option<Duration>) -> Result<Target, String> {
        let speaks = Cell::new(true);
        let hosts = Hosts::parse(url, |url| {
            let options = options(url, password, statement)?;
            speaks.set(speaks.get() && Wire::speaks(&options));
            Ok(options)
        })?;
        Ok(Target { hosts: Arc::new(hosts), is_library_only: Arc::new(AtomicBool::new(!speaks.get())) })
    }

    /// How old a connection may become.
    pub fn lifetime(&self) -> Option<Duration> {
        self.hosts.lifetime()
    }

    /// Opens a connection.
    pub async fn open(&self) -> Result<Conn, mysql_async::Error> {
        let open =
            async |options: &Opts| match tokio::time::timeout(CONNECT_PATIENCE, Conn::new(options.clone()))
                .await
            {
                Ok(opened) => opened,
                Err(_elapsed) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
            };
        self.hosts.open(open).await
    }

    /// Opens a connection for the pool of a worker.
    pub async fn link(&self) -> Result<Link, Error> {
        let opened = self.open().await.map_err(|error| unreachable("MySQL", &error))?;
        Ok(Link::Library(Mutex::new(opened)))
    }

    /// Opens a connection for a long list: a wire, or one of the library where there can be none.
    pub async fn stream_link(&self) -> Result<Link, Error> {
        if self.is_library_only.load(Ordering::Relaxed) {
            return self.link().await;
        }
        let open =
            async |options: &Opts| match tokio::time::timeout(CONNECT_PATIENCE, Wire::open(options)).await {
                Ok(opened) => opened,
                Err(_elapsed) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
            };
        match self.hosts.open(open).await {
            Ok(wire) => Ok(Link::Wire(Box::new(Mutex::new(wire)))),
            Err(error) => {
                let link = self.link().await?;
                tracing::info!(%error, "long lists are read by the library");
                self.is_library_only.store(true, Ordering::Relaxed);
                Ok(link)
            }
        }
    }

    /// Whether a connection that is idle is one for long lists.
    pub fn is_for_streams(&self, link: &Link) -> bool {
        matches!(link, Link::Wire(_)) || self.is_library_only.load(Ordering::Relaxed)
    }
}

/// What a connection to the one host of a URL is opened with.
fn options(url: &str, password: Option<&str>, statement: Option<Duration>) -> Result<Opts, String> {
    let cannot = |error: &dyn std::fmt::Display| format!("the URL of the database cannot be read: {error}");
    let (rest, tls) = Tls::split(url)?;
    let given = Opts::from_url(&rest).map_err(|error| cannot(&error))?;
    if given.db_name().is_none_or(str::is_empty) {
        return Err("the URL names no database; write mysql://user@host/database".to_owned());
    }
    let mut builder = OptsBuilder::from_opts(given)
        .stmt_cache_size(STATEMENTS_MAX)
        .client_found_rows(true)
        .tcp_nodelay(true)
        .tcp_keepalive(Some(KEEPALIVE))
        // Changing over to the server's socket opens a second connection, and the pool would count one of them only;
        // `?socket=/path` asks for the socket at once.
        .prefer_socket(false)
        .setup(vec![sql_mode(statement), "SET NAMES utf8mb4".to_owned()]);
    if let Some(password) = password {
        builder = builder.pass(Some(password));
    }
    Ok(builder.ssl_opts(ssl_opts(&tls)?).into())
}

/// The mode, and how long a statement may take: MariaDB and MySQL each read a comment of their own.
fn sql_mode(statement: Option<Duration>) -> String {
    let Some(patience) = statement else { return SQL_MODE.to_owned() };
    let (seconds, milliseconds) = (patience.as_secs(), patience.as_millis());
    format!(
        "{SQL_MODE} /*M!100100 , max_statement_time = {seconds} */ /*!50708 , max_execution_time = {milliseconds} */"
    )
}

fn ssl_opts(tls: &Tls) -> Result<Option<SslOpts>, String> {
    // Said at the start, with its reason, rather than at every connection.
    tls.client_config()?;
    Ok(match (tls.mode, &tls.root_file) {
        // The library has no way to ask for TLS and do without.
        (None | Some(SslMode::Disable | SslMode::Prefer), _) => None,
        (Some(SslMode::Require), _) => Some(
            SslOpts::default()
                .with_danger_accept_invalid_certs(true)
                .with_danger_skip_domain_validation(true),
        ),
        (Some(SslMode::VerifyFull), None) => Some(SslOpts::default()),
        (Some(SslMode::VerifyFull), Some(file)) => Some(
            SslOpts::default().with_disable_built_in_roots(true).with_root_certs(vec![file.clone().into()]),
        ),
    })
}

impl Link {
    /// Whether it is one of the library.
    pub fn is_library(&self) -> bool {
        matches!(self, Link::Library(_))
    }
}

impl Poolable for Link {
    fn is_closed(&self) -> bool {
        match self {
            Link::Library(conn) => conn.try_lock().is_ok_and(|conn| conn.is_disconnected()),
            // It is asked before it is used.
            Link::Wire(_) => false,
        }
    }

    async fn is_alive(&mut self) -> bool {
        let asked = async {
            match self {
                Link::Library(conn) => conn.get_mut().ping().await,
                Link::Wire(wire) => wire.get_mut().ping().await,
            }
        };
        tokio::time::timeout(CONNECT_PATIENCE, asked).await.is_ok_and(|asked| asked.is_ok())
    }

    /// The server notices when it sends something; until then the statement goes on.
    fn abandon(self) {}
}
