//! Where settings come from, put together into one table; unknown keys are errors with the nearest match.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use toml::{Table, Value};
use treeql::nearest::nearest;

use crate::config::keys::{ConfigKey, Kind, keys, upper_snake};
use crate::config::options::Options;
use crate::config::reference;

/// What begins the names of our environment variables.
const PREFIX: &str = "ROWCAST_";
/// Variables that begin like ours and are not settings of the server.
const FOREIGN: &str = "ROWCAST_TEST_";

/// Everything that settings can come from.
pub struct Sources {
    /// Keys and values from the command line; they win over all others.
    pub flags: Vec<(String, Value)>,
    /// The configuration file, if one is named.
    pub file: Option<PathBuf>,
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
}

impl Sources {
    /// The settings: flags over environment over file over defaults.
    pub fn options(&self) -> anyhow::Result<Options> {
        let keys = keys();
        let mut table = match &self.file {
            Some(path) => read_file(path, &keys)?,
            None => Table::new(),
        };
        self.add_reference(&mut table, &keys)?;
        self.add_environment(&mut table, &keys)?;
        for (path, value) in &self.flags {
            let key = find(path, &keys, "setting")?;
            if key.is_entry() {
                bail!("{path} belongs to an entry of a list; write it in the file");
            }
            put(&mut table, &key.path, typed(value.clone(), key, path)?);
        }
        let one_line = |error: toml::de::Error| error.to_string().trim().replace('\n', " ");
        table.try_into().map_err(|error| anyhow!("the configuration cannot be read: {}", one_line(error)))
    }

    /// The variables of php-crud-api; as there, an empty one and `0` are as good as none.
    fn add_reference(&self, table: &mut Table, keys: &[ConfigKey]) -> anyhow::Result<()> {
        for (name, value) in &self.environment {
            let Some((name, rest)) =
                name.to_str().and_then(|name| Some((name, name.strip_prefix(reference::PREFIX)?)))
            else {
                continue;
            };
            let Some(value) = value.to_str() else { bail!("the variable {name} is not UTF-8") };
            let renamed = reference::RENAMED.iter().find(|(from, _)| upper_snake(from) == rest);
            let path = |key: &&ConfigKey| {
                !key.is_entry()
                    && match renamed {
                        Some((_, to)) => key.path == *to,
                        None => upper_snake(&key.path) == rest,
                    }
            };
            let is_set = !value.is_empty() && value != "0";
            match keys.iter().find(path) {
                Some(key) if is_set => {
                    put(table, &key.path, typed(Value::String(value.to_owned()), key, name)?)
                }
                Some(_) => {}
                None => {
                    if let Some(path) = reference::absent_names().find(|path| upper_snake(path) == rest) {
                        if is_set {
                            bail!("{name} {}", reference::absent(path).unwrap_or_default());
                        }
                        continue;
                    }
                    let known: Vec<String> = keys
                        .iter()
                        .map(|key| reference::PREFIX.to_owned() + &upper_snake(&key.path))
                        .collect();
                    bail!("unknown variable {name}{}", hint(name, known.iter().map(String::as_str)));
                }
            }
        }
        Ok(())
    }

    fn add_environment(&self, table: &mut Table, keys: &[ConfigKey]) -> anyhow::Result<()> {
        for (name, value) in &self.environment {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
            if name.starts_with(FOREIGN) {
                continue;
            }
            let Some(value) = value.to_str() else { bail!("the variable {name} is not UTF-8") };
            let Some(key) = keys.iter().find(|key| !key.is_entry() && key.variable() == name) else {
                let variables: Vec<String> = keys.iter().map(ConfigKey::variable).collect();
                bail!("unknown variable {name}{}", hint(name, variables.iter().map(String::as_str)));
            };
            put(table, &key.path, typed(Value::String(value.to_owned()), key, name)?);
        }
        Ok(())
    }
}

fn read_file(path: &Path, keys: &[ConfigKey]) -> anyhow::Result<Table> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| anyhow!("{shown} cannot be read: {error}"))?;
    let mut table: Table = text.parse().map_err(|error| anyhow!("{shown} is no TOML: {error}"))?;
    reference::rename(&mut table);
    check(&table, "", keys, &shown.to_string())?;
    Ok(table)
}

/// Every key of the file must be known, and its value of the right kind.
fn check(table: &Table, prefix: &str, keys: &[ConfigKey], file: &str) -> anyhow::Result<()> {
    for (name, value) in table {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) if keys.iter().any(|key| key.path.starts_with(&format!("{path}."))) => {
                check(inner, &path, keys, file)?;
            }
            Value::Array(entries) if keys.iter().any(|key| key.path.starts_with(&format!("{path}[]."))) => {
                for entry in entries {
                    match entry {
                        Value::Table(inner) => check(inner, &format!("{path}[]"), keys, file)?,
                        other => {
                            bail!("in {file}: {path} holds {}, but takes [[{path}]] tables", other.type_str())
                        }
                    }
                }
            }
            _ => {
                let key = find(&path, keys, "key").with_context(|| format!("in {file}"))?;
                let is_right = match key.kind {
                    Kind::Text => value.is_str(),
                    Kind::Integer => value.is_integer(),
                    Kind::Number => value.is_integer() || value.is_float(),
                    Kind::Boolean => value.is_bool(),
                    Kind::List => value.as_array().is_some_and(|list| list.iter().all(Value::is_str)),
                };
                if !is_right {
                    let (found, wanted) = (value.type_str(), kind_name(key.kind));
                    bail!("in {file}: {path} is of type {found}, but takes {wanted}");
                }
            }
        }
    }
    Ok(())
}

