//! JSON web tokens: a signature by a key that we know, and claims that hold now.

mod algorithm;
mod claims;
#[cfg(test)]
mod corpus;
mod jwks;
mod key;
mod keyring;
mod options;
mod remote;
mod verifier;

pub use options::Options;
pub use verifier::Verifier;
