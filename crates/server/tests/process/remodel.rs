//! A table of SQLite that is made anew: nothing of it is lost, readers do not notice, and what fails leaves no trace.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rusqlite::Connection;

use crate::program::files::{database, folder, text};
use crate::program::running::{Running, start};
use crate::program::wire::{get, send};

/// Rows of the table; enough that it is being read while it is made anew.
const ROWS: usize = 20_000;

/// A table with everything that a table can have, and others that hang on it.
const TABLES: &str = "
    CREATE TABLE owners (id integer PRIMARY KEY, name text COLLATE NOCASE UNIQUE);
    CREATE TABLE log (what text);
    CREATE TABLE \"all, of it\" (
        id integer PRIMARY KEY AUTOINCREMENT, -- never given twice, never
        owner_id integer NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
        \"title (\"\"x\"\")\" varchar(40) NOT NULL DEFAULT 'none, or ''some''' /* a comment, */ COLLATE NOCASE,
        price decimal(8,2) CHECK (price >= 0 OR price IS NULL),
        parent_id int CONSTRAINT up REFERENCES \"all, of it\",
        twice int GENERATED ALWAYS AS (price * 2) VIRTUAL,
        CONSTRAINT pair UNIQUE (owner_id, \"title (\"\"x\"\")\"),
        CHECK (parent_id <> id)
    );
    CREATE INDEX by_price ON \"all, of it\" (price DESC) WHERE price > 1;
    CREATE TRIGGER written AFTER INSERT ON \"all, of it\" BEGIN INSERT INTO log VALUES ('insert ' || new.id); END;
    CREATE VIEW cheap AS SELECT id, price FROM \"all, of it\" WHERE price < 5;
    CREATE TABLE children (id integer PRIMARY KEY, of_id integer REFERENCES \"all, of it\" (id));
    INSERT INTO owners VALUES (1, 'Ann'), (2, 'Bo');
    INSERT INTO \"all, of it\" (id, owner_id, \"title (\"\"x\"\")\", price) VALUES (1, 1, 'one', 3), (2, 2, 'two', NULL), (9, 2, 'gone', 1);
    DELETE FROM \"all, of it\" WHERE id = 9;
    INSERT INTO children VALUES (5, 1);";

fn serve(path: &Path) -> Running {
    start(&["serve", text(path), "--listen", "127.0.0.1:0"], &["ROWCAST_CONTROLLERS=records,columns"])
}

fn catalog(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let mut query = connection
        .prepare(
            "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name",
        )
        .unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn put(port: u16, column: &str, body: &str) -> (u16, String) {
    let answer = send(port, "PUT", &format!("/columns/all,%20of%20it/{column}"), body);
    (answer.status, answer.body)
}

#[test]
fn a_table_that_is_made_anew_keeps_what_it_has() {
    let folder = folder();
    let path = database(&folder, "all.db", TABLES);
    let server = serve(&path);
    let port = server.port;
    let before = catalog(&path);
    for _ in 0..2 {
        for (column, body) in [
            ("price", "{\"type\":\"double\"}"),
            ("price", "{\"type\":\"decimal\",\"precision\":8,\"scale\":2}"),
            ("owner_id", "{\"nullable\":true}"),
            ("owner_id", "{\"nullable\":false}"),
        ] {
            assert_eq!(put(port, column, body), (200, "true".to_owned()), "{column} {body}");
        }
    }
    let after = catalog(&path);
    assert_eq!(after.len(), before.len());
    // All but the table itself have the words they had.
    for (before, after) in before.iter().zip(&after).filter(|(before, _)| !before.starts_with("table all")) {
        assert_eq!(before, after);
    }
    let answers = [
        ("POST", "/records/all,%20of%20it", "{\"owner_id\":1,\"price\":2}", 200, "10"),
        (
            "POST",
            "/records/all,%20of%20it",
            "{\"owner_id\":1}",
            409,
            "{\"code\":1009,\"message\":\"Duplicate key exception\"}",
        ),
        (
            "POST",
            "/records/all,%20of%20it",
            "{\"owner_id\":2,\"price\":-2}",
            409,
            "{\"code\":1010,\"message\":\"Data integrity violation\"}",
        ),
        (
            "POST",
            "/records/all,%20of%20it",
            "{\"owner_id\":7}",
            409,
            "{\"code\":1010,\"message\":\"Data integrity violation\"}",
        ),
        (
            "GET",
            "/records/all,%20of%20it/10",
            "",
            200,
            "{\"id\":10,\"owner_id\":1,\"title (\\\"x\\\")\":\"none, or 'some'\",\"price\":\"2.00\",\"parent_id\":null,\"twice\":4}",
        ),
        (
            "GET",
            "/records/cheap",
            "",
            200,
            "{\"records\":[{\"id\":1,\"price\":\"3.00\"},{\"id\":10,\"price\":\"2.00\"}]}",
        ),
        ("DELETE", "/records/owners/2", "", 200, "1"),
        ("GET", "/records/all,%20of%20it?include=id", "", 200, "{\"records\":[{\"id\":1},{\"id\":10}]}"),
        (
            "GET",
            "/records/log?filter=what,eq,insert%2010",
            "",
            200,
            "{\"records\":[{\"what\":\"insert 10\"}]}",
        ),
    ];
    for (method, target, body, status, expected) in answers {
        let answer = send(port, method, target, body);
        assert_eq!(answer.status, status, "{method} {target}: {}", answer.body);
        assert!(expected.is_empty() || answer.body == expected, "{method} {target}: {}", answer.body);
    }
    server.stop();
}

#[test]
fn a_change_that_fails_leaves_everything_as_it_was() {
    let folder = folder();
    let path = database(&folder, "all.db", TABLES);
    let server = serve(&path);
    let port = server.port;
    let before = (catalog(&path), get(port, "/columns").body, get(port, "/records/all,%20of%20it").body);
    for (column, body) in [
        ("price", "{\"nullable\":false}"),
        ("price", "{\"type\":\"integer\",\"fk\":\"owners\"}"),
        ("id", "{\"pk\":false}"),
    ] {
        let (status, answer) = put(port, column, body);
        assert_eq!(status, 409, "{column} {body}: {answer}");
        let after = (catalog(&path), get(port, "/columns").body, get(port, "/records/all,%20of%20it").body);
        assert_eq!(before, after, "{column} {body}");
        // The checking of foreign keys is back, and what was off with it.
        let orphan = send(port, "POST", "/records/children", "{\"of_id\":77}");
        assert_eq!((orphan.status, orphan.code()), (409, Some(1010)), "{}", orphan.body);
    }
    // A generated column and a view depend on it.
    let answer = send(port, "DELETE", "/columns/all,%20of%20it/price", "");
    assert_eq!((answer.status, answer.code()), (409, Some(1010)), "{}", answer.body);
    assert_eq!(catalog(&path), before.0);
    server.stop();
}

#[test]
fn readers_and_writers_go_on_while_a_table_is_made_anew() {
    let folder = folder();
    let rows = format!(
        "CREATE TABLE t (id integer PRIMARY KEY AUTOINCREMENT, a varchar(20) NOT NULL, b integer);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
         INSERT INTO t (a, b) SELECT 'row ' || i, i FROM n;"
    );
    let path = database(&folder, "rows.db", &rows);
    let server = serve(&path);
    let port = server.port;
    let is_over = AtomicBool::new(false);
    let (read, written) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let answer = get(port, "/records/t?filter=id,le,20000&include=id");
                assert_eq!(answer.status, 200, "{}", answer.body);
                assert_eq!(answer.body.matches("\"id\":").count(), ROWS);
                read.fetch_add(1, Ordering::Relaxed);
            }
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let answer = send(port, "POST", "/records/t", "{\"a\":\"new\"}");
                assert_eq!(answer.status, 200, "{}", answer.body);
                written.fetch_add(1, Ordering::Relaxed);
            }
        });
        for _ in 0..5 {
            for (kind, document) in [
                ("{\"type\":\"clob\"}", "{\"name\":\"a\",\"type\":\"clob\"}"),
                (
                    "{\"type\":\"varchar\",\"length\":20}",
                    "{\"name\":\"a\",\"type\":\"varchar\",\"length\":20}",
                ),
            ] {
                assert_eq!(send(port, "PUT", "/columns/t/a", kind).body, "true");
                // Seen at once.
                assert_eq!(get(port, "/columns/t/a").body, document);
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(read.into_inner() > 0);
    let total = ROWS + written.into_inner();
    let count = get(port, "/records/t?page=1,1&include=id").body;
    assert_eq!(count, format!("{{\"records\":[{{\"id\":1}}],\"results\":{total}}}"));
    server.stop();
}
