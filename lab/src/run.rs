//! What a run found, as it is written to `run.json`; the published schema is made from these types.

use anyhow::{Context, Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::statistics::{Interval, bootstrap, mean, median, ratio};

/// The number of this format; a reader refuses others.
pub const FORMAT: u32 = 1;

/// One run of the lab on one machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The number of this format.
    pub format: u32,
    /// When the run began, in UTC (RFC 3339).
    pub started: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The arguments that repeat it.
    pub command: Vec<String>,
    /// What the random order of rounds and all random data grow from.
    pub seed: u64,
    /// Where it ran.
    pub machine: Machine,
    /// Settings of the load and of the databases.
    pub settings: BTreeMap<String, String>,
    /// How long it took to build the contestants before, in seconds; most of it is spent once on a machine.
    #[serde(default)]
    pub build_seconds: f64,
    /// What was raced.
    pub scenarios: Vec<Scenario>,
}

/// The machine, and the versions of what is used by everyone.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub processor: String,
    /// Processors that this run may use.
    pub cores: usize,
    pub memory_mib: u64,
    pub kernel: String,
    pub system: String,
    /// Processors that others kept busy just before the run: a busy machine measures noise.
    pub load_before: f64,
    /// Programs that are not contestants: database servers and load generators.
    pub versions: BTreeMap<String, String>,
}

/// One experiment.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    pub title: String,
    /// What is done and how it is measured.
    pub about: String,
    /// Who took part.
    pub contestants: Vec<Entrant>,
    /// Who could not take part, or was taken out, and why.
    pub absent: Vec<Absent>,
    pub measures: Vec<Measure>,
    /// What was found beside the figures, in sentences.
    pub findings: Vec<String>,
    /// What is smaller than published, in sentences.
    #[serde(default)]
    pub reduced: Vec<String>,
    /// How long it was to take, in seconds, and how long it took.
    #[serde(default)]
    pub planned_seconds: f64,
    #[serde(default)]
    pub seconds: f64,
    /// What was published then.
    #[serde(default)]
    pub published: Vec<Published>,
}

/// A published figure, and the figures of this run that answer it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What was measured.
    pub what: String,
    pub year: u16,
    pub value: f64,
    pub unit: String,
    /// A measure of the scenario; empty if nothing here answers it.
    #[serde(default)]
    pub measure: String,
    /// Contestants of that measure; none is all of them.
    #[serde(default)]
    pub contestants: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entrant {
    pub name: String,
    pub title: String,
    /// What its own programs and drivers say that they are.
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    pub name: String,
    pub reason: String,
    /// By the contestant's own description, not because something failed here.
    pub is_chosen: bool,
}

impl Absent {
    pub fn new(name: &str, reason: String) -> Absent {
        Absent { name: name.to_owned(), reason: brief(&reason), is_chosen: false }
    }
}

/// Which end of the scale wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    More,
    Less,
    /// A fact, not a race.
    Neither,
}

/// One figure of every contestant: a chart and a table.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    pub name: String,
    pub unit: String,
    pub better: Better,
    pub cells: Vec<Cell>,
}

/// One contestant's figure.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    pub contestant: String,
    /// One value for each round, in the order of the rounds.
    pub values: Vec<f64>,
    pub median: f64,
    pub mean: f64,
    /// The interval of the median that 95 of 100 bootstrap samples agree on.
    pub interval: Interval,
    /// Against the best of this measure; absent where nobody wins, and for the best itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<Verdict>,
    /// Figures beside it: medians of the rounds.
    pub beside: Vec<Beside>,
    /// More columns of a published table, beside the rounds and their mean.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub published: Vec<Beside>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// How many times worse than the best, by the medians.
    pub factor: f64,
    /// The bootstrap interval of the factor.
    pub interval: Interval,
    /// False if the interval holds 1: the run shows no difference.
    pub is_different: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    pub name: String,
    pub value: f64,
}

/// limit: a reason may quote a whole answer; its beginning says enough.
const REASON_LETTERS_MAX: usize = 300;

