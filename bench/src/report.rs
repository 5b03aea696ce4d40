//! Report: one table on standard output, the same as JSON in a file.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use crate::measure::Measured;

/// Everything that was found.
#[derive(Default)]
pub struct Report {
    rows: Vec<(Measured, Option<f64>)>,
    verdicts: Vec<Verdict>,
    instructions: Vec<(String, String, f64)>,
}

/// A figure that has a target (issue 6).
pub struct Verdict {
    pub what: String,
    pub engine: String,
    pub measured: f64,
    pub unit: &'static str,
    pub target: Target,
}

/// What a figure should be.
#[derive(Clone, Copy)]
pub enum Target {
    AtLeast(f64),
    AtMost(f64),
}

impl Verdict {
    /// Whether the target is reached.
    pub fn is_reached(&self) -> bool {
        match self.target {
            Target::AtLeast(least) => self.measured >= least,
            Target::AtMost(most) => self.measured <= most,
        }
    }
}

impl Report {
    /// Adds rows; the requests per second are shown as a ratio to those of `floor`.
    pub fn rows(&mut self, rows: &[Measured], floor: Option<&Measured>) {
        let ratio = |row: &Measured| floor.map(|floor| row.rate / floor.rate);
        self.rows.extend(rows.iter().map(|row| (row.clone(), ratio(row))));
        // Whoever waits sees that something happens.
        for row in rows {
            writeln!(std::io::stderr(), "{:<14} {:<18} {:>9.0}/s", row.scenario, row.subject, row.rate).ok();
        }
    }

    /// Adds a figure that has a target.
    pub fn verdict(&mut self, what: &str, engine: &str, measured: f64, unit: &'static str, target: Target) {
        let (what, engine) = (what.to_owned(), engine.to_owned());
        self.verdicts.push(Verdict { what, engine, measured, unit, target });
    }

    /// Adds how many instructions a request takes.
    pub fn instructions(&mut self, what: &str, engine: &str, each: f64) {
        self.instructions.push((what.to_owned(), engine.to_owned(), each));
    }

    /// The tables as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| scenario | program | ÷ floor | requests/s | p50 ms | p99 ms | server µs | database µs | peak MB |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        );
        for (row, ratio) in &self.rows {
            let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
            let _ = writeln!(
                out,
                "| {} | {} | {ratio} | {:.0} | {:.2} | {:.2} | {:.1} | {:.1} | {:.0} |",
                row.scenario,
                row.subject,
                row.rate,
                row.p50,
                row.p99,
                row.server_cpu,
                row.database_cpu,
                row.peak
            );
        }
        for (what, engine, each) in &self.instructions {
            let _ = writeln!(out, "| instructions, {what} | rowcast {engine} | | {each:.0} | | | | | |");
        }
        let _ = writeln!(out, "\n| target | engine | measured | wanted | |\n| --- | --- | --- | --- | --- |");
        for verdict in &self.verdicts {
            let wanted = match verdict.target {
                Target::AtLeast(least) => format!("≥ {least}"),
                Target::AtMost(most) => format!("≤ {most}"),
            };
            let reached = if verdict.is_reached() { "reached" } else { "missed" };
            let Verdict { what, engine, measured, unit, .. } = verdict;
            let _ = writeln!(out, "| {what} | {engine} | {measured:.2}{unit} | {wanted}{unit} | {reached} |");
        }
        out
    }

    /// Prints the tables and writes `results.json` into `home`.
    pub fn finish(&self, home: &Path) -> anyhow::Result<()> {
        write!(std::io::stdout(), "{}", self.text())?;
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|(row, ratio)| {
                json!({
                    "scenario": row.scenario, "program": row.subject, "ratioToFloor": ratio,
                    "requestsPerSecond": row.rate, "p50Milliseconds": row.p50, "p99Milliseconds": row.p99,
                    "serverCpuMicroseconds": row.server_cpu, "databaseCpuMicroseconds": row.database_cpu,
                    "peakMegabytes": row.peak,
                })
            })
            .collect();
        let verdicts: Vec<_> = self
            .verdicts
            .iter()
            .map(|verdict| {
                let (is_least, value) = match verdict.target {
                    Target::AtLeast(value) => (true, value),
                    Target::AtMost(value) => (false, value),
                };
                json!({
                    "what": verdict.what, "engine": verdict.engine, "measured": verdict.measured,
                    "unit": verdict.unit, "wanted": value, "isLeast": is_least, "reached": verdict.is_reached(),
                })
            })
            .collect();
        let file = home.join("results.json");
        std::fs::write(
            &file,
            serde_json::to_vec_pretty(
                &json!({ "rows": rows, "targets": verdicts, "instructions": self.instructions }),
            )?,
        )?;
        writeln!(std::io::stdout(), "\nAlso in {}", file.display())?;
        Ok(())
    }
}
