//! Documents: descriptions of the API, kept for each schema and policy.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Weak};

use engine::database::Snapshot;
use treeql::error::{Code, Error};
use treeql::openapi::{Asked, Described, Surface, Version, describe};
use treeql::policy::Policy;

/// limit: documents that are kept; there is one for each policy and version, and a large schema has megabytes.
const DOCUMENTS_MAX: usize = 16;

/// The documents that were made, and what they say of the server.
#[derive(Default)]
pub struct Documents {
    surface: Surface,
    kept: tokio::sync::Mutex<Vec<Kept>>,
}

struct Kept {
    snapshot: Weak<Snapshot>,
    policy: u32,
    version: Version,
    described: Arc<Described>,
    hash: u64,
}

impl Documents {
    /// No documents yet, of a server with this surface.
    pub fn new(surface: Surface) -> Documents {
        Documents { surface, kept: tokio::sync::Mutex::default() }
    }

    /// The document for a policy; made now if it is not kept, by one caller while others wait
    /// for it. The number differs between documents that differ.
    pub async fn get(
        self: &Arc<Documents>,
        snapshot: &Arc<Snapshot>,
        policy: &Arc<Policy>,
        version: Version,
    ) -> Result<(Arc<Described>, u64), Error> {
        let mut kept = self.kept.lock().await;
        // What was made for a schema that is no longer served goes first.
        kept.retain(|document| document.snapshot.strong_count() > 0);
        let known = |document: &&Kept| {
            let of = (document.snapshot.as_ptr(), document.policy, document.version);
            of == (Arc::as_ptr(snapshot), policy.id, version)
        };
        if let Some(document) = kept.iter().find(known) {
            return Ok((Arc::clone(&document.described), document.hash));
        }
        let documents = Arc::clone(self);
        let (of, under) = (Arc::clone(snapshot), Arc::clone(policy));
        // Beside the requests of this worker: thousands of tables take a while.
        let made = tokio::task::spawn_blocking(move || {
            describe(&Asked {
                schema: &of.schema,
                policy: &under,
                dialect: of.setting.dialect,
                mode: of.setting.mode,
                surface: &documents.surface,
                version,
            })
        });
        let described = Arc::new(made.await.map_err(|error| Error::new(Code::Internal, error.to_string()))?);
        let mut hasher = DefaultHasher::new();
        described.hash(&mut hasher);
        let hash = hasher.finish();
        if kept.len() == DOCUMENTS_MAX {
            kept.remove(0);
        }
        kept.push(Kept {
            snapshot: Arc::downgrade(snapshot),
            policy: policy.id,
            version,
            described: Arc::clone(&described),
            hash,
        });
        Ok((described, hash))
    }
}
