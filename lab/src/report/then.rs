//! What was published then, beside what this run found.

use crate::report::table::{Table, figure, ordered};
use crate::run::{Published, Scenario};

/// One row for each published figure; nothing if the scenario has none.
pub fn of_scenario(scenario: &Scenario) -> Option<Table> {
    if scenario.published.is_empty() {
        return None;
    }
    let row = |then: &Published| {
        let value = format!("{} {}", figure(then.value), then.unit);
        vec![format!("{} ({})", then.what, then.year), value, now(scenario, then)]
    };
    Some(Table {
        head: ["published", "then", "in this run"].map(str::to_owned).to_vec(),
        rows: scenario.published.iter().map(row).collect(),
    })
}

/// The medians that answer a published figure, the best first.
fn now(scenario: &Scenario, then: &Published) -> String {
    let Some(measure) = scenario.measures.iter().find(|measure| measure.name == then.measure) else {
        return "not raced".to_owned();
    };
    let is_meant = |name: &String| then.contestants.is_empty() || then.contestants.contains(name);
    let found: Vec<String> = ordered(measure)
        .into_iter()
        .filter(|cell| is_meant(&cell.contestant))
        .map(|cell| format!("{} {}", cell.contestant, figure(cell.median)))
        .collect();
    if found.is_empty() { "absent".to_owned() } else { found.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Better, Cell, Measure};

    #[test]
    fn a_published_figure_stands_beside_those_that_answer_it() {
        let mut measure = Measure::new("read", "requests/s", Better::More);
        measure.cells = vec![Cell::new("go", vec![1000.0], 1), Cell::new("java", vec![2000.0], 1)];
        let then = |measure: &str, contestants: &[&str]| Published {
            what: "core".to_owned(),
            year: 2017,
            value: 12_000.0,
            unit: "requests/s".to_owned(),
            measure: measure.to_owned(),
            contestants: contestants.iter().map(|name| (*name).to_owned()).collect(),
        };
        let published =
            vec![then("read", &["go"]), then("read", &[]), then("read", &["cobol"]), then("", &[])];
        let scenario = Scenario { measures: vec![measure], published, ..Scenario::default() };
        let table = of_scenario(&scenario).unwrap();
        let now: Vec<&str> = table.rows.iter().map(|row| row[2].as_str()).collect();
        assert_eq!(now, ["go 1,000", "java 2,000, go 1,000", "absent", "not raced"]);
        assert_eq!(table.rows[0][..2], ["core (2017)", "12,000 requests/s"]);
        assert!(of_scenario(&Scenario::default()).is_none());
    }
}
