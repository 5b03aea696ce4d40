//! Writes: every record of a request in one transaction, each with its own result.

use std::sync::Arc;

use treeql::error::{Code, Error};
use treeql::mode::Mode;
use treeql::plan::{Key, Plan, Taken, WritePlan};
use treeql::request::Values;
use treeql::sql::{Args, Rows};
use treeql::value::Value;

use crate::database::Snapshot;
use crate::driver::measure::Clock;
use crate::driver::{Change, Connection, Outcome, Stopped};
use crate::exec::sinks::{Count, First};

/// Fewer records are not worth a statement of another length.
const TOGETHER_MIN: usize = 8;

/// One record of a write.
pub struct Step {
    /// How it is written.
    pub plan: Arc<Plan>,
    /// Its members, converted.
    pub cells: Vec<Value>,
    /// The key the caller sent, as JSON, which a create answers with.
    pub sent_key: Option<Vec<u8>>,
    /// Whether this is a create, which answers with the key.
    pub is_create: bool,
}

/// The results of the records as JSON, in their order. In a batch all are attempted, and if one failed all are undone.
pub type Results = Vec<Result<Vec<u8>, Error>>;

/// Runs the steps in one transaction; step `n` is about id `n` of `values`.
pub async fn write(
    snapshot: &Snapshot,
    steps: Vec<Step>,
    values: Values<'_>,
    batch: bool,
) -> Result<Results, Error> {
    let work = Work { steps, values: values.into_owned(), batch, mode: snapshot.setting.mode };
    if work.changes_nothing() {
        return Ok(work.steps.iter().map(|_| Ok(b"0".to_vec())).collect());
    }
    snapshot.driver.change(work).await
}

struct Work {
    steps: Vec<Step>,
    values: Values<'static>,
    batch: bool,
    mode: Mode,
}

impl Work {
    /// compat: an update without columns does not touch the database, and answers 0 (SPEC 7.4).
    fn changes_nothing(&self) -> bool {
        self.steps.iter().all(|step| step.plan.write().statement.is_none())
    }

    async fn step(&self, connection: &impl Connection, index: usize) -> Result<Vec<u8>, Error> {
        let step = &self.steps[index];
        let plan = step.plan.write();
        let Some(statement) = &plan.statement else { return Ok(b"0".to_vec()) };
        let args = Args { id: index, cells: &step.cells, ..Args::of(&self.values, self.mode) };
        if plan.returns_key {
            let (is_number, is_quoted) = (plan.key_is_number, plan.key_is_quoted);
            let mut first = First { is_number, is_quoted, ..First::default() };
            let clock = Clock::start();
            connection.query(statement, args, &mut first).await.map_err(failed)?;
            clock.stop();
            return match first.json {
                Some(key) => Ok(key),
                None => left_alone(plan),
            };
        }
        if plan.counts_rows {
            let mut count = Count::default();
            let clock = Clock::start();
            connection.query(statement, args, &mut count).await.map_err(failed)?;
            clock.stop();
            return Ok(count.rows.to_string().into_bytes());
        }
        let clock = Clock::start();
        let done = connection.execute(statement, args).await?;
        clock.stop();
        if done.rows == 0 && plan.taken != Taken::Error {
            return left_alone(plan);
        }
        if !step.is_create {
            return Ok(done.rows.to_string().into_bytes());
        }
        match (&plan.key, &step.sent_key) {
            (Key::Sent(_) | Key::Address(_), Some(key)) => Ok(key.clone()),
            _ => Ok(made_key(plan, done.key)),
        }
    }
}

