//! Keys that verify signatures. What a key is decides which algorithms it can be used with, whatever a token says.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
};
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, Header, Reader, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoRef;

use crate::auth::jwt::algorithm::Algorithm;

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const ELLIPTIC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
/// limit: bytes of the modulus of an RSA key, 2048 to 8192 bits.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;
/// What PEM begins with. Text with it is never taken for a secret, because public keys are no secrets.
const PEM: &str = "-----BEGIN";

/// A key.
pub enum Key {
    /// A secret that issuer and server share.
    Hmac(Box<[u8]>),
    /// The public key of an RSA pair: modulus and exponent, big-endian.
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    /// The public key of a pair on P-256: an uncompressed point.
    P256(Vec<u8>),
}

impl Key {
    /// The key that `text` is: a public key if it is PEM, else a secret. The error is a sentence.
    pub fn parse(text: &str) -> Result<Key, String> {
        if text.contains(PEM) {
            return pem(text);
        }
        if text.trim().is_empty() {
            return Err("a key is empty: everyone could sign with it".to_owned());
        }
        Ok(Key::Hmac(text.as_bytes().into()))
    }

    /// An RSA key of modulus and exponent. The error is a sentence.
    pub fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<Key, String> {
        let n: Vec<u8> = modulus.iter().copied().skip_while(|byte| *byte == 0).collect();
        let e: Vec<u8> = exponent.iter().copied().skip_while(|byte| *byte == 0).collect();
        if !MODULUS_BYTES.contains(&n.len()) || e.is_empty() {
            return Err(format!("an RSA key has {} bits, but takes 2048 to 8192", n.len() * 8));
        }
        Ok(Key::Rsa(RsaPublicKeyComponents { n, e }))
    }

    /// A key on P-256 of an uncompressed point. The error is a sentence.
    pub fn p256(point: &[u8]) -> Result<Key, String> {
        if point.len() != 65 || point[0] != 4 {
            return Err("a key on P-256 is no uncompressed point".to_owned());
        }
        Ok(Key::P256(point.to_vec()))
    }

    /// Whether this key made `signature` of `message`. It is only asked what it is made for: the public key of a pair
    /// never verifies an HMAC, and a secret nothing else.
    pub fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        match (self, algorithm) {
            (Key::Hmac(secret), Algorithm::Hs256) => {
                hmac_verify(hmac::HMAC_SHA256, secret, message, signature)
            }
            (Key::Hmac(secret), Algorithm::Hs384) => {
                hmac_verify(hmac::HMAC_SHA384, secret, message, signature)
            }
            (Key::Hmac(secret), Algorithm::Hs512) => {
                hmac_verify(hmac::HMAC_SHA512, secret, message, signature)
            }
            (Key::Rsa(key), Algorithm::Rs256) => {
                rsa_verify(&RSA_PKCS1_2048_8192_SHA256, key, message, signature)
            }
            (Key::Rsa(key), Algorithm::Rs384) => {
                rsa_verify(&RSA_PKCS1_2048_8192_SHA384, key, message, signature)
            }
            (Key::Rsa(key), Algorithm::Rs512) => {
                rsa_verify(&RSA_PKCS1_2048_8192_SHA512, key, message, signature)
            }
            (Key::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            (Key::Hmac(_) | Key::Rsa(_) | Key::P256(_), _) => false,
        }
    }

    /// Whether the key can verify signatures of `algorithm`.
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        match self {
            Key::Hmac(_) => matches!(algorithm, Algorithm::Hs256 | Algorithm::Hs384 | Algorithm::Hs512),
            Key::Rsa(_) => matches!(algorithm, Algorithm::Rs256 | Algorithm::Rs384 | Algorithm::Rs512),
            Key::P256(_) => algorithm == Algorithm::Es256,
        }
    }
}

/// The comparison takes the same time wherever the first difference is.
fn hmac_verify(algorithm: hmac::Algorithm, secret: &[u8], message: &[u8], signature: &[u8]) -> bool {
    hmac::verify(&hmac::Key::new(algorithm, secret), message, signature).is_ok()
}

fn rsa_verify(
    parameters: &RsaParameters,
    key: &RsaPublicKeyComponents<Vec<u8>>,
    message: &[u8],
    signature: &[u8],
) -> bool {
    key.verify(parameters, message, signature).is_ok()
}

/// A public key or a certificate in PEM. An environment variable may have `\n` written out.
fn pem(text: &str) -> Result<Key, String> {
    let broken = || "a key in PEM cannot be read".to_owned();
    let text = text.replace("\\n", "\n");
    let (_, rest) = text.split_once("-----BEGIN ").ok_or_else(broken)?;
    let (label, rest) = rest.split_once("-----").ok_or_else(broken)?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----")).ok_or_else(broken)?;
    let body: String = body.split_whitespace().collect();
    let der = STANDARD.decode(body).map_err(|_invalid| broken())?;
    match label {
        "PUBLIC KEY" => public_key(&der).ok_or_else(broken)?,
        "RSA PUBLIC KEY" => rsa_key(&der).ok_or_else(broken)?,
        "CERTIFICATE" => certificate(&der).ok_or_else(broken)?,
        label if label.contains("PRIVATE KEY") => {
            Err("a key is the private one of its pair, which only the issuer may have; give the public one"
                .to_owned())
        }
        label => Err(format!("a key in PEM is a {label}, but takes a PUBLIC KEY or a CERTIFICATE")),
    }
}

