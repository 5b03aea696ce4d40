//! The report as one page that needs nothing beside it.

use crate::report::against;
use crate::report::chart::bars;
use crate::report::escape::{escape, sentence};
use crate::report::markdown::{AGAINST, facts, times};
use crate::report::table::{Table, of_measure, of_rounds};
use crate::report::then;
use crate::run::{Measure, Run, Scenario};

pub const STYLE: &str = include_str!("page.css");

pub fn write(run: &Run) -> String {
    let mut body = format!(
        "<h1>The lab, {}</h1>\n<p><code>rowcast-lab {}</code>, seed {}, {:.0} seconds.</p>\n",
        escape(&run.started),
        escape(&run.command.join(" ")),
        run.seed,
        run.seconds
    );
    for caution in run.cautions() {
        body.push_str(&format!("<p class=\"finding\"><b>{}</b></p>\n", escape(&caution)));
    }
    body.push_str("<nav>");
    for scenario in &run.scenarios {
        body.push_str(&format!("<a href=\"#{0}\">{0}</a> ", escape(&scenario.name)));
    }
    body.push_str(
        "<a href=\"#time\">time</a></nav>\n<details><summary>Machine, versions and settings</summary><dl>\n",
    );
    for (name, value) in facts(run) {
        body.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escape(&name), escape(&value)));
    }
    body.push_str("</dl></details>\n");
    body.push_str(
        "<p>A bar is the median of the rounds, the line on it the interval that 95 of 100 bootstrap samples of its \
         rounds agree on. Where such intervals of a ratio hold 1, the run shows <em>no difference</em>.</p>\n",
    );
    for scenario in &run.scenarios {
        body.push_str(&one(scenario, run.seed));
    }
    body.push_str(&format!("<section id=\"time\">\n<h2>Where the time went</h2>\n{}", rows(&times(run))));
    for late in run.overtime() {
        body.push_str(&format!("<p class=\"finding\">{}</p>\n", escape(&late)));
    }
    body.push_str("</section>\n");
    page(&format!("The lab, {}", run.started), &body)
}

/// A whole page around its body.
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(title)
    )
}

fn one(scenario: &Scenario, seed: u64) -> String {
    let mut text = format!(
        "<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n<ul class=\"field\">\n",
        escape(&scenario.name),
        escape(&scenario.title),
        sentence(&scenario.about)
    );
    for entrant in &scenario.contestants {
        text.push_str(&format!(
            "<li><b>{}</b>: {} <small>{}</small></li>\n",
            escape(&entrant.name),
            escape(&entrant.title),
            escape(&entrant.version)
        ));
    }
    for absent in &scenario.absent {
        text.push_str(&format!(
            "<li class=\"absent\"><b>{}</b> is absent: {}</li>\n",
            escape(&absent.name),
            escape(&absent.reason)
        ));
    }
    text.push_str("</ul>\n");
    for finding in &scenario.findings {
        text.push_str(&format!("<p class=\"finding\">{}</p>\n", sentence(finding)));
    }
    for reduced in &scenario.reduced {
        text.push_str(&format!("<p><b>Reduced:</b> {}</p>\n", sentence(reduced)));
    }
    if let Some(table) = then::of_scenario(scenario) {
        text.push_str(&format!("<h3>Then and now</h3>\n{}", classed(&table, "wide words")));
    }
    if let Some(table) = against::of_scenario(scenario, seed) {
        text.push_str(&format!(
            "<h3>Rowcast against each</h3>\n<p>{AGAINST}</p>\n{}",
            classed(&table, "wide factors")
        ));
    }
    for measure in &scenario.measures {
        text.push_str(&figures(measure));
    }
    text + "</section>\n"
}

fn figures(measure: &Measure) -> String {
    let mut text = format!("<h3>{} <small>{}</small></h3>\n", escape(&measure.name), escape(&measure.unit));
    text.push_str(&bars(measure));
    text.push_str(&classed(&of_measure(measure), "wide figures"));
    if measure.cells.iter().any(|cell| cell.values.len() > 1) {
        // A published table is shown as it was.
        let is_published = measure.cells.iter().any(|cell| !cell.published.is_empty());
        let open = if is_published { " open" } else { "" };
        text.push_str(&format!("<details{open}><summary>Every round</summary>\n"));
        text.push_str(&rows(&of_rounds(measure)));
        text.push_str("</details>\n");
    }
    text
}

/// A table that scrolls by itself where the page is narrow.
pub fn rows(table: &Table) -> String {
    classed(table, "wide")
}

fn classed(table: &Table, class: &str) -> String {
    let cells = |tag: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
    };
    let mut text = format!(
        "<div class=\"{class}\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n",
        cells("th", &table.head)
    );
    for row in &table.rows {
        text.push_str(&format!("<tr>{}</tr>\n", cells("td", row)));
    }
    text + "</tbody>\n</table></div>\n"
}
