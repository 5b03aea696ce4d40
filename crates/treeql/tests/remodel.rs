//! Snapshots of schema changes: a request in, the statements of every dialect out, side by side in `remodel/*.txt`.
//!
//! A file is a request (method and path; an empty line and a body if it has one), then one part for each dialect.
//! Above the request may stand `# comments` and `mode: lenient`. `BLESS=1` rewrites the parts; the diff is the review.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of a test program for no test")]

use std::fmt::Write;

use treeql::error::Error;
use treeql::mode::Mode;
use treeql::policy::Policy;
use treeql::remodel::{
    AskedColumn, AskedTable, Remodel, Shown, add_column, alter_column, create_table, drop_column, drop_table,
    rename_table,
};
use treeql::request::{BodyKind, Operation, decode_path};
use treeql::schema::{ColumnType, Publication, RawTable, Schema, TableKind};
use treeql::sql::{Dialect, Facts, SchemaChange};

use crate::schema::{table, with_references};

#[path = "support/schema.rs"]
mod schema;
#[path = "support/snapshots.rs"]
mod snapshots;

/// What SQLite keeps: type, name and text.
const SQLITE: [[&str; 3]; 4] = [
    [
        "table",
        "notes",
        "CREATE TABLE notes (id integer PRIMARY KEY AUTOINCREMENT, -- the key, of course\n user_id integer NOT NULL \
         REFERENCES users (id) ON DELETE CASCADE, title varchar(80) NOT NULL DEFAULT 'none, yet' COLLATE NOCASE, \
         rating decimal(10,2) CHECK (rating >= 0), twice int GENERATED ALWAYS AS (rating * 2), UNIQUE (user_id, title))",
    ],
    ["index", "notes_rating", "CREATE INDEX notes_rating ON notes (rating DESC)"],
    ["trigger", "notes_log", "CREATE TRIGGER notes_log AFTER INSERT ON notes BEGIN DELETE FROM log; END"],
    ["table", "rowcast_new_0", "CREATE TABLE rowcast_new_0 (a)"],
];

/// What MariaDB prints.
const MYSQL: &str = "CREATE TABLE \"notes\" (\n  \"id\" int(11) NOT NULL AUTO_INCREMENT,\n  \
    \"user_id\" int(11) NOT NULL,\n  \"title\" varchar(80) CHARACTER SET latin1 COLLATE latin1_german1_ci NOT NULL \
    DEFAULT 'none, yet' COMMENT 'it''s \\'this\\'',\n  \"rating\" decimal(10,2) DEFAULT NULL CHECK (\"rating\" >= 0),\n  \
    \"twice\" int(11) GENERATED ALWAYS AS (\"rating\" * 2) VIRTUAL,\n  PRIMARY KEY (\"id\"),\n  \
    UNIQUE KEY \"user_id\" (\"user_id\",\"title\"),\n  KEY \"notes_rating\" (\"rating\"),\n  \
    CONSTRAINT \"notes_ibfk_1\" FOREIGN KEY (\"user_id\") REFERENCES \"users\" (\"id\") ON DELETE CASCADE\n) \
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4";

/// What PostgreSQL keeps: kind, name and column.
const POSTGRES: [[&str; 3]; 4] = [
    ["p", "notes_pkey", "id"],
    ["f", "notes_user_id_fkey", "user_id"],
    ["c", "notes_rating_check", "rating"],
    ["serial", "notes_id_seq", "id"],
];

#[test]
fn every_change_makes_the_statements_that_were_reviewed() {
    snapshots::compare("remodel", "changes", render);
}

/// What is made of a change in each dialect.
fn render(head: &str) -> String {
    let mut text = String::new();
    for dialect in Dialect::ALL {
        writeln!(text, "--- {}", dialect.name()).unwrap();
        match statements(head, dialect) {
            Ok(lines) => lines.iter().for_each(|line| writeln!(text, "{line}").unwrap()),
            Err(error) => writeln!(text, "error {error}").unwrap(),
        }
    }
    text
}

fn statements(head: &str, dialect: Dialect) -> Result<Vec<String>, Error> {
    let mode = if head.contains("mode: lenient\n") { Mode::Lenient } else { Mode::Strict };
    let mut lines = head.lines().skip_while(|line| line.starts_with('#') || line.starts_with("mode:"));
    let request = lines.next().unwrap();
    let body: String = lines.collect::<Vec<&str>>().concat();
    let (method, path) = request.split_once(' ').unwrap();
    let segments = decode_path(path).unwrap();
    let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    let schema = Schema::build(tables(), &Publication::default()).unwrap();
    let policy = Policy::default();
    let shown = Shown { schema: &schema, policy: &policy, mode, operation: Operation::Remodel };
    let publication = Publication::default();
    let remodel = Remodel { shown, dialect, publication: &publication };
    let a_table = || AskedTable::parse(body.as_bytes(), BodyKind::Detected, mode);
    let a_column = || AskedColumn::parse(body.as_bytes(), BodyKind::Detected, mode);
    let change = match (method, segments.as_slice()) {
        ("POST", ["columns"]) => Some(create_table(remodel, a_table()?)?),
        ("PUT", ["columns", table]) => rename_table(remodel, table, a_table()?)?,
        ("DELETE", ["columns", table]) => Some(drop_table(remodel, table)?),
        ("POST", ["columns", table]) => Some(add_column(remodel, table, &a_column()?)?),
        ("PUT", ["columns", table, column]) => alter_column(remodel, table, column, &a_column()?)?,
        ("DELETE", ["columns", table, column]) => Some(drop_column(remodel, table, column)?),
        _ => panic!("{request} is no route"),
    };
    let Some(change) = change else { return Ok(vec!["nothing changes".to_owned()]) };
    let steps = dialect.schema_steps(&change, &facts(dialect, &change))?;
    let line = |step: &treeql::sql::SchemaStep| {
        let values = if step.values.is_empty() { String::new() } else { format!(" {:?}", step.values) };
        format!("{}{values}", step.statement.text)
    };
    Ok(steps.iter().map(line).collect())
}

fn facts(dialect: Dialect, change: &SchemaChange) -> Facts {
    if change.table() != "notes" {
        return Facts::new();
    }
    let owned = |rows: &[[&str; 3]]| rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
    match dialect.name() {
        "sqlite" => owned(&SQLITE),
        "mysql" => vec![vec!["notes".to_owned(), MYSQL.to_owned()]],
        _ => owned(&POSTGRES),
    }
}

fn tables() -> Vec<RawTable> {
    use ColumnType::{Bigint, Clob, Decimal, Integer, Varchar};
    let mut notes = with_references(
        table(
            "notes",
            &[
                ("id", Integer),
                ("user_id", Integer),
                ("title", Varchar),
                ("rating", Decimal),
                ("twice", Integer),
            ],
        ),
        &[("user_id", "users")],
    );
    notes.columns[2].length = 80;
    (notes.columns[3].precision, notes.columns[3].scale) = (10, 2);
    notes.columns[4].generated = true;
    for column in &mut notes.columns[..3] {
        column.nullable = false;
    }
    let mut view = table("best_notes", &[("id", Integer), ("title", Varchar)]);
    view.kind = TableKind::View;
    let mut visits = table("visits", &[("day", Varchar), ("page", Varchar), ("hits", Bigint)]);
    visits.key_columns = vec![0, 1];
    vec![
        table("users", &[("id", Integer), ("name", Varchar), ("bio", Clob)]),
        notes,
        visits,
        table("we\"ird `name", &[("i\"d", Integer), ("ta`ble; --", Varchar)]),
        view,
    ]
}
