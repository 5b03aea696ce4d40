//! Medians, spreads, and how far a few rounds can be believed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Resamples of one bootstrap. limit: the 2.5 and 97.5 per cent marks are then 50 samples from the ends.
const SAMPLES: usize = 2000;

/// From low to high, both included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// # Panics
///
/// If there are no values.
pub fn median(values: &[f64]) -> f64 {
    assert!(!values.is_empty(), "a median needs values");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The interval that 95 per cent of the medians of resampled rounds lie in.
pub fn bootstrap(values: &[f64], seed: u64) -> Interval {
    let mut random = fastrand::Rng::with_seed(seed);
    middle((0..SAMPLES).map(|_| median(&resample(values, &mut random))).collect())
}

/// The same for the ratio of two medians.
pub fn ratio(above: &[f64], below: &[f64], seed: u64) -> Interval {
    let mut random = fastrand::Rng::with_seed(seed);
    let one = |_| median(&resample(above, &mut random)) / median(&resample(below, &mut random));
    middle((0..SAMPLES).map(one).collect())
}

fn resample(values: &[f64], random: &mut fastrand::Rng) -> Vec<f64> {
    values.iter().map(|_| values[random.usize(..values.len())]).collect()
}

fn middle(mut samples: Vec<f64>) -> Interval {
    samples.sort_by(f64::total_cmp);
    let at = |share: f64| samples[(share * (samples.len() - 1) as f64).round() as usize];
    Interval { low: at(0.025), high: at(0.975) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_or_between_the_two_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn an_interval_holds_the_median_and_stays_within_the_values() {
        let values = [9.0, 10.0, 11.0, 10.5, 9.5];
        let interval = bootstrap(&values, 1);
        assert!(interval.low <= 10.0 && 10.0 <= interval.high, "{interval:?}");
        assert!(interval.low >= 9.0 && interval.high <= 11.0, "{interval:?}");
        assert_eq!(interval, bootstrap(&values, 1), "the same seed gives the same interval");
    }

    #[test]
    fn values_that_overlap_show_no_difference_and_values_apart_do() {
        let near = ratio(&[10.0, 11.0, 9.0, 10.0, 12.0], &[10.5, 9.5, 10.0, 11.0, 10.2], 1);
        assert!(near.low <= 1.0 && near.high >= 1.0, "{near:?}");
        let far = ratio(&[20.0, 21.0, 19.0], &[10.5, 9.5, 10.0], 1);
        assert!(far.low > 1.7 && far.high < 2.3, "{far:?}");
    }
}
