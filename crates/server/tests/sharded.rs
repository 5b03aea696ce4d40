//! Engines that spread one table over several servers: Spider, hash partitions over postgres_fdw, and Galera.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::support::database::Engine;
use crate::support::process::Server;
use crate::support::servers::{OwnServer, admin_url, free_port, wait_until};
use crate::support::suite::tests_folder;
use crate::support::wire::Wire;

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

const PHASE_TIMEOUT: Duration = Duration::from_secs(60);
const VISITORS: usize = 60;
const CLIENTS: usize = 8;
const ROUNDS: usize = 25;
/// Rows of a table that is spread over two servers, by which the tests see where a row is.
const COLUMNS: &str = "id BIGINT NOT NULL PRIMARY KEY, closes INT NOT NULL DEFAULT 0";

/// Two servers that hold rows, and two that are asked.
struct Cluster {
    shards: Vec<OwnServer>,
    heads: Vec<OwnServer>,
}

impl Cluster {
    fn start(engine: Engine, head_arguments: &[&str]) -> Result<Self> {
        let start = |arguments: &[&str]| -> Result<OwnServer> {
            let mut server = OwnServer::create(engine)?;
            server.extra.extend(arguments.iter().map(|argument| (*argument).to_owned()));
            server.start()?;
            server.ask("", "CREATE DATABASE shop")?;
            Ok(server)
        };
        // The heads must find the servers that hold the rows.
        let shards = vec![start(&[])?, start(&[])?];
        for shard in &shards {
            shard.ask("shop", &format!("CREATE TABLE visitors ({COLUMNS})"))?;
        }
        let heads = vec![start(head_arguments)?, start(head_arguments)?];
        Ok(Self { shards, heads })
    }

    /// The address of the database: both heads.
    fn url(&self) -> String {
        let (scheme, _) = self.heads[0]
            .admin_url()
            .split_once("127")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap_or_default();
        format!("{scheme}127.0.0.1:{},127.0.0.1:{}/shop", self.heads[0].port, self.heads[1].port)
    }

    /// Which visitors a server holds.
    fn held(&self, shard: usize) -> Result<Vec<String>> {
        let rows = self.shards[shard].ask("shop", "SELECT id FROM visitors ORDER BY id")?;
        Ok(rows.lines().map(str::to_owned).collect())
    }
}

fn serve(url: &str, settings: &[(&str, &str)]) -> Result<Server> {
    let fixed = [("WORKERS", "2"), ("IDS", "visitors=random53"), ("BIG_INTEGERS_AS_STRINGS", "true")];
    let settings: Vec<_> = fixed.iter().chain(settings).copied().collect();
    Server::start_with(&tests_folder().join("configs/default.toml"), url, &settings)
}

#[test]
fn spider_is_served() -> Result<()> {
    if admin_url(Engine::MySql).is_none() {
        return Ok(());
    }
    let arguments = [
        "--plugin-load-add=ha_spider.so",
        "--plugin-maturity=gamma",
        "--spider-conn-recycle-mode=1",
        "--spider-connect-timeout=2",
    ];
    let cluster = Cluster::start(Engine::MySql, &arguments)?;
    for head in &cluster.heads {
        let mut sql = String::new();
        for (number, shard) in cluster.shards.iter().enumerate() {
            sql += &format!(
                "CREATE SERVER s{number} FOREIGN DATA WRAPPER mysql
                 OPTIONS (HOST '127.0.0.1', PORT {}, USER 'root', DATABASE 'shop');",
                shard.port
            );
        }
        sql += &format!(
            "CREATE TABLE visitors ({COLUMNS}) ENGINE=SPIDER COMMENT='wrapper \"mysql\", table \"visitors\"'
             PARTITION BY KEY (id) (PARTITION p0 COMMENT = 'server \"s0\"', PARTITION p1 COMMENT = 'server \"s1\"');"
        );
        head.ask("shop", &sql)?;
    }
    check(cluster, &[])
}

