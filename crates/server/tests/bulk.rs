//! Records by the hundred thousand: the same bytes after a round trip, all or none after whatever happens.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::support::client::{Received, send};
use crate::support::database::{Databases, Engine};
use crate::support::process::Server;
use crate::support::scratch::Scratch;
use crate::support::servers::{admin_url, wait_until};
use crate::support::suite::tests_folder;
use crate::support::transcript::Request;

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

/// Enough that SQLite writes some of them into its log before it commits.
const MANY: usize = 400_000;
/// Enough to be under way for a while.
const SOME: usize = 60_000;
const TIMEOUT: Duration = Duration::from_secs(60);
const VISITORS: &str = "CREATE TABLE visitors (id BIGINT PRIMARY KEY, response SMALLINT)";

#[test]
fn exports_of_sqlite_make_a_round_trip() -> Result<()> {
    round_trip(Engine::Sqlite, String::new())
}

#[test]
fn exports_of_mariadb_make_a_round_trip() -> Result<()> {
    admin_url(Engine::MySql).map_or(Ok(()), |url| round_trip(Engine::MySql, url))
}

#[test]
fn exports_of_postgres_make_a_round_trip() -> Result<()> {
    admin_url(Engine::Postgres).map_or(Ok(()), |url| round_trip(Engine::Postgres, url))
}

/// Export, import into the emptied table, export: the same bytes, for every type.
fn round_trip(engine: Engine, admin_url: String) -> Result<()> {
    let databases = Databases::new(engine, admin_url)?;
    let database = databases.create("types")?;
    let server = start(&database.url)?;
    let generated = match engine {
        Engine::Sqlite => "generated_value",
        Engine::MySql => "generated_virtual,generated_stored",
        Engine::Postgres => "generated_value,generated_key",
    };
    let list = format!("GET /records/everything?exclude={generated}&order=id");
    for media_type in ["text/csv", "application/x-ndjson"] {
        let export = || request(server.port, &list, &[("Accept", media_type)], "");
        let before = export()?;
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        ensure!(lines >= 3, "{}", String::from_utf8_lossy(&before));
        request(server.port, "DELETE /records/everything/1,2,3,4", &[], "")?;
        let text = String::from_utf8(before.clone())?;
        let counts =
            request(server.port, "POST /records/everything", &[("Content-Type", media_type)], &text)?;
        let after = export()?;
        ensure!(
            before == after,
            "{media_type}: {}\n{text}\nbecame\n{}",
            String::from_utf8_lossy(&counts),
            String::from_utf8_lossy(&after)
        );
    }
    server.stop()
}

#[test]
fn half_a_body_writes_nothing() -> Result<()> {
    each(|place| {
        let server = start(&place.url)?;
        let body = visitors(SOME);
        for part in [1, body.len() / 2, body.len() - 1] {
            let mut stream = upload(server.port, body.len())?;
            stream.write_all(&body.as_bytes()[..part])?;
            drop(stream);
        }
        // A whole one afterwards meets nothing of them.
        let counts = request(server.port, "POST /records/visitors", &CSV, &body)?;
        ensure!(counts.starts_with(format!("{{\"records\":{SOME},\"written\":{SOME},").as_bytes()));
        ensure!(place.count()? == SOME);
        server.stop()
    })
}

#[test]
fn who_leaves_before_the_answer_has_written_all_or_nothing() -> Result<()> {
    each(|place| {
        let server = start(&place.url)?;
        let body = visitors(SOME);
        let mut stream = upload(server.port, body.len())?;
        stream.write_all(body.as_bytes())?;
        drop(stream);
        let count = place.count()?;
        ensure!(count == 0 || count == SOME, "{count} rows");
        server.stop()?;
        let count = place.count()?;
        ensure!(count == 0 || count == SOME, "{count} rows at the end");
        Ok(())
    })
}

#[test]
fn a_killed_server_has_written_all_or_nothing() -> Result<()> {
    each(|place| {
        let server = start(&place.url)?;
        let body = visitors(MANY);
        let mut stream = upload(server.port, body.len())?;
        stream.write_all(body.as_bytes())?;
        if let Some(log) = place.log() {
            // In the middle of it: rows are in the log, and no commit.
            let size = || std::fs::metadata(&log).map_or(0, |data| data.len());
            wait_until("rows in the log", TIMEOUT, || size() > 1 << 20)?;
        }
        drop(server);
        let count = place.count()?;
        ensure!(count == 0 || count == MANY, "{count} rows");
        let server = start(&place.url)?;
        let listed = request(server.port, "GET /records/visitors?page=1,1&order=id", &[], "")?;
        ensure!(String::from_utf8_lossy(&listed).contains(&format!("\"results\":{count}}}")));
        server.stop()
    })
}

