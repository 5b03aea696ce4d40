//! The sessions of this worker, and the end of a turn of its event loop.

use std::cell::RefCell;
use std::rc::Rc;

use crate::driver::sqlite::session::Session;

thread_local! {
    /// The sessions of this thread, by the number of their driver.
    static SESSIONS: RefCell<Vec<(u64, Rc<Session>)>> = const { RefCell::new(Vec::new()) };
}

/// limit: databases that a worker keeps open; the one opened first is closed.
const SESSIONS_MAX: usize = 64;

/// The session of this thread for the driver `id`, opened if there is none.
pub fn session<E>(id: u64, open: impl FnOnce() -> Result<Session, E>) -> Result<Rc<Session>, E> {
    let found = SESSIONS.with_borrow(|sessions| {
        sessions.iter().find(|(known, _)| *known == id).map(|(_, session)| Rc::clone(session))
    });
    if let Some(session) = found {
        return Ok(session);
    }
    let session = Rc::new(open()?);
    SESSIONS.with_borrow_mut(|sessions| {
        if sessions.len() == SESSIONS_MAX {
            sessions.remove(0);
        }
        sessions.push((id, Rc::clone(&session)));
    });
    Ok(session)
}

/// Ends the read transactions of this thread. The runtime of a worker calls it before it waits for events, so that
/// no transaction outlives a turn: the log can be checkpointed, and commits of other programs are seen.
pub fn end_turn() {
    SESSIONS.with_borrow(|sessions| {
        for (_, session) in sessions {
            session.end_turn();
        }
    });
}
