//! What balancers ask: whether it lives, and whether it is ready.

use std::fs;

use crate::program::files::{blog, folder, text};
use crate::program::running::{serve, wait_until};
use crate::program::wire::get;

#[test]
fn it_is_not_ready_at_once_when_it_is_told_to_end_and_serves_for_a_while() {
    let folder = folder();
    let server = serve(text(&blog(&folder)), &["--set", "limits.drainDelaySeconds=5"]);
    let port = server.port;
    assert_eq!(get(port, "/health/ready").status, 200);
    server.signal("TERM");
    wait_until("it is not ready", || get(port, "/health/ready").status == 503);
    let answer = get(port, "/health/ready");
    assert!(answer.head.contains("retry-after: 1"), "{}", answer.head);
    assert_eq!(answer.body, r#"{"status":"not ready","reason":"stopping"}"#);
    assert_eq!((get(port, "/health/live").status, get(port, "/records/tags").status), (200, 200));
    let (status, errors) = server.wait();
    assert!(status.success() && errors.contains("still serving for 5 s"), "{errors}");
}

#[test]
fn it_is_ready_when_the_database_answers() {
    let folder = folder();
    let path = blog(&folder);
    let server = serve(text(&path), &[]);
    let port = server.port;
    assert_eq!(get(port, "/health/ready").body, r#"{"status":"ready"}"#);
    let away = folder.path().join("away.db");
    fs::rename(&path, &away).unwrap();
    wait_until("it is not ready", || get(port, "/health/ready").status == 503);
    assert_eq!(get(port, "/health/live").body, r#"{"status":"live"}"#);
    fs::rename(&away, &path).unwrap();
    wait_until("it is ready again", || get(port, "/health/ready").status == 200);
    server.stop();
}

#[test]
fn no_middleware_stands_before_it() {
    let folder = folder();
    let path = blog(&folder);
    let settings = [
        "middlewares=sslRedirect,firewall,ajaxOnly",
        "firewall.allowedIpAddresses=10.0.0.1",
        "rateLimit.requests=1",
        "basePath=/api",
    ];
    let arguments: Vec<&str> = settings.iter().flat_map(|setting| ["--set", *setting]).collect();
    let server = serve(text(&path), &arguments);
    assert_eq!(get(server.port, "/api/records/tags").status, 301);
    for _ in 0..3 {
        assert_eq!(get(server.port, "/api/health/ready").status, 200);
        assert_eq!(get(server.port, "/api/health/live").status, 200);
    }
    server.stop();
    let server = serve(text(&path), &["--set", "controllers=records,status"]);
    assert_eq!(get(server.port, "/health/live").status, 404);
    server.stop();
}
