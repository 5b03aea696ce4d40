//! The report as Markdown.

use crate::plan::clock;
use crate::report::against;
use crate::report::table::{Table, of_measure, of_rounds};
use crate::report::then;
use crate::run::{Measure, Run, Scenario};

pub fn write(run: &Run) -> String {
    let mut text = format!("# The lab, {}\n\n", run.started);
    text.push_str(&format!(
        "`rowcast-lab {}`, seed {}, {:.0} seconds.\n\n",
        run.command.join(" "),
        run.seed,
        run.seconds
    ));
    for caution in run.cautions() {
        text.push_str(&format!("**{caution}**\n\n"));
    }
    text.push_str(&list(&facts(run)));
    for scenario in &run.scenarios {
        text.push_str(&one(scenario, run.seed));
    }
    text.push_str(&format!("\n## Where the time went\n\n{}", rows(&times(run))));
    for sentence in run.overtime() {
        text.push_str(&format!("\n{sentence}\n"));
    }
    text
}

/// What the numbers of a table mean.
pub const AGAINST: &str = "How many times as good Rowcast is, by the medians: above 1 it is better. In brackets where the rounds \
    show no difference.";

/// Planned and spent time of each scenario.
pub fn times(run: &Run) -> Table {
    let row = |scenario: &Scenario| {
        vec![scenario.name.clone(), clock(scenario.planned_seconds), clock(scenario.seconds)]
    };
    let mut rows: Vec<Vec<String>> = run.scenarios.iter().map(row).collect();
    let planned = run.scenarios.iter().map(|scenario| scenario.planned_seconds).sum();
    rows.push(vec!["all".to_owned(), clock(planned), clock(run.seconds)]);
    rows.push(vec!["builds before".to_owned(), String::new(), clock(run.build_seconds)]);
    Table { head: ["scenario", "planned", "spent"].map(str::to_owned).to_vec(), rows }
}

/// Machine, versions and settings, as names and values.
pub fn facts(run: &Run) -> Vec<(String, String)> {
    let machine = &run.machine;
    let mut facts = vec![
        (
            "machine".to_owned(),
            format!("{}, {} cores, {} MiB", machine.processor, machine.cores, machine.memory_mib),
        ),
        ("system".to_owned(), format!("{}, Linux {}", machine.system, machine.kernel)),
        ("load before".to_owned(), machine.load_before.to_string()),
    ];
    let all = machine.versions.iter().chain(&run.settings);
    facts.extend(all.map(|(name, value)| (name.clone(), value.clone())));
    facts
}

fn list(facts: &[(String, String)]) -> String {
    facts.iter().map(|(name, value)| format!("- {name}: {value}\n")).collect()
}

fn one(scenario: &Scenario, seed: u64) -> String {
    let mut text = format!("\n## {}\n\n{}\n\n", scenario.title, scenario.about);
    for entrant in &scenario.contestants {
        let version =
            if entrant.version.is_empty() { String::new() } else { format!(" ({})", entrant.version) };
        text.push_str(&format!("- **{}**: {}{version}\n", entrant.name, entrant.title));
    }
    for absent in &scenario.absent {
        text.push_str(&format!("- **{}** is absent: {}\n", absent.name, absent.reason.replace('\n', " ")));
    }
    for finding in &scenario.findings {
        text.push_str(&format!("\n{finding}\n"));
    }
    for reduced in &scenario.reduced {
        text.push_str(&format!("\nReduced: {reduced}\n"));
    }
    if let Some(table) = then::of_scenario(scenario) {
        text.push_str(&format!("\n### Then and now\n\n{}", rows(&table)));
    }
    if let Some(table) = against::of_scenario(scenario, seed) {
        text.push_str(&format!("\n### Rowcast against each\n\n{AGAINST}\n\n{}", rows(&table)));
    }
    for measure in &scenario.measures {
        text.push_str(&figures(measure));
    }
    text
}

fn figures(measure: &Measure) -> String {
    let mut text = format!("\n### {} ({})\n\n{}", measure.name, measure.unit, rows(&of_measure(measure)));
    if measure.cells.iter().any(|cell| cell.values.len() > 1) {
        text.push_str(&format!("\n{}", rows(&of_rounds(measure))));
    }
    text
}

/// A table of Markdown; the first column is text, the others are figures.
pub fn rows(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule: Vec<String> =
        (0..table.head.len()).map(|at| if at == 0 { "---" } else { "---:" }.to_owned()).collect();
    let body: String = table.rows.iter().map(|row| line(row)).collect();
    format!("{}{}{body}", line(&table.head), line(&rule))
}