impl Work {
    /// speed: new records of one shape are inserted many at once (docs/performance.md). The results of those before the
    /// first one that is refused; from there on each is tried by itself.
    async fn together(&self, connection: &impl Connection) -> Results {
        let mut results = Vec::with_capacity(self.steps.len());
        let Some((plan, rows)) = self.rows() else { return results };
        let cells = self.cells();
        let all = Args { cells: &cells, ..Args::of(&self.values, self.mode) };
        while results.len() < self.steps.len() {
            let first = results.len();
            let left = self.steps.len() - first;
            let count = if rows.made_key.is_some() { rows.batch_in_order(left) } else { rows.batch(left) };
            let args = rows.part(all, first, count);
            let clock = Clock::start();
            if rows.made_key.is_some() {
                let Ok(Some(keys)) = connection.load_made(rows, args, count).await else { return results };
                results.extend(keys.into_iter().map(|key| Ok(made_key(plan, key))));
            } else {
                let Ok(_) = connection.load(rows, args, count).await else { return results };
                results.extend(self.sent_keys(first, count));
            }
            clock.stop();
        }
        results
    }

    /// The plan of all steps and its statements for many, if they are new records that can be inserted together.
    fn rows(&self) -> Option<(&WritePlan, &Rows)> {
        let first = self.steps.first().filter(|_| self.batch && self.steps.len() >= TOGETHER_MIN)?;
        let plan = first.plan.write();
        let rows = plan.rows.as_deref().filter(|_| plan.taken == Taken::Error)?;
        let is_made = rows.made_key.is_some();
        let is_alike =
            |step: &Step| Arc::ptr_eq(&step.plan, &first.plan) && (is_made || step.sent_key.is_some());
        self.steps.iter().all(is_alike).then_some((plan, rows))
    }

    /// The members of all records, one record after the other.
    fn cells(&self) -> Vec<Value> {
        self.steps.iter().flat_map(|step| step.cells.iter().cloned()).collect()
    }

    fn sent_keys(&self, first: usize, count: usize) -> impl Iterator<Item = Result<Vec<u8>, Error>> {
        self.steps[first..first + count].iter().filter_map(|step| step.sent_key.clone().map(Ok))
    }
}

/// A key that the database made, as JSON.
fn made_key(plan: &WritePlan, key: i64) -> Vec<u8> {
    let quote = if plan.key_is_quoted { "\"" } else { "" };
    format!("{quote}{key}{quote}").into_bytes()
}

/// What is answered of a record whose key is taken: null if it is to be ignored, else that it is a duplicate of one
/// that may not be changed (SPEC 7.7).
fn left_alone(plan: &WritePlan) -> Result<Vec<u8>, Error> {
    match plan.taken {
        Taken::Updated => Err(Error::new(Code::DuplicateKey, "")),
        Taken::Error | Taken::Ignored => Ok(b"null".to_vec()),
    }
}

fn failed(stopped: Stopped) -> Error {
    match stopped {
        Stopped::Failed(error) => error,
        Stopped::TooLong | Stopped::Abandoned => {
            Error::new(Code::DatabaseTimeout, "the statement was interrupted")
        }
    }
}

impl Change for Work {
    type Output = Results;

    fn is_batch(&self) -> bool {
        self.batch
    }

    async fn run_alone(&mut self, connection: &impl Connection) -> Option<Result<Results, Error>> {
        let (_, rows) = self.rows().filter(|(_, rows)| rows.made_key.is_none())?;
        let (cells, count) = (self.cells(), self.steps.len());
        if rows.batch(count) < count {
            return None;
        }
        let args = Args { cells: &cells, ..Args::of(&self.values, self.mode) };
        let clock = Clock::start();
        let loaded = connection.load_alone(rows, args, count).await?;
        clock.stop();
        Some(loaded.map(|_| self.steps.iter_mut().filter_map(|step| step.sent_key.take().map(Ok)).collect()))
    }

    async fn run(&mut self, connection: &impl Connection) -> Result<Outcome<Results>, Error> {
        let mut results = self.together(connection).await;
        for index in results.len()..self.steps.len() {
            results.push(self.step(connection, index).await);
        }
        let all_fine = results.iter().all(Result::is_ok);
        Ok(if all_fine { Outcome::Commit(results) } else { Outcome::Rollback(results) })
    }
}
