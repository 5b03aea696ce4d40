//! What is counted, and who may read it.

use crate::program::files::{blog, folder, text};
use crate::program::running::{Running, serve};
use crate::program::wire::{Answer, exchange, get, send};

/// The port that it says for metrics alone.
fn metrics_port(server: &Running) -> u16 {
    let said = server.said.iter().find_map(|line| line.split_once("metrics    http://127.0.0.1:"));
    let (port, path) = said.and_then(|(_, rest)| rest.split_once('/')).expect("it says where");
    assert_eq!(path, "metrics");
    port.parse().unwrap()
}

/// The value of a series; nothing if there is none.
#[track_caller]
fn value(page: &str, series: &str) -> f64 {
    let found = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("no {series} in\n{page}")).parse().expect("it is a number")
}

#[test]
fn nothing_is_told_unless_it_is_switched_on() {
    let folder = folder();
    let server = serve(text(&blog(&folder)), &[]);
    assert_eq!(get(server.port, "/metrics").status, 404);
    server.stop();
}

#[test]
fn requests_statements_and_plans_are_counted() {
    let folder = folder();
    let arguments = ["--set", "metrics.listen=127.0.0.1:0", "--workers", "2"];
    let server = serve(text(&blog(&folder)), &arguments);
    let (port, metrics) = (server.port, metrics_port(&server));
    for number in 0..3 {
        assert_eq!(get(port, "/records/tags?join=posts").status, 200);
        assert_eq!(get(port, "/records/st%C3%A4dte/nowhere").status, 404);
        assert_eq!(get(port, "/records/invented/1").status, 404);
        assert_eq!(send(port, "POST", "/records/tags", &format!("{{\"name\":\"x{number}\"}}")).status, 200);
    }
    assert_eq!(get(port, "/health/ready").status, 200);
    let answer = get(metrics, "/metrics");
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("application/openmetrics-text"), "{}", answer.head);
    let page = answer.body;
    assert!(page.ends_with("# EOF\n") && !page.contains("invented"), "{page}");
    let requests = |operation: &str, table: &str, status: &str| {
        let labels = format!("operation=\"{operation}\",table=\"{table}\",status=\"{status}\"");
        value(&page, &format!("rowcast_requests_total{{{labels}}}"))
    };
    assert_eq!(requests("list", "tags", "2xx"), 3.0);
    assert_eq!(requests("read", "städte", "4xx"), 3.0);
    assert_eq!(requests("read", "", "4xx"), 3.0);
    assert_eq!(requests("create", "tags", "2xx"), 3.0);
    assert_eq!(value(&page, "rowcast_request_duration_seconds_count{operation=\"list\"}"), 3.0);
    assert_eq!(value(&page, "rowcast_request_duration_seconds_bucket{le=\"+Inf\",operation=\"read\"}"), 6.0);
    // Three lists with a join, three reads, three inserts.
    assert!(value(&page, "rowcast_statement_duration_seconds_count") >= 12.0, "{page}");
    assert!(value(&page, "rowcast_plans_total{result=\"hit\"}") > 0.0);
    assert!(value(&page, "rowcast_plans_kept") >= 3.0);
    assert!(value(&page, "process_resident_memory_bytes") > 1_000_000.0);
    assert_eq!(value(&page, "rowcast_build_info{version=\"0.1.0\"}"), 1.0);
    assert_eq!(get(metrics, "/records/tags").status, 404);
    assert_eq!(get(port, "/metrics").status, 404);
    server.stop();
}

#[test]
fn on_the_listener_of_the_api_they_are_for_those_who_are_let_in() {
    let folder = folder();
    let settings =
        ["metrics.path=/metrics", "middlewares=apiKeyAuth", "apiKeyAuth.mode=required", "apiKeyAuth.keys=k1"];
    let arguments: Vec<&str> = settings.iter().flat_map(|setting| ["--set", *setting]).collect();
    let server = serve(text(&blog(&folder)), &arguments);
    assert_eq!(get(server.port, "/metrics").status, 401);
    let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-API-Key: k1\r\n\r\n";
    let answer = Answer::parse(&exchange(server.port, request.as_bytes())).expect("it is whole");
    assert_eq!(answer.status, 200);
    assert!(
        value(&answer.body, "rowcast_requests_total{operation=\"other\",table=\"\",status=\"4xx\"}") > 0.0
    );
    server.stop();
}
