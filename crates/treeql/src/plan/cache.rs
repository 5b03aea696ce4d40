//! PlanCache: plans by request and policy, bounded, because shapes are chosen by callers.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quick_cache::Equivalent;
use quick_cache::sync::Cache;

use crate::plan::tree::Plan;
use crate::request::Request;

/// limit: plans that are kept; the least used ones are forgotten.
const PLANS_MAX: usize = 4096;

#[derive(PartialEq, Eq)]
struct Entry {
    policy: u32,
    request: Request<'static>,
}

impl Hash for Entry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.policy.hash(state);
        self.request.hash(state);
    }
}

/// The key as it lies in a request, compared without copying it.
struct Lookup<'a, 'b> {
    policy: u32,
    request: &'b Request<'a>,
}

impl Hash for Lookup<'_, '_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.policy.hash(state);
        self.request.hash(state);
    }
}

impl Equivalent<Entry> for Lookup<'_, '_> {
    fn equivalent(&self, entry: &Entry) -> bool {
        self.policy == entry.policy && *self.request == entry.request
    }
}

/// Plans by request and policy.
pub struct PlanCache {
    plans: Cache<Entry, Arc<Plan>>,
}

impl Default for PlanCache {
    fn default() -> PlanCache {
        PlanCache { plans: Cache::new(PLANS_MAX) }
    }
}

impl PlanCache {
    /// The plan for a shape under a policy, if it is known.
    pub fn get(&self, policy: u32, request: &Request<'_>) -> Option<Arc<Plan>> {
        self.plans.get(&Lookup { policy, request })
    }

    /// Keeps a plan.
    pub fn insert(&self, policy: u32, request: Request<'_>, plan: Arc<Plan>) {
        self.plans.insert(Entry { policy, request: request.into_owned() }, plan);
    }

    /// How many plans are kept.
    pub fn len(&self) -> usize {
        self.plans.len()
    }

    /// Whether no plan is kept.
    pub fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }
}
