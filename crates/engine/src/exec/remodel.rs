//! Changes of the schema: what the catalog says is read, the statements are run, and what they broke is looked for.

use std::sync::Arc;

use treeql::error::{Code, Error};
use treeql::mode::Mode;
use treeql::request::Values;
use treeql::sql::{Args, Dialect, Facts, SchemaChange, SchemaStep};
use treeql::value::{Row, ValueRef};

use crate::database::Database;
use crate::driver::{Change, Connection, Flow, Outcome, Sink, Stopped};

/// Table, referenced table, number.
const VIOLATION_WIDTH: usize = 3;

/// Makes a change of the schema, whole or not at all; when this returns, everyone who asks from now on sees it.
pub async fn remodel(database: &Arc<Database>, change: SchemaChange) -> Result<(), Error> {
    let snapshot = database.snapshot();
    let dialect = snapshot.setting.dialect;
    tracing::info!(?change, "the schema is changed");
    let result = snapshot.driver.change(Remodel { change, dialect }).await;
    // What failed may still have been made, if the connection was lost.
    let reloaded = database.refresh().await;
    result?;
    reloaded
}

struct Remodel {
    change: SchemaChange,
    dialect: Dialect,
}

impl Change for Remodel {
    type Output = ();

    fn is_batch(&self) -> bool {
        self.dialect.has_transactional_ddl()
    }

    fn alters_schema(&self) -> bool {
        true
    }

    async fn run(&mut self, connection: &impl Connection) -> Result<Outcome<()>, Error> {
        if let Some(step) = self.dialect.lock_wait() {
            execute(connection, &step).await?;
        }
        let table = self.change.table();
        let facts = match self.change {
            SchemaChange::AddColumn { .. }
            | SchemaChange::AlterColumn { .. }
            | SchemaChange::DropColumn { .. } => {
                rows(connection, &self.dialect.facts(table), self.dialect.facts_width()).await?
            }
            SchemaChange::CreateTable { .. }
            | SchemaChange::RenameTable { .. }
            | SchemaChange::DropTable { .. } => Facts::new(),
        };
        let before = self.violations(connection).await?;
        for step in self.dialect.schema_steps(&self.change, &facts)? {
            execute(connection, &step).await.map_err(|error| self.explain(error))?;
        }
        let after = self.violations(connection).await?;
        match after.iter().find(|row| !is_old(&before, row)) {
            None => Ok(Outcome::Commit(())),
            Some(row) => {
                let sentence = format!(
                    "rows of '{}' ({} of them) would refer to rows of '{}' that are not there; nothing was changed",
                    row[0], row[2], row[1]
                );
                Err(Error::new(Code::DataIntegrityViolation, "").detail("foreign key", sentence))
            }
        }
    }
}

impl Remodel {
    /// Rows whose foreign keys lead nowhere, where the database does not look by itself.
    async fn violations(&self, connection: &impl Connection) -> Result<Facts, Error> {
        let is_touched =
            !matches!(self.change, SchemaChange::CreateTable { .. } | SchemaChange::RenameTable { .. });
        match self.dialect.violations(self.change.table()).filter(|_| is_touched) {
            Some(step) => rows(connection, &step, VIOLATION_WIDTH).await.map_err(no_key),
            None => Ok(Facts::new()),
        }
    }

    /// What the codes of the databases mean when the schema is changed.
    fn explain(&self, error: Error) -> Error {
        let drops = matches!(self.change, SchemaChange::DropColumn { .. } | SchemaChange::DropTable { .. });
        let code = match error.code {
            Code::Internal | Code::ValueNotAccepted if drops => Code::DataIntegrityViolation,
            // What MySQL says of a NULL in the way.
            Code::ValueNotAccepted if self.only_forbids_null() => Code::DataIntegrityViolation,
            code => code,
        };
        let sentence = match code {
            Code::DataIntegrityViolation if drops => {
                "something in the database depends on it: a foreign key, an index, a view, a trigger or a generated column"
            }
            Code::DataIntegrityViolation => {
                "rows that are there, or what uses the column (a foreign key, a view), do not allow it"
            }
            Code::ValueNotAccepted => {
                "values that are there do not fit, or the database does not accept such a column"
            }
            Code::DuplicateKey => "rows that are there, or a name in the database, clash with it",
            _ => return error,
        };
        let argument = if code == error.code { error.argument } else { "".into() };
        let details = error.details;
        Error { code, argument, details }.detail("schema", format!("{sentence}; nothing was changed"))
    }

    fn only_forbids_null(&self) -> bool {
        match &self.change {
            SchemaChange::AlterColumn { from, to, .. } => {
                from.nullable && !to.nullable && to.has_type_of(from)
            }
            _ => false,
        }
    }
}

/// SQLite cannot look at a foreign key that refers to what is not unique.
fn no_key(error: Error) -> Error {
    if error.code != Code::Internal {
        return error;
    }
    let sentence = "a foreign key refers to a column that is no key; nothing was changed";
    Error::new(Code::DataIntegrityViolation, "").detail("schema", sentence)
}

/// Whether there were as many before.
fn is_old(before: &Facts, row: &[String]) -> bool {
    let count = |row: &[String]| row[2].parse::<u64>().unwrap_or(u64::MAX);
    before.iter().any(|old| old[..2] == row[..2] && count(old) >= count(row))
}

async fn execute(connection: &impl Connection, step: &SchemaStep) -> Result<(), Error> {
    let values = Values::default();
    let args = Args { cells: &step.values, ..Args::of(&values, Mode::Strict) };
    // A query may be among them, whose answer nobody needs; a statement without rows is none the worse for it.
    let mut sink = Texts::default();
    connection.query(&step.statement, args, &mut sink).await.map_err(failed)
}

async fn rows(connection: &impl Connection, step: &SchemaStep, width: usize) -> Result<Facts, Error> {
    let values = Values::default();
    let args = Args { cells: &step.values, ..Args::of(&values, Mode::Strict) };
    let mut sink = Texts { cells: width, rows: Facts::new() };
    connection.query(&step.statement, args, &mut sink).await.map_err(failed)?;
    Ok(sink.rows)
}

fn failed(stopped: Stopped) -> Error {
    match stopped {
        Stopped::Failed(error) => error,
        Stopped::TooLong | Stopped::Abandoned => {
            Error::new(Code::DatabaseTimeout, "the statement was interrupted; nothing was changed")
        }
    }
}

/// Rows of text.
#[derive(Default)]
struct Texts {
    cells: usize,
    rows: Facts,
}

impl Sink for Texts {
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped> {
        let text = |index| match row.get(index) {
            ValueRef::Text(text) | ValueRef::Number(text) => text.to_owned(),
            ValueRef::Int(int) => int.to_string(),
            ValueRef::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            ValueRef::Bool(_) | ValueRef::Float(_) | ValueRef::Null => String::new(),
        };
        self.rows.push((0..self.cells).map(text).collect());
        Ok(Flow::More)
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}
