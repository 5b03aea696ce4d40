//! Bytes that no honest client sends. Whatever comes, the answer is a 4xx document or a closed connection, and the
//! next client is served.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of a test program for no test")]

use crate::program::files::{blog, folder, text};
use crate::program::running::{Running, serve};
use crate::program::wire::{Answer, get};

mod program;

// In a folder of their own, because every file beside this one is a test program.
#[path = "hostile/bodies.rs"]
mod bodies;
#[path = "hostile/connections.rs"]
mod connections;
#[path = "hostile/requests.rs"]
mod requests;

/// A server over the blog, in both modes of the protocol.
fn check(test: impl Fn(&Running)) {
    for mode in [&[][..], &["--lenient"]] {
        let folder = folder();
        let server = serve(text(&blog(&folder)), &[mode, &["--set", "limits.bodyBytes=100000"]].concat());
        test(&server);
        check_alive(&server);
        server.stop();
    }
}

#[track_caller]
fn check_alive(server: &Running) {
    let answer = get(server.port, "/records/authors/1?include=name");
    assert_eq!((answer.status, &*answer.body), (200, "{\"name\":\"Ada Quist\"}"));
}

/// A document with a number, under a status of 4xx.
#[track_caller]
fn check_document(answer: &Answer, statuses: &[u16]) {
    let shown: String = answer.body.chars().take(300).collect();
    assert!(statuses.contains(&answer.status), "{} instead of {statuses:?}: {shown}", answer.status);
    assert!(answer.code().is_some_and(|code| code > 0), "{shown}");
    assert!(answer.head.contains("content-type: application/json"), "{}", answer.head);
}

/// HTTP did not get through: the connection ends, perhaps with a plain 4xx before.
#[track_caller]
fn check_refused(bytes: &[u8], statuses: &[u16]) {
    if let Some(answer) = Answer::parse(bytes) {
        assert!(statuses.contains(&answer.status), "{answer:?}");
    }
}