/// The beginning of a reason.
pub fn brief(reason: &str) -> String {
    let cut = reason.char_indices().nth(REASON_LETTERS_MAX).map_or(reason.len(), |(at, _)| at);
    if cut < reason.len() { format!("{}…", &reason[..cut]) } else { reason.to_owned() }
}

impl Run {
    /// Why the figures should not be believed, if so.
    pub fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        if self.command.iter().any(|word| word == "--quick") {
            cautions.push(
                "This run was quick: tiny counts that show that everything works, and no speed.".to_owned(),
            );
        }
        if self.machine.load_before > self.machine.cores as f64 / 4.0 {
            let load = self.machine.load_before;
            cautions.push(format!(
                "The machine was busy before the run ({load:.1} processors): the figures are noise."
            ));
        }
        cautions
    }

    /// Who took more time than planned, if all of them did.
    pub fn overtime(&self) -> Vec<String> {
        let planned: f64 = self.scenarios.iter().map(|scenario| scenario.planned_seconds).sum();
        if planned == 0.0 || self.seconds <= planned {
            return Vec::new();
        }
        let over = |scenario: &Scenario| scenario.seconds - scenario.planned_seconds;
        let mut late: Vec<&Scenario> =
            self.scenarios.iter().filter(|scenario| over(scenario) > 1.0).collect();
        late.sort_by(|a, b| over(b).total_cmp(&over(a)));
        let list: Vec<String> =
            late.iter().map(|scenario| format!("{} {:.0} s", scenario.name, over(scenario))).collect();
        vec![format!("{:.0} s more than planned: {}.", self.seconds - planned, list.join(", "))]
    }

    /// Reads a run; `path` is its file or the folder it lies in.
    pub fn read(path: &Path) -> Result<Run> {
        let file = if path.is_dir() { path.join("run.json") } else { path.to_owned() };
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let run: Run = serde_json::from_str(&text)
            .with_context(|| format!("{} is no run of the lab", file.display()))?;
        ensure!(run.format == FORMAT, "{} has format {}, this is {FORMAT}", file.display(), run.format);
        Ok(run)
    }
}

impl Measure {
    pub fn new(name: &str, unit: &str, better: Better) -> Measure {
        Measure { name: name.to_owned(), unit: unit.to_owned(), better, cells: Vec::new() }
    }

    /// Compares everyone with the best; called once, when all rounds are there.
    pub fn judge(&mut self, seed: u64) {
        let Some(best) = self.best().map(|cell| (cell.contestant.clone(), cell.values.clone())) else {
            return;
        };
        for cell in self.cells.iter_mut().filter(|cell| cell.contestant != best.0) {
            let (worse, better) = match self.better {
                Better::More => (&best.1, &cell.values),
                _ => (&cell.values, &best.1),
            };
            let interval = ratio(worse, better, seed);
            cell.verdict = Some(Verdict {
                factor: median(worse) / median(better),
                interval,
                is_different: interval.low > 1.0 || interval.high < 1.0,
            });
        }
    }

    /// The best by its median; `None` where nobody wins.
    pub fn best(&self) -> Option<&Cell> {
        let by_median = |a: &&Cell, b: &&Cell| a.median.total_cmp(&b.median);
        match self.better {
            Better::More => self.cells.iter().max_by(by_median),
            Better::Less => self.cells.iter().min_by(by_median),
            Better::Neither => None,
        }
    }
}

impl Cell {
    /// # Panics
    ///
    /// If there are no values: a round either has a figure or takes its contestant out.
    pub fn new(contestant: &str, values: Vec<f64>, seed: u64) -> Cell {
        Cell {
            contestant: contestant.to_owned(),
            median: median(&values),
            mean: mean(&values),
            interval: bootstrap(&values, seed),
            verdict: None,
            beside: Vec::new(),
            published: Vec::new(),
            values,
        }
    }

    pub fn beside(mut self, name: &str, value: f64) -> Cell {
        self.beside.push(Beside { name: name.to_owned(), value });
        self
    }
}
