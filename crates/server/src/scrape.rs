//! scrape: a listener for metrics alone, so that they need not stand where everyone comes by.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context, anyhow};
use engine::database::Database;
use http::Method;
use tokio::sync::watch;
use tokio::task::LocalSet;
use treeql::error::{Code, Error};
use treeql::mode::Mode;

use crate::http::{Answer, Head, Incoming, Response, bind, check_free, serve_connection};
use crate::middleware::exposition;
use crate::middleware::metrics::Metrics;

/// limit: connections at once; collectors need one each, and more are closed unanswered.
const CONNECTIONS_MAX: usize = 32;

/// What the listener answers with.
pub struct Scrape {
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// The database, for the size of its cache of plans.
    pub database: Arc<Database>,
}

impl Answer for Rc<Scrape> {
    async fn answer(&self, head: Head, _body: Incoming) -> Response {
        if *head.method() == Method::GET && head.path() == "/metrics" {
            return exposition::answer(&self.metrics, &self.database);
        }
        Response::error(&Error::new(Code::RouteNotFound, head.path()), Mode::Strict)
    }
}

/// Listens on a thread of its own until draining begins. Returns where.
pub fn start(
    address: SocketAddr,
    scrape: Scrape,
    draining: watch::Receiver<bool>,
) -> anyhow::Result<(SocketAddr, JoinHandle<()>)> {
    let explain = |error: std::io::Error| anyhow!("metrics.listen: {address} cannot be listened on: {error}");
    check_free(address).map_err(explain)?;
    let listener = bind(address).map_err(explain)?;
    let bound = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no runtime for the metrics")?;
    let body = move || {
        LocalSet::new().block_on(&runtime, async move {
            match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => accept(listener, Rc::new(scrape), draining).await,
                Err(error) => tracing::error!(%error, "metrics cannot be listened for"),
            }
        });
    };
    let thread = std::thread::Builder::new().name("rowcast-metrics".to_owned()).spawn(body);
    Ok((bound, thread.context("no thread for the metrics")?))
}

async fn accept(listener: tokio::net::TcpListener, scrape: Rc<Scrape>, mut draining: watch::Receiver<bool>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = draining.changed() => return,
        };
        // One count is that of this function.
        match accepted {
            Ok((stream, _)) if Rc::strong_count(&scrape) <= CONNECTIONS_MAX => {
                let (scrape, draining) = (Rc::clone(&scrape), draining.clone());
                tokio::task::spawn_local(serve_connection(stream, scrape, draining));
            }
            Ok((_one_too_many, _)) => {}
            Err(error) => {
                tracing::warn!(%error, "a connection for metrics was not accepted");
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        }
    }
}
