//! The planner: a request, a schema and a policy become statements, layouts and joins.

mod cache;
mod columns;
mod conflict;
mod features;
mod filter;
mod groups;
mod join;
mod merged;
mod planner;
mod read;
mod resolver;
mod scope;
mod tree;
mod write;

pub use cache::PlanCache;
pub use merged::MergedPlan;
pub use planner::plan;
pub use scope::Setting;
pub use tree::{JoinPlan, Key, ListPlan, Plan, SelectPlan, Taken, WritePlan};
