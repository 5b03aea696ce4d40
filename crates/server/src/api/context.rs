//! Context: what every handler is given.

use std::sync::Arc;
use std::time::Duration;

use engine::database::Snapshot;
use treeql::mode::Mode;
use treeql::policy::{Policy, Principal};
use treeql::record::{Sanitation, Validation};
use treeql::request::Values;

use crate::http::Head;

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
    /// Path prefix of the API.
    pub base_path: &'a str,
    /// Bounds.
    pub limits: Limits,
}

impl Context<'_> {
    /// Values that hold what is known about who asks.
    pub fn values(&self) -> Values<'_> {
        Values { claims: self.policy.claims(self.principal, self.address), ..Values::default() }
    }

    /// How forgiving the protocol is.
    pub fn mode(&self) -> Mode {
        self.snapshot.setting.mode
    }
}
