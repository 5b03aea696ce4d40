//! Contestants: what `contestants/*/contestant.toml` says, how they are built, and how they are started.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::PoisonError;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::lab::{Lab, cores, say};
use crate::process::{Process, Start, free_port, is_listening, output};
use crate::run::{Absent, Entrant};

/// The programs of one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    /// Programs that must be on the path; without them the contestant is absent.
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    service: Vec<Service>,
    #[serde(default)]
    client: Vec<Client>,
}

/// A server that takes part.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    pub name: String,
    pub title: String,
    /// With `{here}` for its folder and `{out}` for what was built.
    pub start: Vec<String>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Names of scenarios.
    pub jobs: Vec<String>,
    /// Scenarios that it cannot take part in, with the reason that the report gives.
    #[serde(default)]
    pub not: BTreeMap<String, String>,
    #[serde(default = "Hello::usual")]
    pub hello: Hello,
    #[serde(default = "Core::usual")]
    pub core: Core,
    /// The path of a table `texts (id, content)`, for one that keeps records and not files.
    #[serde(default)]
    pub texts: Option<String>,
}

/// A program that fetches a page again and again.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    pub name: String,
    pub title: String,
    /// Called with the address, the number of requests, and `reuse` or `new`.
    pub start: Vec<String>,
    /// Whether it can keep a connection.
    #[serde(default = "yes")]
    pub reuses: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    pub path: String,
    pub body: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// The path of the table.
    pub posts: String,
    /// The member that holds the records of a list, if it is not the whole answer.
    pub list: Option<String>,
}

impl Hello {
    fn usual() -> Hello {
        Hello { path: "/hello".to_owned(), body: "Hello, world!".to_owned() }
    }
}

impl Core {
    fn usual() -> Core {
        Core { posts: "/posts".to_owned(), list: None }
    }
}

fn yes() -> bool {
    true
}

/// A contestant with its folders, built.
#[derive(Debug, Clone)]
pub struct Ready<T> {
    pub item: T,
    pub entrant: Entrant,
    here: PathBuf,
    out: PathBuf,
}

/// A started service.
pub struct Racer {
    pub service: Service,
    pub entrant: Entrant,
    pub process: Process,
    pub port: u16,
    /// Where its files go; empty whenever it has nothing to do.
    pub work: PathBuf,
}

impl Racer {
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// The services of a scenario, built; and those that cannot take part, with reasons.
///
/// # Errors
///
/// If a manifest is wrong. A failed build is an absence.
pub fn services(lab: &Lab, job: &str) -> Result<(Vec<Ready<Service>>, Vec<Absent>)> {
    let mut absent = Vec::new();
    let mut ready = Vec::new();
    for (folder, manifest) in manifests(lab)? {
        let named = |service: &&Service| lab.is_wanted(&service.name);
        for service in manifest.service.iter().filter(named) {
            if let Some(reason) = service.not.get(job) {
                absent.push(Absent { is_chosen: true, ..Absent::new(&service.name, reason.clone()) });
            }
        }
        let takes_part = |service: &&Service| named(service) && service.jobs.iter().any(|name| name == job);
        let items: Vec<_> = manifest.service.iter().filter(takes_part).cloned().collect();
        let named = items.iter().map(|item| (item.name.clone(), item.title.clone())).collect();
        let found = build(lab, &folder, &manifest.needs, named, &mut absent);
        ready.extend(found.into_iter().zip(items).map(|(place, item)| place.with(item)));
    }
    Ok((ready, absent))
}

/// The HTTPS clients, built; and those that cannot take part.
///
/// # Errors
///
/// As [`services`].
pub fn clients(lab: &Lab) -> Result<(Vec<Ready<Client>>, Vec<Absent>)> {
    let mut absent = Vec::new();
    let mut ready = Vec::new();
    for (folder, manifest) in manifests(lab)? {
        let items: Vec<_> =
            manifest.client.into_iter().filter(|client| lab.is_wanted(&client.name)).collect();
        let named = items.iter().map(|item| (item.name.clone(), item.title.clone())).collect();
        let found = build(lab, &folder, &manifest.needs, named, &mut absent);
        ready.extend(found.into_iter().zip(items).map(|(place, item)| place.with(item)));
    }
    Ok((ready, absent))
}

/// Every contestant's name, title and jobs.
///
/// # Errors
///
/// If a manifest is wrong.
pub fn all(lab: &Lab) -> Result<Vec<(String, String, String)>> {
    let mut all = Vec::new();
    for (_, manifest) in manifests(lab)? {
        let service = |item: Service| (item.name, item.title, item.jobs.join(" "));
        all.extend(manifest.service.into_iter().map(service));
        all.extend(manifest.client.into_iter().map(|item| (item.name, item.title, "https".to_owned())));
    }
    Ok(all)
}

fn manifests(lab: &Lab) -> Result<Vec<(PathBuf, Manifest)>> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(lab.root.join("contestants"))?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.sort();
    folders.retain(|folder| folder.is_dir());
    let read = |folder: PathBuf| {
        let path = folder.join("contestant.toml");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let manifest = toml::from_str(&text).with_context(|| path.display().to_string())?;
        Ok((folder, manifest))
    };
    folders.into_iter().map(read).collect()
}