#[test]
fn hash_partitions_of_postgres_are_served() -> Result<()> {
    if admin_url(Engine::Postgres).is_none() {
        return Ok(());
    }
    let cluster = Cluster::start(Engine::Postgres, &[])?;
    for head in &cluster.heads {
        let mut sql = "CREATE EXTENSION postgres_fdw;
            CREATE TABLE visitors (id BIGINT NOT NULL, closes INT NOT NULL DEFAULT 0) PARTITION BY HASH (id);"
            .to_owned();
        for (number, shard) in cluster.shards.iter().enumerate() {
            sql += &format!(
                "CREATE SERVER s{number} FOREIGN DATA WRAPPER postgres_fdw
                     OPTIONS (host '127.0.0.1', port '{}', dbname 'shop');
                 CREATE USER MAPPING FOR postgres SERVER s{number} OPTIONS (user 'postgres');
                 CREATE FOREIGN TABLE part{number} PARTITION OF visitors
                     FOR VALUES WITH (MODULUS 2, REMAINDER {number}) SERVER s{number} OPTIONS (table_name 'visitors');",
                shard.port
            );
        }
        head.ask("shop", &sql)?;
    }
    // No key can exist on the head.
    check(cluster, &[("PRIMARY_KEYS", "visitors=id")])
}

/// What a sharded table must do: records are found where they are, counts are true, a dead server costs its own
/// records only, and a head that is gone is not missed.
fn check(mut cluster: Cluster, settings: &[(&str, &str)]) -> Result<()> {
    let server = serve(&cluster.url(), settings)?;
    let mut wire = Wire::new(server.port);
    for _ in 0..VISITORS {
        let answer = wire.send("POST", "/records/visitors", "{\"closes\":0}")?;
        ensure!(answer.status == 200 && answer.body.starts_with('"'), "{answer:?}");
        let id = answer.body.trim_matches('"').to_owned();
        let answer = wire.get(&format!("/records/visitors/{id}"))?;
        ensure!(answer.body == format!("{{\"id\":\"{id}\",\"closes\":0}}"), "{answer:?}");
    }
    let (first, second) = (cluster.held(0)?, cluster.held(1)?);
    let different: HashSet<_> = first.iter().chain(&second).collect();
    ensure!(different.len() == VISITORS && first.len() + second.len() == VISITORS, "a row is at two places");
    ensure!(!first.is_empty() && !second.is_empty(), "one server holds everything: this is no cluster");

    let (gone, kept) = (&first[0], &second[0]);
    let deleted = wire.send("DELETE", &format!("/records/visitors/{gone}"), "")?;
    ensure!((deleted.status, &*deleted.body) == (200, "1"), "the number of deleted records: {deleted:?}");
    let again = wire.send("DELETE", &format!("/records/visitors/{gone}"), "")?;
    ensure!((again.status, &*again.body) == (200, "0"), "{again:?}");
    let moved = wire.send("PUT", &format!("/records/visitors/{kept}"), "{\"id\":\"5\"}")?;
    ensure!(moved.status == 422, "the key decides where a record is: {moved:?}");

    let acknowledged = count_up(server.port, kept)?;
    let counted = wire.get(&format!("/records/visitors/{kept}"))?;
    ensure!(counted.body == format!("{{\"id\":\"{kept}\",\"closes\":{acknowledged}}}"), "{counted:?}");

    cluster.shards[0].kill()?;
    let lost = wire.get(&format!("/records/visitors/{}", first[1]))?;
    ensure!(lost.status == 503 && lost.retry_after.is_some(), "{lost:?}");
    ensure!(!lost.body.contains("127.0.0.1"), "the text of the engine: {lost:?}");
    let lost = wire.send("PATCH", &format!("/records/visitors/{}", first[1]), "{\"closes\":1}")?;
    ensure!(lost.status == 503, "{lost:?}");
    for id in &second {
        let answer = wire.get(&format!("/records/visitors/{id}"))?;
        ensure!(answer.status == 200, "a record of the server that lives: {answer:?}");
    }
    let ready = wire.get("/health/ready")?;
    ensure!(ready.status == 200, "one dead server of several is no reason to send nobody: {ready:?}");
    cluster.shards[0].start()?;
    let url = format!("/records/visitors/{}", first[1]);
    wait_until("the server that came back", PHASE_TIMEOUT, || {
        wire.get(&url).is_ok_and(|answer| answer.status == 200)
    })?;

    cluster.heads[0].kill()?;
    for id in second.iter().cycle().take(100) {
        let answer = wire.get(&format!("/records/visitors/{id}"))?;
        ensure!(answer.status == 200, "the other head is there: {answer:?}");
    }
    server.stop()
}

