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
    /// The same address but for the parts that are given, spelled as in a URL; of a file `host` is its path. The error
    /// is a sentence.
    pub fn with(
        &self,
        database: Option<&str>,
        host: Option<&str>,
        username: Option<&str>,
    ) -> Result<Address, String> {
        Ok(match self {
            Address::Sqlite(path) => Address::Sqlite(host.map_or_else(|| path.clone(), PathBuf::from)),
            Address::MySql(url) => Address::MySql(changed(url, database, host, username)?),
            Address::Postgres(url) => Address::Postgres(changed(url, database, host, username)?),
        })
    }

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

/// A URL with other parts, none of which can end and begin another one.
fn changed(
    url: &str,
    database: Option<&str>,
    host: Option<&str>,
    username: Option<&str>,
) -> Result<String, String> {
    let check = |text: &str| match text.is_empty() || text.contains(['/', '?', '#', '@', '\\']) {
        true => Err(format!("'{text}' cannot be a part of a URL")),
        false => Ok(()),
    };
    [database, host, username].into_iter().flatten().try_for_each(check)?;
    let (scheme, rest) = url.split_once("://").ok_or("it is no URL")?;
    let (address, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    let (authority, path) = address.split_once('/').unwrap_or((address, ""));
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user = match (username, user.split_once(':')) {
        (None, _) => user.to_owned(),
        (Some(name), None) => name.to_owned(),
        (Some(name), Some((_, password))) => format!("{name}:{password}"),
    };
    let hosts = match host {
        None => hosts.to_owned(),
        // The port stays, if there is one that all hosts have.
        Some(host) => match hosts.rsplit_once(':').filter(|_| !hosts.contains([',', ']'])) {
            Some((_, port)) if !host.contains(':') => format!("{host}:{port}"),
            _ => host.to_owned(),
        },
    };
    let at = if user.is_empty() { "" } else { "@" };
    Ok(format!("{scheme}://{user}{at}{hosts}/{}{query}", database.unwrap_or(path)))
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
        let changed = url.with(Some("shop_a"), Some("a.db.internal"), Some("bob"));
        let expected = "mysql://bob:secret@a.db.internal:3307/shop_a?sslmode=require";
        assert_eq!(changed, Ok(Address::MySql(expected.to_owned())));
        assert_eq!(url.with(None, None, None), Ok(url.clone()));
        for bad in ["a/b", "a@b", "a?b", "a#b", ""] {
            assert!(url.with(Some(bad), None, None).is_err() && url.with(None, Some(bad), None).is_err());
            assert!(url.with(None, None, Some(bad)).is_err());
        }
        let many = Address::parse("postgres://ann@one:1,two:2/shop").expect("it is a URL");
        assert_eq!(many.with(Some("x"), None, None), Address::parse("postgres://ann@one:1,two:2/x"));
        let file = Address::Sqlite("main.db".into());
        assert_eq!(file.with(None, Some("a.db"), None), Ok(Address::Sqlite("a.db".into())));
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
