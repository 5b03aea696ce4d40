//! Revoked: sessions that ended before their time, so that copies of their cookies are worth nothing.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use treeql::error::{Code, Error};

/// limit: ends that are remembered, each until its cookies have expired. When there are more, all sessions end.
const ENDS_MAX: usize = 100_000;

/// Which login a session is of.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Login {
    /// A random id.
    #[serde(rename = "i")]
    pub id: String,
    /// Milliseconds since 1970.
    #[serde(rename = "t")]
    pub since: u64,
    /// The name of the user.
    #[serde(rename = "n")]
    pub name: String,
    /// What `dbAuth.sessionColumn` held.
    #[serde(rename = "g", default, skip_serializing_if = "String::is_empty")]
    pub generation: String,
}

impl Login {
    /// A login of now, and of no earlier moment than the one after `end`.
    pub fn new(name: String, generation: String, end: u64) -> Result<Login, Error> {
        let mut id = [0; 16];
        let failed = |_unspecified| Error::new(Code::Internal, "the system has no random numbers");
        SystemRandom::new().fill(&mut id).map_err(failed)?;
        Ok(Login { id: URL_SAFE_NO_PAD.encode(id), since: now().max(end + 1), name, generation })
    }
}

/// Ends of sessions, in the memory of this process: another one, or this one after a restart, does not know them.
pub struct Revoked {
    /// Milliseconds that a session lasts.
    lifetime: u64,
    ends: RwLock<Ends>,
}

#[derive(Default)]
struct Ends {
    /// Logins up to this moment have ended.
    all: u64,
    /// Ids of logins, and when they may be forgotten.
    logins: HashMap<String, u64>,
    /// Names of users, and up to when their logins have ended.
    users: HashMap<String, u64>,
}

impl Revoked {
    /// Nothing has ended. `lifetime` is in seconds.
    pub fn new(lifetime: u64) -> Revoked {
        Revoked { lifetime: lifetime.saturating_mul(1000), ends: RwLock::default() }
    }

    /// Whether a login has ended.
    pub fn has(&self, login: &Login) -> bool {
        let ends = self.ends.read().unwrap_or_else(PoisonError::into_inner);
        login.since <= ends.all
            || ends.logins.contains_key(&login.id)
            || ends.users.get(&login.name).is_some_and(|end| login.since <= *end)
    }

    /// Ends one login.
    pub fn end(&self, login: &Login) {
        self.add(|ends, now| {
            ends.logins.insert(login.id.clone(), now + self.lifetime);
        });
    }

    /// Ends all logins of a user up to now; the moment.
    pub fn end_user(&self, name: &str) -> u64 {
        self.add(|ends, now| {
            ends.users.insert(name.to_owned(), now);
        })
    }

    fn add(&self, add: impl FnOnce(&mut Ends, u64)) -> u64 {
        let now = now();
        let mut ends = self.ends.write().unwrap_or_else(PoisonError::into_inner);
        if ends.logins.len() + ends.users.len() >= ENDS_MAX {
            ends.logins.retain(|_, until| *until > now);
            ends.users.retain(|_, end| *end + self.lifetime > now);
        }
        if ends.logins.len() + ends.users.len() >= ENDS_MAX {
            // Forgetting one would bring it back to life.
            *ends = Ends { all: now, ..Ends::default() };
            tracing::warn!("{ENDS_MAX} sessions ended before their time; all users must log in again");
        }
        add(&mut ends, now);
        now
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use crate::auth::revoked::{ENDS_MAX, Login, Revoked};

    fn login(name: &str) -> Login {
        Login::new(name.to_owned(), String::new(), 0).unwrap()
    }

    #[test]
    fn an_end_is_of_one_login_or_of_all_of_a_user() {
        let revoked = Revoked::new(60);
        let (one, two, bob) = (login("ann"), login("ann"), login("bob"));
        revoked.end(&one);
        assert!(revoked.has(&one) && !revoked.has(&two));
        let end = revoked.end_user("ann");
        assert!(revoked.has(&two) && !revoked.has(&bob));
        let later = Login::new("ann".to_owned(), String::new(), end).unwrap();
        assert!(!revoked.has(&later), "a later login is another one");
    }

    #[test]
    fn too_many_ends_are_the_end_of_all() {
        let revoked = Revoked::new(60);
        let bob = login("bob");
        let mut one = login("ann");
        for number in 0..=ENDS_MAX {
            one.id = number.to_string();
            revoked.end(&one);
        }
        assert!(revoked.has(&bob), "nothing that has ended comes back, so everything ends");
        let ends = revoked.ends.read().unwrap();
        assert!(ends.logins.len() < ENDS_MAX && ends.all > 0);
    }
}
