//! Options of the middlewares that say who may do what; the names are those of php-crud-api where it has them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who may do what with which tables, rows and columns.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Authorization {
    /// Rules in their order. The first that fits who asks and the table decides; without one, the table does not exist.
    pub rules: Vec<Rule>,
    /// Rules about paths in their order. If there are any, the first that fits who asks, the method and the path decides;
    /// without one, the path does not exist.
    pub paths: Vec<PathRule>,
}

/// A rule about paths.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PathRule {
    /// For whom: `everyone` (the default), `anonymous`, `authenticated`, or a claim as `role=editor`.
    pub who: String,
    /// Methods, separated by commas; empty means all.
    pub methods: String,
    /// The path after `basePath`: `*` stands for one segment, `**` at the end for all that follow.
    pub path: String,
    /// Whether the path exists for them.
    pub allow: bool,
}

/// A rule of the authorization.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Rule {
    /// For whom: `everyone` (the default), `anonymous`, `authenticated`, or a claim as `role=editor`.
    pub who: String,
    /// Exposed names of the tables, separated by commas; `*` for all.
    pub tables: String,
    /// What may be done: `all`, `none`, or some of `list`, `read`, `create`, `update`, `increment`, `delete`,
    /// `reflect` (read definitions at `/columns`), `remodel` (change them).
    pub allow: String,
    /// Which rows exist, as a filter: `published,eq,1`, or several as `filter=…&filter1=…`. `{name}` stands for a claim.
    pub filter: String,
    /// Exposed names of columns that do not exist, separated by commas; `table.column` for one table only.
    pub hide: String,
    /// Exposed names of columns that cannot be written.
    pub read_only: String,
}

/// Columns whose value comes from who asks: set on create, left out of changes, and a condition of every other statement.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MultiTenancy {
    /// One entry for each column.
    pub rules: Vec<Tenant>,
}

/// A column whose value comes from who asks.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Tenant {
    /// Exposed names of the tables, separated by commas; empty for all that have the column.
    pub tables: String,
    /// Exposed name of the column.
    pub column: String,
    /// Its value; `{name}` stands for a claim.
    pub value: String,
}

/// Columns that take the address of the client on create and cannot be changed.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct IpAddress {
    /// Exposed names of the tables, separated by commas; empty for all that have the column.
    pub tables: String,
    /// Exposed names of the columns, separated by commas.
    pub columns: String,
}

/// How far and how much can be listed.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PageLimits {
    /// The highest page number; 0 for any.
    pub pages: i64,
    /// The most records of a list.
    pub records: i64,
}

impl Default for PageLimits {
    fn default() -> PageLimits {
        PageLimits { pages: 100, records: 1000 }
    }
}

/// How much can be joined.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct JoinLimits {
    /// Tables in one path.
    pub depth: usize,
    /// Tables in all paths of a request.
    pub tables: usize,
    /// Records that are joined to one record, by each join.
    pub records: usize,
}

impl Default for JoinLimits {
    fn default() -> JoinLimits {
        JoinLimits { depth: 3, tables: 10, records: 1000 }
    }
}

/// A search through all text columns.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TextSearch {
    /// The parameter that holds the text.
    pub parameter: String,
}

impl Default for TextSearch {
    fn default() -> TextSearch {
        TextSearch { parameter: "search".to_owned() }
    }
}
