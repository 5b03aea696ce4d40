//! The machine that a run is a fact about.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::lab::{Lab, cores};
use crate::process::output;
use crate::run::Machine;
use crate::servers::newest_postgres;

/// Reads what `/proc` and the programs say; what they do not say stays empty.
pub fn look(lab: &Lab) -> Machine {
    Machine {
        processor: after("/proc/cpuinfo", "model name"),
        cores: cores(),
        memory_mib: number(&after("/proc/meminfo", "MemTotal")) / 1024,
        kernel: text("/proc/sys/kernel/osrelease"),
        system: after("/etc/os-release", "PRETTY_NAME").trim_matches('"').to_owned(),
        load_before: busy(),
        versions: versions(lab),
    }
}

/// Processors that are busy for a while in which the lab does nothing; a load average still has its own builds in it.
fn busy() -> f64 {
    const WHILE: Duration = Duration::from_secs(2);
    // limit: user, nice, system, idle and iowait; the rest is part of these or interrupts.
    let ticks = || -> Vec<f64> {
        let stat = text("/proc/stat");
        let line = stat.lines().next().unwrap_or_default();
        line.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect()
    };
    let before = ticks();
    thread::sleep(WHILE);
    let spent: Vec<f64> = ticks().iter().zip(&before).map(|(after, before)| after - before).collect();
    let all: f64 = spent.iter().sum();
    let idle: f64 = spent.iter().skip(3).take(2).sum();
    let share = if all > 0.0 { 1.0 - idle / all } else { 0.0 };
    (share * cores() as f64 * 100.0).round() / 100.0
}

/// The time now, in UTC, as RFC 3339 has it.
pub fn now() -> String {
    output(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

fn versions(lab: &Lab) -> BTreeMap<String, String> {
    let postgres = newest_postgres().map(|programs| programs.join("postgres").display().to_string());
    let programs = [
        ("oha", vec![lab.tool("oha"), "--version".to_owned()]),
        ("ab", vec!["ab".to_owned(), "-V".to_owned()]),
        // It tells its version, and then that something is wrong.
        ("wrk", ["sh", "-c", "wrk -v | head -1"].map(str::to_owned).to_vec()),
        ("MariaDB", vec!["mariadb".to_owned(), "--version".to_owned()]),
        ("PostgreSQL", vec![postgres.unwrap_or_default(), "--version".to_owned()]),
        ("Rowcast", vec![lab.rowcast.display().to_string(), "--version".to_owned()]),
    ];
    let first_line = |words: &[String]| {
        let printed = output(Command::new(&words[0]).args(&words[1..])).ok()?;
        printed.lines().next().map(str::to_owned)
    };
    programs.iter().filter_map(|(name, words)| Some(((*name).to_owned(), first_line(words)?))).collect()
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// What stands after a label and a `:` or `=` in a file.
fn after(path: &str, label: &str) -> String {
    let text = text(path);
    let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_default();
    line.split_once([':', '=']).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}

fn number(text: &str) -> u64 {
    text.split(' ').next().and_then(|digits| digits.parse().ok()).unwrap_or_default()
}
