//! The command line of the lab.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};

use crate::contestant::{all, build_all};
use crate::field::enter;
use crate::lab::{Lab, Options, ROWS, say};
use crate::machine::{look, now};
use crate::plan::{Plan, clock};
use crate::report::{compare, html, markdown};
use crate::run::{Absent, FORMAT, Published, Run, Scenario};
use crate::scenario::{ALL, Experiment};
use crate::servers::{self, Servers};

/// Races services that put a database on the web, and writes down what was measured.
#[derive(Debug, Parser)]
#[command(name = "rowcast-lab", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Race one scenario, or all, and write run.json, report.html and report.md
    Race {
        /// hello, core, file, https, storage, transport, ids, survey; none is all of them
        scenarios: Vec<String>,
        #[command(flatten)]
        settings: Settings,
        /// Where the report goes; target/lab/runs/TIME if not given
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Build and start contestants and play the contract, without timing anything
    Check {
        /// Names of contestants, with commas between; none is all of them
        #[arg(long, value_delimiter = ',')]
        services: Vec<String>,
        /// Fail if one of them cannot take part, too
        #[arg(long)]
        all: bool,
    },
    /// Write the report of a run again, into its folder or into another
    Report {
        run: PathBuf,
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Put two runs side by side: compare.html and compare.md
    Compare {
        before: PathBuf,
        after: PathBuf,
        #[arg(long, default_value = ".")]
        out: PathBuf,
    },
    /// List the scenarios and the contestants
    List,
    /// Print the JSON schema of run.json
    Schema,
}

#[derive(Debug, Default, Args)]
struct Settings {
    /// Names of contestants, with commas between; none is all of them
    #[arg(long, value_delimiter = ',')]
    services: Vec<String>,
    /// Only measures whose name has this text in it
    #[arg(long)]
    measure: Option<String>,
    /// Rounds of every measure, however long they take; HTTPS clients have five at least [default: 5, or fewer, but 3, if the
    /// time is used up; 2 with --quick]
    #[arg(long)]
    rounds: Option<usize>,
    /// Length of one figure that time limits [default: 0.4, or 0.3 with --quick]
    #[arg(long)]
    seconds: Option<f64>,
    /// Tiny counts, to see that everything works; the figures mean nothing
    #[arg(long)]
    quick: bool,
    /// All 100,000 requests of ab, or 2,000 files, in each round, however long they take
    #[arg(long)]
    published: bool,
    /// Rows of the storage scenario, random ids, and visitors of the survey [default: 6000000, or 60000 with --quick]
    #[arg(long)]
    rows: Option<u64>,
    /// What the order and the random data grow from; drawn if not given
    #[arg(long)]
    seed: Option<u64>,
}

impl Settings {
    fn options(&self) -> Result<Options> {
        let pick = |quick: u64, whole: u64| if self.quick { quick } else { whole };
        let options = Options {
            rounds: self.rounds.unwrap_or(if self.quick { 2 } else { 5 }),
            seconds: self.seconds.unwrap_or(if self.quick { 0.3 } else { 0.4 }),
            warm_up: 0.1,
            seed: self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
            services: self.services.clone(),
            measure: self.measure.clone(),
            rows: self.rows.unwrap_or(pick(60_000, ROWS)),
            requests: pick(1_000, 100_000),
            published: self.published,
            is_quick: self.quick,
            is_bounded: self.rounds.is_none() && !self.published && !self.quick,
            files: if self.published { 2_000 } else { pick(100, 500) },
            pages: if self.quick { vec![1, 10] } else { vec![10, 50, 100, 1000] },
            calls: pick(50, 1_000),
            rates: if self.quick { vec![200] } else { vec![1_000] },
        };
        // limit: a round is a second at least, and there is an end.
        if !(1..=1000).contains(&options.rounds) || !(0.05..=600.0).contains(&options.seconds) {
            bail!("--rounds is 1 to 1000, --seconds is 0.05 to 600");
        }
        Ok(options)
    }

    /// What the scenarios are to take. Contestants and measures that are left out make it less.
    fn plan(&self, options: &Options, experiments: &[&'static Experiment]) -> Plan {
        let seconds = |experiment: &Experiment| match self.quick {
            true => experiment.cost.quick,
            false => experiment.cost.fixed + experiment.cost.round * options.rounds as f64,
        };
        let parts = experiments.iter().map(|experiment| (experiment.name, seconds(experiment))).collect();
        // What was asked for is run.
        Plan::new(parts, options.is_bounded)
    }

    fn open(&self, experiments: &[&'static Experiment]) -> Result<Lab> {
        let options = self.options()?;
        let plan = self.plan(&options, experiments);
        Lab::open(options, plan)
    }
}

/// Does what the arguments say.
///
/// # Errors
///
/// What stopped it.
pub fn run() -> Result<ExitCode> {
    match Cli::parse().command {
        Command::Race { scenarios, settings, out } => race(&scenarios, &settings, out),
        Command::Check { services, all } => check(services, all),
        Command::Report { run, out } => {
            let beside = if run.is_dir() { run.clone() } else { parent(&run) };
            let folder = out.unwrap_or(beside);
            write(&Run::read(&run)?, &folder)?;
            say(&format!("written: {0}/report.html, {0}/report.md, {0}/run.json", folder.display()));
            Ok(ExitCode::SUCCESS)
        }
        Command::Compare { before, after, out } => {
            let (before, after) = (Run::read(&before)?, Run::read(&after)?);
            fs::create_dir_all(&out)?;
            fs::write(out.join("compare.md"), compare::markdown(&before, &after))?;
            fs::write(out.join("compare.html"), compare::html(&before, &after))?;
            say(&format!("written: {0}/compare.html, {0}/compare.md", out.display()));
            Ok(ExitCode::SUCCESS)
        }
        Command::List => list(),
        Command::Schema => {
            let schema = serde_json::to_string_pretty(&schemars::schema_for!(Run))?;
            print(&format!("{schema}\n"))
        }
    }
}

/// Tells the user why nothing came of it.
pub fn explain(error: &anyhow::Error) -> ExitCode {
    say(&format!("{error:#}"));
    ExitCode::FAILURE
}

fn race(names: &[String], settings: &Settings, out: Option<PathBuf>) -> Result<ExitCode> {
    let experiments = chosen(names)?;
    let lab = settings.open(&experiments)?;
    known(&lab)?;
    let published = published(&lab)?;
    lab.plan.lines().iter().for_each(|line| say(line));
    say(&lab.options.told());
    say("before it: the builds of the contestants, which take minutes where nothing is built yet");
    let building = Instant::now();
    let jobs: Vec<&str> = experiments.iter().map(|experiment| experiment.name).collect();
    build_all(&lab, &jobs)?;
    let build_seconds = building.elapsed().as_secs_f64();
    say(&format!("built in {}", clock(build_seconds)));
    let mut run = Run {
        format: FORMAT,
        started: now(),
        seconds: 0.0,
        command: command(),
        seed: lab.options.seed,
        machine: look(&lab),
        settings: servers::settings(),
        build_seconds,
        scenarios: Vec::new(),
    };
    run.settings.insert("counts".to_owned(), lab.options.told());
    let folder = out.unwrap_or_else(|| lab.build.join("runs").join(run.started.replace(':', "")));
    let began = Instant::now();
    let mut failures = 0;
    for (number, experiment) in experiments.into_iter().enumerate() {
        lab.plan.begin(number);
        lab.tell(&format!("{} begins", experiment.name));
        let mut scenario = (experiment.run)(&lab).unwrap_or_else(|error| {
            say(&format!("{} fails: {error:#}", experiment.name));
            failures += 1;
            failed(experiment.name, &error)
        });
        for absent in &mut scenario.absent {
            absent.reason = lab.without_folders(&absent.reason);
        }
        scenario.planned_seconds = lab.plan.seconds_of(experiment.name);
        scenario.seconds = lab.plan.spent();
        scenario.published = published.get(experiment.name).cloned().unwrap_or_default();
        lab.tell(&format!("{} took {}", experiment.name, clock(scenario.seconds)));
        run.scenarios.push(scenario);
        run.seconds = began.elapsed().as_secs_f64();
        // What is measured is kept, should somebody end this.
        write(&run, &folder)?;
    }
    say(&format!("done in {}; report: {}/report.html", clock(run.seconds), folder.display()));
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The arguments, without the folder of this machine that the report goes to.
fn command() -> Vec<String> {
    let mut words: Vec<String> = env::args().skip(1).collect();
    if let Some(at) = words.iter().position(|word| word == "--out") {
        words.drain(at..(at + 2).min(words.len()));
    }
    words.retain(|word| !word.starts_with("--out="));
    words
}

/// A scenario that could not be raced has its place in the report, with the reason.
fn failed(name: &str, error: &anyhow::Error) -> Scenario {
    let absent = vec![Absent::new("everyone", format!("{error:#}"))];
    Scenario { name: name.to_owned(), title: name.to_owned(), absent, ..Scenario::default() }
}

/// What was published, by scenario.
fn published(lab: &Lab) -> Result<BTreeMap<String, Vec<Published>>> {
    let path = lab.root.join("published.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    toml::from_str(&text).with_context(|| path.display().to_string())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>> {
    if names.is_empty() || names == ["all"] {
        return Ok(ALL.iter().collect());
    }
    let find = |name: &String| {
        let known: Vec<&str> = ALL.iter().map(|experiment| experiment.name).collect();
        let found = ALL.iter().find(|experiment| experiment.name == name);
        found.with_context(|| format!("no scenario '{name}'; there are {}", known.join(", ")))
    };
    names.iter().map(find).collect()
}

/// A name that nobody has would race nobody, in silence.
fn known(lab: &Lab) -> Result<()> {
    let mut names: Vec<String> = all(lab)?.into_iter().map(|(name, ..)| name).collect();
    names.extend(ALL.iter().flat_map(|experiment| experiment.own).map(|name| (*name).to_owned()));
    for wanted in &lab.options.services {
        if !names.contains(wanted) {
            bail!("no contestant '{wanted}'; there are {}", names.join(", "));
        }
    }
    Ok(())
}

fn check(services: Vec<String>, wants_all: bool) -> Result<ExitCode> {
    let lab = Settings { services, quick: true, ..Settings::default() }.open(&[])?;
    known(&lab)?;
    let servers = Servers::start(&lab, false)?;
    let mut failures = 0;
    let mut passed = 0;
    for job in ["hello", "core", "file"] {
        let (field, absent) = enter(&lab, job, (job != "hello").then_some(&servers))?;
        passed += field.racers.len();
        // Who does not take part on purpose breaks no contract.
        for absent in absent.into_iter().filter(|absent| !absent.is_chosen) {
            say(&format!("{job}: {} fails: {}", absent.name, absent.reason));
            failures += 1;
        }
    }
    print(&format!("{passed} passed, {failures} failed\n"))?;
    Ok(if passed == 0 || (wants_all && failures > 0) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn list() -> Result<ExitCode> {
    let lab = Settings { quick: true, ..Settings::default() }.open(&[])?;
    let names: Vec<&str> = ALL.iter().map(|experiment| experiment.name).collect();
    let mut text = format!("scenarios: {}\n\n", names.join(", "));
    for (name, title, jobs) in all(&lab)? {
        text.push_str(&format!("{name:<18} {jobs:<18} {title}\n"));
    }
    print(&text)
}

fn write(run: &Run, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("run.json"), serde_json::to_string_pretty(run)? + "\n")?;
    fs::write(folder.join("report.md"), markdown::write(run))?;
    fs::write(folder.join("report.html"), html::write(run))?;
    Ok(())
}

fn parent(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

fn print(text: &str) -> Result<ExitCode> {
    use std::io::Write;
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
