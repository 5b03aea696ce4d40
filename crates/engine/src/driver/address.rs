//! Address: which database, from what the operator typed.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// Where a database is.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// A file of the embedded SQLite.
    Sqlite(PathBuf),
}

impl Address {
    /// Reads a path, or a URL: `shop.db`, `sqlite:shop.db`, `sqlite:///var/lib/shop.db`.
    ///
    /// The error is a sentence that says what to write instead.
    pub fn parse(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() {
                Err("'sqlite:' names no file; write sqlite:shop.db".to_owned())
            } else {
                Ok(Address::Sqlite(path.into()))
            };
        }
        match text.split_once("://") {
            Some((scheme, _)) => {
                Err(format!("databases of the kind '{scheme}' are not supported; use a file or sqlite:FILE"))
            }
            None if text.is_empty() => Err("no database given; write rowcast serve shop.db".to_owned()),
            None => Ok(Address::Sqlite(text.into())),
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Address::Sqlite(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::driver::address::Address;

    #[test]
    fn a_path_and_a_url_name_the_same_file() {
        assert_eq!(Address::parse("shop.db"), Ok(Address::Sqlite("shop.db".into())));
        assert_eq!(Address::parse("sqlite:shop.db"), Ok(Address::Sqlite("shop.db".into())));
        assert_eq!(Address::parse("sqlite:///a/shop.db"), Ok(Address::Sqlite("/a/shop.db".into())));
        assert!(Address::parse("oracle://x").is_err());
    }
}
