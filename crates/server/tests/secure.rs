//! Unix sockets, TLS and passwords: every way to a server, and no password where somebody could read it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::support::database::Engine;
use crate::support::process::Server;
use crate::support::servers::{OwnServer, admin_url, give_away};
use crate::support::suite::tests_folder;
use crate::support::wire::Wire;

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

const PASSWORD: &str = "pa:ss/w@rd";
const PASSWORD_IN_URL: &str = "pa%3Ass%2Fw%40rd";
const WRONG: &str = "guessed-by-nobody";

#[test]
fn mariadb_is_reached_in_every_way() -> Result<()> {
    reach(Engine::MySql)
}

#[test]
fn postgres_is_reached_in_every_way() -> Result<()> {
    reach(Engine::Postgres)
}

/// `keeper` has a password; `cipher` must come with TLS.
fn reach(engine: Engine) -> Result<()> {
    // The server is this test's own; the variable says that the programs are there.
    if admin_url(engine).is_none() {
        return Ok(());
    }
    let mut database = OwnServer::create(engine)?;
    make_certificate(engine, database.folder())?;
    let folder = database.folder().display().to_string();
    let (certificate, key) = (format!("{folder}/server.crt"), format!("{folder}/server.key"));
    let (scheme, socket) = match engine {
        Engine::MySql => {
            database.extra = vec![format!("--ssl-cert={certificate}"), format!("--ssl-key={key}")];
            ("mysql", format!("mysql://root@localhost/shop?socket={folder}/mysql.sock"))
        }
        Engine::Postgres | Engine::Sqlite => {
            for setting in ["ssl=on", &format!("ssl_cert_file={certificate}"), &format!("ssl_key_file={key}")]
            {
                database.extra.extend(["-c".to_owned(), setting.to_owned()]);
            }
            allow_passwords_only(database.folder())?;
            let port = database.port;
            ("postgres", format!("postgres://postgres@localhost/shop?host={folder}&port={port}"))
        }
    };
    database.start()?;
    fill(&database, engine)?;
    let host = format!("127.0.0.1:{}/shop", database.port);
    check(&socket, &[])?;
    check(&format!("{scheme}://keeper:{PASSWORD_IN_URL}@{host}"), &[])?;
    check(&format!("{scheme}://keeper@{host}"), &[("DATABASE_PASSWORD", PASSWORD)])?;
    let file = database.folder().join("password");
    fs::write(&file, format!("{PASSWORD}\n"))?;
    let file = file.display().to_string();
    check(&format!("{scheme}://keeper@{host}"), &[("DATABASE_PASSWORD_FILE", &file)])?;
    check(&format!("{scheme}://cipher:{PASSWORD_IN_URL}@{host}?sslmode=require"), &[])?;
    refuse(&format!("{scheme}://cipher:{PASSWORD_IN_URL}@{host}?sslmode=disable"), &[])?;
    let trusted = format!("sslmode=verify-full&sslrootcert={certificate}");
    let by_name = format!("localhost:{}/shop", database.port);
    check(&format!("{scheme}://cipher:{PASSWORD_IN_URL}@{by_name}?{trusted}"), &[])?;
    // The certificate is for another name; then, nobody whom we trust has signed it.
    refuse(&format!("{scheme}://cipher:{PASSWORD_IN_URL}@{host}?{trusted}"), &[])?;
    refuse(&format!("{scheme}://cipher:{PASSWORD_IN_URL}@{host}?sslmode=verify-full"), &[])?;
    refuse(&format!("{scheme}://keeper:{WRONG}@{host}"), &[])?;
    refuse(&format!("{scheme}://keeper@{host}"), &[("DATABASE_PASSWORD", WRONG)])
}

fn make_certificate(engine: Engine, folder: &Path) -> Result<()> {
    let output = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=CA:FALSE"])
        .args(["-keyout", "server.key", "-out", "server.crt"])
        .current_dir(folder)
        .output()
        .context("openssl; `tests/install servers` brings it")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let key = folder.join("server.key");
    // PostgreSQL refuses a key that others can read.
    let mut permissions = fs::metadata(&key)?.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o600);
    fs::set_permissions(&key, permissions)?;
    give_away(engine, &key)?;
    give_away(engine, &folder.join("server.crt"))
}

fn allow_passwords_only(folder: &Path) -> Result<()> {
    let rules = "local all all trust\nhost all postgres 127.0.0.1/32 trust\nhostssl all cipher all scram-sha-256\n\
        host all keeper all scram-sha-256\n";
    fs::write(folder.join("data/pg_hba.conf"), rules).context("writing pg_hba.conf")
}

fn fill(database: &OwnServer, engine: Engine) -> Result<()> {
    let accounts = match engine {
        Engine::MySql => format!(
            "CREATE USER keeper@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';
             CREATE USER cipher@'127.0.0.1' IDENTIFIED BY '{PASSWORD}' REQUIRE SSL;
             GRANT SELECT ON shop.* TO keeper@'127.0.0.1', cipher@'127.0.0.1';"
        ),
        Engine::Postgres | Engine::Sqlite => format!(
            "CREATE USER keeper PASSWORD '{PASSWORD}';
             CREATE USER cipher PASSWORD '{PASSWORD}';
             GRANT SELECT ON items TO keeper, cipher;"
        ),
    };
    database.ask("", "CREATE DATABASE shop")?;
    let table = "CREATE TABLE items (id INT PRIMARY KEY); INSERT INTO items VALUES (7);";
    database.ask("shop", &format!("{table}{accounts}")).map(drop)
}

/// The server starts and answers, and shows no password.
fn check(url: &str, settings: &[(&str, &str)]) -> Result<()> {
    let config = tests_folder().join("configs/default.toml");
    let server = Server::start_with(&config, url, settings).with_context(|| url.to_owned())?;
    let answer = Wire::new(server.port).get("/records/items/7")?;
    ensure!(answer.body == r#"{"id":7}"#, "{url}: {answer:?}");
    let lines = server.stop_and_read()?.join("\n");
    ensure!(!lines.contains(PASSWORD) && !lines.contains(PASSWORD_IN_URL), "a password is shown:\n{lines}");
    Ok(())
}

/// The server does not start, and says why without the password.
fn refuse(url: &str, settings: &[(&str, &str)]) -> Result<()> {
    let config = tests_folder().join("configs/default.toml");
    let Err(error) = Server::start_with(&config, url, settings) else { anyhow::bail!("{url} was accepted") };
    let text = format!("{error:#}");
    ensure!(text.contains("cannot be reached"), "{url}: {text}");
    for secret in [PASSWORD, PASSWORD_IN_URL, WRONG] {
        ensure!(!text.contains(secret), "a password is shown:\n{text}");
    }
    Ok(())
}
