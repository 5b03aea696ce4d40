//! Address: which database, from what the operator typed.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use crate::driver::hosts;

/// Where a database is.
#[derive(Clone, PartialEq)]
pub enum Address {
    /// A file of the embedded SQLite.
    Sqlite(PathBuf),
    /// The URL of a MySQL or MariaDB database.
    MySql(String),
    /// The URL of a PostgreSQL database.
    Postgres(String),
}

impl Address {
    /// Reads a path, or a URL: `shop.db`, `sqlite:shop.db`, `mysql://user@host/db`, `postgres://user@host/db`. Several
    /// hosts with commas between lead to one database: `mysql://user@one:3306,two:3306/db`.
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
            Some(("mysql" | "mariadb", rest)) => Ok(Address::MySql(format!("mysql://{rest}"))),
            Some(("postgres" | "postgresql", rest)) => Ok(Address::Postgres(format!("postgres://{rest}"))),
            Some((scheme, _)) => Err(format!(
                "databases of the kind '{scheme}' are not supported; use a file, mysql://… or postgres://…"
            )),
            None if text.is_empty() => Err("no database given; write rowcast serve shop.db".to_owned()),
            None => Ok(Address::Sqlite(text.into())),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Address::Sqlite(path) => write!(f, "{}", path.display()),
            Address::MySql(url) | Address::Postgres(url) => {
                let mut hosts = hosts::split(url).into_iter();
                let shown = hosts.next().map(|(_, url)| without_password(&url)).unwrap_or_default();
                f.write_str(&shown)?;
                hosts.try_for_each(|(name, _)| write!(f, ", {name}"))
            }
        }
    }
}

/// The URL as it may be shown: the password replaced, and what follows a question mark, too.
fn without_password(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut parsed) => {
            if parsed.password().is_some() && parsed.set_password(Some("***")).is_err() {
                return "(address hidden)".to_owned();
            }
            parsed.set_query(None);
            parsed.to_string()
        }
        Err(_unreadable) => "(address cannot be read)".to_owned(),
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

    #[test]
    fn a_password_is_never_shown() {
        let address =
            Address::parse("postgres://user:secret@host:5432/shop?password=secret").expect("it is a URL");
        assert_eq!(address.to_string(), "postgres://user:***@host:5432/shop");
        let address = Address::parse("postgres://user:secret@one:5432,two:5433/shop").expect("it is a URL");
        assert_eq!(address.to_string(), "postgres://user:***@one:5432/shop, two:5433");
    }
}
