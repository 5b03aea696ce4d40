//! The servers of `tests/servers`, filled by their own clients.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::database::export::TABLES;
use crate::program;

/// Fills MariaDB; its URL and the process of the server.
pub fn mysql(folder: &Path) -> anyhow::Result<(String, Option<u32>)> {
    let server = variable("ROWCAST_TEST_MYSQL")?;
    let client = |database: &str, text: &str| {
        let (host, port) = host_and_port(&server)?;
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "--local-infile=1", "--batch", "--skip-column-names", "--user=root"]);
        client.args([&format!("--host={host}"), &format!("--port={port}"), &format!("--execute={text}")]);
        client.arg(database);
        output(client)
    };
    client("", "DROP DATABASE IF EXISTS bench; CREATE DATABASE bench")?;
    client("bench", include_str!("mysql.sql"))?;
    for table in TABLES {
        let file = folder.join(format!("{table}.tsv"));
        let checks = "SET unique_checks = 0; SET foreign_key_checks = 0";
        let file = file.display();
        client(
            "bench",
            &format!("{checks}; LOAD DATA LOCAL INFILE '{file}' INTO TABLE {table}; ANALYZE TABLE {table}"),
        )?;
    }
    let file = client("", "SELECT @@pid_file")?;
    let pid = std::fs::read_to_string(file.trim()).context("the process of MariaDB")?;
    Ok((format!("{server}bench"), Some(pid.trim().parse()?)))
}

/// Fills PostgreSQL; its URL and the process of the server.
pub fn postgres(folder: &Path) -> anyhow::Result<(String, Option<u32>)> {
    let server = variable("ROWCAST_TEST_POSTGRES")?;
    let client = |database: &str, texts: &[&str]| {
        let mut client = Command::new("psql");
        client.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        client.arg(format!("--dbname={server}{database}"));
        client.args(texts.iter().map(|text| format!("--command={text}")));
        output(client)
    };
    client("postgres", &["DROP DATABASE IF EXISTS bench", "CREATE DATABASE bench"])?;
    client("bench", &[include_str!("postgres.sql")])?;
    for table in TABLES {
        client(
            "bench",
            &[&format!("\\copy {table} FROM '{}'", folder.join(format!("{table}.tsv")).display())],
        )?;
    }
    client("bench", &[include_str!("postgres_keys.sql"), "VACUUM ANALYZE", "CHECKPOINT"])?;
    let mut asking = Command::new("psql");
    asking.args(["--no-psqlrc", "--tuples-only", "--no-align", &format!("--dbname={server}bench")]);
    // The server itself is the parent of the process that answers.
    let asking = asking.arg("--command=SELECT pg_backend_pid()").arg("--command=SELECT pg_sleep(1)");
    let mut child = asking.stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    let stdout = child.stdout.take().context("its output")?;
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line)?;
    let pid = program::parent(line.trim().parse()?).context("the process of PostgreSQL")?;
    child.wait()?;
    Ok((format!("{server}bench"), Some(pid)))
}

fn variable(name: &str) -> anyhow::Result<String> {
    std::env::var(name)
        .with_context(|| format!("{name} is not set; run this by tests/servers run --durable --"))
}

fn host_and_port(url: &str) -> anyhow::Result<(String, String)> {
    let host = url.rsplit('@').next().unwrap_or_default().trim_end_matches('/');
    let (host, port) = host.rsplit_once(':').with_context(|| format!("no port in {url}"))?;
    Ok((host.to_owned(), port.to_owned()))
}

fn output(mut command: Command) -> anyhow::Result<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{} failed", command.get_program().display());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
