//! Subjects under a load in interleaved rounds, and the medians.

use std::time::Instant;

use crate::load::Load;
use crate::program;

/// A server under measurement.
pub struct Subject {
    /// What the table calls it.
    pub name: String,
    /// `http://HOST:PORT/`.
    pub address: String,
    /// Its process.
    pub pid: u32,
    /// The process of its database server.
    pub database: Option<u32>,
}

/// Medians of the rounds.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub scenario: String,
    pub subject: String,
    /// Requests per second.
    pub rate: f64,
    /// Milliseconds.
    pub p50: f64,
    pub p99: f64,
    /// CPU microseconds per request.
    pub server_cpu: f64,
    pub database_cpu: f64,
    /// MB.
    pub peak: f64,
}

impl Measured {
    /// CPU microseconds of server and database together.
    pub fn cpu(&self) -> f64 {
        self.server_cpu + self.database_cpu
    }
}

/// Measures each subject under its load, one after the other, round by round, so that a slow moment of the machine
/// meets all of them.
pub fn interleaved(
    scenario: &str,
    subjects: &[(&Subject, &Load)],
    rounds: usize,
    seconds: f64,
) -> anyhow::Result<Vec<Measured>> {
    for (subject, load) in subjects {
        // Connections are opened, statements prepared, pages read.
        load.run(&subject.address, 1.0)
            .map_err(|error| error.context(format!("{scenario}: {}", subject.name)))?;
    }
    let mut all: Vec<Vec<Measured>> = subjects.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for ((subject, load), found) in subjects.iter().zip(&mut all) {
            found.push(once(scenario, subject, load, seconds)?);
        }
    }
    Ok(all.iter().map(|found| medians(found)).collect())
}

/// One round of one subject.
pub fn once(scenario: &str, subject: &Subject, load: &Load, seconds: f64) -> anyhow::Result<Measured> {
    program::reset_peak(subject.pid);
    let used = || {
        let database = subject.database.map_or(0.0, program::cpu_seconds);
        (program::cpu_seconds(subject.pid), database)
    };
    let before = used();
    let counted = load.run(&subject.address, seconds)?;
    let after = used();
    let per_request = |seconds: f64| seconds * 1e6 / counted.requests.max(1.0);
    Ok(Measured {
        scenario: scenario.to_owned(),
        subject: subject.name.clone(),
        rate: counted.requests / counted.seconds,
        p50: counted.p50,
        p99: counted.p99,
        server_cpu: per_request(after.0 - before.0),
        database_cpu: per_request(after.1 - before.1),
        peak: program::memory(subject.pid, "VmHWM"),
    })
}

/// The median of each figure on its own.
pub fn medians(found: &[Measured]) -> Measured {
    let of = |figure: fn(&Measured) -> f64| median(found.iter().map(figure).collect());
    Measured {
        scenario: found[0].scenario.clone(),
        subject: found[0].subject.clone(),
        rate: of(|one| one.rate),
        p50: of(|one| one.p50),
        p99: of(|one| one.p99),
        server_cpu: of(|one| one.server_cpu),
        database_cpu: of(|one| one.database_cpu),
        peak: of(|one| one.peak),
    }
}

/// The middle one.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// How many seconds something takes, in the median of the rounds.
pub fn seconds(rounds: usize, mut run: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let mut all = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        run()?;
        all.push(start.elapsed().as_secs_f64());
    }
    Ok(median(all))
}
