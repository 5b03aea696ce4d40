//! plan(): the one way from a request to a plan.

use crate::error::Error;
use crate::plan::read;
use crate::plan::scope::{Scope, Setting};
use crate::plan::tree::Plan;
use crate::plan::write;
use crate::policy::Policy;
use crate::request::{Operation, Request};
use crate::schema::Schema;

/// Plans a request. Every name in it is looked up in `schema` under `policy`; nothing else makes a plan.
///
/// ```
/// use treeql::plan::{Plan, Setting, plan};
/// use treeql::policy::Policy;
/// use treeql::request::{Operation, Request};
/// use treeql::schema::Schema;
/// use treeql::sql::Dialect;
///
/// let setting = Setting { dialect: Dialect::Sqlite, mode: Default::default(), srid: 4326, merges_reads: false };
/// let request = Request::new(Operation::List, "posts");
/// let error = plan(&request, &Schema::default(), &Policy::default(), setting).unwrap_err();
/// assert_eq!(error.code.number(), 1001);
/// ```
///
/// # Errors
///
/// The codes of SPEC section 5, in its order: 1001 table, 1023 primary key, 1015 operation, then columns.
pub fn plan(
    request: &Request<'_>,
    schema: &Schema,
    policy: &Policy,
    setting: Setting,
) -> Result<Plan, Error> {
    let scope = Scope { schema, policy, setting, operation: request.operation };
    let table = scope.table(&request.table, None)?;
    match request.operation {
        Operation::List => read::list(&scope, table, request).map(Plan::List),
        Operation::Read => read::read(&scope, table, request).map(Plan::Read),
        Operation::Create => write::create(&scope, table, request).map(Plan::Write),
        Operation::Update | Operation::Increment => write::change(&scope, table, request).map(Plan::Write),
        Operation::Delete => write::delete(&scope, table, request).map(Plan::Write),
        Operation::Reflect | Operation::Remodel => {
            unreachable!("definitions are read and changed in remodel/, without a plan")
        }
    }
}
