//! Joins: one query per join and level, whatever the number of rows.

use std::pin::Pin;

use treeql::mode::Mode;
use treeql::plan::JoinPlan;
use treeql::request::Values;
use treeql::row::RowSet;
use treeql::sql::{Args, KEYS_MAX};
use treeql::value::Value;

use crate::driver::measure::Clock;
use crate::driver::{Connection, Stopped};
use crate::exec::sinks::Grouped;

/// Fetches what is joined to `rows`, and what is joined to that.
pub fn join<'a, C: Connection>(
    connection: &'a C,
    joins: &'a [JoinPlan],
    rows: &'a mut RowSet,
    values: &'a Values<'a>,
    mode: Mode,
) -> Pin<Box<dyn Future<Output = Result<(), Stopped>> + 'a>> {
    Box::pin(async move {
        for plan in joins {
            let keys: Vec<Value> = rows.keys(plan.parent_link).iter().map(|key| key.to_value()).collect();
            let mut sink = Grouped::new(&plan.layout, plan.parent_link, plan.rows_max.unwrap_or(usize::MAX));
            for some in keys.chunks(KEYS_MAX) {
                let statement = plan.statement.for_keys(some.len());
                let mut bound = some.to_vec();
                let last = some[some.len() - 1].clone();
                bound.resize(some.len().next_power_of_two(), last);
                let args = Args { keys: &bound, ..Args::of(values, mode) };
                let clock = Clock::start();
                connection.query(&statement, args, &mut sink).await?;
                clock.stop();
            }
            join(connection, &plan.joins, &mut sink.joined.rows, values, mode).await?;
            rows.joined.push(sink.joined);
        }
        Ok(())
    })
}
