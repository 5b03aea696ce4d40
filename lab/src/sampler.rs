//! The checking client beside the load: it reads whole answers while the generator only counts them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::wire::{Answer, Call, client, send};

/// Twenty a second at most: enough to notice, too little to be load.
const PAUSE: Duration = Duration::from_millis(50);

/// What is asked for, and what must come.
pub struct Sample<'a> {
    /// The n-th call.
    pub call: Box<dyn Fn(u64) -> Call + Sync + 'a>,
    pub check: Box<Check<'a>>,
}

/// Says what is wrong with the n-th answer.
pub type Check<'a> = dyn Fn(u64, &Answer) -> Result<(), String> + Sync + 'a;

/// What was sampled.
#[derive(Debug, Default)]
pub struct Sampled {
    pub count: u64,
    /// The first answer that was not as it must be.
    pub wrong: Option<String>,
}

/// Does the work and samples meanwhile, at least once.
pub fn beside<T>(sample: &Sample<'_>, work: impl FnOnce() -> T) -> (T, Sampled) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sampler = scope.spawn(|| watch(sample, &is_over));
        let result = work();
        is_over.store(true, Ordering::Relaxed);
        (result, sampler.join().expect("the sampler does not panic"))
    })
}

fn watch(sample: &Sample<'_>, is_over: &AtomicBool) -> Sampled {
    let agent = client();
    let mut sampled = Sampled::default();
    loop {
        let number = sampled.count;
        let answer = send(&agent, &(sample.call)(number)).map_err(|error| format!("{error:#}"));
        sampled.count += 1;
        if let Err(wrong) = answer.and_then(|answer| (sample.check)(number, &answer)) {
            sampled.wrong.get_or_insert(wrong);
        }
        if is_over.load(Ordering::Relaxed) {
            return sampled;
        }
        thread::sleep(PAUSE);
    }
}
