//! run(): a change on connections to a server, again where the engine asks for it.

use treeql::error::{Code, Error};

use crate::driver::connection::{Change, Connection, Outcome};
use crate::driver::retry::{ATTEMPTS_MAX, Failure, pause};

/// A session whose transactions are controlled by statements.
pub trait Transactional: Connection {
    /// Runs a statement that controls transactions.
    fn control(&self, text: &str) -> impl Future<Output = Result<(), Error>>;

    /// What the last failure said about running it again.
    fn failure(&self) -> Failure;

    /// Says that a transaction begins; if the request is dropped before it is closed, so is the connection.
    fn begin(&self);

    /// Says that the transaction has ended.
    fn close(&self);
}

/// Runs a change, each time on a session of its own, until the engine does not ask to run it again.
pub async fn run<S: Transactional, C: Change>(
    session: impl AsyncFn() -> Result<S, Error>,
    mut change: C,
) -> Result<C::Output, Error> {
    for number in 1.. {
        let session = session().await?;
        let result = attempt(&session, &mut change).await;
        if !session.failure().may_run_again() || number >= ATTEMPTS_MAX {
            return result;
        }
        drop(session);
        pause(number).await;
    }
    unreachable!("the last attempt returns")
}

/// Runs a change once: a batch in a transaction, a single statement as it is.
async fn attempt<C: Change>(session: &impl Transactional, change: &mut C) -> Result<C::Output, Error> {
    if !change.is_batch() {
        let result = change.run(session).await;
        if session.failure() == Failure::Lost {
            return Err(unknown_outcome());
        }
        return result.map(|outcome| match outcome {
            Outcome::Commit(output) | Outcome::Rollback(output) => output,
        });
    }
    match change.run_alone(session).await {
        Some(Ok(output)) => return Ok(output),
        Some(Err(_)) if session.failure() == Failure::Lost => return Err(unknown_outcome()),
        Some(Err(error)) if session.failure().may_run_again() => return Err(error),
        // What is refused is told record by record.
        Some(Err(_)) | None => {}
    }
    session.begin();
    session.control("BEGIN").await?;
    let (is_commit, result) = match change.run(session).await {
        Ok(Outcome::Commit(output)) => (true, Ok(output)),
        Ok(Outcome::Rollback(output)) => (false, Ok(output)),
        Err(error) => (false, Err(error)),
    };
    let ended = session.control(if is_commit { "COMMIT" } else { "ROLLBACK" }).await;
    // Else a connection in an unknown state would be handed to the next request.
    if ended.is_ok() {
        session.close();
    }
    match ended {
        Err(_lost) if is_commit && session.failure() == Failure::Lost => Err(unknown_outcome()),
        Err(error) if is_commit => Err(error),
        // Lost before the commit: nothing has been done.
        Err(error) if session.failure() == Failure::Lost => Err(error),
        // Undone as a whole, whatever the single results are.
        _ if session.failure().may_run_again() => Err(conflict()),
        _ => result,
    }
}

/// Other writes got in the way: nothing of this one was done.
pub fn conflict() -> Error {
    Error::new(Code::DatabaseUnavailable, "other writes got in the way; try again")
}

/// The connection was lost after something had been sent: it may have been done, so it is not done again.
fn unknown_outcome() -> Error {
    Error::new(
        Code::DatabaseUnavailable,
        "the connection was lost during a write; whether it was made is not known, so look before writing again",
    )
}
