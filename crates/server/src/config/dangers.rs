//! Dangers: what a configuration allows that its operator may not want, in sentences.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use http::Method;
use toml::{Table as Toml, Value};
use treeql::policy::{Principal, Rule, Rules, Who};
use treeql::request::Operation;
use treeql::schema::{Schema, Table, TableKind};

use crate::config::middlewares::Middlewares;
use crate::config::options::Options;
use crate::http::list;
use crate::middleware::Stations;

/// Keys whose values are secrets.
const SECRETS: [&str; 6] = [
    "password",
    "databasePassword",
    "session.secret",
    "apiKeyAuth.keys",
    "jwtAuth.secret",
    "jwtAuth.secrets",
];
/// limit: names that one sentence lists.
const NAMES_MAX: usize = 5;

/// What the settings alone tell.
pub struct Dangers {
    sentences: Vec<String>,
    is_public: bool,
    is_open: bool,
}

impl Dangers {
    /// Looks at the settings. `is_encrypted`: whether requests come over TLS only.
    pub fn of(options: &Options, on: &Middlewares, file: Option<&Path>, is_public: bool) -> Dangers {
        let ways = [
            ("apiKeyAuth", &options.api_key_auth.mode),
            ("apiKeyDbAuth", &options.api_key_db_auth.mode),
            ("dbAuth", &options.db_auth.mode),
            ("jwtAuth", &options.jwt_auth.mode),
            ("basicAuth", &options.basic_auth.mode),
        ];
        let ways: Vec<_> = ways.into_iter().filter(|(way, _)| on.has(way)).collect();
        let is_encrypted = options.tls.self_signed || !options.tls.cert.is_empty() || on.has("sslRedirect");
        let mut sentences = Vec::new();
        if let (true, false, Some((way, _))) = (is_public, is_encrypted, ways.first()) {
            sentences.push(format!(
                "{way} on {}: what people send can be read on the way; set tls.cert and tls.key, or sslRedirect behind a proxy",
                options.listen.0
            ));
        }
        if list(&options.controllers.0).any(|name| name == "columns") && !on.has("authorization") {
            sentences.push(
                "the controller columns is on without authorization: whoever may ask may change tables; switch authorization on"
                    .to_owned(),
            );
        }
        sentences.extend(readable(options, on, file));
        Dangers { sentences, is_public, is_open: !ways.iter().any(|(_, mode)| mode.as_str() == "required") }
    }

    /// All of them, those that the database tells included.
    pub fn all(&self, rules: &Rules, stations: &Stations, has_records: bool, schema: &Schema) -> Vec<String> {
        let mut sentences = self.sentences.clone();
        if self.is_public && self.is_open && has_records {
            sentences.extend(open_writes(rules, stations, schema));
        }
        sentences.extend(exposed(rules, schema));
        sentences
    }
}

/// Tables that anybody may write.
fn open_writes(rules: &Rules, stations: &Stations, schema: &Schema) -> Option<String> {
    let nobody = Principal::anonymous();
    let policy = rules.policy(&nobody);
    let writes = [
        (Operation::Create, Method::POST, ""),
        (Operation::Update, Method::PUT, "/1"),
        (Operation::Increment, Method::PATCH, "/1"),
        (Operation::Delete, Method::DELETE, "/1"),
    ];
    let is_open = |table: &Table| {
        writes.iter().any(|(operation, method, id)| {
            let path = format!("/records/{}{id}", table.alias);
            let has_path =
                stations.paths.as_ref().is_none_or(|paths| paths.check(&nobody, method, &path).is_ok());
            has_path && policy.shows_table(*operation, table)
        })
    };
    let tables: Vec<&str> = schema
        .tables()
        .map(|(_, table)| table)
        .filter(|table| table.kind == TableKind::Table && is_open(table))
        .map(|table| &*table.alias)
        .collect();
    (!tables.is_empty()).then(|| {
        format!(
            "whoever reaches this address may write to {}; switch authorization on, or listen on 127.0.0.1",
            some(&tables)
        )
    })
}

