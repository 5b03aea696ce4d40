//! Stage: the programs that are measured, started once for all scenarios.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::Run;
use crate::database::Engine;
use crate::load::{Asked, Load};
use crate::measure::{Measured, Subject, interleaved};
use crate::program::Program;
use crate::wire;

/// Everything a scenario needs.
pub struct Stage<'a> {
    pub run: &'a Run,
    pub home: &'a Path,
    pub engines: &'a [Engine],
    /// The programs by name: `rowcast ENGINE`, `base ENGINE`, `alone ENGINE`.
    pub subjects: Vec<Subject>,
    _programs: Vec<Program>,
}

/// Requests in flight, unless a scenario says something else.
pub const CONNECTIONS: u32 = 32;

/// Tells whoever waits what goes on.
pub fn tell(sentence: &str) {
    writeln!(std::io::stderr(), "bench: {sentence}").ok();
}

impl<'a> Stage<'a> {
    /// Starts everything.
    pub fn set(run: &'a Run, home: &'a Path, engines: &'a [Engine]) -> anyhow::Result<Stage<'a>> {
        let mut stage = Stage { run, home, engines, subjects: Vec::new(), _programs: Vec::new() };
        let this = std::env::current_exe()?;
        for engine in engines {
            stage.add(&format!("rowcast {}", engine.name), engine, &run.program, &serve(&engine.url))?;
            if let Some(base) = &run.base {
                stage.add(&format!("base {}", engine.name), engine, base, &serve(&engine.url))?;
            }
            stage.add(&format!("alone {}", engine.name), engine, &this, &["alone", &engine.url])?;
        }
        Ok(stage)
    }

    fn add(&mut self, name: &str, engine: &Engine, program: &Path, arguments: &[&str]) -> anyhow::Result<()> {
        let started = Program::start(program, arguments)?;
        let address = started.address.clone();
        self.subjects.push(Subject { name: name.into(), address, pid: started.pid(), database: engine.pid });
        self._programs.push(started);
        Ok(())
    }

    /// The program called `name`.
    pub fn subject(&self, name: &str) -> anyhow::Result<&Subject> {
        self.subjects.iter().find(|subject| subject.name == name).with_context(|| format!("no {name}"))
    }

    /// The programs of a kind: `rowcast`, `base` or `alone`.
    pub fn of_kind(&self, kinds: &[&str]) -> Vec<&Subject> {
        let is_one = |subject: &&Subject| kinds.contains(&subject.name.split(' ').next().unwrap_or_default());
        self.subjects.iter().filter(is_one).collect()
    }

    /// Requests that are sent in turn.
    pub fn load(&self, name: &str, asked: &[Asked]) -> anyhow::Result<Load> {
        Load::new(self.home, name, CONNECTIONS, "", asked)
    }

    /// Measures the subjects under one load, with the floor that answers the same bytes; the floor comes first.
    pub fn beside_floor(
        &self,
        scenario: &str,
        subjects: &[&Subject],
        load: &Load,
        target: &str,
    ) -> anyhow::Result<Vec<Measured>> {
        let first = subjects.first().context("somebody to measure")?;
        let floor = Floor::start(self.home, scenario, &wire::get(&first.address, target, "")?)?;
        let mut all = vec![(&floor.subject, load)];
        all.extend(subjects.iter().map(|subject| (*subject, load)));
        interleaved(scenario, &all, self.run.rounds, self.run.seconds)
    }
}

/// What Rowcast is started with.
pub fn serve(url: &str) -> [&str; 4] {
    ["serve", url, "--listen", "127.0.0.1:0"]
}

/// The bare server.
pub struct Floor {
    pub subject: Subject,
    _program: Program,
}

impl Floor {
    /// Starts one that answers `body`.
    pub fn start(home: &Path, scenario: &str, body: &[u8]) -> anyhow::Result<Floor> {
        let file: PathBuf = home.join(format!("{scenario}.body"));
        std::fs::write(&file, body)?;
        let shown = file.display().to_string();
        let program = Program::start(&std::env::current_exe()?, &["floor", &shown])?;
        let (name, address) = ("floor".to_owned(), program.address.clone());
        let subject = Subject { name, address, pid: program.pid(), database: None };
        Ok(Floor { subject, _program: program })
    }
}

/// The row of a program.
pub fn of<'m>(rows: &'m [Measured], subject: &str) -> anyhow::Result<&'m Measured> {
    rows.iter().find(|row| row.subject == subject).with_context(|| format!("{subject} was not measured"))
}
