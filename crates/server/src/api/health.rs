//! `/health`: whether this process lives, and whether a balancer may send requests to it (SPEC 17.2).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::database::Database;
use http::{HeaderValue, Method, StatusCode, header};
use tokio::sync::Mutex;

use crate::http::{Body, Head, Response};

/// How long an answer of the database counts, so that many balancers cost no more than one.
const FRESH: Duration = Duration::from_secs(1);
/// limit: how long the database may take to answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// What is known about the health of this process, for all its workers.
#[derive(Debug, Default)]
pub struct Health {
    is_stopping: AtomicBool,
    /// When the database was asked last, and whether it answered.
    last: Mutex<Option<(Instant, bool)>>,
}

impl Health {
    /// Says that the process will end, so that balancers look for another one.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// The answer to a request about health; `None` if it is about something else.
    ///
    /// No station comes before: what is answered is one word, costs the database one trivial query a second whoever
    /// asks, and balancers have no credentials.
    pub async fn answer(&self, head: &Head, path: &str, database: &Database) -> Option<Response> {
        if !matches!(*head.method(), Method::GET | Method::HEAD) {
            return None;
        }
        match path.trim_matches('/') {
            "health/live" => Some(Response::json(r#"{"status":"live"}"#)),
            "health/ready" if self.is_stopping.load(Ordering::Relaxed) => Some(not_ready("stopping")),
            "health/ready" if self.is_answered(database).await => {
                Some(Response::json(r#"{"status":"ready"}"#))
            }
            "health/ready" => Some(not_ready("database")),
            _ => None,
        }
    }

    /// Whether a connection of the pool has answered a trivial query, in time and just now. Others wait for the one
    /// who asks, and take its answer.
    async fn is_answered(&self, database: &Database) -> bool {
        let mut last = self.last.lock().await;
        if let Some((_, is_answered)) = last.filter(|(when, _)| when.elapsed() < FRESH) {
            return is_answered;
        }
        let snapshot = database.snapshot();
        let is_answered = matches!(tokio::time::timeout(PATIENCE, snapshot.driver.ping()).await, Ok(Ok(_)));
        *last = Some((Instant::now(), is_answered));
        is_answered
    }
}

fn not_ready(reason: &str) -> Response {
    let document = format!(r#"{{"status":"not ready","reason":"{reason}"}}"#);
    let mut response = Response::with_status(StatusCode::SERVICE_UNAVAILABLE, Body::Whole(document.into()));
    response.headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
