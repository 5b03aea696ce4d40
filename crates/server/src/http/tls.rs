//! Tls: certificate and key of the server, read at the start and again when they are renewed.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What is offered by ALPN (RFC 7301), the best first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Settings of TLS. Without a certificate, HTTP is plain.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// A file with the certificate of this server in PEM, those of its issuers after it. `SIGHUP` reads it again.
    pub cert: String,
    /// A file with the key of the certificate in PEM, readable for this server only.
    pub key: String,
    /// Whether a certificate is made at every start, for development: clients must be told to trust it.
    pub self_signed: bool,
    /// Seconds that a client has for its handshake.
    pub handshake_seconds: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { cert: String::new(), key: String::new(), self_signed: false, handshake_seconds: 10 }
    }
}

/// How connections are encrypted.
pub struct Tls {
    files: Option<(PathBuf, PathBuf)>,
    fingerprint: String,
    /// limit: how long a handshake may take, so that silent clients do not pile up.
    patience: Duration,
    current: ArcSwap<ServerConfig>,
}

impl Tls {
    /// Reads the files, or makes a certificate for `listen`; nothing, if neither is asked for. The error is a sentence.
    pub fn compile(options: &Options, listen: IpAddr) -> Result<Option<Tls>, String> {
        let has_files = match (options.cert.is_empty(), options.key.is_empty()) {
            (true, true) => false,
            (false, false) => true,
            (false, true) => return Err("tls.cert is set and tls.key is not; set both".to_owned()),
            (true, false) => return Err("tls.key is set and tls.cert is not; set both".to_owned()),
        };
        if has_files && options.self_signed {
            return Err("tls.selfSigned and tls.cert exclude each other; leave one out".to_owned());
        }
        if !has_files && !options.self_signed {
            return Ok(None);
        }
        if options.handshake_seconds == 0 {
            return Err("tls.handshakeSeconds is 0: no handshake would succeed".to_owned());
        }
        let files = has_files.then(|| (PathBuf::from(&options.cert), PathBuf::from(&options.key)));
        let (chain, key) = match &files {
            Some((cert, key)) => read(cert, key)?,
            None => make(listen)?,
        };
        let fingerprint = chain.first().map(fingerprint).unwrap_or_default();
        Ok(Some(Tls {
            files,
            fingerprint,
            patience: Duration::from_secs(options.handshake_seconds),
            current: ArcSwap::from_pointee(config(chain, key)?),
        }))
    }

    /// Reads the files again. If they are bad, the old ones stay; the error is a sentence.
    pub fn reload(&self) -> Result<(), String> {
        if let Some((cert, key)) = &self.files {
            let (chain, key) = read(cert, key)?;
            self.current.store(Arc::new(config(chain, key)?));
        }
        Ok(())
    }

    /// Whether there are files to read again.
    pub fn has_files(&self) -> bool {
        self.files.is_some()
    }

    /// The SHA-256 of the certificate that the server began with, as browsers show it.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// What shakes hands, with the certificate of this moment.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current.load_full())
    }

    /// How long a handshake may take.
    pub fn patience(&self) -> Duration {
        self.patience
    }
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn read(cert: &Path, key: &Path) -> Result<Identity, String> {
    let bad = |setting: &str, file: &Path, reason: &str| format!("{setting}: {}: {reason}", file.display());
    let chain: Vec<_> = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .map_err(|error| bad("tls.cert", cert, &error.to_string()))?;
    if chain.is_empty() {
        return Err(bad("tls.cert", cert, "there is no certificate in it"));
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| bad("tls.key", key, &error.to_string()))?;
    Ok((chain, key))
}

/// A certificate for this machine and the address that is listened on.
fn make(listen: IpAddr) -> Result<Identity, String> {
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    if !listen.is_unspecified() && !names.contains(&listen.to_string()) {
        names.push(listen.to_string());
    }
    let made = rcgen::generate_simple_self_signed(names)
        .map_err(|error| format!("tls.selfSigned: no certificate could be made: {error}"))?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())
        .map_err(|error| format!("tls.selfSigned: {error}"))?;
    Ok((vec![made.cert.der().clone()], key))
}

fn config(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<ServerConfig, String> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("tls: {error}"))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| format!("tls.cert and tls.key do not go together: {error}"))?;
    config.alpn_protocols = PROTOCOLS.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(config)
}

fn fingerprint(certificate: &CertificateDer<'static>) -> String {
    let hash = digest(&SHA256, certificate);
    let bytes: Vec<String> = hash.as_ref().iter().map(|byte| format!("{byte:02X}")).collect();
    bytes.join(":")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::{IpAddr, Ipv4Addr};

    use crate::http::tls::{Options, Tls};

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn half_a_setting_is_a_sentence() {
        let error = |options: Options| Tls::compile(&options, HERE).err().unwrap();
        assert!(error(Options { cert: "a".into(), ..Options::default() }).contains("tls.key is not"));
        assert!(error(Options { key: "a".into(), ..Options::default() }).contains("tls.cert is not"));
        let both = Options { cert: "/nowhere".into(), key: "/nowhere".into(), ..Options::default() };
        assert!(error(both.clone()).contains("/nowhere"));
        assert!(error(Options { self_signed: true, ..both }).contains("exclude"));
        assert!(Tls::compile(&Options::default(), HERE).unwrap().is_none());
    }

    #[test]
    fn a_bad_renewal_leaves_the_old_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        let write = || {
            let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
            fs::write(&cert, made.cert.pem()).unwrap();
            fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        };
        write();
        let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
        let options = Options { cert: path(&cert), key: path(&key), ..Options::default() };
        let tls = Tls::compile(&options, HERE).unwrap().expect("there are files");
        let before = tls.current.load_full();
        let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        fs::write(&key, other.signing_key.serialize_pem()).unwrap();
        assert!(tls.reload().unwrap_err().contains("do not go together"));
        fs::write(&cert, "nothing").unwrap();
        assert!(tls.reload().unwrap_err().contains("no certificate"));
        assert!(std::sync::Arc::ptr_eq(&before, &tls.current.load_full()));
        write();
        tls.reload().unwrap();
        assert!(!std::sync::Arc::ptr_eq(&before, &tls.current.load_full()));
    }

    #[test]
    fn a_certificate_is_made_for_development() {
        let options = Options { self_signed: true, ..Options::default() };
        let tls = Tls::compile(&options, HERE).unwrap().expect("it is asked for");
        assert_eq!(tls.fingerprint().len(), 32 * 3 - 1);
        assert!(!tls.has_files());
    }
}
