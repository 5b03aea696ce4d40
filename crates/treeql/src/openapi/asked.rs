//! Asked: everything that a document is about.

use serde_json::{Map, Value as Json, json};

use crate::mode::Mode;
use crate::policy::Policy;
use crate::request::Operation;
use crate::schema::{Column, ForeignKey, Schema, Table, TableId, TableKind};
use crate::sql::Dialect;

/// Which edition of the OpenAPI Specification a document follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// 3.0.3, as clients of php-crud-api read it.
    V3_0,
    /// 3.1.0, whose schemas are JSON Schema 2020-12.
    V3_1,
}

impl Version {
    /// The version called `text`: `3.0` or `3.1`, with or without a third number.
    pub fn parse(text: &str) -> Option<Version> {
        match text {
            "3" | "3.0" | "3.0.0" | "3.0.3" => Some(Version::V3_0),
            "3.1" | "3.1.0" => Some(Version::V3_1),
            _ => None,
        }
    }

    /// The number that the document states.
    pub fn number(self) -> &'static str {
        match self {
            Version::V3_0 => "3.0.3",
            Version::V3_1 => "3.1.0",
        }
    }

    /// Makes null one of the values of a schema that has a type; one without a type has it already.
    pub fn allow_null(self, schema: &mut Map<String, Json>) {
        let Some(kind) = schema.get_mut("type") else { return };
        match self {
            Version::V3_0 => {
                schema.insert("nullable".to_owned(), true.into());
            }
            Version::V3_1 => *kind = json!([kind.take(), "null"]),
        }
    }

    /// The schema of null.
    pub fn null(self) -> Json {
        match self {
            Version::V3_0 => json!({"type": "object", "nullable": true, "enum": [null]}),
            Version::V3_1 => json!({"type": "null"}),
        }
    }
}

/// Groups of paths that are served, besides `/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Groups {
    /// `/records`.
    pub records: bool,
    /// `/geojson`.
    pub geojson: bool,
    /// `/status`.
    pub status: bool,
    /// `/cache`.
    pub cache: bool,
    /// `/health`.
    pub health: bool,
}

/// What the server has around the tables, which the schema and the policy do not say.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Members of the document that the operator wrote, as `info`.
    pub base: Map<String, Json>,
    /// Which groups of paths are served.
    pub groups: Groups,
    /// Ways to authenticate, by name.
    pub security_schemes: Map<String, Json>,
    /// Which of them, together or alternatively, a request needs.
    pub security: Vec<Json>,
    /// Statuses that any operation may answer with, besides its own.
    pub statuses: Vec<u16>,
    /// Header parameters that writes need, each with the methods (`post`, …) that do not.
    pub write_headers: Vec<(Json, Vec<&'static str>)>,
    /// Whether text that holds JSON is answered as JSON.
    pub opens_json: bool,
    /// How people log in, if they can.
    pub accounts: Option<Accounts>,
}

/// The fields of bodies by which people log in.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// The field of the name.
    pub username: String,
    /// The field of the password.
    pub password: String,
    /// The field of the new password.
    pub new_password: String,
    /// Whether people can register.
    pub registers: bool,
}

/// Everything that a document is about.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The tables.
    pub schema: &'a Schema,
    /// What of them may be seen and done.
    pub policy: &'a Policy,
    /// Which database it is.
    pub dialect: Dialect,
    /// How forgiving the protocol is.
    pub mode: Mode,
    /// The server.
    pub surface: &'a Surface,
    /// The edition of the document.
    pub version: Version,
}

impl<'a> Asked<'a> {
    /// Whether an operation on a table would be answered with something else than "no such table" or "not supported".
    pub fn can(&self, operation: Operation, table: &Table) -> bool {
        self.policy.shows_table(operation, table)
            && match operation {
                Operation::List => true,
                Operation::Read => self.has_address(table),
                _ => self.has_address(table) && table.kind == TableKind::Table,
            }
    }

    /// Whether single records of a table have an address (SPEC 6.4).
    pub fn has_address(&self, table: &Table) -> bool {
        table.primary_key.is_some() || (self.mode.is_strict() && !table.key_columns.is_empty())
    }

    /// Whether the address of a record has several parts, and no other form is taken.
    pub fn needs_composite(&self, table: &Table) -> bool {
        table.key_columns.len() > 1 && (self.mode.is_strict() || table.primary_key.is_none())
    }

    /// Whether single records are addressed by a whole number.
    pub fn has_integer_key(&self, table: &Table) -> bool {
        !self.needs_composite(table) && table.key().is_some_and(|key| key.kind.is_integer())
    }

    /// Whether rows of the table at `id` may be seen.
    pub fn sees(&self, id: TableId) -> bool {
        is_visible(self.policy, self.schema.table(id))
    }

    /// Whether a foreign key of the table at `from` connects what may be seen.
    pub fn can_join(&self, from: TableId, key: &ForeignKey) -> bool {
        let shows = |table: TableId, column| self.policy.shows_column(self.schema.table(table), column);
        self.sees(from) && self.sees(key.table) && shows(from, key.column) && shows(key.table, key.target)
    }

    /// The columns of a table that exist for the caller, with their positions.
    pub fn columns(&self, table: &'a Table) -> impl Iterator<Item = (usize, &'a Column)> + use<'a> {
        let policy = self.policy;
        table.columns.iter().enumerate().filter(move |(index, _)| policy.shows_column(table, *index))
    }

    /// Whether a caller can choose the value of a column.
    pub fn writes(&self, table: &Table, index: usize) -> bool {
        !table.columns[index].generated
            && self.policy.writes_column(table, index)
            && !self.policy.forced.iter().any(|forced| forced.column_of(table) == Some(index))
    }
}

fn is_visible(policy: &Policy, table: &Table) -> bool {
    policy.shows_table(Operation::List, table) || policy.shows_table(Operation::Read, table)
}
