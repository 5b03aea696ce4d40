//! reconnect: a database for each tenant, chosen by the claims of who asks (SPEC 18.12).

use std::borrow::Cow;
use std::sync::Arc;

use engine::database::{self, Snapshot};
use engine::databases::Databases;
use engine::driver::{Address, Secret};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::error::{Code, Error};
use treeql::policy::{Principal, Template};

use crate::http::list;

/// limit: bytes of a claim that is a part of a name.
const CLAIM_BYTES_MAX: usize = 64;
/// limit: what `reconnect.open` may be; each worker keeps connections to all of them.
const OPEN_MAX: usize = 60;

/// Settings of reconnect: parts of the connection that who asks decides. An empty one is as the server was started.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// The name of the database, on a server; `{name}` stands for a claim, as in `shop_{tenant}`.
    pub database: String,
    /// The host of the server, as in `{tenant}.db.internal`, or the SQLite file, as in `tenants/{tenant}.db`.
    pub address: String,
    /// The user of the database.
    pub username: String,
    /// The password of that user.
    pub password: String,
    /// Names of the databases, hosts or files that may come out, separated by commas; empty for any.
    pub allowed: String,
    /// How many databases may be open at once; beyond, the one that was not used for longest is closed.
    pub open: usize,
}

impl Default for Options {
    fn default() -> Options {
        let [database, address, username, password, allowed] = Default::default();
        Options { database, address, username, password, allowed, open: 16 }
    }
}

/// Databases of tenants.
pub struct Reconnect {
    base: database::Options,
    database: Option<Template>,
    address: Option<Template>,
    username: Option<Template>,
    password: Option<Template>,
    allowed: Vec<String>,
    databases: Databases,
}

impl Reconnect {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options, base: database::Options) -> Result<Reconnect, String> {
        let is_file = matches!(base.address, Address::Sqlite(_));
        let Options { database, address, username, password, allowed, open } = options;
        if is_file && !(database.is_empty() && username.is_empty() && password.is_empty()) {
            return Err(
                "reconnect: on SQLite there is reconnect.address only, the file of a tenant".to_owned()
            );
        }
        if database.is_empty() && address.is_empty() && username.is_empty() {
            return Err(
                "reconnect is on and says nothing; set reconnect.database or reconnect.address".to_owned()
            );
        }
        if !(1..=OPEN_MAX).contains(open) {
            return Err(format!("reconnect.open is {open}, but takes 1 to {OPEN_MAX}"));
        }
        let allowed: Vec<String> = list(allowed).map(str::to_owned).collect();
        let is_host = !is_file && !address.is_empty();
        if allowed.is_empty() && is_bare(database) {
            return Err(format!(
                "reconnect.database is '{database}': a claim alone could name any database; write a prefix, as in shop_{database}, or set reconnect.allowed"
            ));
        }
        if allowed.is_empty() && is_host && address.ends_with('}') {
            return Err(format!(
                "reconnect.address is '{address}': a claim at the end could name any host; write {address}.db.internal, or set reconnect.allowed"
            ));
        }
        if allowed.is_empty() && is_file && is_bare(address) {
            return Err(format!(
                "reconnect.address is '{address}': a claim alone could name any file; write tenants/{address}.db, or set reconnect.allowed"
            ));
        }
        let template = |name: &str, text: &str| match text {
            "" => Ok(None),
            text => Template::parse(text).map(Some).map_err(|error| format!("reconnect.{name}: {error}")),
        };
        Ok(Reconnect {
            database: template("database", database)?,
            address: template("address", address)?,
            username: template("username", username)?,
            password: template("password", password)?,
            allowed,
            databases: Databases::new(*open),
            base,
        })
    }

    /// The database of who asks. 1014 if a claim is missing, or is none that can be a part of a name.
    pub async fn snapshot(&self, principal: &Principal) -> Result<Arc<Snapshot>, Error> {
        if !self.is_safe(principal) {
            return Err(forbidden(
                "a claim that names the database has other characters than letters, digits, - and _",
            ));
        }
        let database = value(self.database.as_ref(), principal)?;
        let address = value(self.address.as_ref(), principal)?;
        let username = value(self.username.as_ref(), principal)?;
        let password = value(self.password.as_ref(), principal)?;
        let names = [&database, &address].into_iter().flatten();
        if !self.allowed.is_empty()
            && !names.clone().all(|name| self.allowed.iter().any(|known| known == name))
        {
            return Err(forbidden("the database that the claims name is not among reconnect.allowed"));
        }
        let part = |text: &Option<Cow<'_, str>>| text.as_deref().unwrap_or_default().to_owned();
        let key = [&database, &address, &username].map(part).join("\n");
        let options = || {
            let changed =
                self.base.address.with(database.as_deref(), address.as_deref(), username.as_deref());
            let address = changed.map_err(|reason| {
                tracing::warn!(reason, "no address for the database of a tenant");
                forbidden("the claims make no address of a database")
            })?;
            let password = match password {
                Some(text) => Some(Secret(text.into_owned())),
                None => self.base.password.clone(),
            };
            Ok(database::Options { address, password, ..self.base.clone() })
        };
        self.databases.snapshot(&key, options).await
    }

    /// Closes all databases. Called when no request is under way.
    pub fn close(&self) {
        self.databases.close();
    }

    /// Whether no claim can lead out of the name that it is a part of.
    fn is_safe(&self, principal: &Principal) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let templates = [&self.database, &self.address, &self.username];
        let used = templates.into_iter().flatten().flat_map(Template::claims);
        let mut values = used.filter_map(|name| principal.claim(name));
        values.all(|value| !value.is_empty() && value.len() <= CLAIM_BYTES_MAX && value.bytes().all(is_plain))
    }
}

fn value<'a>(
    template: Option<&'a Template>,
    principal: &'a Principal,
) -> Result<Option<Cow<'a, str>>, Error> {
    let Some(template) = template else { return Ok(None) };
    let missing = || forbidden("a claim that names the database is missing");
    template.value(principal, "").map(Some).ok_or_else(missing)
}

fn forbidden(sentence: &'static str) -> Error {
    Error::new(Code::OperationForbidden, "").detail("reconnect", sentence)
}

/// Whether a template is made of claims only.
fn is_bare(text: &str) -> bool {
    let mut rest = text;
    while let Some(after) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        rest = after.1;
    }
    !text.is_empty() && rest.is_empty()
}
