//! The survey on a sharded engine: `examples/survey/cluster`, as its README says, with parts of it killed under load.

use std::collections::HashMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::support::database::{Engine, ask};
use crate::support::servers::{admin_url, wait_until};
use crate::support::wire::{Answer, Wire};

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

const PHASE_TIMEOUT: Duration = Duration::from_secs(60);
const CLIENTS: i64 = 8;
/// Ports that the script uses, one after the other.
const PORTS: u16 = 9;
const SHARDS: usize = 3;
const SHARD: &str = "shard2";

/// What `cluster start` has started.
struct Cluster {
    _folder: tempfile::TempDir,
    data: PathBuf,
    port: u16,
}

impl Cluster {
    fn start() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("rowcast-cluster-").tempdir()?;
        // The servers run as a user of their own, who must get to their data.
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let cluster = Self { data: folder.path().join("data"), _folder: folder, port: free_ports()? };
        cluster.run(&["start"])?;
        Ok(cluster)
    }

    fn run(&self, arguments: &[&str]) -> Result<String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/survey/cluster/cluster");
        let mut command = Command::new(script);
        command.args(arguments).env("ROWCAST", env!("CARGO_BIN_EXE_rowcast"));
        command.env("CLUSTER", &self.data).env("CLUSTER_PORT", self.port.to_string());
        command.env("ROWCAST_RATE_LIMIT_REQUESTS", "0");
        let output = command.output().context("the script of the cluster")?;
        ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The visitors of a storage server, with how often each has closed.
    fn held(&self, shard: usize) -> Result<HashMap<String, i64>> {
        let port = self.port + 1 + u16::try_from(shard)?;
        let url = format!("mysql://root@127.0.0.{}:{port}/", 11 + shard);
        let rows = ask(&url, "survey", "SELECT id, closes FROM visitors")?;
        let pair =
            |row: &str| Some((row.split_once('\t')?.0.to_owned(), row.split_once('\t')?.1.parse().ok()?));
        rows.lines().map(|row| pair(row).with_context(|| row.to_owned())).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // After a failure, too, nothing may go on running.
        let _ = self.run(&["stop"]);
    }
}

/// The first of so many ports in a row that nobody listens on, below those that the system gives to connections: one of
/// these could be taken before it is used.
fn free_ports() -> Result<u16> {
    for _ in 0..100 {
        let first = fastrand::u16(16_000..32_000);
        let all: Vec<_> =
            (first..first.saturating_add(PORTS)).map(|port| TcpListener::bind(("127.0.0.1", port))).collect();
        if all.len() == usize::from(PORTS) && all.iter().all(Result::is_ok) {
            return Ok(first);
        }
    }
    bail!("there are no {PORTS} free ports in a row")
}

/// What the clients have seen.
#[derive(Default)]
struct Seen {
    served: AtomicUsize,
    refused: AtomicUsize,
    /// How often each visitor's close was acknowledged, and how often its outcome was not known.
    closes: Mutex<HashMap<String, (i64, i64)>>,
    wrong: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

#[test]
fn the_survey_survives_the_loss_of_its_parts() -> Result<()> {
    if admin_url(Engine::MySql).is_none() {
        return Ok(());
    }
    let cluster = Cluster::start()?;
    let seen = Seen::default();
    let done = thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (seen, port) = (&seen, cluster.port);
            scope.spawn(move || client(number, port, seen));
        }
        let done = lose_parts(&cluster, &seen);
        seen.is_over.store(true, Ordering::Relaxed);
        done
    });
    let wrong = seen.wrong.into_inner()?;
    ensure!(
        wrong.is_empty(),
        "{} wrong answers, such as\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n")
    );
    done?;
    check_counts(&cluster, &seen.closes.into_inner()?)?;
    cluster.run(&["stop"])?;
    let status = cluster.run(&["status"])?;
    ensure!(!status.contains("runs"), "{status}");
    Ok(())
}

fn lose_parts(cluster: &Cluster, seen: &Seen) -> Result<()> {
    let served = || seen.served.load(Ordering::Relaxed);
    let refused = || seen.refused.load(Ordering::Relaxed);
    wait_until("answers", PHASE_TIMEOUT, || served() > 500)?;
    ensure!(refused() == 0, "{} requests were refused while all was well", refused());

    cluster.run(&["kill", SHARD])?;
    let before = served();
    wait_until("clear refusals", PHASE_TIMEOUT, || refused() > 20)?;
    wait_until("answers of the other storage servers", PHASE_TIMEOUT, || served() > before + 200)?;
    cluster.run(&["revive", SHARD])?;
    all_is_well(seen)?;

    // One that hangs is worse: it takes connections, and every request that it is asked for would hold one.
    cluster.run(&["freeze", SHARD])?;
    let (served_before, refused_before) = (served(), refused());
    wait_until("clear refusals", PHASE_TIMEOUT, || refused() > refused_before + 100)?;
    wait_until("answers of the other storage servers", PHASE_TIMEOUT, || served() > served_before + 500)?;
    cluster.run(&["thaw", SHARD])?;
    all_is_well(seen)?;

    // What was on its way through it fails; what is sent afterwards goes through the other.
    let before = refused();
    cluster.run(&["kill", "rowcast1"])?;
    let more = served() + 500;
    wait_until("answers through the other Rowcast", PHASE_TIMEOUT, || served() > more)?;
    let lost = refused() - before;
    ensure!(lost <= usize::try_from(CLIENTS)?, "{lost} requests failed, but {CLIENTS} were in flight");
    cluster.run(&["revive", "rowcast1"]).map(drop)
}

