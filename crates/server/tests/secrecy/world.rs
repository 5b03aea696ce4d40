//! Generated rules, and two databases that differ only in what these rules hide.

use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use rusqlite::Connection;

/// A table: its name, its columns as declared, and what stands behind them.
pub struct Shape {
    pub name: &'static str,
    pub columns: &'static [(&'static str, &'static str)],
    key: &'static str,
}

const KEY: (&str, &str) = ("id", "integer PRIMARY KEY AUTOINCREMENT");
const SCOPE: (&str, &str) = ("scope", "varchar(10) DEFAULT 'open'");

/// No foreign key is in the catalog: what the database itself says about hidden rows is in docs/security.md, 1.2.
pub const SHAPES: [Shape; 6] = [
    Shape {
        name: "people",
        columns: &[KEY, SCOPE, ("name", "text"), ("age", "integer"), ("password", "text")],
        key: "",
    },
    Shape {
        name: "posts",
        columns: &[
            KEY,
            SCOPE,
            ("owner", "integer"),
            ("title", "text"),
            ("views", "integer"),
            ("place", "geometry"),
        ],
        key: "",
    },
    Shape {
        name: "comments",
        columns: &[KEY, SCOPE, ("post_id", "integer"), ("author_id", "integer"), ("text", "text")],
        key: "",
    },
    Shape { name: "tags", columns: &[KEY, SCOPE, ("word", "text")], key: "" },
    Shape {
        name: "post_tags",
        columns: &[KEY, SCOPE, ("post_id", "integer"), ("tag_id", "integer")],
        key: "",
    },
    Shape {
        name: "editions",
        columns: &[("post_id", "integer"), ("lang", "text"), SCOPE, ("title", "text")],
        key: ", PRIMARY KEY (post_id, lang)",
    },
];

pub const FOREIGN_KEYS: &str = "posts.owner=people.id, comments.post_id=posts.id, comments.author_id=people.id, \
                                post_tags.post_id=posts.id, post_tags.tag_id=tags.id, editions.post_id=posts.id";

pub const WORDS: [&str; 7] = ["ada", "bo", "ada bo", "secret", "b%", "", "9"];
const PLACES: [&str; 3] = ["POINT(1 2)", "POINT(5 52)", "LINESTRING(1 1,2 2)"];
const ALLOWED: [&str; 6] = ["all", "all", "list,read", "list", "create", "none"];
/// The id of a row that both databases have, so that generated ids are equal.
const LAST_ID: u16 = 1000;

/// What the rules say about a table.
#[derive(Clone, Debug)]
pub struct TableRule {
    allow: usize,
    /// Rows whose scope is not `open` do not exist: by a rule, or as those of another tenant.
    hides_rows: bool,
    is_tenant: bool,
    hides_columns: u8,
    read_only: u8,
}

/// Rules, rows, and how the second database differs.
#[derive(Clone, Debug)]
pub struct World {
    rules: Vec<TableRule>,
    rows: Vec<Vec<[u8; 12]>>,
    is_strict: bool,
    limits: (u8, u8),
}

pub fn worlds() -> impl Strategy<Value = World> {
    let rule = (0..ALLOWED.len(), any::<bool>(), any::<bool>(), any::<u8>(), any::<u8>(), any::<u8>());
    let rule = rule.prop_map(|(allow, hides_rows, is_tenant, one, other, read_only)| TableRule {
        allow,
        hides_rows,
        is_tenant,
        // Most columns are shown, so that most requests are answered.
        hides_columns: one & other,
        read_only: read_only & one,
    });
    let rows = vec(vec(any::<[u8; 12]>(), 0..7), SHAPES.len());
    (vec(rule, SHAPES.len()), rows, any::<bool>(), any::<(u8, u8)>())
        .prop_map(|(rules, rows, is_strict, limits)| World { rules, rows, is_strict, limits })
}

impl World {
    /// The configuration with these rules, or with none.
    pub fn config(&self, has_rules: bool) -> String {
        let strict = self.is_strict;
        let mut text = format!("strict = {strict}\nforeignKeys = \"{FOREIGN_KEYS}\"\nprimaryKeys = \"\"\n");
        if !has_rules {
            return text + "publishSecrets = \"*\"\n";
        }
        text.push_str(
            "middlewares = \"authorization,multiTenancy,textSearch,joinLimits,pageLimits,validation\"\n",
        );
        let (records, joined) = (self.limits.0 % 6 + 1, self.limits.1 % 3 + 1);
        write!(text, "[pageLimits]\nrecords = {records}\n[joinLimits]\nrecords = {joined}\n").unwrap();
        text.push_str("[[validation.rules]]\ncolumns = \"title,password\"\nmaxLength = 8\n");
        for (shape, rule) in SHAPES.iter().zip(&self.rules) {
            let named = |bits: u8| {
                let columns = shape.columns.iter().enumerate().filter(|(index, _)| bits & (1 << index) != 0);
                columns.map(|(_, (name, _))| *name).collect::<Vec<&str>>().join(",")
            };
            let filter = if rule.hides_rows && !rule.is_tenant { "scope,eq,open" } else { "" };
            let (name, allow) = (shape.name, ALLOWED[rule.allow]);
            let (hide, read_only) = (named(rule.hides_columns), named(rule.read_only));
            write!(
                text,
                "[[authorization.rules]]\ntables = \"{name}\"\nallow = \"{allow}\"\nfilter = \"{filter}\"\n"
            )
            .unwrap();
            write!(text, "hide = \"{hide}\"\nreadOnly = \"{read_only}\"\n").unwrap();
            if rule.hides_rows && rule.is_tenant {
                write!(
                    text,
                    "[[multiTenancy.rules]]\ntables = \"{name}\"\ncolumn = \"scope\"\nvalue = \"open\"\n"
                )
                .unwrap();
            }
        }
        text
    }