/// A limit on the size of files is a full disk that needs no other rights.
#[test]
fn a_full_disk_writes_nothing() -> Result<()> {
    let place = Place::new(Engine::Sqlite, "")?;
    let program = env!("CARGO_BIN_EXE_rowcast");
    // 12,000 blocks of 512 bytes: room for the body, but not for the rows in the log and in the file.
    let script =
        format!("trap '' XFSZ; ulimit -f 12000; exec {program} import visitors - --database {}", place.url);
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().context("standard input")?.write_all(visitors(MANY).as_bytes())?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(!output.status.success() && said.contains("Database unavailable"), "{said}");
    ensure!(place.count()? == 0);
    // The file is whole, and takes other rows.
    let server = start(&place.url)?;
    request(server.port, "POST /records/visitors", &CSV, "id,response\n1,1\n")?;
    ensure!(place.count()? == 1);
    server.stop()
}

/// A trigger that fails as a full disk does, in the middle of the rows.
#[test]
fn a_full_disk_of_a_server_writes_nothing_and_says_so() -> Result<()> {
    let postgres = "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.id = 50000 THEN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER fail BEFORE INSERT ON visitors FOR EACH ROW EXECUTE FUNCTION fail()";
    let mysql = "DELIMITER //
        CREATE TRIGGER fail BEFORE INSERT ON visitors FOR EACH ROW BEGIN
            IF NEW.id = 50000 THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114; END IF;
        END //";
    for (engine, trigger) in [(Engine::Postgres, postgres), (Engine::MySql, mysql)] {
        let Some(admin_url) = admin_url(engine) else { continue };
        let place = Place::new(engine, &admin_url)?;
        place.scratch.as_ref().context("a server")?.ask(trigger)?;
        let server = start(&place.url)?;
        // Records that are refused may be left out, what the disk has no room for may not.
        for query in ["", "?onError=skip"] {
            let line = format!("POST /records/visitors{query}");
            let received = receive(server.port, &line, &CSV, &visitors(SOME))?;
            let body = String::from_utf8_lossy(&received.body).into_owned();
            ensure!(received.status == "503" && body.contains("the disk of the database is full"), "{body}");
            ensure!(place.count()? == 0);
        }
        server.stop()?;
    }
    Ok(())
}

/// Long lists of MariaDB log in by themselves, without the library (driver/mysql/wire.rs), if they know the way.
#[test]
fn a_long_list_of_a_user_with_a_password_is_the_same() -> Result<()> {
    let Some(admin_url) = admin_url(Engine::MySql) else { return Ok(()) };
    let place = Place::new(Engine::MySql, &admin_url)?;
    let scratch = place.scratch.as_ref().context("a database on a server")?;
    scratch.ask("INSTALL SONAME 'auth_ed25519'")?;
    for (number, identified) in
        ["BY 'se cret'", "VIA ed25519 USING PASSWORD('se cret')"].into_iter().enumerate()
    {
        let (database, name) = (&scratch.name, format!("{}{number}", scratch.name));
        scratch.ask(&format!(
            "CREATE USER {name}@'127.0.0.1' IDENTIFIED {identified};
             GRANT ALL ON {database}.* TO {name}@'127.0.0.1'; DELETE FROM visitors"
        ))?;
        let url = place.url.replace("root@", &format!("{name}:se%20cret@"));
        let server = start(&url)?;
        request(server.port, "POST /records/visitors", &CSV, &visitors(SOME))?;
        let listed = request(server.port, "GET /records/visitors?order=id", &[("Accept", "text/csv")], "")?;
        ensure!(String::from_utf8(listed)?.replace("\r\n", "\n") == visitors(SOME), "{identified}");
        server.stop()?;
        scratch.ask(&format!("DROP USER {name}@'127.0.0.1'"))?;
    }
    Ok(())
}