/// Columns that a rule hides in one table, and that a view shows to the same people.
fn exposed(rules: &Rules, schema: &Schema) -> Vec<String> {
    let mut sentences = BTreeSet::new();
    let all: Vec<&Rule> = rules.all().collect();
    for hiding in &all {
        for (_, table) in schema.tables().filter(|(_, table)| hiding.tables.has(&table.alias)) {
            for column in (0..table.columns.len()).filter(|column| hiding.hides(table, *column)) {
                let name = &table.columns[column].alias;
                let shows = |view: &Table| {
                    let decides =
                        all.iter().find(|rule| holds_with(rule, &hiding.who) && rule.tables.has(&view.alias));
                    let position = view.column(name);
                    decides.zip(position).is_some_and(|(rule, position)| {
                        let is_seen = rule.allow.has(Operation::List) || rule.allow.has(Operation::Read);
                        is_seen && !rule.hides(view, position)
                    })
                };
                let views = schema.tables().filter(|(_, view)| view.kind == TableKind::View && shows(view));
                sentences.extend(views.map(|(_, view)| {
                    format!(
                        "the view {} shows a column '{name}', which is hidden in {}; hide it there, too",
                        view.alias, table.alias
                    )
                }));
            }
        }
    }
    sentences.into_iter().collect()
}

fn holds_with(rule: &Rule, who: &Who) -> bool {
    rule.who == Who::Everyone
        || rule.who == *who
        || (rule.who == Who::Authenticated && matches!(who, Who::Claim(..)))
}

/// Files with secrets that everybody on this machine can read.
fn readable(options: &Options, on: &Middlewares, file: Option<&Path>) -> Vec<String> {
    let mut files = vec![
        ("tls.key", options.tls.key.as_str()),
        ("databasePasswordFile", &options.database_password_file),
    ];
    if on.has("basicAuth") {
        files.push(("basicAuth.passwordFile", &options.basic_auth.password_file));
    }
    let is_open = |path: &Path| fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o004 != 0);
    let mut sentences: Vec<String> = files
        .into_iter()
        .filter(|(_, path)| !path.is_empty() && is_open(Path::new(path)))
        .map(|(key, path)| format!("{key}: everybody on this machine can read {path}; chmod o-r {path}"))
        .collect();
    if let Some((path, secret)) =
        file.filter(|path| is_open(path)).and_then(|path| Some((path, secret(path)?)))
    {
        let shown = path.display();
        sentences.push(format!(
            "{secret} is in {shown}, which everybody on this machine can read; chmod o-r {shown}"
        ));
    }
    sentences
}

/// The first secret that a configuration file holds.
fn secret(path: &Path) -> Option<&'static str> {
    let table: Toml = fs::read_to_string(path).ok()?.parse().ok()?;
    let text = |key: &str| {
        let mut parts = key.split('.');
        let first = table.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part)).and_then(Value::as_str)
    };
    // A public key is none.
    let is_secret = |value: &str| !value.is_empty() && !value.trim_start().starts_with("-----BEGIN");
    let found = SECRETS.into_iter().find(|key| text(key).is_some_and(is_secret));
    let in_url = || {
        let (_, rest) = text("database")?.split_once("://")?;
        let (user, _) = rest.split_once('@')?;
        user.contains(':').then_some("the password of the database")
    };
    found.or_else(in_url)
}

fn some(names: &[&str]) -> String {
    let shown = names.iter().take(NAMES_MAX).copied().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES_MAX { format!("{shown} and {} more", names.len() - NAMES_MAX) } else { shown }
}

#[cfg(test)]
mod tests {
    use crate::config::dangers::some;

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(some(&["a", "b"]), "a, b");
        assert_eq!(some(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e and 2 more");
    }
}
