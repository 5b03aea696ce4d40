//! The plan of a run: how long each scenario is to take, what is left of it, and who used more.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// What scenarios cost on two cores of 2020s servers, measured: an estimate elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Seconds before and after the rounds: servers, services, contracts, loads.
    pub fixed: f64,
    /// Seconds of a round of all measures and contestants.
    pub round: f64,
    /// Seconds of all of it with `--quick`.
    pub quick: f64,
}

/// The scenarios of a run, in order, and the clock that they share.
#[derive(Debug)]
pub struct Plan {
    parts: Vec<Part>,
    /// Whether rounds end early when the time is used up.
    is_bounded: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct Part {
    name: &'static str,
    seconds: f64,
}

#[derive(Debug)]
struct State {
    /// When the first scenario began.
    began: Instant,
    /// The scenario that runs, and when it began.
    current: usize,
    current_began: Instant,
}

impl Plan {
    pub fn new(parts: Vec<(&'static str, f64)>, is_bounded: bool) -> Plan {
        let now = Instant::now();
        let parts = parts.into_iter().map(|(name, seconds)| Part { name, seconds }).collect();
        Plan { parts, is_bounded, state: Mutex::new(State { began: now, current: 0, current_began: now }) }
    }

    /// Seconds that all of it is to take.
    pub fn seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.seconds).sum()
    }

    /// Seconds that a scenario is to take.
    pub fn seconds_of(&self, name: &str) -> f64 {
        self.parts.iter().filter(|part| part.name == name).map(|part| part.seconds).sum()
    }

    /// Marks the beginning of the scenario with this number; with the first one the clock starts.
    pub fn begin(&self, number: usize) {
        let mut state = self.state();
        state.current = number;
        state.current_began = Instant::now();
        if number == 0 {
            state.began = state.current_began;
        }
    }

    /// Seconds since the scenario that runs began.
    pub fn spent(&self) -> f64 {
        self.state().current_began.elapsed().as_secs_f64()
    }

    /// Seconds until everything should be done; what earlier scenarios took too much is not caught up.
    pub fn left(&self) -> f64 {
        let spent = self.spent();
        let at = self.state().current;
        let now = self.parts.get(at).map_or(0.0, |part| (part.seconds - spent).max(0.0));
        now + self.parts.iter().skip(at + 1).map(|part| part.seconds).sum::<f64>()
    }

    /// Whether so many seconds more are within the time of the scenarios up to this one; what an earlier one left may be
    /// used.
    pub fn has(&self, seconds: f64) -> bool {
        let state = self.state();
        let due: f64 = self.parts.iter().take(state.current + 1).map(|part| part.seconds).sum();
        !self.is_bounded || state.began.elapsed().as_secs_f64() + seconds <= due
    }

    /// The plan, in lines.
    pub fn lines(&self) -> Vec<String> {
        let line = |part: &Part| format!("  {:<10} {:>5}", part.name, clock(part.seconds));
        let mut lines = vec![format!("the plan, estimated on two cores: {} minutes", clock(self.seconds()))];
        lines.extend(self.parts.iter().map(line));
        lines
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds as minutes and seconds.
pub fn clock(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_early_scenario_leaves_a_later_one_may_use() {
        let plan = Plan::new(vec![("a", 60.0), ("b", 30.0)], true);
        plan.begin(0);
        assert!(plan.has(59.0) && !plan.has(61.0));
        plan.begin(1);
        assert!(plan.has(89.0) && !plan.has(91.0));
        assert!((29.0..=30.0).contains(&plan.left()), "{}", plan.left());
        assert!(Plan::new(vec![("a", 1.0)], false).has(1e9), "a number of rounds that was asked for is run");
    }

    #[test]
    fn seconds_are_told_as_minutes() {
        assert_eq!((clock(59.6), clock(0.0), clock(754.2)), ("1:00".into(), "0:00".into(), "12:34".into()));
    }
}
