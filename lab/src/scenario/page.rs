//! A page over TLS, as Rowcast serves it, and the certificate that clients trust.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::lab::Lab;
use crate::process::{Process, output};

/// A running Rowcast with TLS, and what it takes to ask it.
pub struct Page {
    pub process: Process,
    pub port: u16,
    /// The certificate, as PEM; beside it, with `.jks`, the trust store of Java.
    pub certificate: PathBuf,
}

impl Page {
    /// Starts Rowcast with TLS over a database.
    ///
    /// # Errors
    ///
    /// If this Rowcast has no TLS, or openssl is missing.
    pub fn start(lab: &Lab, database: &str) -> Result<Page> {
        let help = output(Command::new(&lab.rowcast).args(["serve", "--help"]))?;
        ensure!(help.contains("--tls-cert"), "this Rowcast has no --tls-cert");
        let (certificate, key) = (lab.path("page.pem"), lab.path("page.key"));
        make_certificate(&certificate, &key)?;
        let paths = [&certificate, &key].map(|path| path.display().to_string());
        let [certificate_path, key_path] = paths;
        let more = ["--tls-cert".to_owned(), certificate_path, "--tls-key".to_owned(), key_path];
        let (process, port) = lab.serve(database, &more)?;
        Ok(Page { process, port, certificate })
    }

    pub fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }
}

/// Makes a certificate for localhost, once for a run.
fn make_certificate(certificate: &PathBuf, key: &PathBuf) -> Result<()> {
    if certificate.exists() {
        return Ok(());
    }
    let words = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "30",
    ];
    let names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    // rustls takes no authority's certificate for a server's, and openssl makes one unless told.
    let kind = ["-addext", "basicConstraints=critical,CA:FALSE"];
    let mut command = Command::new("openssl");
    command.args(words).args(names).args(kind).arg("-keyout").arg(key).arg("-out").arg(certificate);
    output(&mut command).map(drop).context("making a certificate")
}

/// A database with the one row that is the page.
///
/// # Errors
///
/// If it cannot be written.
pub fn database(lab: &Lab) -> Result<String> {
    let path = lab.path("page.db");
    let connection = rusqlite::Connection::open(&path)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
         INSERT OR IGNORE INTO pages VALUES (1, 'Hello, world!')",
    )?;
    Ok(path.display().to_string())
}
