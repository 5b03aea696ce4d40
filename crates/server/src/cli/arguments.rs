//! What can be said to `rowcast import` and `rowcast export`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use treeql::encode::Format;
use treeql::request::Conflict;

use crate::transfer::{ExportOptions, ImportOptions};

const IMPORT_EXAMPLES: &str = "Examples:
  rowcast import visits visits.csv --database shop.db
  rowcast import visits visits.csv --database shop.db --create    makes the table, with types read off the file
  zcat visits.ndjson.gz | rowcast import visits - --format ndjson --database postgres://me@host/shop
  rowcast import users users.csv --config rowcast.toml --on-conflict update --conflict-key email

In CSV the first line has the names of the columns, an empty field is NULL and \"\" is an empty text.";

const EXPORT_EXAMPLES: &str = "Examples:
  rowcast export visits visits.csv --database shop.db
  rowcast export posts --format ndjson --filter published,eq,1 --order id,desc --database shop.db | zstd > posts.zst";

/// Where the database is.
#[derive(Args)]
pub struct SourceArgs {
    /// A SQLite file, mysql://user@host/database or postgres://user@host/database
    #[arg(long, short)]
    pub database: Option<String>,
    /// Read settings from this TOML file
    #[arg(long, short, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Any other setting, for example --set mapping=wp_posts=posts
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    Csv,
    Ndjson,
    Json,
}

impl FormatName {
    fn format(self) -> Format {
        match self {
            FormatName::Csv => Format::Csv,
            FormatName::Ndjson => Format::Ndjson,
            FormatName::Json => Format::Json,
        }
    }
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum OnError {
    #[default]
    Fail,
    Skip,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum OnConflict {
    #[default]
    Error,
    Ignore,
    Update,
}

/// Arguments of `rowcast import`.
#[derive(Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct ImportArgs {
    /// The table, as clients call it
    table: String,
    /// The file, or - for standard input
    file: String,
    #[command(flatten)]
    pub source: SourceArgs,
    /// What the file is [default: what its ending says]
    #[arg(long)]
    format: Option<FormatName>,
    /// Whether a record that is refused ends it all, with nothing written, or is left out and told
    #[arg(long, default_value = "fail")]
    on_error: OnError,
    /// What becomes of a record whose key is taken
    #[arg(long, default_value = "error")]
    on_conflict: OnConflict,
    /// The columns of the unique key that is meant, with commas between [default: the primary key]
    #[arg(long, value_name = "COLUMNS")]
    conflict_key: Option<String>,
    /// Check everything, and leave nothing
    #[arg(long)]
    dry_run: bool,
    /// A name in the file and the column it means; may be given several times
    #[arg(long, value_name = "NAME=COLUMN")]
    map: Vec<String>,
    /// Write these columns only
    #[arg(long, value_name = "COLUMNS")]
    include: Option<String>,
    /// Leave these columns out, as those that the database computes
    #[arg(long, value_name = "COLUMNS")]
    exclude: Option<String>,
    /// Make the table first, with types read off a CSV file; it is shown before
    #[arg(long)]
    create: bool,
    /// Make it without a question
    #[arg(long)]
    yes: bool,
    /// Tell the result as JSON
    #[arg(long)]
    json: bool,
}

impl ImportArgs {
    /// What they mean. The error is a sentence.
    pub fn options(self) -> anyhow::Result<ImportOptions> {
        let key = self.conflict_key.map(Cow::Owned);
        let conflict = match (self.on_conflict, key) {
            (OnConflict::Error, None) => Conflict::Error,
            (OnConflict::Error, Some(_)) => {
                bail!("--conflict-key means something only with --on-conflict ignore or update")
            }
            (OnConflict::Ignore, key) => Conflict::Ignore(key),
            (OnConflict::Update, key) => Conflict::Update(key),
        };
        let mut names = HashMap::new();
        for pair in &self.map {
            let Some((name, column)) = pair.split_once('=') else {
                bail!("--map {pair} is not of the form NAME=COLUMN, for example --map E-mail=email");
            };
            names.insert(name.to_owned(), column.to_owned());
        }
        Ok(ImportOptions {
            table: self.table,
            file: self.file,
            format: self.format.map(FormatName::format),
            include: self.include,
            exclude: self.exclude,
            conflict,
            names,
            is_skipping: matches!(self.on_error, OnError::Skip),
            is_dry_run: self.dry_run,
            is_new: self.create,
            is_agreed: self.yes,
            is_json: self.json,
            is_shown: !self.json && std::io::stderr().is_terminal(),
        })
    }
}

/// Arguments of `rowcast export`.
#[derive(Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportArgs {
    /// The table, as clients call it
    table: String,
    /// The file [default: standard output]
    file: Option<PathBuf>,
    #[command(flatten)]
    pub source: SourceArgs,
    /// What the file is to be [default: what its ending says, else csv]
    #[arg(long)]
    format: Option<FormatName>,
    /// Which rows: column,operator,value; may be given several times
    #[arg(long, value_name = "FILTER")]
    filter: Vec<String>,
    /// The order: column or column,desc; may be given several times
    #[arg(long, value_name = "COLUMN")]
    order: Vec<String>,
    /// These columns only
    #[arg(long, value_name = "COLUMNS")]
    include: Option<String>,
    /// All but these columns
    #[arg(long, value_name = "COLUMNS")]
    exclude: Option<String>,
    /// Related tables, for JSON and lines of JSON; may be given several times
    #[arg(long, value_name = "TABLES")]
    join: Vec<String>,
    /// At most so many rows
    #[arg(long, value_name = "N")]
    size: Option<u64>,
}

impl ExportArgs {
    /// What they mean.
    pub fn options(self) -> ExportOptions {
        let mut query = String::new();
        let mut put = |name: &str, value: &str| {
            let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
            query.push_str(&format!("{name}={value}&"));
        };
        self.filter.iter().for_each(|value| put("filter", value));
        self.order.iter().for_each(|value| put("order", value));
        self.join.iter().for_each(|value| put("join", value));
        self.include.iter().for_each(|value| put("include", value));
        self.exclude.iter().for_each(|value| put("exclude", value));
        self.size.iter().for_each(|value| put("size", &value.to_string()));
        let format = self.format.map(FormatName::format);
        ExportOptions { table: self.table, file: self.file, format, query }
    }
}
