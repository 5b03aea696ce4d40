//! Generated schemas and requests, as hostile as they can be made.

use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::{Index, select};
use serde_json::{Map, Value as Json};
use treeql::mode::Mode;
use treeql::request::{Operation, Operator};
use treeql::schema::{ColumnType, RawTable};

use crate::schema::{table, with_references};

/// Pieces of names and values that have broken programs before.
const HOSTILE: &[&str] = &[
    "\"", "`", "'", "''", ";", "--", "/*", "*/", "#", "\\", "\\'", " ", "\n", "(", ")", ",", ".", "!", "*",
    "%", "_", "?", "?1", "$1", "@", ":id", "=", "[", "]", "&", "+", "r1", "r0", "SELECT", " OR 1=1", "NULL",
    "a", "b", "c1", "é", "名", "\u{202e}", "＂", "ʼ", "\u{0}",
];

const KINDS: &[ColumnType] = &[
    ColumnType::Integer,
    ColumnType::Varchar,
    ColumnType::Clob,
    ColumnType::Boolean,
    ColumnType::Double,
    ColumnType::Decimal,
    ColumnType::Timestamp,
    ColumnType::Blob,
    ColumnType::Geometry,
    ColumnType::Bit,
];

/// Lists stand for most of the SQL.
const OPERATIONS: [Operation; 9] = [
    Operation::List,
    Operation::List,
    Operation::List,
    Operation::List,
    Operation::Read,
    Operation::Create,
    Operation::Update,
    Operation::Increment,
    Operation::Delete,
];

pub fn hostile() -> impl Strategy<Value = String> {
    vec(
        prop_oneof![6 => select(HOSTILE).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)],
        0..6,
    )
    .prop_map(|pieces| pieces.concat())
}

/// A name, most often one that a query can name: it has no comma and no dot, and ends in no bracket.
fn name() -> impl Strategy<Value = String> {
    let plain = hostile().prop_map(|name| name.replace([',', '.', '!', '[', '\0'], ""));
    prop_oneof![4 => plain, 1 => hostile()]
}

pub fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Strict), Just(Mode::Lenient)]
}

/// Two to four tables, each with a reference to the one before it and one to any; names differ by their last letters.
pub fn tables() -> impl Strategy<Value = Vec<RawTable>> {
    let column = (name(), select(KINDS));
    vec((name(), vec(column, 3..5), any::<Index>()), 2..5).prop_map(|parts| {
        let name = |number: usize| format!("{}t{number}", parts[number].0);
        let tables = parts.iter().enumerate().map(|(number, (_, columns, other))| {
            let columns: Vec<(String, ColumnType)> = columns
                .iter()
                .enumerate()
                .map(|(place, (name, kind))| (format!("{name}c{place}"), *kind))
                .collect();
            let columns: Vec<(&str, ColumnType)> =
                columns.iter().map(|(name, kind)| (&**name, *kind)).collect();
            let targets = [name(number.saturating_sub(1)), name(other.index(parts.len()))];
            let references = [(columns[1].0, &*targets[0]), (columns[columns.len() - 1].0, &*targets[1])];
            with_references(table(&name(number), &columns), &references)
        });
        tables.collect()
    })
}

/// A request for those tables: names by their place, values as they come.
#[derive(Clone, Debug)]
pub struct Asked {
    pub operation: Operation,
    pub mode: Mode,
    table: Index,
    parameters: Vec<Parameter>,
    page: Option<(u8, u8)>,
    members: Vec<(Index, Json)>,
    pub id: String,
}

#[derive(Clone, Debug)]
enum Parameter {
    Filter { path: Vec<Index>, column: Index, operator: String, value: String, group: String },
    Join(Vec<Index>),
    Order(Index, bool),
    Include(Vec<Index>),
    Exclude(Vec<Index>),
    Unknown(String, String),
}

