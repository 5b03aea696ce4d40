//! Merged reads: records by id that are asked for in one turn of the event loop are one statement.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use tokio::sync::oneshot;
use treeql::plan::{MergedPlan, Plan, SelectPlan};
use treeql::request::Values;
use treeql::row::Key;
use treeql::sql::Args;
use treeql::value::{Row, Value, ValueRef};

use crate::database::Snapshot;
use crate::driver::measure::Clock;
use crate::driver::{Connection, Flow, Sink, Stopped};

/// limit: reads of one statement; it bounds the shapes that are prepared, and what is lost when it fails.
const MERGED_MAX: usize = 64;

/// What becomes of a read that was merged.
pub enum Merged {
    /// The record.
    Found(Vec<u8>),
    /// There is no record with this key.
    Missing,
    /// The statement failed, or nobody ran it: each must be read for itself.
    Alone,
}

/// Reads of one shape, of one policy, with equal claims, at one snapshot.
struct Batch {
    snapshot: Arc<Snapshot>,
    plan: Arc<Plan>,
    claims: Vec<Option<Cow<'static, str>>>,
    waiting: Vec<Waiting>,
}

struct Waiting {
    key: Key,
    reply: Option<oneshot::Sender<Merged>>,
}

thread_local! {
    /// What was asked for in this turn.
    static BATCHES: RefCell<Vec<Batch>> = const { RefCell::new(Vec::new()) };
}

/// Reads the record with the only id of `values`, together with others that were asked for in this turn.
///
/// speed: a statement costs a server and us about ten times what one more key in it costs (docs/performance.md).
/// Nothing is delayed to fill a batch: it is run when what has arrived is read.
pub async fn merged(snapshot: &Arc<Snapshot>, plan: &Arc<Plan>, key: Key, values: &Values<'_>) -> Merged {
    let (reply, answer) = oneshot::channel();
    let waiting = Waiting { key, reply: Some(reply) };
    BATCHES.with_borrow_mut(|batches| {
        let fits = |batch: &&mut Batch| {
            Arc::ptr_eq(&batch.plan, plan)
                && Arc::ptr_eq(&batch.snapshot, snapshot)
                && batch.claims == values.claims
                && batch.waiting.len() < MERGED_MAX
        };
        if let Some(batch) = batches.iter_mut().find(fits) {
            return batch.waiting.push(waiting);
        }
        if batches.is_empty() {
            // It stands behind everything that is ready now.
            tokio::task::spawn_local(run_all());
        }
        let claims = Values { claims: values.claims.clone(), ..Values::default() }.into_owned().claims;
        let (snapshot, plan) = (Arc::clone(snapshot), Arc::clone(plan));
        batches.push(Batch { snapshot, plan, claims, waiting: vec![waiting] });
    });
    answer.await.unwrap_or(Merged::Alone)
}

/// Ends the turn: what was asked for in it is run.
async fn run_all() {
    let mut batches = BATCHES.take();
    let last = batches.pop();
    for batch in batches {
        tokio::task::spawn_local(batch.run());
    }
    if let Some(last) = last {
        last.run().await;
    }
}

impl Batch {
    async fn run(mut self) {
        self.waiting.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        // Whoever is dropped without an answer reads alone.
        if self.ask().await.is_ok() {
            let left = self.waiting.iter_mut().filter_map(|waiting| waiting.reply.take());
            // Nobody to tell is no error: the client has gone.
            left.for_each(|reply| drop(reply.send(Merged::Missing)));
        }
    }

    async fn ask(&mut self) -> Result<(), Stopped> {
        let Plan::Read(select) = &*self.plan else { return Err(Stopped::Abandoned) };
        let Some(MergedPlan { statement, .. }) = &select.merged else { return Err(Stopped::Abandoned) };
        let mut keys: Vec<Value> = self.waiting.iter().map(|waiting| waiting.key.to_value()).collect();
        keys.dedup();
        if self.waiting.len() > 1 {
            tracing::debug!("{} reads are one statement", self.waiting.len());
        }
        let statement = statement.for_keys(keys.len());
        keys.resize(keys.len().next_power_of_two(), keys[keys.len() - 1].clone());
        let values = Values { claims: std::mem::take(&mut self.claims), ..Values::default() };
        let args = Args { keys: &keys, ..Args::of(&values, self.snapshot.setting.mode) };
        let session = self.snapshot.driver.session().await?;
        let mut answers = Answers { select, waiting: &mut self.waiting };
        let _clock = Clock::start();
        session.query(&statement, args, &mut answers).await
    }
}

/// The rows of a batch, each for those who asked for it.
struct Answers<'a> {
    select: &'a SelectPlan,
    waiting: &'a mut [Waiting],
}

impl Sink for Answers<'_> {
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped> {
        let key = Key::of(row.get(0)).ok_or(Stopped::Abandoned)?;
        let first = self.waiting.partition_point(|waiting| waiting.key < key);
        let those = self.waiting[first..].iter_mut().take_while(|waiting| waiting.key == key);
        let mut replies = those.map(|waiting| waiting.reply.take()).peekable();
        // A row that nobody asked for: the database and we compare keys in different ways.
        if replies.peek().is_none() {
            return Err(Stopped::Abandoned);
        }
        let mut record = Vec::with_capacity(256);
        if self.select.write_row(&mut record, &AfterKey(row)).is_err() {
            // Whoever asked for it reads alone, and is told what is wrong with it.
            replies.for_each(drop);
            return Ok(Flow::More);
        }
        for reply in replies.flatten() {
            // Nobody to tell is no error: the client has gone.
            drop(reply.send(Merged::Found(record.clone())));
        }
        Ok(Flow::More)
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}

/// A row without its first cell.
struct AfterKey<'a, R>(&'a R);

impl<R: Row> Row for AfterKey<'_, R> {
    fn get(&self, index: usize) -> ValueRef<'_> {
        self.0.get(index + 1)
    }
}