fn all_is_well(seen: &Seen) -> Result<()> {
    let now = || (seen.refused.load(Ordering::Relaxed), seen.served.load(Ordering::Relaxed));
    wait_until("nothing is refused any more", PHASE_TIMEOUT, || {
        let before = now();
        // Longer than what a storage server that is back may still hold up (its read timeout is 4 s, its checks 1 s).
        thread::sleep(Duration::from_secs(5));
        now().0 == before.0 && now().1 > before.1
    })
}

/// Each client is many visitors, one after the other: created, seen, closed.
fn client(number: i64, port: u16, seen: &Seen) {
    let mut wire = Wire::new(port);
    let mut round = 0;
    while !seen.is_over.load(Ordering::Relaxed) {
        round += 1;
        // Spread over the storage servers, and over 63 bits.
        let id = ((number * 1_000_003 + round * 7919) * 1_000_000_007 % (1 << 62)).to_string();
        if let Err(error) = visit(&mut wire, &id, seen) {
            seen.wrong.lock().expect("nobody panics with it").push(format!("{error:#}"));
            return;
        }
    }
}

fn visit(wire: &mut Wire, id: &str, seen: &Seen) -> Result<()> {
    let target = format!("/records/visitors/{id}");
    let created = ask_for(wire, "POST", "/records/visitors", &format!("{{\"id\":\"{id}\"}}"), seen)?;
    let Some(created) = created.filter(|answer| answer.status == 200) else { return Ok(()) };
    ensure!(created.body == format!("\"{id}\""), "{created:?}");
    let closed = ask_for(wire, "PATCH", &target, "{\"closes\":1}", seen)?;
    let is_counted = closed.as_ref().is_some_and(|answer| answer.status == 200);
    let entry = if is_counted { (1, 0) } else { (0, 1) };
    seen.closes.lock().expect("nobody panics with it").insert(id.to_owned(), entry);
    let Some(read) = ask_for(wire, "GET", &target, "", seen)?.filter(|answer| answer.status == 200) else {
        return Ok(());
    };
    let closes = format!("\"closes\":{}}}", entry.0);
    ensure!(!is_counted || read.body.ends_with(&closes), "{read:?}, but {closes} was acknowledged");
    Ok(())
}

/// An answer; `None` if the connection ended without one. What is refused is counted and says so.
fn ask_for(wire: &mut Wire, method: &str, target: &str, body: &str, seen: &Seen) -> Result<Option<Answer>> {
    let Ok(answer) = wire.send(method, target, body) else {
        seen.refused.fetch_add(1, Ordering::Relaxed);
        return Ok(None);
    };
    match answer.status {
        200 => seen.served.fetch_add(1, Ordering::Relaxed),
        // Of Rowcast with its document, or of the balancer while one Rowcast is gone.
        502..=504 => seen.refused.fetch_add(1, Ordering::Relaxed),
        _ => bail!("{method} {target}: {answer:?}"),
    };
    ensure!(
        answer.status != 503 || answer.retry_after.is_some() || !answer.body.contains("\"code\""),
        "it does not say when to come again: {answer:?}"
    );
    Ok(Some(answer))
}

/// Every visitor is on one storage server, and every acknowledged close was counted, there.
fn check_counts(cluster: &Cluster, closes: &HashMap<String, (i64, i64)>) -> Result<()> {
    let held = (0..SHARDS).map(|shard| cluster.held(shard)).collect::<Result<Vec<_>>>()?;
    ensure!(held.iter().all(|rows| !rows.is_empty()), "a storage server holds nothing");
    for (id, (acknowledged, unknown)) in closes {
        let found: Vec<i64> = held.iter().filter_map(|rows| rows.get(id).copied()).collect();
        let [counted] = found.as_slice() else { bail!("visitor {id} is at {} places", found.len()) };
        ensure!(
            (*acknowledged..=acknowledged + unknown).contains(counted),
            "visitor {id} closed {acknowledged} times, perhaps {unknown} more, but {counted} are counted"
        );
    }
    Ok(())
}
