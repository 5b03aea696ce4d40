//! All transcripts on one engine: found, spread over threads, reported or blessed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};

use crate::support::database::{Databases, Engine};
use crate::support::play::{Difference, play};
use crate::support::process::Server;
use crate::support::transcript::Transcript;

/// Two engines may bless one file at a time, but not the same time.
static BLESSING: Mutex<()> = Mutex::new(());

/// `tests/` at the root of the repository.
pub fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// Plays every transcript that is for this engine; `enabled` are all engines that transcripts are played on.
pub fn run(engine: Engine, enabled: &[Engine], admin_url: String) {
    let databases = Databases::new(engine, admin_url).expect("databases can be made");
    let paths = find_transcripts().expect("tests/transcripts can be read");
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, |count| count.get() * 2) {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = run_file(path, engine, enabled, &databases) {
                        failures.lock().expect("nobody panics here").push(format!("{error:#}"));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("nobody panicked");
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} transcripts fail on {}; if the new answers are right: make bless\n\n{}",
        failures.len(),
        paths.len(),
        engine.name(),
        failures.join("\n\n"),
    );
}

/// All `.log` files, or those whose path contains the text in the variable TRANSCRIPT.
fn find_transcripts() -> Result<Vec<PathBuf>> {
    let wanted = env::var("TRANSCRIPT").unwrap_or_default();
    let mut paths = Vec::new();
    for group in fs::read_dir(tests_folder().join("transcripts"))? {
        let group = group?.path();
        if group.is_dir() {
            for entry in fs::read_dir(group)? {
                paths.push(entry?.path());
            }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    paths.retain(|path| path.to_string_lossy().contains(&wanted));
    ensure!(!paths.is_empty() || wanted.is_empty(), "no transcript has {wanted:?} in its path");
    paths.sort();
    Ok(paths)
}

fn run_file(path: &Path, engine: Engine, enabled: &[Engine], databases: &Databases) -> Result<()> {
    let name = format!("tests/transcripts/{}", short_name(path));
    let transcript = read(path).with_context(|| name.clone())?;
    if !transcript.plays_on(engine) {
        return Ok(());
    }
    let differences = play_alone(&transcript, engine, databases).with_context(|| name.clone())?;
    if env::var_os("BLESS").is_some() {
        return bless(path, engine, enabled, &differences).with_context(|| name);
    }
    let lines =
        differences.iter().map(|difference| format!("{name}:{}: {}", difference.line, difference.message));
    let lines: Vec<String> = lines.collect();
    ensure!(lines.is_empty(), "{}", lines.join("\n"));
    Ok(())
}

/// A server and a database for this transcript only: no other one can disturb it.
fn play_alone(transcript: &Transcript, engine: Engine, databases: &Databases) -> Result<Vec<Difference>> {
    let config = tests_folder().join(format!("configs/{}.toml", transcript.config));
    ensure!(config.exists(), "there is no tests/configs/{}.toml", transcript.config);
    let database = databases.create(&transcript.database)?;
    let server = Server::start(&config, &database.url)?;
    let differences = play(transcript, engine, server.port);
    server.stop()?;
    Ok(differences)
}

fn bless(path: &Path, engine: Engine, enabled: &[Engine], differences: &[Difference]) -> Result<()> {
    let _turn = BLESSING.lock().expect("nobody panics while blessing");
    // Read again: another engine may have blessed it in the meantime.
    let mut transcript = read(path)?;
    let all: Vec<Engine> = enabled.iter().copied().filter(|&engine| transcript.plays_on(engine)).collect();
    for difference in differences {
        let response = difference.response.clone().with_context(|| difference.message.clone())?;
        transcript.steps[difference.step].bless(engine, response, &all);
    }
    if !differences.is_empty() {
        fs::write(path, transcript.render())?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Transcript> {
    Transcript::parse(&fs::read_to_string(path)?)
}

/// The group and the file, as they stand below `tests/transcripts/`.
fn short_name(path: &Path) -> String {
    let names: Vec<_> =
        path.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy()).collect();
    names.iter().rev().map(AsRef::as_ref).collect::<Vec<&str>>().join("/")
}
