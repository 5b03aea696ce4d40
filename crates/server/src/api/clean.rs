//! clean(): a record through sanitation and validation.

use std::time::{SystemTime, UNIX_EPOCH};

use treeql::error::{Code, Error};
use treeql::policy::Policy;
use treeql::request::{Operation, Record};
use treeql::schema::Table;

use crate::api::context::RecordRules;

/// Sanitation, then validation of one record. What is refused is 1013.
pub fn clean(
    rules: &RecordRules,
    policy: &Policy,
    operation: Operation,
    table: &Table,
    record: &mut Record<'_>,
) -> Result<(), Error> {
    if let Some(sanitation) = &rules.sanitation {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        sanitation.sanitize(table, record, now.cast_signed());
    }
    // compat: without a rule the types are not checked either (SPEC 18.14).
    let Some(validation) = rules.validation.as_ref().filter(|validation| !validation.rules.is_empty()) else {
        return Ok(());
    };
    let details = validation.validate(operation, table, |column| policy.shows_column(table, column), record);
    if details.is_empty() {
        return Ok(());
    }
    Err(Error { code: Code::InputValidationFailed, argument: table.alias.clone(), details })
}
