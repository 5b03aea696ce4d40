//! Buckets: so many turns per caller and time, with a burst, in bounded memory.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const SECOND: u64 = 1_000_000_000;
/// How many locks the callers are spread over.
const SHARDS: usize = 16;
/// limit: callers that are remembered per shard. Whoever is new when all of them are busy shares one bucket.
const CALLERS_MAX: usize = 8192;
/// The bucket of those who are not remembered.
const SHARED: u64 = 0;

/// Token buckets, each written as the moment at which it will be full again.
pub struct Buckets {
    /// Nanoseconds in which one turn is earned.
    interval: u64,
    /// Nanoseconds in which an empty bucket fills.
    depth: u64,
    start: Instant,
    hasher: RandomState,
    shards: [Mutex<HashMap<u64, u64>>; SHARDS],
}

/// How a caller stands after a turn was taken, or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Turns that are left.
    pub remaining: u64,
    /// Seconds until all of them are there again; of a refusal, until the next is.
    pub seconds: u64,
}

impl Buckets {
    /// Buckets of `burst` turns that earn `turns` in `seconds`; none of them may be 0.
    pub fn new(turns: u32, seconds: u32, burst: u32) -> Buckets {
        let interval = (u64::from(seconds) * SECOND / u64::from(turns)).max(1);
        Buckets {
            interval,
            depth: interval.saturating_mul(u64::from(burst)),
            start: Instant::now(),
            hasher: RandomState::new(),
            shards: Default::default(),
        }
    }

    /// Takes one turn from the caller's bucket. An empty one is an error with the time until it is not.
    pub fn take(&self, caller: impl Hash, now: Instant) -> Result<Standing, Standing> {
        let now = self.elapsed(now);
        let (mut buckets, id) = self.bucket(caller, now);
        let full = buckets.entry(id).or_insert(now);
        let next = (*full).max(now).saturating_add(self.interval);
        let missing = next.saturating_sub(now.saturating_add(self.depth));
        if missing > 0 {
            return Err(Standing { remaining: 0, seconds: missing.div_ceil(SECOND) });
        }
        *full = next;
        let used = next - now;
        Ok(Standing { remaining: (self.depth - used) / self.interval, seconds: used.div_ceil(SECOND) })
    }

    /// Seconds until the caller may take a turn; 0 if there is one. Nothing is taken.
    pub fn wait(&self, caller: impl Hash, now: Instant) -> u64 {
        let now = self.elapsed(now);
        let (buckets, id) = self.bucket(caller, now);
        let full = buckets.get(&id).copied().unwrap_or(now);
        let next = full.max(now).saturating_add(self.interval);
        next.saturating_sub(now.saturating_add(self.depth)).div_ceil(SECOND)
    }

    fn elapsed(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX)
    }

    fn bucket(&self, caller: impl Hash, now: u64) -> (MutexGuard<'_, HashMap<u64, u64>>, u64) {
        let id = self.hasher.hash_one(caller).max(SHARED + 1);
        let shard = &self.shards[(id % SHARDS as u64) as usize];
        let mut buckets = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let id = place(&mut buckets, id, now);
        (buckets, id)
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crate::middleware::buckets::{Buckets, CALLERS_MAX, SHARDS, Standing};

    #[test]
    fn a_bucket_empties_and_fills() {
        let (buckets, start) = (Buckets::new(10, 60, 3), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let ask = |seconds: u64| buckets.take("ann", at(seconds));
        let fine = |remaining, seconds| Ok(Standing { remaining, seconds });
        let wait = |seconds| Err(Standing { remaining: 0, seconds });
        assert_eq!([ask(0), ask(0), ask(0)], [fine(2, 6), fine(1, 12), fine(0, 18)]);
        assert_eq!((ask(0), buckets.wait("ann", at(0))), (wait(6), 6));
        assert_eq!([ask(4), ask(4)], [wait(2), wait(2)]);
        assert_eq!((buckets.wait("ann", at(6)), ask(6), ask(6)), (0, fine(0, 18), wait(6)));
        assert_eq!([ask(600), ask(600), ask(600), ask(600)], [fine(2, 6), fine(1, 12), fine(0, 18), wait(6)]);
        assert_eq!((buckets.wait("bob", start), buckets.take("bob", start)), (0, fine(2, 6)));
    }

    #[test]
    fn callers_that_are_remembered_have_an_end() {
        let (buckets, now) = (Buckets::new(1, 60, 1), Instant::now());
        assert!(buckets.take(0u32, now).is_ok());
        let refused = (1..200_000u32).filter(|number| buckets.take(number, now).is_err()).count();
        let kept: usize = buckets.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(kept <= (CALLERS_MAX + 1) * SHARDS && refused > 0, "{kept} {refused}");
        assert!(buckets.take(0u32, now).is_err(), "a flood of others does not give anyone a new bucket");
        let later = now + Duration::from_secs(61);
        assert!(buckets.take(0u32, later).is_ok() && buckets.take(300_000u32, later).is_ok());
    }
}
