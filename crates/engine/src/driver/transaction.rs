//! attempt(): one run of a change on a connection to a server.

use treeql::error::{Code, Error};

use crate::driver::connection::{Change, Connection, Outcome};
use crate::driver::retry::Failure;

/// A session whose transactions are controlled by statements.
pub trait Transactional: Connection {
    /// Runs a statement that controls transactions.
    fn control(&self, text: &str) -> impl Future<Output = Result<(), Error>>;

    /// What the last failure said about running it again.
    fn failure(&self) -> Failure;

    /// Says that the connection must not be used again.
    fn give_up(&self);
}

/// Runs a change once: a batch in a transaction, a single statement as it is.
pub async fn attempt<C: Change>(session: &impl Transactional, change: &mut C) -> Result<C::Output, Error> {
    if !change.is_batch() {
        let result = change.run(session).await;
        if session.failure() == Failure::Lost {
            return Err(unknown_outcome());
        }
        return result.map(|outcome| match outcome {
            Outcome::Commit(output) | Outcome::Rollback(output) => output,
        });
    }
    session.control("BEGIN").await?;
    let (is_commit, result) = match change.run(session).await {
        Ok(Outcome::Commit(output)) => (true, Ok(output)),
        Ok(Outcome::Rollback(output)) => (false, Ok(output)),
        Err(error) => (false, Err(error)),
    };
    let ended = session.control(if is_commit { "COMMIT" } else { "ROLLBACK" }).await;
    if ended.is_err() {
        // A connection in an unknown state is not handed to the next request.
        session.give_up();
    }
    match ended {
        Err(_lost) if is_commit && session.failure() == Failure::Lost => Err(unknown_outcome()),
        Err(error) if is_commit => Err(error),
        // Lost before the commit: nothing has been done.
        Err(error) if session.failure() == Failure::Lost => Err(error),
        _ => result,
    }
}

/// The connection was lost after something had been sent: it may have been done, so it is not done again.
fn unknown_outcome() -> Error {
    Error::new(
        Code::DatabaseUnavailable,
        "the connection was lost during a write; whether it was made is not known, so look before writing again",
    )
}
