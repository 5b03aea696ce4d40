//! Lists: small ones at once, all others beside, as a stream of bytes.

use std::sync::Arc;

use bytes::Bytes;
use treeql::encode::{Format, write_csv_header};
use treeql::error::Error;
use treeql::mode::Mode;
use treeql::plan::{ListPlan, Plan};
use treeql::request::Values;
use treeql::row::RowSet;
use treeql::sql::Args;
use treeql::value::Row;

use crate::database::Snapshot;
use crate::driver::measure::Clock;
use crate::driver::{Chunks, Connection, Flow, Job, Out, Sink, Stopped, pipe, retry};
use crate::exec::join::join;
use crate::exec::sinks::{First, Kept, Rows, unwritten};

/// limit: a list of at most so many rows is tried beside other requests.
const INLINE_ROWS_MAX: i64 = 1000;
/// limit: rows of a long list that are kept while others are joined to them; then the next round begins. A short list
/// is one round, so that nothing is asked while its rows are still arriving.
const ROUND_ROWS_MAX: usize = 128;

/// The bytes of a list.
pub enum Answer {
    /// All of them.
    Whole(Bytes),
    /// The first, and where the others come from.
    Stream(Bytes, Chunks),
}

/// Answers a list. What may be long runs on a thread or a connection of its own and is streamed.
pub async fn list(
    snapshot: &Arc<Snapshot>,
    plan: &Arc<Plan>,
    values: Values<'_>,
    format: Format,
) -> Result<Answer, Error> {
    let list = plan.list();
    let is_short = is_bounded(&values) || snapshot.driver.can_give_up();
    if is_short && !list.is_heavy() {
        for is_last in [false, true] {
            let session = snapshot.driver.session().await?;
            let mut out = Out::inline(snapshot.answer_bytes_max);
            match write_list(&session, list, &values, snapshot.setting.mode, format, &mut out).await {
                Ok(()) => return out.count().map(|()| Answer::Whole(out.buffer.into())),
                // A read may be run again when the connection turns out to be lost.
                Err(Stopped::Failed(_)) if !is_last && session.is_lost() => retry::reconnect(),
                Err(Stopped::Failed(error)) => return Err(error),
                Err(Stopped::TooLong | Stopped::Abandoned) => {
                    list.mark_heavy();
                    break;
                }
            }
        }
    }
    Box::pin(stream(snapshot, plan, values, format)).await
}

fn is_bounded(values: &Values<'_>) -> bool {
    values.limit.is_some_and(|limit| limit <= INLINE_ROWS_MAX)
}

/// Starts the list elsewhere and waits for its first bytes, so that an error at the start has its status.
async fn stream(
    snapshot: &Arc<Snapshot>,
    plan: &Arc<Plan>,
    values: Values<'_>,
    format: Format,
) -> Result<Answer, Error> {
    let (out, mut chunks, cancelled) = pipe(snapshot.answer_bytes_max);
    let mode = snapshot.setting.mode;
    let job = ListJob { plan: Arc::clone(plan), values: values.into_owned(), mode, format, out };
    snapshot.driver.run(job, cancelled).await?;
    let first = match chunks.next().await {
        Some(first) => first?,
        None => Bytes::new(),
    };
    Ok(if chunks.is_ended() { Answer::Whole(first) } else { Answer::Stream(first, chunks) })
}

struct ListJob {
    plan: Arc<Plan>,
    values: Values<'static>,
    mode: Mode,
    format: Format,
    out: Out,
}

impl Job for ListJob {
    fn needs_two(&self) -> bool {
        !self.plan.list().select.joins.is_empty()
    }

    async fn run(mut self, connection: &impl Connection) {
        let list = self.plan.list();
        let result = write_list(connection, list, &self.values, self.mode, self.format, &mut self.out).await;
        self.out.finish(result).await;
    }
}

/// Writes the rows: as `{"records":[…]}` or a collection of features, with the number of all matching rows if it was
/// asked for, or line by line.
async fn write_list(
    connection: &impl Connection,
    list: &ListPlan,
    values: &Values<'_>,
    mode: Mode,
    format: Format,
    out: &mut Out,
) -> Result<(), Stopped> {
    let select = &list.select;
    match format {
        Format::Json => out.buffer.extend_from_slice(select.list_head()),
        Format::Csv => write_csv_header(&mut out.buffer, &select.layout),
        Format::Ndjson => {}
    }
    let args = Args::of(values, mode);
    if values.limit == Some(0) {
        // compat: nothing is asked of the database, but the rows are counted (SPEC 8.4).
    } else if select.joins.is_empty() {
        let clock = Clock::start();
        connection.query(&select.statement, args, &mut Rows::new(out, select, format)).await?;
        clock.stop();
    } else {
        let kept = Kept::new(&select.layout);
        let mut rounds = Rounds { connection, list, values, mode, format, kept, out, count: 0 };
        let clock = Clock::start();
        connection.query(&select.statement, args, &mut rounds).await?;
        clock.stop();
        rounds.flush().await?;
    }
    if format != Format::Json {
        return Ok(());
    }
    out.buffer.push(b']');
    if let Some(count) = &list.count {
        let mut first = First::default();
        let clock = Clock::start();
        connection.query(count, args, &mut first).await?;
        clock.stop();
        out.buffer.extend_from_slice(b",\"results\":");
        out.buffer.extend_from_slice(first.number.unwrap_or(0).to_string().as_bytes());
    }
    out.buffer.push(b'}');
    Ok(())
}

/// Rows that are kept until a round is full, joined, written and forgotten.
struct Rounds<'a, C: Connection> {
    connection: &'a C,
    list: &'a ListPlan,
    values: &'a Values<'a>,
    mode: Mode,
    format: Format,
    kept: Kept<'a>,
    out: &'a mut Out,
    count: u64,
}

impl<C: Connection> Sink for Rounds<'_, C> {
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped> {
        self.kept.row(row)?;
        Ok(if !is_bounded(self.values) && self.kept.rows.len() >= ROUND_ROWS_MAX {
            Flow::Flush
        } else {
            Flow::More
        })
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        let select = &self.list.select;
        let rows: &mut RowSet = &mut self.kept.rows;
        join(self.connection.beside(), &select.joins, rows, self.values, self.mode).await?;
        for row in 0..rows.len() {
            if self.count > 0 && self.format == Format::Json {
                self.out.buffer.push(b',');
            }
            self.count += 1;
            select.write_record(&mut self.out.buffer, rows, row).map_err(|error| unwritten(&error))?;
            if self.format != Format::Json {
                self.out.buffer.push(b'\n');
            }
            if self.out.flow() == Flow::Flush {
                self.out.flush().await?;
            }
        }
        rows.clear();
        Ok(())
    }
}
