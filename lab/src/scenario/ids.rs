//! ids: how many of 6,000,000 random ids somebody already had.

use anyhow::Result;

use crate::bout::{Figure, everyone, rounds};
use crate::lab::{Lab, fewer_rows};
use crate::run::{Better, Entrant, Measure, Scenario};

const ABOUT: &str = "The survey service of 2012 gave each visitor a random id. 6,000,000 ids of 32 and of 64 bits are drawn (wyrand), \
    sorted and compared: a pair is two draws of the same id, a repeat is an id that somebody had already. The birthday \
    formula expects n(n-1)/2 : 2^bits pairs.";

/// What was published for 6,000,000 ids of 32 bits.
const PUBLISHED: f64 = 11_000.0;

/// # Errors
///
/// None.
pub fn run(lab: &Lab) -> Result<Scenario> {
    let names = ["32 bits".to_owned(), "64 bits".to_owned()];
    let measures = vec![
        Measure::new("ids: colliding pairs", "pairs", Better::Neither),
        Measure::new("ids: repeats", "ids", Better::Neither),
    ];
    let mut random = fastrand::Rng::with_seed(lab.options.seed);
    let rows = lab.options.rows;
    let run = |measure: usize, name: usize| {
        let bits = [32, 64][name];
        let (pairs, repeats) = collisions((0..rows).map(|_| random.u64(..) >> (64 - bits)).collect());
        let expected = expected(rows as f64, bits);
        let figure = Figure::new([pairs, repeats][measure] as f64);
        Ok(figure.with("expected", [expected.0, expected.1][measure]))
    };
    let turns = everyone(&names, &measures);
    let raced = rounds(lab, &names, lab.options.round_range(), measures, turns, run);
    let entrant = |name: &String| Entrant {
        name: name.clone(),
        title: format!("random ids of {name}"),
        version: "fastrand 2, wyrand".to_owned(),
    };
    Ok(Scenario {
        name: "ids".to_owned(),
        title: "Random ids that collide".to_owned(),
        about: ABOUT.to_owned(),
        contestants: names.iter().map(entrant).collect(),
        absent: raced.absent,
        measures: raced.measures,
        findings: vec![finding(rows as f64)],
        reduced: [raced.reduced, fewer_rows(lab, "ids")].concat(),
        ..Scenario::default()
    })
}

/// Pairs of equal ids, and ids that somebody had already.
fn collisions(mut ids: Vec<u64>) -> (u64, u64) {
    ids.sort_unstable();
    ids.chunk_by(|a, b| a == b)
        .map(|same| same.len() as u64)
        .fold((0, 0), |(pairs, repeats), count| (pairs + count * (count - 1) / 2, repeats + count - 1))
}

/// The expected pairs and repeats of `n` ids.
fn expected(n: f64, bits: u32) -> (f64, f64) {
    let values = f64::from(bits).exp2();
    let pairs = n * (n - 1.0) / 2.0 / values;
    // 1 - (1 - 1/values)^n, exact where values is so large that the difference would vanish.
    let seen = -(n * (-1.0 / values).ln_1p()).exp_m1();
    let repeats = if bits > 48 { pairs } else { n - values * seen };
    (pairs, repeats)
}

fn finding(rows: f64) -> String {
    let n = 6_000_000.0;
    let (pairs, repeats) = expected(n, 32);
    let wanted = (PUBLISHED * 2.0 * 32f64.exp2()).sqrt();
    let bits = (n * n / 2.0 / PUBLISHED).log2();
    format!(
        "The published 11,000 collisions of 6,000,000 ids of 32 bits are not what the formula gives: {pairs:.0} pairs are \
         expected, {repeats:.0} repeats, and {:.0} ids that share theirs. 11,000 pairs would take {wanted:.0} ids, or \
         a generator that gives only 2^{bits:.1} different values. With 64 bits {:.7} pairs are expected: none was found \
         then, and the figures below say what was found now, with {rows:.0} ids.",
        pairs * 2.0,
        expected(n, 64).0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_repeats_are_counted() {
        assert_eq!(collisions(vec![5, 1, 5, 2, 5, 2]), (4, 3));
        assert_eq!(collisions(vec![1, 2, 3]), (0, 0));
    }

    #[test]
    fn six_million_ids_of_32_bits_give_about_4190_pairs_not_11000() {
        let (pairs, repeats) = expected(6_000_000.0, 32);
        assert!((pairs - 4190.0).abs() < 1.0, "{pairs}");
        assert!((4180.0..=pairs).contains(&repeats), "{repeats}");
        assert!(expected(6_000_000.0, 64).0 < 1e-5);
    }
}
