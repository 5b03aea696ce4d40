//! SchemaChange: one change of the schema, every name of it checked and real.

use crate::schema::ColumnType;
use crate::sql::statement::{Param, Source, Statement};
use crate::value::Value;

/// A column that another one refers to, by real names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The referenced table.
    pub table: String,
    /// Its primary key.
    pub column: String,
}

/// What a column is, or is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The real name.
    pub name: String,
    /// The type, of the closed list.
    pub kind: ColumnType,
    /// Characters or bytes, for varchar and varbinary.
    pub length: u32,
    /// Digits, for decimal.
    pub precision: u32,
    /// Digits after the point, for decimal.
    pub scale: u32,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// Whether it is the primary key, or a part of it in a new table.
    pub is_key: bool,
    /// What it refers to.
    pub reference: Option<Reference>,
}

impl Definition {
    /// Whether both have one type with the same sizes.
    pub fn has_type_of(&self, other: &Definition) -> bool {
        self.kind == other.kind
            && self.length == other.length
            && self.precision == other.precision
            && self.scale == other.scale
    }

    /// Whether the database makes its values, as a key of whole numbers that stands alone.
    pub fn is_automatic(&self) -> bool {
        self.is_key && self.kind.is_integer()
    }
}

/// One change of the schema; tables and columns have their real names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaChange {
    /// A new table.
    CreateTable {
        /// Its name.
        table: String,
        /// Its columns in their order.
        columns: Vec<Definition>,
    },
    /// Another name for a table or view.
    RenameTable {
        /// Its name so far.
        table: String,
        /// Its new name.
        name: String,
    },
    /// The end of a table.
    DropTable {
        /// Its name.
        table: String,
        /// Whether what depends on it goes with it, where the database can do that.
        cascades: bool,
    },
    /// A new column, the last of its table.
    AddColumn {
        /// The table.
        table: String,
        /// The column.
        column: Definition,
        /// The column that is the primary key so far and no longer is.
        old_key: Option<Definition>,
    },
    /// Another name, type, nullability or key for a column.
    AlterColumn {
        /// The table.
        table: String,
        /// What the column is.
        from: Definition,
        /// What it is to be.
        to: Definition,
        /// The other column that is the primary key so far and no longer is.
        old_key: Option<Definition>,
    },
    /// The end of a column, and of what keys it has.
    DropColumn {
        /// The table.
        table: String,
        /// The column.
        column: Definition,
        /// Whether what depends on it goes with it, where the database can do that.
        cascades: bool,
    },
}

impl SchemaChange {
    /// The table that is changed, or made.
    pub fn table(&self) -> &str {
        match self {
            SchemaChange::CreateTable { table, .. }
            | SchemaChange::RenameTable { table, .. }
            | SchemaChange::DropTable { table, .. }
            | SchemaChange::AddColumn { table, .. }
            | SchemaChange::AlterColumn { table, .. }
            | SchemaChange::DropColumn { table, .. } => table,
        }
    }
}

/// What the catalog says about the table to be changed: rows of text, in a form of each dialect's own.
pub type Facts = Vec<Vec<String>>;

/// A statement and the values of its holes.
#[derive(Debug)]
pub struct SchemaStep {
    /// The statement.
    pub statement: Statement,
    /// What its cells are.
    pub values: Vec<Value>,
}

impl From<Statement> for SchemaStep {
    fn from(statement: Statement) -> SchemaStep {
        SchemaStep { statement, values: Vec::new() }
    }
}

impl SchemaStep {
    /// A fixed query that asks for something by texts.
    pub fn with_texts(text: &str, values: &[&str]) -> SchemaStep {
        let holes = (0..values.len()).map(|cell| Param::bare(Source::Cell(u16::try_from(cell).unwrap_or(0))));
        let statement = Statement::new(text.to_owned(), holes.collect());
        SchemaStep { statement, values: values.iter().map(|value| Value::Text((*value).into())).collect() }
    }
}
