//! Writes: every record of a request in one transaction, each with its own result.

use std::sync::Arc;

use treeql::error::{Code, Error};
use treeql::mode::Mode;
use treeql::plan::{Key, Plan, Taken, WritePlan};
use treeql::request::Values;
use treeql::sql::Args;
use treeql::value::Value;

use crate::database::Snapshot;
use crate::driver::measure::Clock;
use crate::driver::{Change, Connection, Outcome, Stopped};
use crate::exec::sinks::{Count, First};

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
        self.steps.iter().all(|step| write_plan(&step.plan).statement.is_none())
    }

    async fn step(&self, connection: &impl Connection, index: usize) -> Result<Vec<u8>, Error> {
        let step = &self.steps[index];
        let plan = write_plan(&step.plan);
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
            _ if plan.key_is_quoted => Ok(format!("\"{}\"", done.key).into_bytes()),
            _ => Ok(done.key.to_string().into_bytes()),
        }
    }
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

fn write_plan(plan: &Plan) -> &WritePlan {
    match plan {
        Plan::Write(write) => write,
        Plan::List(_) | Plan::Read(_) => unreachable!("a write request has a write plan"),
    }
}

impl Change for Work {
    type Output = Results;

    fn is_batch(&self) -> bool {
        self.batch
    }

    async fn run(&mut self, connection: &impl Connection) -> Result<Outcome<Results>, Error> {
        let mut results = Vec::with_capacity(self.steps.len());
        for index in 0..self.steps.len() {
            results.push(self.step(connection, index).await);
        }
        let all_fine = results.iter().all(Result::is_ok);
        Ok(if all_fine { Outcome::Commit(results) } else { Outcome::Rollback(results) })
    }
}
