//! Where the database is: one address, or the parts that php-crud-api knows.

use anyhow::{anyhow, bail};
use engine::driver::Address;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use treeql::nearest::unknown;

use crate::config::options::Options;

/// What need not be escaped in the parts of a URL.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const DRIVERS: [&str; 3] = ["mysql", "pgsql", "sqlite"];

/// The parts of an address, as php-crud-api names them.
pub struct Parts<'a> {
    /// `mysql`, `pgsql` or `sqlite`.
    pub driver: &'a str,
    /// The host, or the file; empty for the default.
    pub address: &'a str,
    /// 0 for the default.
    pub port: u16,
    /// The user of the database.
    pub username: &'a str,
    /// The name of the database.
    pub database: &'a str,
}

/// The address of the database by the settings.
pub fn address(options: &Options) -> anyhow::Result<Address> {
    let Options { driver, address, port, username, password, database, .. } = options;
    if !driver.is_empty() {
        return Parts { driver, address, port: *port, username, database }.join();
    }
    let parts = [("address", address), ("username", username), ("password", password)];
    let alone = parts.into_iter().find(|(_, value)| !value.is_empty()).map(|(name, _)| name);
    if let Some(name) = alone.or((*port != 0).then_some("port")) {
        bail!(
            "{name} is set and driver is not; set driver to mysql, pgsql or sqlite, or write all of it in database"
        );
    }
    Address::parse(database).map_err(anyhow::Error::msg)
}

impl Parts<'_> {
    /// The address that the parts make.
    pub fn join(&self) -> anyhow::Result<Address> {
        let scheme = match self.driver {
            "sqlite" => {
                let file = if self.address.is_empty() { "data.db" } else { self.address };
                return Ok(Address::Sqlite(file.into()));
            }
            "mysql" => "mysql",
            "pgsql" => "postgres",
            other => bail!("driver: {}", unknown("driver", other, DRIVERS)),
        };
        if self.database.contains("://") {
            bail!("database is an address and driver is set, too; leave one of them out");
        }
        if self.database.is_empty() {
            bail!("driver is {} and database names none; set database", self.driver);
        }
        let host = match self.address {
            "" => "localhost".to_owned(),
            six if six.contains(':') && !six.starts_with('[') => format!("[{six}]"),
            host => host.to_owned(),
        };
        // Nothing in it can end the host and begin another part.
        if !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte)) {
            bail!("address is '{}', which is no host", self.address);
        }
        let port = if self.port == 0 { String::new() } else { format!(":{}", self.port) };
        let encoded = |text: &str| utf8_percent_encode(text, PLAIN).to_string();
        let user =
            if self.username.is_empty() { String::new() } else { format!("{}@", encoded(self.username)) };
        let url = format!("{scheme}://{user}{host}{port}/{}", encoded(self.database));
        Address::parse(&url).map_err(|error| anyhow!(error))
    }
}

#[cfg(test)]
mod tests {
    use engine::driver::Address;

    use crate::config::options::Options;
    use crate::config::place::address;

    fn options(driver: &str, host: &str, port: u16, username: &str, database: &str) -> Options {
        let [driver, address, username, database] = [driver, host, username, database].map(str::to_owned);
        Options { driver, address, port, username, database, ..Options::default() }
    }

    #[test]
    fn parts_make_an_address() {
        let shown = |options: &Options| address(options).unwrap().to_string();
        assert_eq!(shown(&options("mysql", "", 0, "ann", "shop")), "mysql://ann@localhost/shop");
        assert_eq!(
            shown(&options("pgsql", "::1", 5433, "a@b/c", "x?y")),
            "postgres://a%40b%2Fc@[::1]:5433/x%3Fy"
        );
        assert_eq!(address(&options("sqlite", "a.db", 0, "", "x")).unwrap(), Address::Sqlite("a.db".into()));
        assert_eq!(address(&options("sqlite", "", 0, "", "")).unwrap(), Address::Sqlite("data.db".into()));
        assert_eq!(address(&options("", "", 0, "", "a.db")).unwrap(), Address::Sqlite("a.db".into()));
    }

    #[test]
    fn parts_that_do_not_go_together_are_a_sentence() {
        let error = |options: &Options| address(options).unwrap_err().to_string();
        assert!(error(&options("mssql", "", 0, "", "a")).contains("mysql"));
        assert!(error(&options("", "h", 0, "", "a.db")).contains("address is set and driver is not"));
        assert!(error(&options("", "", 1, "", "a.db")).contains("port is set"));
        assert!(error(&options("mysql", "", 0, "", "mysql://a/b")).contains("leave one"));
        assert!(error(&options("mysql", "", 0, "", "")).contains("set database"));
        assert!(error(&options("mysql", "h/x?y", 0, "", "a")).contains("no host"));
    }
}