fn find<'a>(path: &str, keys: &'a [ConfigKey], what: &str) -> anyhow::Result<&'a ConfigKey> {
    if let Some(reason) = reference::absent(path) {
        bail!("{path} {reason}");
    }
    keys.iter()
        .find(|key| key.path == path)
        .ok_or_else(|| anyhow!("unknown {what} '{path}'{}", hint(path, keys.iter().map(|key| &*key.path))))
}

fn hint<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, names) {
        Some(near) => format!("; did you mean '{near}'?"),
        None => "; docs/configuration.md lists all settings".to_owned(),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text in quotes",
        Kind::Integer => "a whole number",
        Kind::Number => "a number",
        Kind::Boolean => "true or false",
        Kind::List => "a list of texts in quotes",
    }
}

/// Text from the environment or a flag as a value of the key's kind.
fn typed(value: Value, key: &ConfigKey, name: &str) -> anyhow::Result<Value> {
    let Value::String(text) = &value else { return Ok(value) };
    let wrong = || anyhow!("{name} is '{text}', but takes {}", kind_name(key.kind));
    Ok(match key.kind {
        Kind::Text => value,
        Kind::Integer => Value::Integer(text.trim().parse().map_err(|_not_a_number| wrong())?),
        Kind::Number => Value::Float(text.trim().parse().map_err(|_not_a_number| wrong())?),
        Kind::List => {
            Value::Array(text.split(',').map(|part| Value::String(part.trim().to_owned())).collect())
        }
        Kind::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Value::Boolean(true),
            "false" | "0" | "no" | "off" => Value::Boolean(false),
            _ => return Err(wrong()),
        },
    })
}

fn put(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((section, rest)) => {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use toml::Value;

    use crate::config::sources::Sources;

    fn sources(environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Sources {
        Sources {
            flags: flags.iter().map(|(key, value)| ((*key).into(), Value::String((*value).into()))).collect(),
            file: None,
            environment: environment.iter().map(|(key, value)| (OsString::from(key), value.into())).collect(),
        }
    }

    #[test]
    fn flags_win_over_the_environment() {
        let both = sources(&[("ROWCAST_LISTEN", "1.1.1.1:1")], &[("listen", "2.2.2.2:2")]);
        assert_eq!(both.options().expect("both are known").listen.0, "2.2.2.2:2");
        let one = sources(&[("ROWCAST_LIMITS_BODY_BYTES", "77")], &[]);
        assert_eq!(one.options().expect("it is known").limits.body_bytes, 77);
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_nearest_match() {
        let error = sources(&[("ROWCAST_LISTNE", "x")], &[]).options().expect_err("it is misspelt");
        assert_eq!(error.to_string(), "unknown variable ROWCAST_LISTNE; did you mean 'ROWCAST_LISTEN'?");
        let error = sources(&[], &[("limits.bodyByte", "1")]).options().expect_err("it is misspelt");
        assert_eq!(error.to_string(), "unknown setting 'limits.bodyByte'; did you mean 'limits.bodyBytes'?");
    }

    #[test]
    fn variables_of_the_reference_work_and_ours_win() {
        let set = [
            ("PHP_CRUD_API_DATABASE", "shop"),
            ("PHP_CRUD_API_API_KEY_DB_AUTH_USERS_TABLE", "people"),
            ("PHP_CRUD_API_JWT_AUTH_SECRETS", "k"),
            ("PHP_CRUD_API_BASIC_AUTH_SESSION_NAME", "s"),
            ("PHP_CRUD_API_CACHE_TIME", "0"),
            ("PHP_CRUD_API_DEBUG", ""),
            ("PHP_CRUD_API_PORT", "3306"),
            ("ROWCAST_PORT", "3307"),
        ];
        let options = sources(&set, &[]).options().expect("all are known");
        assert_eq!((&*options.database, options.port), ("shop", 3307));
        assert_eq!((&*options.api_key_db_auth.users_table, &*options.jwt_auth.secrets), ("people", "k"));
        assert_eq!((&*options.session.session_name, options.cache_time.0), ("s", 10));
        let error = |name: &str| sources(&[(name, "1")], &[]).options().unwrap_err().to_string();
        assert!(error("PHP_CRUD_API_DATABSE").contains("did you mean 'PHP_CRUD_API_DATABASE'?"));
        assert!(error("PHP_CRUD_API_DEBUG").contains("does not exist"));
        assert!(error("PHP_CRUD_API_CUSTOM_CONTROLLERS").contains("is code"));
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_an_error_that_names_it() {
        let error = sources(&[("ROWCAST_WORKERS", "two")], &[]).options().expect_err("two is no number");
        assert_eq!(error.to_string(), "ROWCAST_WORKERS is 'two', but takes a whole number");
    }
}
