//! Remote: the keys that an issuer publishes at an address, fetched away from the requests.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use http::Uri;
use tokio::sync::watch;

use crate::auth::jwt::jwks::{BYTES_MAX, parse};
use crate::auth::jwt::keyring::Keyring;

/// limit: how long an answer of the issuer may take.
const FETCH_PATIENCE: Duration = Duration::from_secs(5);
/// limit: how long a request with a key that is not known waits for the keys to be fetched.
const WAIT: Duration = Duration::from_secs(3);
/// How often the keys are fetched if nobody asks for one that is not known.
const REFRESH: Duration = Duration::from_secs(15 * 60);

/// Keys at an address.
pub struct Remote {
    shared: Arc<Shared>,
    asked: SyncSender<()>,
    fetched: watch::Receiver<u64>,
}

struct Shared {
    url: String,
    /// The least time between two fetches.
    pause: Duration,
    current: ArcSwap<Keyring>,
    /// Counts the sets that were different from the one before.
    version: AtomicU64,
    last: Mutex<Option<Instant>>,
}

impl Remote {
    /// Begins to fetch. The error is a sentence.
    pub fn start(url: &str, pause: Duration) -> Result<Remote, String> {
        let is_here = check(url)?;
        let (asked, asks) = sync_channel(1);
        let (sender, fetched) = watch::channel(0);
        let shared = Arc::new(Shared {
            url: url.to_owned(),
            pause,
            current: ArcSwap::from_pointee(Keyring::default()),
            version: AtomicU64::new(0),
            last: Mutex::default(),
        });
        let works = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("rowcast-jwks".to_owned())
            .spawn(move || works.work(!is_here, &asks, &sender))
            .map_err(|error| format!("jwtAuth.jwksUrl: no thread to fetch it: {error}"))?;
        Ok(Remote { shared, asked, fetched })
    }

    /// The keys as they were fetched last.
    pub fn current(&self) -> Arc<Keyring> {
        self.shared.current.load_full()
    }

    /// Changes when the keys do.
    pub fn version(&self) -> u64 {
        self.shared.version.load(Ordering::Acquire)
    }

    /// Has the keys fetched, unless that was done just now, and waits for them; whether it is worth looking again.
    pub async fn refresh(&self) -> bool {
        let last = *self.shared.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < self.shared.pause) {
            return false;
        }
        let mut fetched = self.fetched.clone();
        fetched.mark_unchanged();
        // Full means that somebody has asked already.
        self.asked.try_send(()).ok();
        matches!(tokio::time::timeout(WAIT, fetched.changed()).await, Ok(Ok(())))
    }
}

impl Shared {
    /// Fetches at the start, when asked, and now and then, until the other end is gone.
    fn work(&self, is_https_only: bool, asks: &Receiver<()>, fetched: &watch::Sender<u64>) {
        // A redirect could lead to where nobody has looked.
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(FETCH_PATIENCE))
            .max_redirects(0)
            .https_only(is_https_only)
            .build()
            .into();
        let mut text = String::new();
        loop {
            match self.fetch(&agent) {
                Ok(found) if found == text => {}
                Ok(found) => match parse(&found).and_then(Keyring::published) {
                    Ok(keyring) => {
                        self.current.store(Arc::new(keyring));
                        self.version.fetch_add(1, Ordering::Release);
                        text = found;
                        tracing::info!(url = self.url, "the keys of the issuer were fetched");
                    }
                    Err(reason) => self.complain(&reason),
                },
                Err(reason) => self.complain(&reason),
            }
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            fetched.send_modify(|count| *count += 1);
            std::thread::sleep(self.pause);
            let wait = if text.is_empty() { self.pause.max(FETCH_PATIENCE) } else { REFRESH };
            if asks.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    }

    fn fetch(&self, agent: &ureq::Agent) -> Result<String, String> {
        let mut answer = agent.get(&self.url).call().map_err(|error| error.to_string())?;
        if answer.status() != 200 {
            return Err(format!("the answer has the status {}", answer.status()));
        }
        let body = answer.body_mut().with_config().limit(BYTES_MAX).read_to_string();
        body.map_err(|error| error.to_string())
    }

    fn complain(&self, reason: &str) {
        tracing::warn!(url = self.url, reason, "the keys of the issuer cannot be fetched; those known stay");
    }
}

/// Whether the address is of this machine, which may be asked without TLS. The error is a sentence.
fn check(url: &str) -> Result<bool, String> {
    let wrong = || format!("jwtAuth.jwksUrl is '{url}', but takes an address that begins with https://");
    let uri: Uri = url.parse().map_err(|_invalid| wrong())?;
    let host = uri.host().ok_or_else(wrong)?;
    let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let is_here = host == "localhost" || ip.is_some_and(|ip| ip.is_loopback());
    match uri.scheme_str() {
        Some("https") => Ok(false),
        Some("http") if is_here => Ok(true),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use crate::auth::jwt::remote::check;

    #[test]
    fn only_this_machine_is_asked_without_tls() {
        assert_eq!(check("https://issuer.example/keys"), Ok(false));
        for here in ["http://127.0.0.1:8/keys", "http://[::1]/keys", "http://localhost/keys"] {
            assert_eq!(check(here), Ok(true), "{here}");
        }
        for wrong in
            ["http://issuer.example/", "ftp://127.0.0.1/", "keys.json", "", "http://127.0.0.1.evil.example/"]
        {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
