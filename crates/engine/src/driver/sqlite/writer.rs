//! The writer: one thread that commits what has gathered in one transaction.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use tokio::sync::oneshot;
use treeql::error::{Code, Error};

use crate::driver::connection::{Change, Outcome};
use crate::driver::sqlite::checkpoints::Checkpoints;
use crate::driver::sqlite::connect::connect_writer;
use crate::driver::sqlite::place::Place;
use crate::driver::sqlite::session::Session;

/// limit: changes that wait for the writer.
const QUEUE_MAX: usize = 4096;
/// limit: how long is waited for a checkpoint.
const CHECKPOINT_PATIENCE: Duration = Duration::from_secs(10);
/// limit: changes of one transaction.
const GROUP_MAX: usize = 1024;

/// A change in the queue, with whoever waits for it.
trait Pending: Send {
    /// Runs it inside the open transaction; whether what it did is to stay.
    fn run(&mut self, session: &Session) -> bool;
    /// Whether it needs a place to roll back to.
    fn is_batch(&self) -> bool;
    /// Whether it needs a transaction for itself, without foreign keys.
    fn alters_schema(&self) -> bool;
    /// Answers with what the last run said.
    fn answer(self: Box<Self>);
    /// Answers that it failed.
    fn fail(self: Box<Self>, error: Error);
}

struct Waiting<C: Change> {
    change: C,
    result: Option<Result<C::Output, Error>>,
    reply: oneshot::Sender<Result<C::Output, Error>>,
}

impl<C: Change> Pending for Waiting<C> {
    fn run(&mut self, session: &Session) -> bool {
        let (result, stays) = match at_once(self.change.run(session)) {
            Ok(Outcome::Commit(output)) => (Ok(output), true),
            Ok(Outcome::Rollback(output)) => (Ok(output), false),
            Err(error) => (Err(error), false),
        };
        self.result = Some(result);
        stays
    }

    fn is_batch(&self) -> bool {
        self.change.is_batch()
    }

    fn alters_schema(&self) -> bool {
        self.change.alters_schema()
    }

    fn answer(self: Box<Self>) {
        let Some(result) = self.result else { return };
        // Nobody to tell is no error: the client has gone, its change stays.
        self.reply.send(result).ok();
    }

    fn fail(self: Box<Self>, error: Error) {
        self.reply.send(Err(error)).ok();
    }
}

/// The result of a future that never waits, as everything with a SQLite session.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a change waits for nothing but its session"),
    }
}

/// What is asked of the writer.
enum Task {
    /// To run a change.
    Change(Box<dyn Pending>),
    /// To put the log into the file, and say when it is done.
    Checkpoint(Sender<()>),
}

/// The queue of the writer.
pub struct Writer {
    sender: Sender<Task>,
}

impl Writer {
    /// Opens the file for writing and starts the thread.
    pub fn start(place: Arc<Place>, commits: Arc<AtomicU64>) -> rusqlite::Result<Writer> {
        let (sender, receiver) = bounded(QUEUE_MAX);
        let session = Session::new(connect_writer(place.path())?, place.file(), Arc::clone(&commits))?;
        let no_thread = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        let checkpoints = Checkpoints::start(Arc::clone(&place)).map_err(no_thread)?;
        let body = move || WriteLoop { session, place, commits, checkpoints }.run(&receiver);
        std::thread::Builder::new().name("rowcast-writer".to_owned()).spawn(body).map_err(no_thread)?;
        Ok(Writer { sender })
    }

    /// Runs a change; answers when it is durable.
    pub async fn change<C: Change>(&self, change: C) -> Result<C::Output, Error> {
        let (reply, answer) = oneshot::channel();
        let waiting = Box::new(Waiting { change, result: None, reply });
        self.sender.try_send(Task::Change(waiting)).map_err(|error| match error {
            TrySendError::Full(_) => {
                Error::new(Code::DatabaseUnavailable, format!("{QUEUE_MAX} writes are waiting; try again"))
            }
            TrySendError::Disconnected(_) => Error::new(Code::DatabaseUnavailable, "the writer has stopped"),
        })?;
        let lost =
            |_| Error::new(Code::Internal, "The writer failed; whether the change was made is not known");
        answer.await.map_err(lost)?
    }

    /// Puts the log into the file that was opened, wherever it is now. Waits for it, as only the watching thread may.
    pub fn checkpoint(&self) {
        let (reply, done) = bounded(1);
        if self.sender.send_timeout(Task::Checkpoint(reply), CHECKPOINT_PATIENCE).is_ok() {
            // Too late or never: the log stays as it is.
            done.recv_timeout(CHECKPOINT_PATIENCE).ok();
        }
    }
}

struct WriteLoop {
    session: Session,
    place: Arc<Place>,
    commits: Arc<AtomicU64>,
    checkpoints: Checkpoints,
}

