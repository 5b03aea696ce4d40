//! json: JSON in text columns is opened in answers and closed in what is written (SPEC 18.23).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::encode::{JsonColumns, Rewriter, collapse};
use treeql::mode::Mode;
use treeql::record::Selection;
use treeql::request::Record;

use crate::http::list;

/// Settings of json.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Groups of paths, separated by commas: `records`, `geojson`, or `all`.
    pub controllers: String,
    /// Exposed names of the tables that are asked for, separated by commas, or `all`.
    pub tables: String,
    /// Exposed names of the columns that hold JSON, separated by commas; `all` looks into every text.
    pub columns: String,
}

impl Default for Options {
    fn default() -> Options {
        let all = || "all".to_owned();
        Options { controllers: "records,geojson".to_owned(), tables: all(), columns: all() }
    }
}

/// The middleware, ready to use.
#[derive(Clone, Debug)]
pub struct JsonMembers {
    controllers: Selection,
    tables: Selection,
    columns: JsonColumns,
}

impl JsonMembers {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options) -> Result<JsonMembers, String> {
        match list(&options.controllers).find(|name| !["records", "geojson", "all"].contains(name)) {
            Some(name) => {
                Err(format!("json.controllers: '{name}' has no records; there are records, geojson, all"))
            }
            None => Ok(JsonMembers {
                controllers: Selection::from(&*options.controllers),
                tables: Selection::from(&*options.tables),
                columns: JsonColumns::parse(&options.columns),
            }),
        }
    }

    /// What opens the members of answers about a table; `None` if they stay as they are.
    pub fn opener(&self, controller: &str, table: &str, mode: Mode) -> Option<Rewriter> {
        // compat: with names the records of lists are not reached (SPEC 18.23).
        self.has(controller, table).then(|| Rewriter::expand(self.columns.clone(), mode.is_strict()))
    }

    /// Closes the members of records that are written to a table.
    pub fn close(&self, table: &str, records: &mut [Record<'_>]) {
        if self.has("records", table) {
            records.iter_mut().for_each(|record| collapse(record, &self.columns));
        }
    }

    fn has(&self, controller: &str, table: &str) -> bool {
        self.controllers.contains(controller) && self.tables.contains(table)
    }
}

#[cfg(test)]
mod tests {
    use crate::middleware::json::{JsonMembers, Options};

    #[test]
    fn a_group_without_records_is_named() {
        let options = Options { controllers: "records, status".to_owned(), ..Options::default() };
        let error = JsonMembers::compile(&options).unwrap_err();
        assert!(error.contains("'status'"), "{error}");
        let options = Options { controllers: "all".to_owned(), ..Options::default() };
        assert!(JsonMembers::compile(&options).unwrap().has("geojson", "places"));
    }
}
