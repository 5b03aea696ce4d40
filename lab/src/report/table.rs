//! Tables of a measure, the same for the page and for Markdown, and how figures are spelled.

use crate::run::{Cell, Measure, Verdict};

/// A table as text.
pub struct Table {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// One row for each contestant, the best first.
pub fn of_measure(measure: &Measure) -> Table {
    let cells = ordered(measure);
    let mut beside: Vec<&str> = Vec::new();
    for name in cells.iter().flat_map(|cell| &cell.beside).map(|it| it.name.as_str()) {
        if !beside.contains(&name) {
            beside.push(name);
        }
    }
    let mut head: Vec<String> =
        ["contestant", "median", "95 % interval", "lowest – highest", "against the best"]
            .map(str::to_owned)
            .to_vec();
    head.extend(beside.iter().map(|name| (*name).to_owned()));
    let row = |cell: &&Cell| {
        let is_one = cell.values.len() == 1;
        let several = |low: f64, high: f64| if is_one { "one value".to_owned() } else { span(low, high) };
        let mut row = vec![
            cell.contestant.clone(),
            figure(cell.median),
            several(cell.interval.low, cell.interval.high),
            several(least(&cell.values), most(&cell.values)),
            verdict(measure, cell),
        ];
        let value = |name: &&str| cell.beside.iter().find(|it| it.name == **name).map(|it| figure(it.value));
        row.extend(beside.iter().map(|name| value(name).unwrap_or_default()));
        row
    };
    Table { rows: cells.iter().map(row).collect(), head }
}

/// The value of each round, M1 and so on, with their mean, and what else a published table had.
pub fn of_rounds(measure: &Measure) -> Table {
    let rounds = measure.cells.iter().map(|cell| cell.values.len()).max().unwrap_or_default();
    let mut head = vec!["contestant".to_owned()];
    head.extend((1..=rounds).map(|round| format!("M{round}")));
    head.push("mean".to_owned());
    let longest = measure.cells.iter().map(|cell| &cell.published).max_by_key(|columns| columns.len());
    let columns: Vec<&str> = longest.into_iter().flatten().map(|column| column.name.as_str()).collect();
    head.extend(columns.iter().map(|name| (*name).to_owned()));
    let row = |cell: &Cell| {
        let mut row = vec![cell.contestant.clone()];
        row.extend(cell.values.iter().map(|value| figure(*value)));
        row.resize(rounds + 1, String::new());
        row.push(figure(cell.mean));
        let value =
            |name: &&str| cell.published.iter().find(|it| it.name == **name).map(|it| figure(it.value));
        row.extend(columns.iter().map(|name| value(name).unwrap_or_default()));
        row
    };
    Table { rows: ordered(measure).into_iter().map(row).collect(), head }
}

/// The best first; facts stay as they were measured.
pub fn ordered(measure: &Measure) -> Vec<&Cell> {
    let mut cells: Vec<&Cell> = measure.cells.iter().collect();
    match measure.better {
        crate::run::Better::More => cells.sort_by(|a, b| b.median.total_cmp(&a.median)),
        crate::run::Better::Less => cells.sort_by(|a, b| a.median.total_cmp(&b.median)),
        crate::run::Better::Neither => {}
    }
    cells
}

fn verdict(measure: &Measure, cell: &Cell) -> String {
    match (&cell.verdict, measure.best()) {
        (Some(verdict), _) if cell.values.len() == 1 => format!("{:.2} × worse", verdict.factor),
        (Some(verdict), _) => factor(verdict),
        (None, Some(best)) if best.contestant == cell.contestant => "best".to_owned(),
        _ => String::new(),
    }
}

/// A verdict in words; a run that cannot tell says so.
pub fn factor(verdict: &Verdict) -> String {
    let interval = format!("{:.2}–{:.2}", verdict.interval.low, verdict.interval.high);
    if verdict.is_different {
        return format!("{:.2} × worse ({interval})", verdict.factor);
    }
    format!("no difference ({interval})")
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn span(low: f64, high: f64) -> String {
    format!("{} – {}", figure(low), figure(high))
}

/// Four digits that count, thousands apart.
pub fn figure(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = value.abs().log10().floor() as i32;
    if digits >= 3 {
        return thousands(value.round() as i64);
    }
    let text = format!("{value:.*}", (3 - digits).clamp(0, 9) as usize);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

fn thousands(value: i64) -> String {
    let digits = value.abs().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits_and_thousands_apart() {
        for (value, text) in [
            (0.0, "0"),
            (1234567.8, "1,234,568"),
            (999.94, "999.9"),
            (12.0, "12"),
            (0.012345, "0.01235"),
            (1.5, "1.5"),
        ] {
            assert_eq!(figure(value), text);
        }
    }
}
