//! Passwords: PHP's formats verified and written, bounded in time and memory, and no faster for unknown users.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Argon2, Params};
use tokio::sync::Semaphore;
use treeql::error::{Code, Error};

/// What new hashes cost: that of `password_hash` in PHP.
const BCRYPT_COST: u32 = 10;
/// limit: a stored hash is data, and says itself what it costs; each step doubles the time, 14 takes about a second.
const BCRYPT_COST_MAX: u32 = 14;
/// limit: KiB that one verification may use.
const ARGON2_KIB_MAX: u32 = 256 * 1024;
/// limit: KiB times passes of one verification, about a second.
const ARGON2_WORK_MAX: u64 = 1024 * 1024;
/// limit: verifications that wait for a core; those beyond are answered with 429.
const WAITING_MAX: usize = 256;

/// How new passwords are hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// `$2y$10$…`, which php-crud-api writes and reads. Bytes of a password beyond 72 do not count.
    #[default]
    Bcrypt,
    /// `$argon2id$…`, with 19 MiB and two passes.
    Argon2id,
}

impl Algorithm {
    /// The algorithm called `name`. The error is a sentence.
    pub fn parse(name: &str) -> Result<Algorithm, String> {
        match name {
            "bcrypt" => Ok(Algorithm::Bcrypt),
            "argon2id" => Ok(Algorithm::Argon2id),
            other => Err(format!("unknown password hash '{other}'; there are bcrypt and argon2id")),
        }
    }
}

/// Whether `password` is the one that `hash` was made of. Plain text and unknown formats never verify.
pub fn verify(password: &str, hash: &str) -> bool {
    match Format::of(hash) {
        Some(Format::Bcrypt) => bcrypt::verify(password, hash).unwrap_or(false),
        Some(Format::Argon2) => PasswordHash::new(hash)
            .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()),
        None => false,
    }
}

/// What a password is verified against: the hash of the user, or of somebody else whose password it then is not.
#[derive(Clone, Debug, PartialEq)]
struct Against {
    hash: Arc<str>,
    is_theirs: bool,
}

impl Against {
    /// For a user without a hash that can verify, one that costs what the hash seen last does, or what new ones do.
    fn of(stored: Option<&str>, seen: Option<Arc<str>>, algorithm: Algorithm) -> Against {
        match stored.filter(|hash| Format::of(hash).is_some()) {
            Some(hash) => Against { hash: hash.into(), is_theirs: true },
            None => Against { hash: seen.unwrap_or_else(|| nobody(algorithm)), is_theirs: false },
        }
    }

    /// One verification, whoever it is.
    fn check(&self, password: &str) -> bool {
        verify(password, &self.hash) & self.is_theirs
    }
}

/// A new hash of `password`.
pub fn hash(password: &str, algorithm: Algorithm) -> Result<String, Error> {
    let failed =
        |error: String| Error::new(Code::Internal, format!("the password cannot be hashed: {error}"));
    match algorithm {
        Algorithm::Bcrypt => {
            let parts = bcrypt::hash_with_result(password, BCRYPT_COST);
            let parts = parts.map_err(|error| failed(error.to_string()))?;
            Ok(parts.format_for_version(bcrypt::Version::TwoY))
        }
        Algorithm::Argon2id => Argon2::default()
            .hash_password(password.as_bytes())
            .map(|hash| hash.to_string())
            .map_err(|error| failed(error.to_string())),
    }
}

/// `verify` beside the requests. Without a hash, or with one that cannot verify, the work is the same.
pub async fn verify_async(
    password: String,
    hash: Option<String>,
    algorithm: Algorithm,
) -> Result<bool, Error> {
    /// The hash of a user that was seen last, because hashes of older settings cost something else than new ones.
    static SEEN: Mutex<Option<Arc<str>>> = Mutex::new(None);
    beside(move || {
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        let against = Against::of(hash.as_deref(), seen.clone(), algorithm);
        if against.is_theirs {
            *seen = Some(Arc::clone(&against.hash));
        }
        drop(seen);
        against.check(&password)
    })
    .await
}

/// `hash` beside the requests.
pub async fn hash_async(password: String, algorithm: Algorithm) -> Result<String, Error> {
    beside(move || hash(&password, algorithm)).await?
}

async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    static QUEUE: LazyLock<Queue> = LazyLock::new(|| {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Queue::new(cores, WAITING_MAX)
    });
    QUEUE.run(work).await
}

/// Slow work: some at once, and a bounded number that wait.
struct Queue {
    cores: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

impl Queue {
    fn new(cores: usize, places: usize) -> Queue {
        Queue { cores: Arc::new(Semaphore::new(cores)), places: Arc::new(Semaphore::new(places)) }
    }

