//! Long lists in other formats: whole, and without being kept whole.

use std::fs;

use crate::program::files::{database, folder, text};
use crate::program::running::serve;
use crate::program::wire::get;

const ROWS: usize = 100_000;
/// Of an answer of more than 60 MB; the test program itself is not counted.
const MEMORY_MAX_KIB: u64 = 48 * 1024;

#[test]
fn a_long_list_is_rewritten_while_it_is_read() {
    let folder = folder();
    let script = format!(
        "CREATE TABLE rows (id integer PRIMARY KEY, content text);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
        INSERT INTO rows SELECT i, printf('{{\"a\":[\"%0500d\"]}}', i) FROM n"
    );
    let path = database(&folder, "long.db", &script);
    let server = serve(text(&path), &["--set", "middlewares=xml,json", "--workers", "1"]);
    let answer = get(server.port, "/records/rows?format=xml&page=1,100000");
    assert!(answer.head.contains("text/xml") && answer.head.contains("chunked"), "{}", answer.head);
    let body = answer.body;
    assert!(
        body.starts_with("<root><records type=\"array\"><item><id>1</id><content><a type=\"array\"><item>0")
    );
    assert!(body.ends_with("</item></a></content></item></records><results>100000</results></root>"));
    assert_eq!(body.matches("<content><a type=\"array\"><item>").count(), ROWS);
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MEMORY_MAX_KIB, "{peak} KiB");
    server.stop();
}
