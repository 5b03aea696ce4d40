//! Address: which database, from what the operator typed.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

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
    /// The same address but for the parts that are given; of a file `host` is its path. The error is a sentence.
    pub fn with(
        &self,
        database: Option<&str>,
        host: Option<&str>,
        username: Option<&str>,
    ) -> Result<Address, String> {
        let changed = |url: &str| {
            let failed = |what: &str| format!("{what} cannot be a part of a URL");
            let mut url = url::Url::parse(url).map_err(|error| error.to_string())?;
            if let Some(database) = database {
                url.path_segments_mut().map_err(|()| failed("a database"))?.clear().push(database);
            }
            if let Some(host) = host {
                url.set_host(Some(host)).map_err(|_invalid| failed("the host"))?;
            }
            if let Some(username) = username {
                url.set_username(username).map_err(|()| failed("the user"))?;
            }
            Ok::<_, String>(url.to_string())
        };
        Ok(match self {
            Address::Sqlite(path) => Address::Sqlite(host.map_or_else(|| path.clone(), PathBuf::from)),
            Address::MySql(url) => Address::MySql(changed(url)?),
            Address::Postgres(url) => Address::Postgres(changed(url)?),
        })
    }

    /// Reads a path, or a URL: `shop.db`, `sqlite:shop.db`, `mysql://user@host/db`, `postgres://user@host/db`.
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
            Address::MySql(url) | Address::Postgres(url) => f.write_str(&without_password(url)),
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
    fn parts_of_an_address_are_changed() {
        let url = Address::parse("mysql://ann:secret@host:3307/shop?sslmode=require").expect("it is a URL");
        let changed = url.with(Some("shop_a/b"), Some("a.db.internal"), Some("bob"));
        let expected = "mysql://bob:secret@a.db.internal:3307/shop_a%2Fb?sslmode=require";
        assert_eq!(changed, Ok(Address::MySql(expected.to_owned())));
        assert_eq!(url.with(None, None, None), Ok(url.clone()));
        assert!(url.with(None, Some("a b/c@d"), None).is_err());
        let file = Address::Sqlite("main.db".into());
        assert_eq!(file.with(None, Some("a.db"), None), Ok(Address::Sqlite("a.db".into())));
    }

    #[test]
    fn a_password_is_never_shown() {
        let address =
            Address::parse("postgres://user:secret@host:5432/shop?password=secret").expect("it is a URL");
        assert_eq!(address.to_string(), "postgres://user:***@host:5432/shop");
    }
}
