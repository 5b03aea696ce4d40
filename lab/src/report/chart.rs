//! A bar for each contestant, drawn as SVG by hand: it stretches with the page, its letters do not.

use crate::report::escape::escape;
use crate::report::table::{figure, ordered};
use crate::run::Measure;

/// Pixels of one contestant: a line of text and a bar below it.
const ROW: usize = 38;

/// An SVG element without any file or script beside it.
pub fn bars(measure: &Measure) -> String {
    let cells = ordered(measure);
    let most = cells.iter().flat_map(|cell| [cell.median, cell.interval.high]).fold(0.0, f64::max);
    let per_cent = |value: f64| if most > 0.0 { (value / most * 100.0).clamp(0.0, 100.0) } else { 0.0 };
    let label = format!("{}, {}: ", measure.name, measure.unit);
    let spoken: Vec<String> =
        cells.iter().map(|cell| format!("{} {}", cell.contestant, figure(cell.median))).collect();
    let mut svg = format!(
        "<svg class=\"chart\" role=\"img\" width=\"100%\" height=\"{}\" aria-label=\"{}{}\">\n",
        cells.len() * ROW,
        escape(&label),
        escape(&spoken.join(", "))
    );
    for (at, cell) in cells.iter().enumerate() {
        let top = at * ROW;
        let (low, high) = (per_cent(cell.interval.low), per_cent(cell.interval.high));
        let ours = if cell.contestant.starts_with("rowcast") { " ours" } else { "" };
        svg.push_str(&format!(
            "<text x=\"0\" y=\"{text}\">{name}</text><text x=\"100%\" y=\"{text}\" text-anchor=\"end\">{value} {unit}</text>\
             <rect class=\"bar{ours}\" x=\"0\" y=\"{bar}\" width=\"{width:.2}%\" height=\"12\"/>\
             <line class=\"interval\" x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"{middle}\" y2=\"{middle}\"/>\n",
            text = top + 14,
            bar = top + 19,
            middle = top + 25,
            name = escape(&cell.contestant),
            value = figure(cell.median),
            unit = escape(&measure.unit),
            width = per_cent(cell.median),
        ));
    }
    svg.push_str("</svg>\n");
    svg
}