impl WriteLoop {
    fn run(&self, receiver: &Receiver<Task>) {
        // Checkpoints that were asked for in the middle of a group.
        let mut asked = Vec::new();
        // What cannot be in a group with others, and was found at the end of one.
        let mut alone = None;
        while let Some(first) = alone.take().or_else(|| receiver.recv().ok()) {
            match first {
                Task::Change(first) if first.alters_schema() => {
                    if let Err(error) = self.alter(first) {
                        // Without them the next write could break what it must not: there is none.
                        tracing::error!(%error, "foreign keys could not be switched on again; start the server anew");
                        return;
                    }
                }
                Task::Change(first) => alone = self.commit(first, receiver, &mut asked),
                Task::Checkpoint(done) => asked.push(done),
            }
            for done in asked.drain(..) {
                self.checkpoint();
                // Whoever asked has lost patience.
                done.send(()).ok();
            }
        }
    }

    /// speed: no timer gathers changes; what waits when the writer becomes free is one group (docs/performance.md).
    fn commit(
        &self,
        first: Box<dyn Pending>,
        receiver: &Receiver<Task>,
        asked: &mut Vec<Sender<()>>,
    ) -> Option<Task> {
        let mut group = vec![first];
        if let Err(error) = self.place.check().and_then(|()| self.session.control("BEGIN IMMEDIATE")) {
            group.into_iter().for_each(|pending| pending.fail(error.clone()));
            return None;
        }
        let mut alone = None;
        match self.fill(&mut group, receiver, asked, &mut alone) {
            Ok(()) => {
                self.committed();
                group.into_iter().for_each(Pending::answer);
            }
            Err(error) => self.one_by_one(group, &error),
        }
        alone
    }

    /// Runs a change of the schema in a transaction of its own. A table that is made anew is removed in between, so
    /// foreign keys are off, which they can be outside of a transaction only; the change looks at them itself.
    fn alter(&self, mut pending: Box<dyn Pending>) -> Result<(), Error> {
        let run = self
            .place
            .check()
            .and_then(|()| self.session.set_foreign_keys(false))
            .and_then(|()| self.session.control("BEGIN IMMEDIATE"))
            .and_then(|()| self.attempt(pending.as_mut()))
            .and_then(|()| self.session.control("COMMIT"));
        if run.is_err() {
            self.undo();
        }
        let switched = self.session.set_foreign_keys(true);
        match run {
            Ok(()) => {
                self.committed();
                pending.answer();
            }
            Err(error) => pending.fail(error),
        }
        switched
    }

    /// Runs the first change and those that wait, and commits.
    fn fill(
        &self,
        group: &mut Vec<Box<dyn Pending>>,
        receiver: &Receiver<Task>,
        asked: &mut Vec<Sender<()>>,
        alone: &mut Option<Task>,
    ) -> Result<(), Error> {
        let mut next = 0;
        loop {
            self.attempt(group[next].as_mut())?;
            next += 1;
            if group.len() == GROUP_MAX {
                break;
            }
            match receiver.try_recv() {
                Ok(Task::Change(pending)) if pending.alters_schema() => {
                    *alone = Some(Task::Change(pending));
                    break;
                }
                Ok(Task::Change(pending)) => group.push(pending),
                Ok(Task::Checkpoint(done)) => {
                    asked.push(done);
                    break;
                }
                Err(_empty) => break,
            }
        }
        self.session.control("COMMIT")
    }

    /// Tells the readers, and the thread of checkpoints.
    fn committed(&self) {
        self.commits.fetch_add(1, Ordering::Release);
        self.checkpoints.count();
    }

    fn checkpoint(&self) {
        let _paused = self.checkpoints.pause();
        match self.session.checkpoint() {
            Ok(true) => {}
            Ok(false) => tracing::warn!("the log of the database could not be emptied: it is being read"),
            Err(error) => tracing::error!(%error, "the log of the database could not be put into the file"),
        }
    }

    /// Runs one change in the open transaction. A failed statement undoes itself; a batch goes back to its savepoint.
    fn attempt(&self, pending: &mut dyn Pending) -> Result<(), Error> {
        let is_batch = pending.is_batch();
        if is_batch {
            self.session.control("SAVEPOINT change")?;
        }
        let stays = pending.run(&self.session);
        if !self.session.is_in_transaction() {
            // SQLite gave up the whole transaction (disk full, out of memory): nobody's change is in it.
            return Err(Error::new(
                Code::DatabaseUnavailable,
                "the transaction was lost; nothing was written",
            ));
        }
        if is_batch {
            if !stays {
                self.session.control("ROLLBACK TO change")?;
            }
            self.session.control("RELEASE change")?;
        }
        Ok(())
    }

    /// A group that cannot be committed is undone and run again, each change for itself, so that nobody pays for a
    /// neighbour.
    fn one_by_one(&self, group: Vec<Box<dyn Pending>>, error: &Error) {
        self.undo();
        if group.len() == 1 {
            group.into_iter().for_each(|pending| pending.fail(error.clone()));
            return;
        }
        for mut pending in group {
            let run = self
                .session
                .control("BEGIN IMMEDIATE")
                .and_then(|()| self.attempt(pending.as_mut()))
                .and_then(|()| self.session.control("COMMIT"));
            match run {
                Ok(()) => {
                    self.committed();
                    pending.answer();
                }
                Err(error) => {
                    self.undo();
                    pending.fail(error);
                }
            }
        }
    }

    fn undo(&self) {
        if self.session.is_in_transaction()
            && let Err(error) = self.session.control("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }
}
