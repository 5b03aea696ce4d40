//! TLS to database servers, as libpq's `sslmode` names the choices.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// What a URL says about TLS: `sslmode` and `sslrootcert`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tls {
    /// Whether it is used and what is checked; `None` leaves it to the driver.
    pub mode: Option<SslMode>,
    /// A file with the certificates of those who are trusted, in place of the public authorities.
    pub root_file: Option<PathBuf>,
}

/// The choices of `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslMode {
    /// Plain text.
    Disable,
    /// TLS if the server has it.
    Prefer,
    /// TLS, whoever answers.
    Require,
    /// TLS with a server whose certificate is good and has its name.
    VerifyFull,
}

impl Tls {
    /// Takes what is about TLS out of a URL. The error is a sentence for the operator.
    pub fn split(url: &str) -> Result<(String, Tls), String> {
        let mut tls = Tls::default();
        let Some((address, query)) = url.split_once('?') else { return Ok((url.to_owned(), tls)) };
        let mut others = Vec::new();
        for pair in query.split('&') {
            let Some((name, value)) = url::form_urlencoded::parse(pair.as_bytes()).next() else { continue };
            match &*name {
                "sslmode" => tls.mode = Some(SslMode::parse(&value)?),
                "sslrootcert" => tls.root_file = Some(PathBuf::from(&*value)),
                _ => others.push(pair),
            }
        }
        if tls.root_file.is_some() && tls.mode != Some(SslMode::VerifyFull) {
            return Err("sslrootcert is used with sslmode=verify-full only; add that".to_owned());
        }
        let others = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
        Ok((format!("{address}{others}"), tls))
    }

    /// What the library that speaks TLS is given.
    pub fn client_config(&self) -> Result<ClientConfig, String> {
        if self.mode != Some(SslMode::VerifyFull) {
            return Ok(client_config(None));
        }
        let mut roots = RootCertStore::empty();
        let Some(file) = &self.root_file else {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            return Ok(client_config(Some(roots)));
        };
        let cannot = |reason: String| format!("sslrootcert: {} cannot be read: {reason}", file.display());
        for certificate in CertificateDer::pem_file_iter(file).map_err(|error| cannot(error.to_string()))? {
            let certificate = certificate.map_err(|error| cannot(error.to_string()))?;
            roots.add(certificate).map_err(|error| cannot(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(cannot("it contains no certificate".to_owned()));
        }
        Ok(client_config(Some(roots)))
    }
}

impl SslMode {
    fn parse(text: &str) -> Result<SslMode, String> {
        match text {
            "disable" => Ok(SslMode::Disable),
            "prefer" => Ok(SslMode::Prefer),
            "require" => Ok(SslMode::Require),
            "verify-full" => Ok(SslMode::VerifyFull),
            other => Err(format!("sslmode is '{other}', but takes disable, prefer, require or verify-full")),
        }
    }
}

/// A client that checks certificate and name of the server against `roots`, or only encrypts.
fn client_config(roots: Option<RootCertStore>) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("the provider supports the default versions");
    if let Some(roots) = roots {
        return builder.with_root_certificates(roots).with_no_client_auth();
    }
    let verifier = Arc::new(EncryptOnly(provider));
    builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
}

/// Takes any certificate, as `sslmode=require` does in libpq: it hides from listeners, not from impostors.
#[derive(Debug)]
struct EncryptOnly(Arc<CryptoProvider>);

impl ServerCertVerifier for EncryptOnly {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use crate::driver::tls::{SslMode, Tls};

    #[test]
    fn what_is_about_tls_is_taken_out_of_a_url() {
        let url = "mysql://u@h/d?socket=%2Fs&sslmode=verify-full&sslrootcert=%2Fca.pem";
        let (rest, tls) = Tls::split(url).expect("it is right");
        assert_eq!(rest, "mysql://u@h/d?socket=%2Fs");
        let root_file = Some("/ca.pem".into());
        assert_eq!(tls, Tls { mode: Some(SslMode::VerifyFull), root_file });
        assert_eq!(Tls::split("a://h/d"), Ok(("a://h/d".to_owned(), Tls::default())));
    }

    #[test]
    fn a_check_that_would_not_be_made_is_refused() {
        assert!(Tls::split("a://h/d?sslmode=verify-ca").is_err());
        assert!(Tls::split("a://h/d?sslmode=require&sslrootcert=x").is_err());
    }
}