    /// Does `work` on another thread. It keeps its place and its core until it ends, also when the caller has gone away:
    /// going away must not be a way to have more of it.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
        let place = self.places.clone().try_acquire_owned();
        let place = place.map_err(|_full| Error::new(Code::TooManyRequests, "1"))?;
        let core = self.cores.clone().acquire_owned().await.expect("it is never closed");
        let task = tokio::task::spawn_blocking(move || {
            let result = work();
            drop((core, place));
            result
        });
        task.await
            .map_err(|error| Error::new(Code::Internal, format!("the work on a password failed: {error}")))
    }
}

/// The formats that can verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Bcrypt,
    Argon2,
}

impl Format {
    /// The format of a hash that is well formed and within the limits.
    fn of(hash: &str) -> Option<Format> {
        if ["$2y$", "$2a$", "$2b$"].iter().any(|prefix| hash.starts_with(prefix)) {
            let parts: bcrypt::HashParts = hash.parse().ok()?;
            return (parts.get_cost() <= BCRYPT_COST_MAX).then_some(Format::Bcrypt);
        }
        if hash.starts_with("$argon2id$") || hash.starts_with("$argon2i$") {
            let hash = PasswordHash::new(hash).ok()?;
            let params = Params::try_from(&hash).ok()?;
            let work = u64::from(params.m_cost()) * u64::from(params.t_cost());
            let is_complete = hash.hash.is_some() && hash.salt.is_some();
            let is_bounded = params.m_cost() <= ARGON2_KIB_MAX && work <= ARGON2_WORK_MAX;
            return (is_complete && is_bounded).then_some(Format::Argon2);
        }
        None
    }
}

