//! Hosts: the servers that lead to one database, and which of them answer.

use std::fmt::Display;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a host that does not answer is left out at first; each further failure doubles it.
const LEFT_OUT: Duration = Duration::from_secs(1);
/// limit: how long it is left out at most.
const LEFT_OUT_MAX: Duration = Duration::from_secs(16);
/// How long one connection is tried, while the others go elsewhere, before the next one may try.
const PROBE: Duration = Duration::from_secs(2);
/// About how old connections become, so that they spread again over hosts that have come back.
const LIFETIME: Duration = Duration::from_secs(120);
/// limit: hosts of one database.
const HOSTS_MAX: usize = 64;

/// Several servers that lead to the same data, as the heads of a sharded engine do. New connections go round; a host
/// that does not answer is left out for a while, then one connection tries it again.
#[derive(Debug)]
pub struct Hosts<T> {
    hosts: Vec<Host<T>>,
    turn: AtomicUsize,
    start: Instant,
}

#[derive(Debug)]
struct Host<T> {
    /// Host and port, for the log.
    name: String,
    target: T,
    /// Milliseconds since `start` until which it is left out.
    left_out_until: AtomicU64,
    /// Failures since it answered last.
    failures: AtomicU32,
}

impl<T> Hosts<T> {
    /// The hosts of a URL, each made by `target` from a URL with that host alone.
    pub fn parse(url: &str, target: impl Fn(&str) -> Result<T, String>) -> Result<Hosts<T>, String> {
        let hosts = split(url);
        if hosts.len() > HOSTS_MAX {
            return Err(format!("the URL names {} hosts; one database may have {HOSTS_MAX}", hosts.len()));
        }
        if hosts.len() > 1 && hosts.iter().any(|(name, _)| name.is_empty()) {
            return Err("the URL of the database has an empty host between commas".to_owned());
        }
        let host = |(name, url): (String, String)| {
            let (left_out_until, failures) = (AtomicU64::new(0), AtomicU32::new(0));
            Ok(Host { name, target: target(&url)?, left_out_until, failures })
        };
        let hosts = hosts.into_iter().map(host).collect::<Result<_, String>>()?;
        // A fleet of processes that starts together should not open everything at the first host.
        Ok(Hosts { hosts, turn: AtomicUsize::new(fastrand::usize(..HOSTS_MAX)), start: Instant::now() })
    }

    fn are_several(&self) -> bool {
        self.hosts.len() > 1
    }

    /// How old a connection may become; with one host as old as it likes.
    pub fn lifetime(&self) -> Option<Duration> {
        self.are_several().then_some(LIFETIME)
    }

    /// Opens a connection to the next host that answers. When none does, those that were left out are tried, too:
    /// after an outage of all, the first that comes back is found at once. The error is that of the last host.
    pub async fn open<C, E: Display>(&self, open: impl AsyncFn(&T) -> Result<C, E>) -> Result<C, E> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed);
        let round = || (0..self.hosts.len()).map(|step| &self.hosts[(first + step) % self.hosts.len()]);
        let now = self.now();
        let (invited, left_out): (Vec<_>, Vec<_>) = round().partition(|host| self.invites(host, now));
        let mut last = None;
        for host in invited.into_iter().chain(left_out) {
            match open(&host.target).await {
                Ok(connection) => {
                    self.answered(host);
                    return Ok(connection);
                }
                Err(error) => {
                    self.failed(host, &error);
                    last = Some(error);
                }
            }
        }
        Err(last.expect("a URL names at least one host"))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether a connection may be tried there now. Of a host that was left out, only the first one may.
    fn invites(&self, host: &Host<T>, now: u64) -> bool {
        let until = host.left_out_until.load(Ordering::Relaxed);
        if until == 0 {
            return true;
        }
        let probe = now + u64::try_from(PROBE.as_millis()).unwrap_or(u64::MAX);
        until <= now
            && host
                .left_out_until
                .compare_exchange(until, probe, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    fn answered(&self, host: &Host<T>) {
        if host.left_out_until.swap(0, Ordering::Relaxed) != 0 {
            host.failures.store(0, Ordering::Relaxed);
            tracing::info!(host = host.name, "the database host answers again");
        }
    }

    fn failed(&self, host: &Host<T>, reason: &impl Display) {
        // With one host there is nowhere else to go, and the pool tells of it.
        if !self.are_several() {
            return;
        }
        let failures = host.failures.fetch_add(1, Ordering::Relaxed);
        let pause = (LEFT_OUT * 2u32.saturating_pow(failures.min(8))).min(LEFT_OUT_MAX);
        let until = self.now() + u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        if host.left_out_until.swap(until, Ordering::Relaxed) == 0 {
            tracing::warn!(host = host.name, %reason, "a database host does not answer and is left out");
        }
    }
}

/// The hosts of a URL, by name, each with the URL that has it alone. Everything else stays as it is.
pub fn split(url: &str) -> Vec<(String, String)> {
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let rest = &url[after_scheme..];
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let begin = rest[..end].rfind('@').map_or(0, |at| at + 1);
    let (before, after) = (&url[..after_scheme + begin], &rest[end..]);
    let hosts = rest[begin..end].split(',').map(str::trim);
    hosts.map(|host| (host.to_owned(), format!("{before}{host}{after}"))).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use crate::driver::hosts::{Hosts, split};

    #[test]
    fn each_host_gets_the_rest_of_the_url() {
        let urls: Vec<String> =
            split("mysql://u:p@a:1,b:2/shop?x=1,2").into_iter().map(|(_, url)| url).collect();
        assert_eq!(urls, ["mysql://u:p@a:1/shop?x=1,2", "mysql://u:p@b:2/shop?x=1,2"]);
        assert_eq!(split("postgres:///shop?host=/run").len(), 1);
    }

    #[tokio::test]
    async fn a_host_that_fails_is_left_out_and_the_next_one_is_used() {
        let hosts = Hosts::parse("mysql://a,b/shop", |url| Ok(url.to_owned())).expect("two hosts");
        let tried = RefCell::new(Vec::new());
        for _ in 0..6 {
            let open = async |url: &String| {
                tried.borrow_mut().push(url.clone());
                if url.contains("//a/") { Err("refused") } else { Ok(url.clone()) }
            };
            assert_eq!(hosts.open(open).await, Ok("mysql://b/shop".to_owned()));
        }
        let failed = tried.borrow().iter().filter(|url| url.contains("//a/")).count();
        assert_eq!(failed, 1, "it was asked again although it was left out: {:?}", tried.borrow());
    }

    #[tokio::test]
    async fn when_none_answers_all_are_tried() {
        let hosts = Hosts::parse("mysql://a,b,c/shop", |url| Ok(url.to_owned())).expect("three hosts");
        for _ in 0..2 {
            let count = RefCell::new(0);
            let open = async |_: &String| {
                *count.borrow_mut() += 1;
                Err::<(), _>("refused")
            };
            assert_eq!(hosts.open(open).await, Err("refused"));
            assert_eq!(count.into_inner(), 3);
        }
    }
}