#[test]
fn conflicts_of_galera_are_run_again() -> Result<()> {
    if admin_url(Engine::MySql).is_none() {
        return Ok(());
    }
    let mut nodes: Vec<OwnServer> = Vec::new();
    let mut ports: Vec<u16> = Vec::new();
    for number in 0..2 {
        let mut node = OwnServer::create(Engine::MySql)?;
        let (group, transfer) = (free_port()?, free_port()?);
        ports.push(group);
        let members: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let address = if number == 0 { String::new() } else { members.join(",") };
        let incremental = free_port()?;
        node.extra = vec![
            "--wsrep-on=ON".to_owned(),
            "--wsrep-provider=/usr/lib/galera/libgalera_smm.so".to_owned(),
            "--wsrep-cluster-name=rowcast".to_owned(),
            format!("--wsrep-cluster-address=gcomm://{address}"),
            format!("--wsrep-node-address=127.0.0.1:{group}"),
            format!("--wsrep-sst-receive-address=127.0.0.1:{transfer}"),
            format!(
                "--wsrep-provider-options=base_port={group};gmcast.listen_addr=tcp://127.0.0.1:{group};\
                 ist.recv_addr=127.0.0.1:{incremental};gcache.size=16M"
            ),
            "--wsrep-sst-method=rsync".to_owned(),
            "--binlog-format=ROW".to_owned(),
            "--innodb-autoinc-lock-mode=2".to_owned(),
        ];
        node.start()?;
        wait_until("the node is part of the cluster", PHASE_TIMEOUT, || {
            node.ask("", "SHOW STATUS LIKE 'wsrep_ready'").is_ok_and(|shown| shown.contains("ON"))
        })?;
        if number == 0 {
            node.ask("", "CREATE DATABASE shop")?;
            node.ask(
                "shop",
                &format!("CREATE TABLE visitors ({COLUMNS}); INSERT INTO visitors (id) VALUES (7)"),
            )?;
        }
        nodes.push(node);
    }
    let url = format!("mysql://root@127.0.0.1:{},127.0.0.1:{}/shop", nodes[0].port, nodes[1].port);
    let server = serve(&url, &[]).context("with both nodes")?;
    // Both nodes write the same record; the one that comes second is told at its commit.
    wait_until("both nodes hold the record", PHASE_TIMEOUT, || {
        nodes.iter().all(|node| node.ask("shop", "SELECT id FROM visitors").is_ok_and(|rows| rows == "7"))
    })?;
    let before = nodes_conflicts(&nodes)?;
    let acknowledged = count_up(server.port, "7")?.to_string();
    // A node shows what the other wrote a moment later.
    wait_until("both nodes hold what was acknowledged", PHASE_TIMEOUT, || {
        let sql = "SELECT closes FROM visitors";
        nodes.iter().all(|node| node.ask("shop", sql).is_ok_and(|rows| rows == acknowledged))
    })?;
    ensure!(nodes_conflicts(&nodes)? > before, "no conflict happened: the test shows nothing");
    server.stop()
}

fn nodes_conflicts(nodes: &[OwnServer]) -> Result<u64> {
    let mut sum = 0;
    for node in nodes {
        for name in ["wsrep_local_cert_failures", "wsrep_local_bf_aborts"] {
            let shown = node.ask("", &format!("SHOW STATUS LIKE '{name}'"))?;
            sum += shown.split('\t').next_back().context("a number")?.trim().parse::<u64>()?;
        }
    }
    Ok(sum)
}

/// Clients count one record up at the same time, through all heads. Answers how often that was acknowledged.
fn count_up(port: u16, id: &str) -> Result<usize> {
    let acknowledged = AtomicUsize::new(0);
    thread::scope(|scope| {
        let client = || -> Result<()> {
            let mut wire = Wire::new(port);
            for _ in 0..ROUNDS {
                let answer = wire.send("PATCH", &format!("/records/visitors/{id}"), "{\"closes\":1}")?;
                // Who gives up after many tries has changed nothing.
                ensure!(matches!(answer.status, 200 | 503), "{answer:?}");
                acknowledged.fetch_add(usize::from(answer.status == 200), Ordering::Relaxed);
            }
            Ok(())
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        clients.into_iter().try_for_each(|client| client.join().expect("a client does not panic"))
    })?;
    let acknowledged = acknowledged.into_inner();
    ensure!(acknowledged > CLIENTS * ROUNDS / 2, "only {acknowledged} of {} succeeded", CLIENTS * ROUNDS);
    Ok(acknowledged)
}
