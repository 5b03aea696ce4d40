//! rateLimit: so many requests per caller and time, with a burst; those beyond are told when to come back.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::error::{Code, Error};

/// How many locks the callers are spread over.
const SHARDS: usize = 16;
/// limit: callers that are remembered per shard. Whoever is new when all of them are busy shares one bucket.
const CALLERS_MAX: usize = 8192;
/// The bucket of those who are not remembered.
const SHARED: u64 = 0;

/// Settings of rateLimit.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Requests that a caller may make in `seconds`; 0 means as many as they like.
    pub requests: u32,
    /// The time for `requests`.
    pub seconds: u32,
    /// Requests that a caller may make at once; 0 means as many as `requests`.
    pub burst: u32,
    /// What tells callers apart: `address`, `user` or `key`. Who has no user or key is told apart by address.
    pub by: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { requests: 0, seconds: 60, burst: 0, by: "address".to_owned() }
    }
}

/// Who asks, as far as limits are concerned. Only what has been verified may be a user or a key: a caller who could
/// choose it would have a new limit with each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caller<'a> {
    /// An address; of IPv6 the network, which is what one customer has.
    Address(Option<IpAddr>),
    /// The name of a user.
    User(&'a str),
    /// An API key.
    Key(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Address,
    User,
    Key,
}

/// Token buckets, each written as the moment at which it will be full again.
pub struct RateLimit {
    by: By,
    /// Nanoseconds in which one request is earned.
    interval: u64,
    /// Nanoseconds in which an empty bucket fills.
    depth: u64,
    start: Instant,
    hasher: RandomState,
    shards: [Mutex<HashMap<u64, u64>>; SHARDS],
}

impl RateLimit {
    /// Checks the settings; nothing, if there is no limit. The error is a sentence.
    pub fn compile(options: &Options) -> Result<Option<RateLimit>, String> {
        let by = match options.by.as_str() {
            "address" => By::Address,
            "user" => By::User,
            "key" => By::Key,
            other => return Err(format!("rateLimit.by is '{other}', but takes address, user or key")),
        };
        if options.requests == 0 {
            return Ok(None);
        }
        if options.seconds == 0 {
            return Err("rateLimit.seconds is 0, but takes the time for rateLimit.requests".to_owned());
        }
        let burst = if options.burst == 0 { options.requests } else { options.burst };
        let interval = u64::from(options.seconds) * 1_000_000_000 / u64::from(options.requests);
        Ok(Some(RateLimit {
            by,
            interval: interval.max(1),
            depth: interval.max(1).saturating_mul(u64::from(burst)),
            start: Instant::now(),
            hasher: RandomState::new(),
            shards: Default::default(),
        }))
    }

    /// The caller by what the settings tell callers apart.
    pub fn caller<'a>(
        &self,
        address: Option<IpAddr>,
        user: Option<&'a str>,
        key: Option<&'a str>,
    ) -> Caller<'a> {
        match (self.by, user, key) {
            (By::User, Some(user), _) => Caller::User(user),
            (By::Key, _, Some(key)) => Caller::Key(key),
            _ => Caller::Address(address.map(network)),
        }
    }

    /// Takes one request from the caller's bucket. An empty one is 2004 with the seconds until it is not.
    pub fn check(&self, caller: Caller<'_>, now: Instant) -> Result<(), Error> {
        let elapsed = now.saturating_duration_since(self.start).as_nanos();
        let now = u64::try_from(elapsed).unwrap_or(u64::MAX);
        let id = self.hasher.hash_one(caller).max(SHARED + 1);
        let shard = &self.shards[(id % SHARDS as u64) as usize];
        let mut buckets = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let id = place(&mut buckets, id, now);
        let full = buckets.entry(id).or_insert(now);
        let next = (*full).max(now).saturating_add(self.interval);
        let missing = next.saturating_sub(now.saturating_add(self.depth));
        if missing == 0 {
            *full = next;
            return Ok(());
        }
        Err(Error::new(Code::TooManyRequests, missing.div_ceil(1_000_000_000).to_string()))
    }
}