/// A built contestant of which only the place is known.
struct Place {
    entrant: Entrant,
    here: PathBuf,
    out: PathBuf,
}

impl Place {
    fn with<T>(self, item: T) -> Ready<T> {
        Ready { item, entrant: self.entrant, here: self.here, out: self.out }
    }
}

/// Runs the `build` of a folder, once for all who live in it; none come back if it fails.
fn build(
    lab: &Lab,
    folder: &Path,
    needs: &[String],
    named: Vec<(String, String)>,
    absent: &mut Vec<Absent>,
) -> Vec<Place> {
    if named.is_empty() {
        return Vec::new();
    }
    let language = folder.file_name().unwrap_or_default();
    let out = lab.build.join("contestants").join(language);
    match built(lab, folder, needs, &out) {
        Ok(version) => {
            let place = |(name, title)| Place {
                entrant: Entrant { name, title, version: version.clone() },
                here: folder.to_owned(),
                out: out.clone(),
            };
            named.into_iter().map(place).collect()
        }
        Err(error) => {
            let reason = format!("cannot be built here: {error}");
            absent.extend(named.into_iter().map(|(name, _)| Absent::new(&name, reason.clone())));
            Vec::new()
        }
    }
}

/// Builds everyone who is wanted in these scenarios, so that no time of a race is spent on it.
///
/// # Errors
///
/// If a manifest is wrong. A failed build is told, and told again where its contestant is absent.
pub fn build_all(lab: &Lab, jobs: &[&str]) -> Result<()> {
    for (folder, manifest) in manifests(lab)? {
        let takes_part = |service: &&Service| service.jobs.iter().any(|job| jobs.contains(&job.as_str()));
        let services = manifest.service.iter().filter(takes_part).map(|service| &service.name);
        let clients = manifest.client.iter().filter(|_| jobs.contains(&"https")).map(|client| &client.name);
        if services.chain(clients).any(|name| lab.is_wanted(name)) {
            let language = folder.file_name().unwrap_or_default();
            let out = lab.build.join("contestants").join(language);
            say(&format!("building {}", language.display()));
            if let Err(reason) = built(lab, &folder, &manifest.needs, &out) {
                say(&format!("{} cannot be built here: {reason}", language.display()));
            }
        }
    }
    Ok(())
}

/// What the build of this folder said, which is asked once for a run.
fn built(lab: &Lab, folder: &Path, needs: &[String], out: &Path) -> Result<String, String> {
    let mut known = lab.built.lock().unwrap_or_else(PoisonError::into_inner);
    let build = || try_build(lab, folder, needs, out).map_err(|error| format!("{error:#}"));
    known.entry(folder.to_owned()).or_insert_with(build).clone()
}

fn try_build(lab: &Lab, folder: &Path, needs: &[String], out: &Path) -> Result<String> {
    for program in needs {
        let found = output(Command::new("sh").args(["-c", &format!("command -v {program}")])).is_ok();
        ensure!(found, "{program} is not installed; `lab/install` takes what Debian has");
    }
    fs::create_dir_all(out)?;
    let environment = [("OUT", out), ("ROWCAST", &lab.rowcast)];
    // What it prints at the end are the versions of what it is made of.
    let printed = output(Command::new("./build").current_dir(folder).envs(environment))?;
    Ok(printed.trim().lines().last().unwrap_or_default().to_owned())
}

impl Ready<Service> {
    /// Starts it for a scenario and waits until it listens.
    ///
    /// # Errors
    ///
    /// With the end of its log, if it does not.
    pub fn start(&self, lab: &Lab, job: &str, database: &BTreeMap<String, String>) -> Result<Racer> {
        let port = free_port()?;
        let work = lab.path(&format!("work-{}", self.item.name));
        fs::create_dir_all(&work)?;
        let mut environment = database.clone();
        environment.extend(self.item.environment.clone());
        environment.insert("JOB".to_owned(), job.to_owned());
        environment.insert("PORT".to_owned(), port.to_string());
        environment.insert("CORES".to_owned(), cores().to_string());
        environment.insert("WORK".to_owned(), work.display().to_string());
        environment.insert("OUT".to_owned(), self.out.display().to_string());
        environment.insert("ROWCAST".to_owned(), lab.rowcast.display().to_string());
        let command = self.command(&self.item.start);
        let mut process = Process::start(&Start {
            name: &self.item.name,
            command: &command,
            folder: &self.here,
            environment: &environment,
            log: lab.path(&format!("{}.log", self.item.name)),
            account: None,
        })?;
        process.wait_until(|| is_listening(port))?;
        Ok(Racer { service: self.item.clone(), entrant: self.entrant.clone(), process, port, work })
    }
}

impl<T> Ready<T> {
    /// The words of a command, with the folders put in.
    pub fn command(&self, words: &[String]) -> Vec<String> {
        let here = self.here.display().to_string();
        let out = self.out.display().to_string();
        words.iter().map(|word| word.replace("{here}", &here).replace("{out}", &out)).collect()
    }

    pub fn out(&self) -> &Path {
        &self.out
    }

    pub fn here(&self) -> &Path {
        &self.here
    }
}
