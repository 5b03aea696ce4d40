//! Plan snapshots: a request in, the SQL of every dialect out, side by side in `plan/*.txt`.
//!
//! A file is a request (method, path and query; an empty line and a body if it has one), then one part for each
//! dialect and the values that are bound. Above the request may stand `# comments` and `mode: lenient`.
//! `BLESS=1` rewrites the parts; the diff is the review. A new snapshot is a file with nothing but a request.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of a test program for no test")]

use std::borrow::Cow;
use std::fmt::Write;

use treeql::error::Error;
use treeql::mode::Mode;
use treeql::plan::{JoinPlan, Key, Plan, Setting, WritePlan, plan};
use treeql::policy::Policy;
use treeql::record::prepare;
use treeql::request::{BodyKind, Operation, RecordBatch, Request, Values, Window, decode_path, parse_query};
use treeql::row::{Layout, MemberKind};
use treeql::schema::{ColumnType, Declared, Mapping, Publication, RawTable, Schema, TableKind};
use treeql::sql::{Args, Dialect, Source, Statement};
use treeql::value::{Value, ValueRef};

use crate::schema::{table, with_references};

#[path = "support/schema.rs"]
mod schema;
#[path = "support/snapshots.rs"]
mod snapshots;

#[test]
fn every_request_makes_the_sql_that_was_reviewed() {
    snapshots::compare("plan", "plans", |head| Snapshot::parse(head).render());
}

/// A request as it stands in a file.
struct Snapshot<'a> {
    mode: Mode,
    method: &'a str,
    path: &'a str,
    query: &'a str,
    body: &'a str,
}

/// What is run for a request in one dialect: statements, and the values of each run.
#[derive(Default)]
struct Planned {
    statements: Vec<String>,
    values: Vec<String>,
}

