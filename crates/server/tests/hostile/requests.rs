//! Requests that are HTTP, but ask for what nobody should.

use std::fmt::Write;

use crate::program::files::{blog, database, folder, text};
use crate::program::running::serve;
use crate::program::wire::{Answer, exchange, get, request, send};
use crate::{check, check_alive, check_document, check_refused};

#[test]
fn what_is_not_utf8_is_an_error_wherever_it_stands() {
    check(|server| {
        check_document(&get(server.port, "/records/tags?filter=name,eq,%ff"), &[422]);
        check_document(&get(server.port, "/records/tags?%ff=1"), &[422]);
        check_document(&get(server.port, "/records/%ff"), &[404]);
        check_document(&get(server.port, "/records/tags/%c3%28"), &[404]);
        let body = b"{\"name\":\"\xff\xfe\"}";
        let head = format!(
            "POST /records/tags HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let bytes = exchange(server.port, &[head.as_bytes(), body].concat());
        check_document(&Answer::parse(&bytes).unwrap(), &[422]);
        check_document(&send(server.port, "POST", "/records/tags", "name=%ff"), &[422]);
        check_document(&send(server.port, "POST", "/records/tags", "{\"name\":\"\\ud800\"}"), &[422]);
        check_refused(
            &exchange(
                server.port,
                b"GET /records/tags/\xff\xfe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            ),
            &[400, 404],
        );
    });
}

#[test]
fn numbers_beyond_64_bits_are_errors_that_name_them() {
    let huge = "9".repeat(5000);
    let folder = folder();
    let server = serve(text(&blog(&folder)), &[]);
    for number in ["9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e400", &huge] {
        for target in ["filter=id,eq,", "filter=id,in,1,", "filter=views,bt,0,", "size=", "page=", "page=1,"]
        {
            check_document(&get(server.port, &format!("/records/posts?{target}{number}")), &[422]);
        }
        check_document(&get(server.port, &format!("/records/posts/{number}")), &[422]);
        let body = format!("{{\"views\":{number}}}");
        check_document(&send(server.port, "PUT", "/records/posts/1", &body), &[422]);
        check_document(&send(server.port, "PATCH", "/records/posts/1", &body), &[422]);
        let target = format!("/records/posts/{number}");
        check_document(&send(server.port, "PUT", &target, "{\"views\":1}"), &[422]);
    }
    let most = i64::MAX;
    let answer = get(server.port, &format!("/records/posts?page={most},{most}&include=id"));
    assert_eq!((answer.status, &*answer.body), (200, "{\"records\":[],\"results\":6}"));
    assert_eq!(
        get(server.port, &format!("/records/posts?size={most}&include=id&filter=id,eq,1")).status,
        200
    );
    check_alive(&server);
    server.stop();
}

#[test]
fn a_sum_beyond_64_bits_is_an_error_and_changes_nothing() {
    let folder = folder();
    let server = serve(text(&blog(&folder)), &[]);
    let before = get(server.port, "/records/types/2?include=big_value").body;
    check_document(&send(server.port, "PATCH", "/records/types/2", "{\"big_value\":1}"), &[409, 422]);
    assert_eq!(get(server.port, "/records/types/2?include=big_value").body, before);
    server.stop();
}

#[test]
fn nul_characters_are_errors_and_not_the_end_of_a_text() {
    check(|server| {
        for target in [
            "filter=name,eq,a%00b",
            "filter=name,cs,%00",
            "filter=id,eq,%00",
            "filter=posts.title,eq,%00",
            "filter%00=id,eq,1%00",
        ] {
            check_document(&get(server.port, &format!("/records/categories?{target}")), &[422]);
        }
        check_document(&get(server.port, "/records/st%C3%A4dte/k%C3%B6ln%00"), &[422]);
        check_document(&get(server.port, "/records/tags/1%00"), &[422]);
        check_document(&get(server.port, "/records/tags%00"), &[404]);
        check_document(&send(server.port, "DELETE", "/records/post_tags/1%00", ""), &[422]);
        for body in ["{\"name\":\"a\\u0000b\"}", "name=a%00b"] {
            check_document(&send(server.port, "POST", "/records/tags", body), &[422]);
        }
        let raw =
            exchange(server.port, b"GET /records/tags/1\0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        check_refused(&raw, &[400, 404]);
    });
}

#[test]
fn more_than_there_may_be_is_an_error_that_names_the_limit() {
    check(|server| {
        let filters = |count: usize| vec!["filter=id,eq,1"; count].join("&");
        let values = |count: usize| format!("filter=id,in,{}", vec!["1"; count].join(","));
        for query in [
            filters(101),
            filters(4000),
            vec!["order=id"; 51].join("&"),
            vec!["join=comments"; 51].join("&"),
            values(5000),
            vec![values(2100); 5].join("&"),
        ] {
            check_document(&get(server.port, &format!("/records/posts?{query}")), &[422]);
        }
        check_document(&get(server.port, &format!("/records/posts/{}", vec!["1"; 5001].join(","))), &[413]);
        let rows = format!("[{}]", vec!["{}"; 20_000].join(","));
        check_document(&send(server.port, "POST", "/records/tags", &rows), &[413]);
        let members: String = (0..5000).fold("{\"name\":1".to_owned(), |mut body, number| {
            write!(body, ",\"a{number}\":0").unwrap();
            body
        });
        check_document(&send(server.port, "POST", "/records/tags", &(members + "}")), &[413]);
        // Too many to get through at all.
        let request = request("GET", &format!("/records/posts?{}", filters(10_000)), "");
        check_refused(&exchange(server.port, &request), &[414, 431]);
    });
}

#[test]
fn a_list_of_as_many_values_as_there_may_be_works() {
    check(|server| {
        let query = format!("filter=id,in,{}&include=id", vec!["2"; 4096].join(","));
        assert_eq!(get(server.port, &format!("/records/posts?{query}")).body, "{\"records\":[{\"id\":2}]}");
    });
}

#[test]
fn a_very_long_path_of_joins_is_bounded() {
    check(|server| {
        let path = ["posts", "comments"].repeat(2000).join(",");
        let answer = get(server.port, &format!("/records/posts?join={path}&size=1"));
        assert!(answer.status == 422 || answer.status == 200, "{}", answer.status);
        let dots = ["comments", "posts"].repeat(2000).join(".");
        let answer = get(server.port, &format!("/records/posts?filter={dots}.id,eq,1&size=1"));
        assert!(answer.status == 422 || answer.status == 200, "{}", answer.status);
        let group = "1a".repeat(20_000);
        check_document(&get(server.port, &format!("/records/posts?filter{group}=id,eq,1")), &[422]);
        check_document(&get(server.port, &format!("/records{}", "/posts".repeat(5000))), &[404]);
    });
}

#[test]
fn unknown_methods_and_paths_are_404_documents() {
    check(|server| {
        for method in ["TRACE", "BREW", "PROPFIND", "get"] {
            check_document(&send(server.port, method, "/records/tags", ""), &[404]);
            check_document(&send(server.port, method, "/", ""), &[404]);
        }
        let answer = send(server.port, "HEAD", "/records/tags", "");
        assert_eq!((answer.status, &*answer.body), (404, ""));
        for (method, target) in [
            ("DELETE", "/records/tags"),
            ("POST", "/records/tags/1"),
            ("PUT", "/records"),
            ("GET", "/records"),
            ("GET", "/../etc/passwd"),
            ("GET", "/records/tags/1/2"),
            ("GET", "/%2e%2e/x"),
        ] {
            check_document(&send(server.port, method, target, ""), &[404]);
        }
    });
}

#[test]
fn a_schema_with_hostile_names_is_served_like_any_other() {
    let folder = folder();
    let script = r#"CREATE TABLE "a""b; DROP TABLE x --" ("k`'""y" integer PRIMARY KEY, "select * from [x]?1$1" text, "" text);
        CREATE TABLE r1 (id integer PRIMARY KEY, r2 integer REFERENCES "a""b; DROP TABLE x --");
        INSERT INTO "a""b; DROP TABLE x --" VALUES (1, '1', '2'); INSERT INTO r1 VALUES (5, 1)"#;
    let server = serve(text(&database(&folder, "names.db", script)), &[]);
    let table = "a%22b;%20DROP%20TABLE%20x%20--";
    let row = r#"{"k`'\"y":1,"select * from [x]?1$1":"1","":"2"}"#;
    assert_eq!(get(server.port, &format!("/records/{table}/1")).body, row);
    let filter = "filter=select%20*%20from%20%5bx%5d%3f1%241,eq,1&order=k%60'%22y,desc";
    assert_eq!(
        get(server.port, &format!("/records/{table}?{filter}")).body,
        format!("{{\"records\":[{row}]}}")
    );
    let joined = get(server.port, &format!("/records/r1?join={table}&filter={table}.k%60'%22y,eq,1"));
    assert_eq!(joined.body, format!("{{\"records\":[{{\"id\":5,\"r2\":{row}}}]}}"));
    let body = r#"{"select * from [x]?1$1":"'; DROP TABLE r1; --"}"#;
    assert_eq!(send(server.port, "PUT", &format!("/records/{table}/1"), body).body, "1");
    assert_eq!(get(server.port, "/records/r1/5").status, 200);
    server.stop();
}
