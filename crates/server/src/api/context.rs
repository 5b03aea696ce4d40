//! Context: what every handler is given.

use std::sync::Arc;
use std::time::Duration;

use engine::database::{Database, Snapshot};
use http::{Method, header};
use treeql::error::{Code, Error};
use treeql::mode::Mode;
use treeql::policy::{Policy, Principal};
use treeql::record::{Sanitation, Validation};
use treeql::request::{BodyKind, Values};

use crate::api::controller::Controller;
use crate::api::documents::Documents;
use crate::http::{Head, Response};
use crate::middleware::json::JsonMembers;

/// Bounds of requests; each is a setting of the same name under `limits`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a body.
    pub body_bytes: u64,
    /// Records in a body.
    pub batch_rows: usize,
    /// Ids in a path.
    pub ids: usize,
    /// Bytes of the body of an import.
    pub import_bytes: u64,
    /// How long an import may be written.
    pub import_patience: Duration,
}

/// What is done to records before they are written.
#[derive(Debug, Default)]
pub struct RecordRules {
    /// What is done to values.
    pub sanitation: Option<Sanitation>,
    /// What values must be.
    pub validation: Option<Validation>,
}

/// What every handler is given.
pub struct Context<'a> {
    /// The request without its body.
    pub head: &'a Head,
    /// The database, whatever its schema is.
    pub database: &'a Arc<Database>,
    /// The database at this moment.
    pub snapshot: Arc<Snapshot>,
    /// What the caller may see and do.
    pub policy: Arc<Policy>,
    /// Who asks.
    pub principal: &'a Principal,
    /// The address of the client.
    pub address: &'a str,
    /// What is done to records before they are written.
    pub record_rules: &'a Arc<RecordRules>,
    /// Descriptions of the API.
    pub documents: &'a Arc<Documents>,
    /// Which text columns hold JSON.
    pub json: Option<&'a JsonMembers>,
    /// Whether the body of the request is XML.
    pub is_xml: bool,
    /// Path prefix of the API.
    pub base_path: &'a str,
    /// Bounds.
    pub limits: &'a Limits,
}

impl Context<'_> {
    /// Values that hold what is known about who asks.
    pub fn values(&self) -> Values<'_> {
        Values { claims: self.policy.claims(self.principal, self.address), ..Values::default() }
    }

    /// What the body of a request is, as far as its head says it.
    pub fn body_kind(&self) -> BodyKind<'_> {
        // compat: a content type counts for POST only (SPEC 3.1).
        match (self.is_xml, self.head.method() == Method::POST) {
            (true, _) => BodyKind::Xml,
            (false, true) => BodyKind::of(self.head.header(header::CONTENT_TYPE).unwrap_or_default()),
            (false, false) => BodyKind::Detected,
        }
    }

    /// The answer about records of `table`, with the JSON in its columns opened if that is configured.
    pub fn open_json(
        &self,
        controller: Controller,
        table: &str,
        answer: Response,
    ) -> Result<Response, Error> {
        let opener = self.json.and_then(|json| json.opener(controller.name(), table, self.mode()));
        let Some(opener) = opener else { return Ok(answer) };
        answer.rewritten(opener).map_err(|malformed| {
            Error::new(Code::Internal, format!("The JSON in columns cannot be opened: {malformed}"))
        })
    }

    /// How forgiving the protocol is.
    pub fn mode(&self) -> Mode {
        self.snapshot.setting.mode
    }
}
