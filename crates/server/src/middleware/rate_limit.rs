//! rateLimit: how often somebody may ask, and how often an address may fail to say who it is.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Instant;

use http::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::error::{Code, Error};

use crate::middleware::buckets::{Buckets, Standing};

/// Failures that an address may have in [`FAILURE_SECONDS`] if nothing is configured: enough for fingers, not for lists.
const FAILURES: u32 = 20;
const FAILURE_SECONDS: u32 = 60;
/// The headers of draft-ietf-httpapi-ratelimit-headers-10.
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

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
    /// Failed attempts to authenticate that an address may make in a minute, after which it has to wait; 0 means as
    /// many as it likes. If this is not set, it is 20 for addresses of other machines.
    pub failures: Option<u32>,
}

impl Default for Options {
    fn default() -> Options {
        Options { requests: 0, seconds: 60, burst: 0, by: "address".to_owned(), failures: None }
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

/// The limits that are configured.
pub struct RateLimit {
    by: By,
    requests: Option<Requests>,
    failures: Option<Failures>,
}

struct Requests {
    buckets: Buckets,
    /// The limit for people: `100 in 60 s`.
    sentence: String,
    policy: HeaderValue,
}

struct Failures {
    buckets: Buckets,
    /// Whether addresses of this machine are counted, too.
    counts_loopback: bool,
}

impl RateLimit {
    /// Checks the settings; nothing, if there is no limit. The error is a sentence.
    pub fn compile(options: &Options, has_auth: bool) -> Result<Option<RateLimit>, String> {
        let by = match options.by.as_str() {
            "address" => By::Address,
            "user" => By::User,
            "key" => By::Key,
            other => return Err(format!("rateLimit.by is '{other}', but takes address, user or key")),
        };
        if options.requests > 0 && options.seconds == 0 {
            return Err("rateLimit.seconds is 0, but takes the time for rateLimit.requests".to_owned());
        }
        let most = options.failures.unwrap_or(FAILURES);
        let failures = (has_auth && most > 0).then(|| Failures {
            buckets: Buckets::new(most, FAILURE_SECONDS, most),
            counts_loopback: options.failures.is_some(),
        });
        let requests = (options.requests > 0).then(|| Requests::new(options));
        Ok((requests.is_some() || failures.is_some()).then_some(RateLimit { by, requests, failures }))
    }

    /// What is decided before anybody has said who they are, because verifying a password is what costs most: 2004 for an
    /// address that has failed too often, and for one that has asked too often if addresses are counted.
    pub fn before(
        &self,
        address: Option<IpAddr>,
        now: Instant,
        standing: &mut Option<Standing>,
    ) -> Result<(), Error> {
        if let Some(failures) = self.failures.as_ref().filter(|failures| failures.counts(address)) {
            let seconds = failures.buckets.wait(Caller::Address(address.map(network)), now);
            if seconds > 0 {
                return Err(refusal(
                    seconds,
                    "rateLimit.failures",
                    "too many failed attempts to authenticate",
                ));
            }
        }
        if self.by == By::Address { self.count(address, None, None, now, standing) } else { Ok(()) }
    }

    /// What is decided when it is known who asks: 2004 for a user or a key that has asked too often.
    pub fn after(
        &self,
        address: Option<IpAddr>,
        user: Option<&str>,
        key: Option<&str>,
        now: Instant,
        standing: &mut Option<Standing>,
    ) -> Result<(), Error> {
        if self.by == By::Address { Ok(()) } else { self.count(address, user, key, now, standing) }
    }

    /// Says that an attempt to authenticate has failed.
    pub fn failed(&self, address: Option<IpAddr>, now: Instant) {
        if let Some(failures) = self.failures.as_ref().filter(|failures| failures.counts(address)) {
            // Those that were under way when the last one failed are not held against anyone.
            failures.buckets.take(Caller::Address(address.map(network)), now).ok();
        }
    }

    /// Says in the headers how the caller stands.
    pub fn finish(&self, standing: Option<Standing>, headers: &mut HeaderMap) {
        let (Some(requests), Some(Standing { remaining, seconds })) = (&self.requests, standing) else {
            return;
        };
        headers.insert(POLICY, requests.policy.clone());
        if let Ok(value) = HeaderValue::from_str(&format!("\"requests\";r={remaining};t={seconds}")) {
            headers.insert(LIMIT, value);
        }
    }

    fn count(
        &self,
        address: Option<IpAddr>,
        user: Option<&str>,
        key: Option<&str>,
        now: Instant,
        standing: &mut Option<Standing>,
    ) -> Result<(), Error> {
        let Some(requests) = &self.requests else { return Ok(()) };
        match requests.buckets.take(self.caller(address, user, key), now) {
            Ok(after) => {
                *standing = Some(after);
                Ok(())
            }
            Err(refused) => {
                *standing = Some(refused);
                Err(refusal(refused.seconds, "rateLimit.requests", &requests.sentence))
            }
        }
    }

    /// The caller by what the settings tell callers apart.
    fn caller<'a>(&self, address: Option<IpAddr>, user: Option<&'a str>, key: Option<&'a str>) -> Caller<'a> {
        match (self.by, user, key) {
            (By::User, Some(user), _) => Caller::User(user),
            (By::Key, _, Some(key)) => Caller::Key(key),
            _ => Caller::Address(address.map(network)),
        }
    }
}

impl Requests {
    fn new(options: &Options) -> Requests {
        let Options { requests, seconds, .. } = *options;
        let burst = if options.burst == 0 { requests } else { options.burst };
        let policy = HeaderValue::from_str(&format!("\"requests\";q={requests};w={seconds}"));
        Requests {
            buckets: Buckets::new(requests, seconds, burst),
            sentence: format!("there may be {requests} in {seconds} s, {burst} at once"),
            policy: policy.expect("it is made of digits"),
        }
    }
}

impl Failures {
    fn counts(&self, address: Option<IpAddr>) -> bool {
        self.counts_loopback || !address.is_some_and(|address| address.to_canonical().is_loopback())
    }
}

fn refusal(seconds: u64, setting: &'static str, sentence: &str) -> Error {
    Error::new(Code::TooManyRequests, seconds.to_string()).detail(setting, sentence)
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

    use treeql::error::Code;

    use crate::middleware::rate_limit::{Caller, Options, RateLimit};

    fn limit(requests: u32, by: &str, failures: Option<u32>) -> RateLimit {
        let options = Options { requests, by: by.into(), failures, ..Options::default() };
        RateLimit::compile(&options, true).unwrap().expect("there is a limit")
    }

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn callers_are_told_apart_by_what_is_proved() {
        let caller = |by: &str, user, key| limit(1, by, None).caller(address("2001:db8::1"), user, key);
        let network = Caller::Address(address("2001:db8::"));
        assert_eq!(caller("address", Some("ann"), Some("k")), network);
        assert_eq!(caller("user", Some("ann"), Some("k")), Caller::User("ann"));
        assert_eq!(caller("key", Some("ann"), Some("k")), Caller::Key("k"));
        assert_eq!(caller("user", None, Some("k")), network);
        assert_eq!(caller("key", Some("ann"), None), network);
        let four = limit(1, "address", None).caller(address("192.0.2.1"), None, None);
        assert_eq!(four, Caller::Address(address("192.0.2.1")));
    }

    #[test]
    fn addresses_are_counted_before_and_users_after() {
        let (now, mut standing) = (Instant::now(), None);
        let by_address = limit(1, "address", None);
        assert!(by_address.before(address("192.0.2.1"), now, &mut standing).is_ok());
        assert!(by_address.after(address("192.0.2.1"), Some("ann"), None, now, &mut standing).is_ok());
        let refused = by_address.before(address("192.0.2.1"), now, &mut standing).unwrap_err();
        assert_eq!((refused.code, &*refused.argument), (Code::TooManyRequests, "60"));
        assert!(refused.details[0].0.contains("rateLimit.requests"));
        let by_user = limit(1, "user", None);
        for _ in 0..3 {
            assert!(by_user.before(address("192.0.2.1"), now, &mut standing).is_ok());
        }
        assert!(by_user.after(address("192.0.2.1"), Some("ann"), None, now, &mut standing).is_ok());
        assert!(by_user.after(address("192.0.2.2"), Some("ann"), None, now, &mut standing).is_err());
        assert!(by_user.after(address("192.0.2.1"), Some("bob"), None, now, &mut standing).is_ok());
    }

    #[test]
    fn failures_close_the_door_for_their_address_only() {
        let (limit, now, mut standing) = (limit(0, "address", None), Instant::now(), None);
        let (bad, good, here) = (address("192.0.2.1"), address("192.0.2.2"), address("127.0.0.1"));
        for _ in 0..20 {
            assert!(limit.before(bad, now, &mut standing).is_ok());
            limit.failed(bad, now);
            limit.failed(here, now);
        }
        let refused = limit.before(bad, now, &mut standing).unwrap_err();
        assert_eq!((refused.code, &*refused.argument), (Code::TooManyRequests, "3"));
        assert!(limit.before(good, now, &mut standing).is_ok());
        assert!(limit.before(here, now, &mut standing).is_ok(), "this machine is not counted by default");
        assert!(limit.before(bad, now + Duration::from_secs(3), &mut standing).is_ok());
    }

    #[test]
    fn settings_are_checked() {
        assert!(RateLimit::compile(&Options::default(), false).unwrap().is_none());
        let none = Options { failures: Some(0), ..Options::default() };
        assert!(RateLimit::compile(&none, true).unwrap().is_none());
        let error = |options: Options| RateLimit::compile(&options, false).err().unwrap();
        assert!(
            error(Options { by: "body".into(), ..Options::default() }).contains("rateLimit.by is 'body'")
        );
        assert!(
            error(Options { requests: 1, seconds: 0, ..Options::default() }).contains("rateLimit.seconds")
        );
    }
}
