//! Two runs side by side.

use crate::report::escape::escape;
use crate::report::html;
use crate::report::markdown;
use crate::report::table::{Table, figure};
use crate::run::{Better, Measure, Run};
use crate::statistics::ratio;

/// # Returns
///
/// A page with a table for each measure that both runs have.
pub fn html(before: &Run, after: &Run) -> String {
    let mut body = format!("<h1>Two runs</h1>\n{}", html::rows(&machines(before, after)));
    for (title, table) in tables(before, after) {
        body.push_str(&format!("<h3>{}</h3>\n{}", escape(&title), html::rows(&table)));
    }
    html::page("Two runs of the lab", &body)
}

/// The same as Markdown.
pub fn markdown(before: &Run, after: &Run) -> String {
    let mut text = format!("# Two runs\n\n{}", markdown::rows(&machines(before, after)));
    for (title, table) in tables(before, after) {
        text.push_str(&format!("\n### {title}\n\n{}", markdown::rows(&table)));
    }
    text
}

/// What differs between the machines is read first: without it a difference of figures says nothing.
fn machines(before: &Run, after: &Run) -> Table {
    let (old, new) = (markdown::facts(before), markdown::facts(after));
    let mut rows = vec![vec!["started".to_owned(), before.started.clone(), after.started.clone()]];
    for (name, value) in &old {
        let other = new.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        let other = other.unwrap_or_default();
        if *value != other {
            rows.push(vec![name.clone(), value.clone(), other]);
        }
    }
    Table { head: ["", "before", "after"].map(str::to_owned).to_vec(), rows }
}

fn tables(before: &Run, after: &Run) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for scenario in &before.scenarios {
        let Some(other) = after.scenarios.iter().find(|other| other.name == scenario.name) else { continue };
        for measure in &scenario.measures {
            let Some(second) = other.measures.iter().find(|second| second.name == measure.name) else {
                continue;
            };
            let title = format!("{} ({})", measure.name, measure.unit);
            tables.push((title, beside(measure, second, after.seed)));
        }
    }
    tables
}

fn beside(before: &Measure, after: &Measure, seed: u64) -> Table {
    let mut rows = Vec::new();
    for old in &before.cells {
        let new = after.cells.iter().find(|cell| cell.contestant == old.contestant);
        let figures = match new {
            Some(new) => [
                figure(old.median),
                figure(new.median),
                change(before.better, &old.values, &new.values, seed),
            ],
            None => [figure(old.median), "absent".to_owned(), String::new()],
        };
        rows.push([vec![old.contestant.clone()], figures.to_vec()].concat());
    }
    for new in
        after.cells.iter().filter(|new| before.cells.iter().all(|old| old.contestant != new.contestant))
    {
        rows.push(vec![new.contestant.clone(), "absent".to_owned(), figure(new.median), String::new()]);
    }
    Table { head: ["contestant", "before", "after", "after / before"].map(str::to_owned).to_vec(), rows }
}

/// The ratio of the medians with its interval, and whether it says anything.
fn change(better: Better, old: &[f64], new: &[f64], seed: u64) -> String {
    let interval = ratio(new, old, seed);
    let factor = crate::statistics::median(new) / crate::statistics::median(old);
    let is_more = interval.low > 1.0;
    let word = match (is_more || interval.high < 1.0, better) {
        (false, _) => "no difference",
        (true, Better::Neither) => "different",
        (true, Better::More) if is_more => "better",
        (true, Better::Less) if !is_more => "better",
        _ => "worse",
    };
    format!("{factor:.2} ({:.2}–{:.2}), {word}", interval.low, interval.high)
}
