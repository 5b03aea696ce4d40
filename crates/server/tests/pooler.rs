//! Behind PgBouncer in transaction mode, where each statement may meet another connection, nothing fails.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::support::database::{Databases, Engine};
use crate::support::process::Server;
use crate::support::servers::{admin_url, command, free_port, give_away, wait_until};
use crate::support::suite::tests_folder;
use crate::support::wire::Wire;

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

const CLIENTS: usize = 16;
const ROUNDS: usize = 30;
const READS: [&str; 4] = [
    "/records/posts/1",
    "/records/posts?filter=id,le,5&order=id&join=comments&join=tags&join=authors",
    "/records/types?order=id",
    "/records/posts?filter=title,cs,Mint&include=id,title&page=1,3",
];

#[test]
fn a_pooler_that_refuses_the_probe_is_noticed() -> Result<()> {
    behind_pooler("")
}

#[test]
fn a_pooler_that_loses_the_probe_is_noticed() -> Result<()> {
    behind_pooler("ignore_startup_parameters = options\n")
}

/// PgBouncer, gone when it is dropped.
struct Pooler {
    child: Child,
    _folder: TempDir,
    port: u16,
}

fn behind_pooler(settings: &str) -> Result<()> {
    let Some(admin_url) = admin_url(Engine::Postgres) else { return Ok(()) };
    let databases = Databases::new(Engine::Postgres, admin_url.clone())?;
    let database = databases.create("blog")?;
    let pooler = Pooler::start(&admin_url, settings)?;
    let port = port_of(&admin_url)?;
    let url = database.url.replace(&format!(":{port}/"), &format!(":{}/", pooler.port));
    let config = tests_folder().join("configs/default.toml");
    let start = || Server::start_with(&config, &url, &[("WORKERS", "2"), ("CACHE_TIME", "1")]);
    let servers = [start()?, start()?];
    let mut wire = Wire::new(servers[0].port);
    let expected = READS.map(|target| wire.get(target).map(|answer| answer.body));
    let expected: Vec<String> = expected.into_iter().collect::<Result<_>>()?;
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| (number, servers[number % 2].port))
            .map(|(number, port)| {
                let expected = &expected;
                scope.spawn(move || client(number, port, expected))
            })
            .collect();
        clients.into_iter().try_for_each(|client| client.join().expect("clients do not panic"))
    })?;
    for server in servers {
        let lines = server.stop_and_read()?;
        ensure!(lines.iter().any(|line| line.contains("a pooler stands before")), "{}", lines.join("\n"));
        let complaint = lines.iter().find(|line| line.contains("WARN") || line.contains("ERROR"));
        ensure!(complaint.is_none(), "{complaint:?}");
    }
    Ok(())
}

fn client(number: usize, port: u16, expected: &[String]) -> Result<()> {
    let mut wire = Wire::new(port);
    for round in 0..ROUNDS {
        let place = (number + round) % READS.len();
        let answer = wire.get(READS[place])?;
        ensure!(answer.status == 200 && answer.body == expected[place], "{}: {answer:?}", READS[place]);
        write(&mut wire, &format!("{number}-{round}"))?;
    }
    Ok(())
}

/// One record and a batch: made, changed, read and deleted.
fn write(wire: &mut Wire, name: &str) -> Result<()> {
    let mut expect = |method: &str, target: &str, body: &str| -> Result<String> {
        let answer = wire.send(method, target, body)?;
        ensure!(answer.status == 200, "{method} {target}: {answer:?}");
        Ok(answer.body)
    };
    let id = expect("POST", "/records/tags", &format!("{{\"name\":\"{name}\"}}"))?;
    ensure!(expect("PUT", &format!("/records/tags/{id}"), r#"{"important":true}"#)? == "1");
    let read = expect("GET", &format!("/records/tags/{id}"), "")?;
    ensure!(read == format!("{{\"id\":{id},\"name\":\"{name}\",\"important\":true}}"), "{read}");
    let ids =
        expect("POST", "/records/tags", &format!("[{{\"name\":\"{name}a\"}},{{\"name\":\"{name}b\"}}]"))?;
    let ids = ids.trim_matches(['[', ']']);
    let deleted = expect("DELETE", &format!("/records/tags/{id},{ids}"), "")?;
    ensure!(deleted == "[1,1,1]", "{deleted}");
    Ok(())
}

impl Pooler {
    fn start(admin_url: &str, settings: &str) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("rowcast-pooler-").tempdir()?;
        let (port, target) = (free_port()?, port_of(admin_url)?);
        let ini = folder.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={target} user=postgres\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 5\nmax_client_conn = 200\n{settings}"
        );
        fs::write(&ini, text)?;
        give_away(Engine::Postgres, folder.path())?;
        give_away(Engine::Postgres, &ini)?;
        let mut command = command(Engine::Postgres, "pgbouncer", folder.path());
        let child = command.arg("--quiet").arg(&ini).stderr(Stdio::null()).spawn();
        let child = child.context("starting pgbouncer; `tests/install servers` brings it")?;
        let pooler = Self { child, _folder: folder, port };
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        wait_until("pgbouncer answers", Duration::from_secs(20), || {
            let asked = Command::new("psql").args(["--no-psqlrc", "--command=SELECT 1", &url]).output();
            asked.is_ok_and(|output| output.status.success())
        })?;
        Ok(pooler)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // Both fail when it has ended already, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn port_of(admin_url: &str) -> Result<u16> {
    let port = admin_url.trim_end_matches('/').rsplit(':').next().context("a port")?;
    port.parse().context("a port")
}