    /// Writes one of the two databases.
    pub fn write(&self, path: &std::path::Path, is_second: bool) {
        let mut script = String::from("BEGIN;\n");
        for (number, shape) in SHAPES.iter().enumerate() {
            let columns: Vec<String> =
                shape.columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
            writeln!(script, "CREATE TABLE {} ({}{});", shape.name, columns.join(", "), shape.key).unwrap();
            for row in self.rows_of(number, is_second) {
                writeln!(script, "INSERT INTO {} VALUES ({});", shape.name, row.join(", ")).unwrap();
            }
        }
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(&(script + "COMMIT;")).unwrap();
    }

    fn rows_of(&self, number: usize, is_second: bool) -> Vec<Vec<String>> {
        let (shape, rule) = (&SHAPES[number], &self.rules[number]);
        let has_no_rows = matches!(ALLOWED[rule.allow], "none" | "create");
        let mut rows = Vec::new();
        for (place, bytes) in self.rows[number].iter().enumerate() {
            let is_hidden = has_no_rows || (rule.hides_rows && bytes[0] % 2 == 1);
            // Hidden rows come and go.
            if is_hidden && is_second && bytes[1] % 3 == 0 {
                continue;
            }
            rows.push(self.row(number, place, bytes, is_hidden, is_second));
        }
        if is_second && (has_no_rows || rule.hides_rows) {
            for place in 10..13 {
                let bytes = [u8::try_from(place).unwrap() * 2 + 1; 12];
                rows.push(self.row(number, place, &bytes, true, true));
            }
        }
        if shape.columns[0].0 == "id" {
            let mut last = self.row(number, usize::from(LAST_ID) - 1, &[1; 12], true, false);
            last[0] = LAST_ID.to_string();
            rows.push(last);
        }
        // The order in which rows lie on the disk is hidden, too, where their keys are.
        if is_second && rule.hides_columns & 1 != 0 {
            rows.reverse();
        }
        rows
    }

    /// A row; in the second database hidden cells have other values.
    fn row(
        &self,
        number: usize,
        place: usize,
        bytes: &[u8; 12],
        is_hidden: bool,
        is_second: bool,
    ) -> Vec<String> {
        let (shape, rule) = (&SHAPES[number], &self.rules[number]);
        let cells = shape.columns.iter().enumerate().map(|(index, (name, kind))| {
            let is_other =
                is_second && (is_hidden || rule.hides_columns & (1 << index) != 0 || *name == "password");
            let byte = usize::from(bytes[index + 2].wrapping_add(if is_other { 77 } else { 0 }));
            match (*name, *kind) {
                // What says which rows exist is the same, or the rows would not be the same.
                ("scope", _) if rule.hides_rows => {
                    if bytes[0] % 2 == 1 {
                        "'shut'".to_owned()
                    } else {
                        "'open'".to_owned()
                    }
                }
                // Keys stay where rows are hidden as a whole: whoever may write could meet them.
                ("id", _) if is_other && rule.hides_columns & 1 != 0 => (200 - place).to_string(),
                ("id", _) => (place + 1).to_string(),
                ("post_id", _) if !shape.key.is_empty() && is_other => (300 - place).to_string(),
                ("post_id", _) if !shape.key.is_empty() => (place / 2 + 1).to_string(),
                ("lang", _) if is_other => {
                    format!("'{}'", char::from(b'z' - u8::try_from(place % 20).unwrap()))
                }
                ("lang", _) => format!("'{}'", char::from(b'a' + u8::try_from(place % 20).unwrap())),
                (_, "integer") if byte % 9 == 8 => "NULL".to_owned(),
                (_, "integer") => (byte % 7).to_string(),
                (_, "geometry") => PLACES.get(byte % 4).map_or("NULL".to_owned(), |text| format!("'{text}'")),
                _ => WORDS.get(byte % 8).map_or("NULL".to_owned(), |text| format!("'{text}'")),
            }
        });
        cells.collect()
    }
}
