//! Algorithms of signatures, by their names in RFC 7518. There is no `none`.

/// How a token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// HMAC with SHA-256.
    Hs256,
    /// HMAC with SHA-384.
    Hs384,
    /// HMAC with SHA-512.
    Hs512,
    /// RSA (PKCS #1 v1.5) with SHA-256.
    Rs256,
    /// RSA (PKCS #1 v1.5) with SHA-384.
    Rs384,
    /// RSA (PKCS #1 v1.5) with SHA-512.
    Rs512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
}

const ALL: [(&str, Algorithm); 7] = [
    ("HS256", Algorithm::Hs256),
    ("HS384", Algorithm::Hs384),
    ("HS512", Algorithm::Hs512),
    ("RS256", Algorithm::Rs256),
    ("RS384", Algorithm::Rs384),
    ("RS512", Algorithm::Rs512),
    ("ES256", Algorithm::Es256),
];

impl Algorithm {
    /// The algorithm called `name`, in capitals.
    pub fn parse(name: &str) -> Option<Algorithm> {
        ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }

    /// The names of all algorithms.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(name, _)| *name)
    }
}