/// A hash of a password that is nobody's, made when first needed so that it costs what all others do.
fn nobody(algorithm: Algorithm) -> Arc<str> {
    static BCRYPT: LazyLock<Arc<str>> = LazyLock::new(|| made(Algorithm::Bcrypt));
    static ARGON2ID: LazyLock<Arc<str>> = LazyLock::new(|| made(Algorithm::Argon2id));
    fn made(algorithm: Algorithm) -> Arc<str> {
        hash("nobody", algorithm).expect("the system has random numbers").into()
    }
    match algorithm {
        Algorithm::Bcrypt => Arc::clone(&BCRYPT),
        Algorithm::Argon2id => Arc::clone(&ARGON2ID),
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;
    use std::task::Poll;

    use treeql::error::{Code, Error};

    use crate::auth::password::{Against, Algorithm, Queue, hash, hash_async, verify, verify_async};

    /// Made by `password_hash` of PHP 8.2, and those of the conformance suite.
    const MADE_BY_PHP: &[(&str, &str)] = &[
        ("password1", "$2y$10$YkoiP6lfiEsEU9NvuGYhzuHln8FtSkkxxue0CQUufWL6tk/svoQBS"),
        ("pässword 1", "$2y$10$oBoB5ySSPWvCAN8sLfefRuSosp2OeeM.G3PWDK5KE/JNNfwTdJtHS"),
        ("pässword 1", "$2y$12$LZudZo1QocjxwwVorEMsM.CAej7Y6z9ygHSAF6WJxmdHuNx/NKqsG"),
        (
            "pässword 1",
            "$argon2i$v=19$m=65536,t=4,p=1$VnZCS2J4MVV2Z1B2TVdjMA$Q3qVpx9lkihIwSyZ5GlA1TFLm/9WWxXv6ErJg0sisKQ",
        ),
        (
            "pässword 1",
            "$argon2id$v=19$m=65536,t=4,p=1$WTFENFVMQUx2R1lqVFd6Ng$ZRr8fFJaUvPtwIegmjZcSpi2gckgkcRNmlCY3r/JnlY",
        ),
    ];

    #[test]
    fn hashes_of_php_verify() {
        for (password, hash) in MADE_BY_PHP {
            assert!(verify(password, hash), "{hash}");
            assert!(!verify(&format!("{password}x"), hash), "{hash}");
            assert!(!verify("", hash), "{hash}");
        }
        let long = "$2y$10$LXbpiPCjqTLH.sxTkOiLe.qsX79k07YGsmv7rWifDOvVFvArZnxta";
        assert!(verify(&"x".repeat(80), long) && verify(&"x".repeat(72), long));
        assert!(!verify(&"x".repeat(71), long));
        assert!(verify("", "$2y$10$4.TxIbiQgVKOcxjDtBw9nOCliJhctNAAem1L0AuERGUmeBu5tWP0y"));
    }

    #[test]
    fn other_prefixes_of_bcrypt_verify() {
        let (password, hash) = MADE_BY_PHP[0];
        for prefix in ["$2a$", "$2b$"] {
            assert!(verify(password, &hash.replacen("$2y$", prefix, 1)), "{prefix}");
        }
        // The mark of hashes that an old bug made.
        assert!(!verify(password, &hash.replacen("$2y$", "$2x$", 1)));
    }

    #[test]
    fn what_is_no_hash_never_verifies() {
        let others = [
            "",
            "pass",
            "$",
            "$2y$",
            "$2y$10$",
            "$2y$10$short",
            "$argon2id$",
            "$argon2id$v=19$m=8,t=1,p=1",
            "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ",
            "$1$abcdefgh$irWbblnpmw.5z7wgBnprh0",
            "5f4dcc3b5aa765d61d8327deb882cf99",
        ];
        for other in others {
            assert!(!verify(other, other), "{other}");
            assert!(!verify("", other), "{other}");
        }
    }

    #[test]
    fn a_hash_that_would_take_forever_does_not_verify() {
        let (password, hash) = MADE_BY_PHP[0];
        assert!(!verify(password, &hash.replacen("$10$", "$31$", 1)));
        assert!(!verify("a", "$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0c2FsdA"));
        assert!(!verify("a", "$argon2id$v=19$m=65536,t=4294967295,p=1$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0c2FsdA"));
    }

    #[tokio::test]
    async fn what_is_written_verifies() {
        for (name, prefix) in [("bcrypt", "$2y$10$"), ("argon2id", "$argon2id$v=19$m=19456,t=2,p=1$")] {
            let algorithm = Algorithm::parse(name).unwrap();
            let first = hash("geheim", algorithm).unwrap();
            let second = hash_async("geheim".to_owned(), algorithm).await.unwrap();
            assert!(first.starts_with(prefix), "{first}");
            assert_ne!(first, second);
            assert!(verify_async("geheim".to_owned(), Some(first.clone()), algorithm).await.unwrap());
            assert!(!verify_async("Geheim".to_owned(), Some(second), algorithm).await.unwrap());
            assert!(!verify_async("geheim".to_owned(), None, algorithm).await.unwrap());
            assert!(!verify_async("geheim".to_owned(), Some("geheim".to_owned()), algorithm).await.unwrap());
        }
        assert!(Algorithm::parse("md5").unwrap_err().contains("argon2id"));
    }

    #[tokio::test]
    async fn the_queue_has_an_end_and_empties() {
        let queue = Queue::new(0, 2);
        let (mut one, mut two) = (Box::pin(queue.run(|| 1)), Box::pin(queue.run(|| 2)));
        poll_fn(|context| {
            assert!(one.as_mut().poll(context).is_pending() && two.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        assert_eq!(queue.run(|| 3).await, Err(Error::new(Code::TooManyRequests, "1")));
        drop(two);
        queue.cores.add_permits(1);
        assert_eq!((one.await, queue.run(|| 4).await), (Ok(1), Ok(4)));
        let failed = queue.run(|| -> u8 { panic!("a bug") }).await;
        assert_eq!(failed.map_err(|error| error.code), Err(Code::Internal));
        assert_eq!(queue.run(|| 5).await, Ok(5));
    }

    /// No clock: both verify once, against hashes of one format and cost. tests/login_timing has figures.
    #[test]
    fn an_unknown_user_is_as_much_work_as_a_known_one() {
        // The part of a hash that says what it costs.
        let cost = |hash: &str| {
            let parts = hash.rsplit_once('$').unwrap().0;
            if hash.starts_with("$2") {
                parts.to_owned()
            } else {
                parts.rsplit_once('$').unwrap().0.to_owned()
            }
        };
        for (_, stored) in MADE_BY_PHP {
            let known = Against::of(Some(stored), None, Algorithm::Bcrypt);
            assert!(known.is_theirs && *known.hash == **stored);
            for nobody in [None, Some("password1"), Some(""), Some("$2y$99$x")] {
                let unknown = Against::of(nobody, Some(Arc::clone(&known.hash)), Algorithm::Bcrypt);
                assert!(!unknown.is_theirs);
                assert_eq!(cost(&unknown.hash), cost(stored));
            }
        }
        for algorithm in [Algorithm::Bcrypt, Algorithm::Argon2id] {
            let first = Against::of(None, None, algorithm);
            assert_eq!(cost(&first.hash), cost(&hash("geheim", algorithm).unwrap()));
            assert!(
                verify("nobody", &first.hash) && !first.check("nobody"),
                "nobody's password opens nothing"
            );
        }
    }
}