impl<'a> Snapshot<'a> {
    fn parse(head: &'a str) -> Snapshot<'a> {
        let mut rest = head;
        let mut mode = Mode::Strict;
        let line = loop {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            rest = after;
            match line {
                "mode: lenient" => mode = Mode::Lenient,
                _ if line.starts_with('#') || line.is_empty() => {}
                _ => break line,
            }
        };
        let (method, target) = line.split_once(' ').unwrap_or_else(|| panic!("{line:?} is no request"));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Snapshot { mode, method, path, query, body: rest.trim_start() }
    }

    fn render(&self) -> String {
        let mut text = String::new();
        let mut values: Vec<(&str, Vec<String>)> = Vec::new();
        for dialect in Dialect::ALL {
            writeln!(text, "--- {}", dialect.name()).unwrap();
            let planned = self.plan(dialect).unwrap_or_else(|error| Planned {
                statements: vec![format!("error {error}")],
                values: Vec::new(),
            });
            planned.statements.iter().for_each(|line| writeln!(text, "{line}").unwrap());
            values.push((dialect.name(), planned.values));
        }
        values.retain(|(_, lines)| !lines.is_empty());
        let is_alike = values.iter().all(|(_, lines)| *lines == values[0].1);
        if is_alike {
            values.truncate(1);
        }
        for (name, lines) in values {
            let part = if is_alike { "--- values".to_owned() } else { format!("--- values of {name}") };
            writeln!(text, "{part}\n{}", lines.join("\n")).unwrap();
        }
        text
    }

    fn plan(&self, dialect: Dialect) -> Result<Planned, Error> {
        let schema = Schema::build(tables(), &publication(dialect)).unwrap();
        let setting = Setting { dialect, mode: self.mode, srid: 4326, merges_reads: false };
        let segments = decode_path(self.path).unwrap();
        let segments: Vec<&str> = segments.iter().map(Cow::as_ref).collect();
        let mut values = Values::default();
        let (operation, name) = match (self.method, segments.as_slice()) {
            ("GET", ["records", name]) => (Operation::List, *name),
            ("POST", ["records", name]) => (Operation::Create, *name),
            (method, ["records", name, ids]) => {
                values.ids = ids.split(',').map(Cow::Borrowed).collect();
                (operation(method), *name)
            }
            _ => panic!("{} {} is no route", self.method, self.path),
        };
        let parsed = parse_query(self.query, name, self.mode, &mut values)?;
        let mut request = Request::new(operation, name);
        request.query = parsed.query;
        request.counted = parsed.counted;
        request.window = Window::of(values.limit, values.offset);
        if self.body.is_empty() {
            let plan = plan(&request, &schema, &Policy::default(), setting)?;
            return Planned::of(&plan, &[], &values, self.mode);
        }
        let batch = RecordBatch::parse(self.body.as_bytes(), BodyKind::Detected, 10, self.mode)?;
        let record = &batch.records[0];
        request.members = record.iter().map(|(name, _)| name.clone()).collect();
        let plan = plan(&request, &schema, &Policy::default(), setting)?;
        let definition = schema.table(schema.find(name).unwrap());
        let id: Vec<&str> = values.ids.iter().map(Cow::as_ref).collect();
        let cells = prepare(operation, definition, &id, record, dialect, self.mode)?;
        Planned::of(&plan, &cells, &values, self.mode)
    }
}

fn operation(method: &str) -> Operation {
    match method {
        "GET" => Operation::Read,
        "PUT" => Operation::Update,
        "PATCH" => Operation::Increment,
        "DELETE" => Operation::Delete,
        _ => panic!("{method} is no method of a record"),
    }
}

impl Planned {
    fn of(plan: &Plan, cells: &[Value], values: &Values<'_>, mode: Mode) -> Result<Planned, Error> {
        let mut planned = Planned::default();
        let statement = match plan {
            Plan::List(list) => {
                planned.select(&list.select.statement, &list.select.layout, &list.select.joins);
                if let Some(count) = &list.count {
                    planned.statements.push(format!("count: {}", count.text));
                }
                Some(&list.select.statement)
            }
            Plan::Read(select) => {
                planned.select(&select.statement, &select.layout, &select.joins);
                Some(&select.statement)
            }
            Plan::Write(write) => {
                planned.write(write);
                write.statement.as_ref()
            }
        };
        let Some(statement) = statement else { return Ok(planned) };
        for id in 0..values.ids.len().max(1) {
            let args = Args { id, cells, ..Args::of(values, mode) };
            let bound: Result<Vec<String>, Error> = statement
                .params
                .iter()
                .map(|param| args.get(param).map(|value| shown(value.as_ref())))
                .collect();
            planned.values.push(bound?.join(", "));
        }
        planned.values.retain(|line| !line.is_empty());
        Ok(planned)
    }

    fn select(&mut self, statement: &Statement, layout: &Layout, joins: &[JoinPlan]) {
        self.statements.push(statement.text.to_string());
        self.joins(layout, joins, 1);
    }

    /// One line for each join, below the query that its keys come from: the member it fills, and its query.
    fn joins(&mut self, layout: &Layout, joins: &[JoinPlan], depth: usize) {
        for (number, join) in joins.iter().enumerate() {
            let member = layout.members.iter().find(|member| member.joins.contains(&number)).unwrap();
            let name = match member.kind {
                MemberKind::Record { cell } => layout.cells[cell].name.to_string(),
                MemberKind::List => {
                    serde_json::from_slice::<String>(&member.key[..member.key.len() - 1]).unwrap() + "[]"
                }
            };
            let keys = join.statement.for_keys(1);
            let others = keys.params.iter().filter(|param| !matches!(param.source, Source::Key(_))).count();
            assert_eq!(others, 0, "only keys are bound in a join, as long as no policy adds a condition");
            self.statements.push(format!("{}{name}: {}", "  ".repeat(depth), keys.text));
            self.joins(&join.layout, &join.joins, depth + 1);
        }
    }

