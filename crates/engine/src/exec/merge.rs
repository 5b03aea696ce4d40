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

/// limit: statements of one plan that a worker has under way. What arrives meanwhile waits for one of them to be answered
/// and is the next, as in a group commit: so a slow database is asked larger questions and not more of them, and a table
/// that is locked keeps two connections busy and not all.
const RUNNING_MAX: usize = 2;

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

/// What is asked for and what is under way on this worker.
#[derive(Default)]
struct Queue {
    waiting: Vec<Batch>,
    /// The plan of each statement under way.
    running: Vec<Arc<Plan>>,
    /// Whether the end of this turn is being waited for.
    is_scheduled: bool,
}

thread_local! {
    static QUEUE: RefCell<Queue> = RefCell::default();
}

/// Reads the record with the only id of `values`, together with others that were asked for in this turn.
///
/// speed: a statement costs a server and us about ten times what one more key in it costs (docs/performance.md).
/// Nothing is delayed to fill a batch: it is run when what has arrived is read, unless as many statements of its plan
/// are under way as it may have.
pub async fn merged(snapshot: &Arc<Snapshot>, plan: &Arc<Plan>, key: Key, values: &Values<'_>) -> Merged {
    let (reply, answer) = oneshot::channel();
    let waiting = Waiting { key, reply: Some(reply) };
    QUEUE.with_borrow_mut(|queue| {
        queue.add(snapshot, plan, waiting, values);
        if !std::mem::replace(&mut queue.is_scheduled, true) {
            // It stands behind everything that is ready now.
            tokio::task::spawn_local(end_turn());
        }
    });
    answer.await.unwrap_or(Merged::Alone)
}

/// Ends the turn: what was asked for in it is run.
async fn end_turn() {
    QUEUE.with_borrow_mut(|queue| queue.is_scheduled = false);
    while let Some((batch, running)) = QUEUE.with_borrow_mut(|queue| queue.next(|_any| true)) {
        tokio::task::spawn_local(run(batch, running));
    }
}

impl Queue {
    fn add(&mut self, snapshot: &Arc<Snapshot>, plan: &Arc<Plan>, waiting: Waiting, values: &Values<'_>) {
        let fits = |batch: &&mut Batch| {
            Arc::ptr_eq(&batch.plan, plan)
                && Arc::ptr_eq(&batch.snapshot, snapshot)
                && batch.claims == values.claims
                && batch.waiting.len() < MERGED_MAX
        };
        if let Some(batch) = self.waiting.iter_mut().find(fits) {
            return batch.waiting.push(waiting);
        }
        let claims = Values { claims: values.claims.clone(), ..Values::default() }.into_owned().claims;
        let (snapshot, plan) = (Arc::clone(snapshot), Arc::clone(plan));
        self.waiting.push(Batch { snapshot, plan, claims, waiting: vec![waiting] });
    }

    /// The batch that has waited longest of those that may be run; it counts as under way.
    fn next(&mut self, is_wanted: impl Fn(&Arc<Plan>) -> bool) -> Option<(Batch, Running)> {
        let count =
            |plan: &Arc<Plan>| self.running.iter().filter(|running| Arc::ptr_eq(running, plan)).count();
        let may_run = |batch: &Batch| is_wanted(&batch.plan) && count(&batch.plan) < RUNNING_MAX;
        let index = self.waiting.iter().position(may_run)?;
        let batch = self.waiting.remove(index);
        self.running.push(Arc::clone(&batch.plan));
        let running = Running(Arc::clone(&batch.plan));
        Some((batch, running))
    }
}

/// A statement under way, until this is dropped.
struct Running(Arc<Plan>);

impl Drop for Running {
    fn drop(&mut self) {
        QUEUE.with_borrow_mut(|queue| {
            if let Some(index) = queue.running.iter().position(|plan| Arc::ptr_eq(plan, &self.0)) {
                queue.running.swap_remove(index);
            }
        });
    }
}

/// Runs a batch, then what has gathered behind it meanwhile.
async fn run(batch: Batch, running: Running) {
    let plan = Arc::clone(&batch.plan);
    let mut next = Some((batch, running));
    while let Some((batch, running)) = next {
        batch.run().await;
        drop(running);
        next = QUEUE.with_borrow_mut(|queue| queue.next(|other| Arc::ptr_eq(other, &plan)));
    }
}

impl Batch {
    async fn run(mut self) {
        self.waiting.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        // Whoever is dropped without an answer reads alone.
        if self.ask().await.is_ok() {
            let left = self.waiting.iter_mut().filter_map(|waiting| waiting.reply.take());
            left.for_each(|reply| tell(reply, Merged::Missing));
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

/// Nobody to tell is no error: the client has gone.
fn tell(reply: oneshot::Sender<Merged>, answer: Merged) {
    drop(reply.send(answer));
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
        let mut last = None;
        for reply in replies.flatten() {
            if let Some(one) = last.replace(reply) {
                tell(one, Merged::Found(record.clone()));
            }
        }
        if let Some(last) = last {
            tell(last, Merged::Found(record));
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
