//! The page docs/configuration.md, made from the types: one row per key.

use serde_json::Value as Json;

use crate::config::keys::{ConfigKey, Kind, keys};
use crate::config::options::Options;

const INTRODUCTION: &str = "# Configuration

<!-- Made by `make docs` from crates/server/src/config/options.rs; a test compares the two. -->

Rowcast runs without any configuration: `rowcast serve shop.db` is enough. Every setting below can be given in three
ways. What is said in a flag wins over the environment, the environment over the file, the file over the default.

- **A flag.** `--set KEY=VALUE` takes any key, as often as needed. The common ones have a flag of their own: the
  database is the argument of `rowcast serve`, and there are `--listen`, `--tls-cert`, `--tls-key`,
  `--tls-self-signed`, `--workers`, `--lenient` (`strict = false`),
  `--log-format` and `--log-requests`.
- **A variable of the environment**, named in the table.
  The variables of php-crud-api, `PHP_CRUD_API_DATABASE` and so on, are understood, too; those that begin with `ROWCAST_` win.
- **A TOML file**, named by `--config FILE`:

```toml
database = \"shop.db\"
listen = \"0.0.0.0:8080\"
tables = \"products,orders\"

[log]
format = \"json\"

[limits]
bodyBytes = 1000000
```

A key, a variable beginning with `ROWCAST_` or `PHP_CRUD_API_`, or a value that is not understood is an error at the start, with the
nearest name that exists. `rowcast check --config FILE` looks at a configuration, and opens its database, without
serving it.

";

const TABLE: &str = "| Key | Variable | Type | Default | Meaning |\n| --- | --- | --- | --- | --- |\n";

/// The whole page, in Markdown.
pub fn page() -> String {
    let defaults = serde_json::to_value(Options::default()).expect("settings are plain values");
    let mut page = format!("{INTRODUCTION}{TABLE}");
    for key in keys() {
        page.push_str(&row(&key, &defaults));
    }
    page
}

fn row(key: &ConfigKey, defaults: &Json) -> String {
    let kind = match key.kind {
        Kind::Text => "text",
        Kind::Integer => "whole number",
        Kind::Number => "number",
        Kind::Boolean => "true or false",
        Kind::List => "list of texts",
    };
    let default = defaults.pointer(&format!("/{}", key.path.replace('.', "/")));
    let default = match default {
        Some(Json::Null) => "not set".to_owned(),
        Some(Json::String(text)) if text.is_empty() => "empty".to_owned(),
        Some(Json::String(text)) => format!("`{text}`"),
        Some(other) => format!("`{other}`"),
        // Keys of entries of a list: there is none until one is written.
        None => "empty".to_owned(),
    };
    // A description is broken into lines where the code is; a row of a table is one line.
    let meaning: Vec<&str> = key.description.split_whitespace().collect();
    let meaning = meaning.join(" ").replace('|', "\\|");
    let variable =
        if key.is_entry() { "only in the file".to_owned() } else { format!("`{}`", key.variable()) };
    format!("| `{}` | {variable} | {kind} | {default} | {meaning} |\n", key.path)
}