#[test]
fn a_failed_import_leaves_no_table_that_it_created() -> Result<()> {
    each(|place| {
        let file = tempfile::NamedTempFile::with_suffix(".csv")?;
        let import = |text: &str| -> Result<(bool, String)> {
            std::fs::write(file.path(), text)?;
            let mut command = Command::new(env!("CARGO_BIN_EXE_rowcast"));
            command
                .args(["import", "people", "--create", "--yes", "--database", &place.url])
                .arg(file.path());
            let output = command.env_clear().output()?;
            Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
        };
        let (is_success, said) = import("id,name\n1,Ada\n2,Bo\n1,Cy\n")?;
        ensure!(
            !is_success && said.contains("the table 'people' that was created for it was removed"),
            "{said}"
        );
        // Else the second one would find a table.
        let (is_success, said) = import("id,name\n1,Ada\n2,Bo\n")?;
        ensure!(is_success, "{said}");
        let server = start(&place.url)?;
        let listed = request(server.port, "GET /records/people?order=id", &[], "")?;
        ensure!(listed == br#"{"records":[{"id":1,"name":"Ada"},{"id":2,"name":"Bo"}]}"#, "{listed:?}");
        server.stop()
    })
}

#[test]
fn answers_are_compressed_for_those_who_accept_it() -> Result<()> {
    let place = Place::new(Engine::Sqlite, "")?;
    let server = start(&place.url)?;
    request(server.port, "POST /records/visitors", &CSV, &visitors(SOME))?;
    for target in
        ["GET /records/visitors?size=500", "GET /records/visitors", "GET /records/visitors?format=csv"]
    {
        let plain = receive(server.port, target, &[], "")?;
        ensure!(plain.header("Content-Encoding").is_none());
        ensure!(plain.header("Vary").is_some_and(|vary| vary.contains("Accept-Encoding")), "{target}");
        for coding in ["gzip", "zstd"] {
            let coded = receive(server.port, target, &[("Accept-Encoding", coding)], "")?;
            ensure!(coded.header("Content-Encoding").as_deref() == Some(coding), "{target} {coding}");
            ensure!(coded.body.len() * 2 < plain.body.len(), "{target} {coding}: {} bytes", coded.body.len());
            ensure!(decoded(coding, &coded.body)? == plain.body, "{target} {coding}");
        }
    }
    let tiny = receive(server.port, "GET /records/visitors/1", &[("Accept-Encoding", "gzip")], "")?;
    ensure!(tiny.header("Content-Encoding").is_none() && tiny.body == b"{\"id\":1,\"response\":1}");
    server.stop()
}

fn decoded(coding: &str, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    match coding {
        "gzip" => flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain)?,
        _ => zstd::stream::read::Decoder::new(bytes)?.read_to_end(&mut plain)?,
    };
    Ok(plain)
}

const CSV: [(&str, &str); 1] = [("Content-Type", "text/csv")];

fn visitors(count: usize) -> String {
    let mut text = String::from("id,response\n");
    for id in 1..=count {
        text.push_str(&format!("{id},{}\n", id % 5));
    }
    text
}

/// The head of an import has been sent; its body has so many bytes.
fn upload(port: u16, length: usize) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    let head = "POST /records/visitors HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n";
    stream.write_all(format!("{head}Content-Length: {length}\r\n\r\n").as_bytes())?;
    Ok(stream)
}

fn start(url: &str) -> Result<Server> {
    Server::start_with(&tests_folder().join("configs/default.toml"), url, &[("WORKERS", "1")])
}

fn receive(port: u16, line: &str, headers: &[(&str, &str)], body: &str) -> Result<Received> {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    send(port, &Request { line: line.to_owned(), headers, body: body.to_owned() })
}

/// The body of an answer that must be a success.
fn request(port: u16, line: &str, headers: &[(&str, &str)], body: &str) -> Result<Vec<u8>> {
    let received = receive(port, line, headers, body)?;
    ensure!(received.status == "200", "{line}: {}", String::from_utf8_lossy(&received.body));
    Ok(received.body)
}

/// Runs a test on every engine that there is.
fn each(test: impl Fn(&Place) -> Result<()>) -> Result<()> {
    test(&Place::new(Engine::Sqlite, "")?).context("sqlite")?;
    for engine in [Engine::MySql, Engine::Postgres] {
        if let Some(url) = admin_url(engine) {
            test(&Place::new(engine, &url)?).context(engine.name())?;
        }
    }
    Ok(())
}

/// A database with an empty table of visitors.
struct Place {
    url: String,
    file: Option<(TempDir, PathBuf)>,
    scratch: Option<Scratch>,
}

impl Place {
    fn new(engine: Engine, admin_url: &str) -> Result<Place> {
        if engine != Engine::Sqlite {
            let scratch = Scratch::create(engine, admin_url, VISITORS)?;
            return Ok(Place { url: scratch.url.clone(), file: None, scratch: Some(scratch) });
        }
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("visitors.db");
        rusqlite::Connection::open(&file)?.execute_batch(VISITORS)?;
        Ok(Place { url: file.display().to_string(), file: Some((folder, file)), scratch: None })
    }

    fn log(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|(_, file)| file.with_extension("db-wal"))
    }

    fn count(&self) -> Result<usize> {
        let sql = "SELECT COUNT(*) FROM visitors";
        let text = match (&self.scratch, &self.file) {
            (Some(scratch), _) => scratch.ask(sql)?,
            (None, Some((_, file))) => {
                let connection = rusqlite::Connection::open(file)?;
                connection.busy_timeout(TIMEOUT)?;
                connection.query_row(sql, [], |row| row.get::<_, i64>(0))?.to_string()
            }
            (None, None) => String::new(),
        };
        text.trim().parse().context("a number of rows")
    }
}
