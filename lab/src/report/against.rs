//! Rowcast's whole API against each of the others, measure by measure.

use crate::report::table::Table;
use crate::run::{Better, Measure, Scenario};
use crate::statistics::{median, ratio};

/// Who is compared with everyone.
const OURS: &str = "rowcast";

/// One row for each contestant, one column for each measure: how many times as fast Rowcast is. Nothing if it does not
/// race, or races alone.
pub fn of_scenario(scenario: &Scenario, seed: u64) -> Option<Table> {
    let races = |measure: &&Measure| {
        measure.better != Better::Neither && measure.cells.iter().any(|cell| cell.contestant == OURS)
    };
    let measures: Vec<&Measure> = scenario.measures.iter().filter(races).collect();
    let names: Vec<&str> =
        scenario.contestants.iter().map(|it| it.name.as_str()).filter(|name| *name != OURS).collect();
    if measures.is_empty() || names.is_empty() {
        return None;
    }
    let mut head = vec!["Rowcast against".to_owned()];
    head.extend(measures.iter().map(|measure| measure.name.clone()));
    let row = |name: &&str| {
        let mut row = vec![(*name).to_owned()];
        row.extend(measures.iter().map(|measure| factor(measure, name, seed)));
        row
    };
    Some(Table { head, rows: names.iter().map(row).collect() })
}

/// Above 1 Rowcast is better; in brackets if the rounds do not tell.
fn factor(measure: &Measure, name: &str, seed: u64) -> String {
    let values =
        |name: &str| measure.cells.iter().find(|cell| cell.contestant == name).map(|cell| &cell.values);
    let (Some(ours), Some(theirs)) = (values(OURS), values(name)) else { return "absent".to_owned() };
    let (above, below) = if measure.better == Better::More { (ours, theirs) } else { (theirs, ours) };
    let interval = ratio(above, below, seed);
    let text = format!("{:.2}", median(above) / median(below));
    if interval.low > 1.0 || interval.high < 1.0 { text } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Cell, Entrant};

    #[test]
    fn more_requests_and_fewer_milliseconds_are_better_and_what_overlaps_is_in_brackets() {
        let entrant =
            |name: &str| Entrant { name: name.to_owned(), title: String::new(), version: String::new() };
        let cell = |name: &str, values: [f64; 3]| Cell::new(name, values.to_vec(), 1);
        let mut reads = Measure::new("read", "requests/s", Better::More);
        reads.cells = vec![cell("rowcast", [10.0, 11.0, 12.0]), cell("go", [20.0, 22.0, 24.0])];
        let mut late = Measure::new("late", "ms", Better::Less);
        late.cells = vec![cell("rowcast", [1.0, 2.0, 3.0]), cell("go", [2.0, 2.0, 2.0])];
        let contestants = ["go", "rowcast", "node"].map(entrant).to_vec();
        let scenario = Scenario { contestants, measures: vec![reads, late], ..Scenario::default() };
        let table = of_scenario(&scenario, 1).unwrap();
        assert_eq!(table.head, ["Rowcast against", "read", "late"]);
        assert_eq!(table.rows, [["go", "0.50", "(1.00)"], ["node", "absent", "absent"]]);
    }
}