    fn write(&mut self, write: &WritePlan) {
        let Some(statement) = &write.statement else {
            return self.statements.push("nothing is left to change".to_owned());
        };
        self.statements.push(statement.text.to_string());
        if statement.text.starts_with("INSERT") {
            let key = match (write.key.clone(), write.returns_key) {
                (Key::Address(parts), _) => format!("the address by {parts:?}"),
                (Key::Sent(place), _) => format!("member {place}, as sent"),
                (Key::Generated, true) => "the row that comes back".to_owned(),
                (Key::Generated, false) => "what the driver learns".to_owned(),
            };
            self.statements.push(format!("answer: {key}"));
        }
    }
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Bool(truth) => truth.to_string(),
        ValueRef::Int(int) => int.to_string(),
        ValueRef::Float(float) => format!("{float:?}"),
        ValueRef::Number(text) | ValueRef::Text(text) => format!("{text:?}"),
        ValueRef::Bytes(bytes) => format!("{bytes:02x?}"),
    }
}

fn publication(dialect: Dialect) -> Publication {
    let mapping = "wp_pages=pages,wp_pages.ID=pages.id,wp_pages.post_title=pages.title";
    Publication {
        mapping: Mapping::parse(mapping).unwrap(),
        tables: Vec::new(),
        declared: Declared::default(),
        quoted_bigints: false,
        first_of_composite_key: dialect.first_of_composite_key(),
    }
}

/// The same table with another primary key, by position; several columns make a composite one.
fn with_key(mut table: RawTable, columns: &[usize]) -> RawTable {
    table.key_columns = columns.to_vec();
    table
}

/// A blog with a table for each kind of trouble.
fn tables() -> Vec<RawTable> {
    use ColumnType::{Blob, Boolean, Clob, Date, Decimal, Double, Geometry, Integer, Timestamp, Varchar};
    let mut published =
        table("published_posts", &[("id", Integer), ("title", Varchar), ("users_id", Integer)]);
    published.kind = TableKind::View;
    published.key_columns.clear();
    let mut shapes = table("shapes", &[("id", Integer), ("area", Geometry), ("size", Double)]);
    shapes.columns[2].generated = true;
    let posts = [
        ("id", Integer),
        ("user_id", Integer),
        ("category_id", Integer),
        ("title", Varchar),
        ("content", Clob),
        ("price", Decimal),
        ("is_public", Boolean),
        ("created_at", Timestamp),
        ("cover", Blob),
    ];
    vec![
        table("users", &[("id", Integer), ("name", Varchar), ("born", Date)]),
        with_references(
            table("categories", &[("id", Integer), ("name", Varchar), ("parent_id", Integer)]),
            &[("parent_id", "categories")],
        ),
        with_references(table("posts", &posts), &[("user_id", "users"), ("category_id", "categories")]),
        with_references(
            table(
                "comments",
                &[("id", Integer), ("post_id", Integer), ("user_id", Integer), ("message", Clob)],
            ),
            &[("post_id", "posts"), ("user_id", "users")],
        ),
        table("tags", &[("id", Integer), ("name", Varchar)]),
        with_references(
            table("post_tags", &[("id", Integer), ("post_id", Integer), ("tag_id", Integer)]),
            &[("post_id", "posts"), ("tag_id", "tags")],
        ),
        with_references(
            table("messages", &[("id", Integer), ("from_id", Integer), ("to_id", Integer), ("body", Clob)]),
            &[("from_id", "users"), ("to_id", "users")],
        ),
        with_key(
            with_references(
                table("translations", &[("post_id", Integer), ("language", Varchar), ("title", Varchar)]),
                &[("post_id", "posts")],
            ),
            &[0, 1],
        ),
        with_key(table("visits", &[("path", Varchar), ("seconds", Integer)]), &[]),
        table("wp_pages", &[("ID", Integer), ("post_title", Varchar)]),
        with_references(
            table("we\"ird `name", &[("i\"d", Integer), ("ta`ble; --", Varchar), ("of", Integer)]),
            &[("of", "we\"ird `name")],
        ),
        with_references(table("r0", &[("id", Integer), ("boss", Integer)]), &[("boss", "r0")]),
        with_references(table("r1", &[("id", Integer), ("r0_id", Integer)]), &[("r0_id", "r0")]),
        with_references(
            table("r2", &[("id", Integer), ("from", Integer), ("to", Integer)]),
            &[("from", "tags"), ("to", "r0")],
        ),
        shapes,
        published,
    ]
}