/// The outer result is about the format, the inner one about the key.
type Read = Option<Result<Key, String>>;

fn certificate(der: &[u8]) -> Read {
    let certificate = Certificate::from_der(der).ok()?;
    let info = certificate.tbs_certificate.subject_public_key_info;
    let curve = info.algorithm.parameters.as_ref().and_then(|any| any.decode_as().ok());
    subject_key(info.algorithm.oid, curve, info.subject_public_key.as_bytes()?)
}

fn public_key(der: &[u8]) -> Read {
    let info = SubjectPublicKeyInfoRef::from_der(der).ok()?;
    let curve = info.algorithm.parameters.and_then(|any| any.decode_as().ok());
    subject_key(info.algorithm.oid, curve, info.subject_public_key.as_bytes()?)
}

fn subject_key(kind: ObjectIdentifier, curve: Option<ObjectIdentifier>, bits: &[u8]) -> Read {
    match (kind, curve) {
        (RSA, _) => rsa_key(bits),
        (ELLIPTIC, Some(P256)) => Some(Key::p256(bits)),
        _ => Some(Err("a key is neither an RSA key nor one on P-256".to_owned())),
    }
}

/// `RSAPublicKey` of RFC 8017: a sequence of modulus and exponent.
fn rsa_key(der: &[u8]) -> Read {
    let mut reader = SliceReader::new(der).ok()?;
    Header::decode(&mut reader).ok()?;
    let modulus = UintRef::decode(&mut reader).ok()?;
    let exponent = UintRef::decode(&mut reader).ok()?;
    Some(Key::rsa(reader.finish((modulus, exponent)).ok()?.0.as_bytes(), exponent.as_bytes()))
}

#[cfg(test)]
mod tests {
    use crate::auth::jwt::key::Key;

    const RSA: &str = include_str!("../../../tests/fixtures/jwt/rsa.pem");
    const CERTIFICATE: &str = include_str!("../../../tests/fixtures/jwt/rsa.crt");
    const PKCS1: &str = include_str!("../../../tests/fixtures/jwt/rsa.pkcs1.pem");
    const P256: &str = include_str!("../../../tests/fixtures/jwt/p256.pem");

    fn modulus(text: &str) -> Vec<u8> {
        match Key::parse(text) {
            Ok(Key::Rsa(key)) => key.n,
            Ok(_) => panic!("it is no RSA key"),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn an_rsa_key_is_the_same_in_every_wrapping() {
        let expected = modulus(RSA);
        assert_eq!(expected.len(), 256);
        assert_eq!(modulus(CERTIFICATE), expected);
        assert_eq!(modulus(PKCS1), expected);
        assert_eq!(modulus(&RSA.replace('\n', "\\n")), expected);
        assert_eq!(modulus(&format!("\n  {}", RSA.replace('\n', "\r\n"))), expected);
    }

    #[test]
    fn a_key_is_what_its_text_is() {
        assert!(matches!(Key::parse(P256), Ok(Key::P256(_))));
        assert!(matches!(Key::parse("c2VjcmV0"), Ok(Key::Hmac(_))));
    }

    #[test]
    fn what_begins_like_pem_is_never_a_secret() {
        let parts: Vec<&str> = RSA.lines().collect();
        let broken = [
            "-----BEGIN".to_owned(),
            "-----BEGIN PUBLIC KEY-----".to_owned(),
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----".to_owned(),
            "-----BEGIN PUBLIC KEY-----\n!\n-----END PUBLIC KEY-----".to_owned(),
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----".to_owned(),
            "-----BEGIN X-----\nAAAA\n-----END X-----".to_owned(),
            parts[..parts.len() - 1].join("\n"),
            RSA.replace("PUBLIC KEY", "CERTIFICATE"),
            RSA.replace("PUBLIC KEY", "RSA PUBLIC KEY"),
        ];
        for text in broken {
            assert!(Key::parse(&text).is_err(), "{text}");
        }
        let private = "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----";
        assert!(Key::parse(private).err().unwrap().contains("give the public one"));
    }

    #[test]
    fn a_key_that_proves_nothing_is_refused() {
        assert!(Key::parse("").err().unwrap().contains("empty"));
        assert!(Key::rsa(&[0xff; 128], &[1, 0, 1]).err().unwrap().contains("1024 bits"));
        assert!(Key::rsa(&[0xff; 256], &[0]).is_err());
        assert!(Key::p256(&[2; 33]).is_err());
    }
}
