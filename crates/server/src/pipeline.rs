//! The pipeline: every station that a request passes, in order. This is the page to know.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use engine::database::Database;
use treeql::error::Error;
use treeql::mode::Mode;
use treeql::policy::{Principal, Rules};

use crate::api::{Context, Controller, Limits, RecordRules, route};
use crate::http::{Answer, Head, Incoming, Response};
use crate::log;

/// The whole state of the server, as a worker sees it.
pub struct Pipeline {
    /// The database.
    pub database: Arc<Database>,
    /// Path prefix of the API.
    pub base_path: String,
    /// Groups of paths that exist.
    pub controllers: Vec<Controller>,
    /// Bounds of requests.
    pub limits: Limits,
    /// What is done to records before they are written.
    pub record_rules: Arc<RecordRules>,
    /// Who may do what.
    pub rules: Arc<Rules>,
    /// Whether each request is logged.
    pub log_requests: bool,
}

impl Answer for Rc<Pipeline> {
    async fn answer(&self, head: Head, body: Incoming) -> Response {
        self.handle(head, body).await
    }
}

impl Pipeline {
    /// Answers a request, whatever happens.
    async fn handle(&self, head: Head, body: Incoming) -> Response {
        let start = self.log_requests.then(Instant::now);
        let response = match self.serve(&head, body).await {
            Ok(response) => response,
            Err(error) => Response::error(&error, self.mode()),
        };
        if let Some(start) = start {
            log::request(head.method().as_str(), head.path(), response.status.as_u16(), start.elapsed());
        }
        response
    }

    async fn serve(&self, head: &Head, body: Incoming) -> Result<Response, Error> {
        let snapshot = self.database.snapshot();
        let principal = Principal::anonymous();
        let policy = self.rules.policy(&principal);
        let context = Context {
            head,
            snapshot,
            policy,
            principal: &principal,
            address: head.peer(),
            limits: self.limits,
            record_rules: &self.record_rules,
        };
        route(&context, body, self.path(head.path()), &self.controllers).await
    }

    /// The path after the prefix of the API (SPEC 2.1).
    fn path<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(&self.base_path).unwrap_or(path)
    }

    fn mode(&self) -> Mode {
        self.database.options().mode
    }
}
