//! Single records by id: one, or several in the order of the ids.

use std::sync::Arc;

use treeql::error::{Code, Error};
use treeql::plan::{Plan, SelectPlan};
use treeql::request::Values;
use treeql::row::Key;
use treeql::sql::Args;
use treeql::value::Row;

use crate::database::Snapshot;
use crate::driver::measure::Clock;
use crate::driver::{Connection, Flow, Job, Out, Sink, Stopped, check_bytes, pipe, retry};
use crate::exec::join::join;
use crate::exec::merge::{Merged, merged};
use crate::exec::sinks::{Kept, unwritten};

/// A record or records, as JSON.
pub type Found = Vec<u8>;

/// limit: ids that are read beside other requests.
const INLINE_IDS_MAX: usize = 100;

/// Bytes that are made ready for a record; most have fewer, and a buffer that grows is copied.
const RECORD_BYTES: usize = 512;

/// Answers a read of the ids in `values`: an object, or an array with null for what is not there if `batch`.
pub async fn read(
    snapshot: &Arc<Snapshot>,
    plan: &Arc<Plan>,
    values: Values<'_>,
    batch: bool,
) -> Result<Found, Error> {
    if let Some(key) = merge_key(plan, &values, batch) {
        match merged(snapshot, plan, key, &values).await {
            Merged::Found(record) => {
                return check_bytes(record.len(), snapshot.answer_bytes_max).map(|()| record);
            }
            Merged::Missing => return Err(Error::new(Code::RecordNotFound, missing_id(&values, 0))),
            Merged::Alone => {}
        }
    }
    if values.id_count() <= INLINE_IDS_MAX {
        for is_last in [false, true] {
            let session = snapshot.driver.session().await?;
            let mut out = Vec::with_capacity(RECORD_BYTES);
            match write_ids(&session, plan.read(), &values, snapshot, batch, &mut out).await {
                Ok(()) => return check_bytes(out.len(), snapshot.answer_bytes_max).map(|()| out),
                // A read may be run again when the connection turns out to be lost.
                Err(Stopped::Failed(_)) if !is_last && session.is_lost() => retry::reconnect(),
                Err(Stopped::Failed(error)) => return Err(error),
                Err(Stopped::TooLong | Stopped::Abandoned) => break,
            }
        }
    }
    Box::pin(elsewhere(snapshot, plan, values, batch)).await
}

/// The key by which this read can be merged with others, if it can.
fn merge_key(plan: &Plan, values: &Values<'_>, batch: bool) -> Option<Key> {
    let [id] = values.ids.as_slice() else { return None };
    plan.read().merged.as_ref().filter(|_| !batch)?.key(id)
}

async fn elsewhere(
    snapshot: &Arc<Snapshot>,
    plan: &Arc<Plan>,
    values: Values<'_>,
    batch: bool,
) -> Result<Found, Error> {
    let (out, mut chunks, cancelled) = pipe(snapshot.answer_bytes_max);
    let (shared, plan) = (Arc::clone(snapshot), Arc::clone(plan));
    let job = ReadJob { snapshot: shared, plan, values: values.into_owned(), batch, out };
    snapshot.driver.run(job, cancelled).await?;
    let mut found = Vec::new();
    while let Some(chunk) = chunks.next().await {
        found.extend_from_slice(&chunk?);
    }
    Ok(found)
}

struct ReadJob {
    snapshot: Arc<Snapshot>,
    plan: Arc<Plan>,
    values: Values<'static>,
    batch: bool,
    out: Out,
}

impl Job for ReadJob {
    fn needs_two(&self) -> bool {
        false
    }

    async fn run(mut self, connection: &impl Connection) {
        let select = self.plan.read();
        let buffer = &mut self.out.buffer;
        let result = write_ids(connection, select, &self.values, &self.snapshot, self.batch, buffer).await;
        self.out.finish(result).await;
    }
}

async fn write_ids(
    connection: &impl Connection,
    select: &SelectPlan,
    values: &Values<'_>,
    snapshot: &Snapshot,
    batch: bool,
    out: &mut Vec<u8>,
) -> Result<(), Stopped> {
    if select.joins.is_empty() {
        return write_plain(connection, select, values, snapshot, batch, out).await;
    }
    let mut kept = Kept::new(&select.layout);
    let mut places = Vec::with_capacity(values.id_count());
    for id in 0..values.id_count() {
        let before = kept.rows.len();
        let args = Args { id, ..Args::of(values, snapshot.setting.mode) };
        let clock = Clock::start();
        connection.query(&select.statement, args, &mut kept).await?;
        clock.stop();
        // compat: where the first column of a composite key is the key, the first row counts (SPEC: composite-key).
        places.push((kept.rows.len() > before).then_some(before));
    }
    join(connection, &select.joins, &mut kept.rows, values, snapshot.setting.mode).await?;
    for (id, place) in places.into_iter().enumerate() {
        separate(out, select, batch, id);
        match place {
            Some(row) => {
                select.write_record(out, &kept.rows, row).map_err(|error| unwritten(&error))?;
            }
            None => missing(values, select, batch, id, out)?,
        }
    }
    end(out, select, batch);
    Ok(())
}

async fn write_plain(
    connection: &impl Connection,
    select: &SelectPlan,
    values: &Values<'_>,
    snapshot: &Snapshot,
    batch: bool,
    out: &mut Vec<u8>,
) -> Result<(), Stopped> {
    for id in 0..values.id_count() {
        separate(out, select, batch, id);
        let args = Args { id, ..Args::of(values, snapshot.setting.mode) };
        let mut one = One { out, select, is_found: false };
        let clock = Clock::start();
        connection.query(&select.statement, args, &mut one).await?;
        clock.stop();
        if !one.is_found {
            missing(values, select, batch, id, out)?;
        }
    }
    end(out, select, batch);
    Ok(())
}

fn separate(out: &mut Vec<u8>, select: &SelectPlan, batch: bool, id: usize) {
    match (batch, id) {
        (false, _) => {}
        // Several features are a collection (SPEC 14).
        (true, 0) if select.feature.is_some() => out.extend_from_slice(select.list_head()),
        (true, 0) => out.push(b'['),
        (true, _) => out.push(b','),
    }
}

fn end(out: &mut Vec<u8>, select: &SelectPlan, batch: bool) {
    if batch {
        out.extend_from_slice(if select.feature.is_some() { b"]}" } else { b"]" });
    }
}

/// A missing record is null among several, and an error alone (SPEC 7.2). Among features it is an error, too: null is none.
fn missing(
    values: &Values<'_>,
    select: &SelectPlan,
    batch: bool,
    id: usize,
    out: &mut Vec<u8>,
) -> Result<(), Stopped> {
    if batch && select.feature.is_none() {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    Err(Stopped::Failed(Error::new(Code::RecordNotFound, missing_id(values, id))))
}

/// The id as the error names it; of several values, all.
fn missing_id(values: &Values<'_>, id: usize) -> String {
    let width = values.more_id_parts + 1;
    values.ids[id * width..(id + 1) * width].join(";")
}

/// The first row, written at once.
struct One<'a> {
    out: &'a mut Vec<u8>,
    select: &'a SelectPlan,
    is_found: bool,
}

impl Sink for One<'_> {
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped> {
        if !self.is_found {
            self.is_found = true;
            self.select.write_row(self.out, row).map_err(|error| unwritten(&error))?;
        }
        Ok(Flow::More)
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}