/// Where the bucket of `id` is. Full ones are forgotten when there are too many: they are as good as new ones.
fn place(buckets: &mut HashMap<u64, u64>, id: u64, now: u64) -> u64 {
    if buckets.len() < CALLERS_MAX || buckets.contains_key(&id) {
        return id;
    }
    // Looking for full ones in vain with every request would be slow: the shared bucket waits for the next chance.
    if buckets.get(&SHARED).is_none_or(|full| *full <= now) {
        buckets.retain(|_, full| *full > now);
    }
    if buckets.len() < CALLERS_MAX { id } else { SHARED }
}

/// An address of IPv4, or the /64 of one of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => Ipv6Addr::from_bits(six.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::time::{Duration, Instant};

    use treeql::error::{Code, Error};

    use crate::middleware::rate_limit::{CALLERS_MAX, Caller, Options, RateLimit, SHARDS};

    fn limit(requests: u32, seconds: u32, burst: u32, by: &str) -> RateLimit {
        let options = Options { requests, seconds, burst, by: by.into() };
        RateLimit::compile(&options).unwrap().expect("there is a limit")
    }

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let (limit, start) = (limit(10, 60, 3, "user"), Instant::now());
        let ask = |seconds: u64| limit.check(Caller::User("ann"), start + Duration::from_secs(seconds));
        let wait = |seconds: &str| Err(Error::new(Code::TooManyRequests, seconds));
        assert_eq!([ask(0), ask(0), ask(0)], [Ok(()), Ok(()), Ok(())]);
        assert_eq!(ask(0), wait("6"));
        assert_eq!(ask(4), wait("2"));
        assert_eq!(ask(4), wait("2"));
        assert_eq!([ask(6), ask(6)], [Ok(()), wait("6")]);
        assert_eq!([ask(600), ask(600), ask(600), ask(600)], [Ok(()), Ok(()), Ok(()), wait("6")]);
        assert_eq!(limit.check(Caller::User("bob"), start), Ok(()));
        assert_eq!(limit.check(Caller::Key("ann"), start), Ok(()));
    }

    #[test]
    fn callers_are_told_apart_by_what_is_proved() {
        let caller = |by: &str, user, key| limit(1, 1, 0, by).caller(address("2001:db8::1"), user, key);
        let network = Caller::Address(address("2001:db8::"));
        assert_eq!(caller("address", Some("ann"), Some("k")), network);
        assert_eq!(caller("user", Some("ann"), Some("k")), Caller::User("ann"));
        assert_eq!(caller("key", Some("ann"), Some("k")), Caller::Key("k"));
        assert_eq!(caller("user", None, Some("k")), network);
        assert_eq!(caller("key", Some("ann"), None), network);
        let four = limit(1, 1, 0, "address").caller(address("192.0.2.1"), None, None);
        assert_eq!(four, Caller::Address(address("192.0.2.1")));
    }

    #[test]
    fn callers_that_are_remembered_have_an_end() {
        let (limit, now) = (limit(1, 60, 0, "address"), Instant::now());
        let ask = |number: u32, now| limit.check(Caller::Address(Some(IpAddr::V4(number.into()))), now);
        assert_eq!(ask(0, now), Ok(()));
        let refused = (1..200_000).filter(|number| ask(*number, now).is_err()).count();
        let kept: usize = limit.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(kept <= (CALLERS_MAX + 1) * SHARDS && refused > 0, "{kept} {refused}");
        assert!(ask(0, now).is_err(), "a flood of others does not give anyone a new bucket");
        let later = now + Duration::from_secs(61);
        assert_eq!((ask(0, later), ask(300_000, later)), (Ok(()), Ok(())));
    }

    #[test]
    fn settings_are_checked() {
        assert!(RateLimit::compile(&Options::default()).unwrap().is_none());
        let error = |options: Options| RateLimit::compile(&options).err().unwrap();
        assert!(
            error(Options { by: "body".into(), ..Options::default() }).contains("rateLimit.by is 'body'")
        );
        assert!(
            error(Options { requests: 1, seconds: 0, ..Options::default() }).contains("rateLimit.seconds")
        );
    }
}