fn parameter() -> impl Strategy<Value = Parameter> {
    let names: Vec<&str> = Operator::names().collect();
    let operator = (any::<bool>(), select(names))
        .prop_map(|(negated, name)| if negated { format!("n{name}") } else { name.to_owned() });
    let group = prop_oneof![Just(String::new()), "[0-9]{0,2}[a-z]?[0-9]?", hostile()];
    let indexes = || vec(any::<Index>(), 0..3);
    prop_oneof![
        6 => (indexes(), any::<Index>(), operator, hostile(), group).prop_map(|(path, column, operator, value, group)| {
            Parameter::Filter { path, column, operator, value, group }
        }),
        2 => indexes().prop_map(Parameter::Join),
        1 => (any::<Index>(), any::<bool>()).prop_map(|(column, is_descending)| Parameter::Order(column, is_descending)),
        1 => indexes().prop_map(Parameter::Include),
        1 => indexes().prop_map(Parameter::Exclude),
        1 => (hostile(), hostile()).prop_map(|(name, value)| Parameter::Unknown(name, value)),
    ]
}

pub fn asked() -> impl Strategy<Value = Asked> {
    let value = prop_oneof![
        hostile().prop_map(Json::String),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<bool>().prop_map(Json::Bool),
        Just(Json::Null),
        hostile().prop_map(|text| Json::Array(vec![Json::String(text)])),
    ];
    let id = prop_oneof![hostile(), any::<i64>().prop_map(|id| id.to_string())];
    (
        select(&OPERATIONS[..]),
        mode(),
        any::<Index>(),
        vec(parameter(), 0..5),
        proptest::option::of(any::<(u8, u8)>()),
        vec((any::<Index>(), value), 0..4),
        id,
    )
        .prop_map(|(operation, mode, table, parameters, page, members, id)| Asked {
            operation,
            mode,
            table,
            parameters,
            page,
            members,
            id,
        })
}

impl Asked {
    pub fn table<'a>(&self, tables: &'a [RawTable]) -> &'a RawTable {
        self.table.get(tables)
    }

    pub fn query(&self, tables: &[RawTable]) -> String {
        let mut query = String::new();
        let root = self.table(tables);
        let column = |index: &Index| index.get(&root.columns).name.to_string();
        let columns = |indexes: &[Index]| indexes.iter().map(&column).collect::<Vec<String>>().join(",");
        let tables_of = |indexes: &[Index], mark: &str| {
            indexes.iter().map(|index| index.get(tables).name.clone()).collect::<Vec<String>>().join(mark)
        };
        for parameter in &self.parameters {
            match parameter {
                Parameter::Filter { path, column: index, operator, value, group } => {
                    let name = match path.last() {
                        Some(last) => {
                            format!("{}.{}", tables_of(path, "."), index.get(&last.get(tables).columns).name)
                        }
                        None => column(index),
                    };
                    push(&mut query, &format!("filter{group}"), &format!("{name},{operator},{value}"));
                }
                Parameter::Join(path) => push(&mut query, "join", &tables_of(path, ",")),
                Parameter::Order(index, true) => {
                    push(&mut query, "order", &format!("{},desc", column(index)))
                }
                Parameter::Order(index, false) => push(&mut query, "order", &column(index)),
                Parameter::Include(indexes) => push(&mut query, "include", &columns(indexes)),
                Parameter::Exclude(indexes) => push(&mut query, "exclude", &columns(indexes)),
                Parameter::Unknown(name, value) => push(&mut query, name, value),
            }
        }
        if let Some((page, size)) = self.page {
            push(&mut query, "page", &format!("{page},{size}"));
        }
        query
    }

    pub fn body(&self, tables: &[RawTable]) -> String {
        let columns = &self.table(tables).columns;
        let members =
            self.members.iter().map(|(index, value)| (index.get(columns).name.to_string(), value.clone()));
        Json::Object(members.collect::<Map<String, Json>>()).to_string()
    }
}

/// Appends a parameter, everything that is not plain escaped.
pub fn push(query: &mut String, name: &str, value: &str) {
    let escaped = |text: &str| {
        text.bytes().fold(String::new(), |mut escaped, byte| {
            if byte.is_ascii_alphanumeric() {
                escaped.push(char::from(byte));
            } else {
                write!(escaped, "%{byte:02x}").expect("a String takes everything");
            }
            escaped
        })
    };
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(&format!("{}={}", escaped(name), escaped(value)));
}
