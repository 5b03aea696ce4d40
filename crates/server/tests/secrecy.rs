//! What may not be seen makes no difference: two databases that differ only in it answer with equal status and bytes.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of a test program for no test")]

use std::fs;

use proptest::collection::vec;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use crate::asked::{choices, request};
use crate::support::client::send;
use crate::support::process::Server;
use crate::support::transcript::Request;
use crate::world::{World, worlds};

#[path = "secrecy/asked.rs"]
mod asked;
#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;
#[path = "secrecy/world.rs"]
mod world;

/// limit: worlds of a run; each starts two servers.
const WORLDS: u32 = 24;
/// limit: requests to each world.
const REQUESTS: usize = 120;

/// Two servers, one for each of the databases.
struct Pair {
    servers: [Server; 2],
    _folder: tempfile::TempDir,
}

impl Pair {
    fn start(world: &World, has_rules: bool) -> Pair {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("rowcast.toml");
        fs::write(&config, world.config(has_rules)).unwrap();
        let servers = [false, true].map(|is_second| {
            let path = folder.path().join(format!("{is_second}.db"));
            world.write(&path, is_second);
            Server::start_with(&config, path.to_str().unwrap(), &[("WORKERS", "1")]).unwrap()
        });
        Pair { servers, _folder: folder }
    }

    /// What both answer: the status, what the headers say about the content, and the body.
    fn ask(&self, request: &Request) -> [String; 2] {
        [0, 1].map(|number| {
            let received = send(self.servers[number].port, request).unwrap();
            let header = |name: &str| received.header(name).unwrap_or_default();
            let (kind, limit) = (header("Content-Type"), header("X-Records-Limit"));
            format!("{} {kind} {limit}\n{}", received.status, String::from_utf8_lossy(&received.body))
        })
    }
}

#[test]
fn what_may_not_be_seen_makes_no_difference() {
    let config =
        Config { cases: WORLDS, max_shrink_iters: 60, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&(worlds(), vec(choices(), REQUESTS)), |(world, requests)| {
        let pair = Pair::start(&world, true);
        for choices in &requests {
            let request = request(choices);
            let [first, second] = pair.ask(&request);
            if first != second {
                let rules = world.config(true);
                let asked = format!("{} {}", request.line, request.body);
                return Err(TestCaseError::fail(format!("{asked}\n{first}\n{second}\nunder\n{rules}")));
            }
        }
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(other) => panic!("{other}"),
    }
}

/// The two databases do differ, and the requests do find it.
#[test]
fn without_rules_the_difference_is_found() {
    let config = Config { cases: 3, failure_persistence: None, ..Config::default() };
    let found = std::cell::Cell::new((0, 0));
    TestRunner::new(config)
        .run(&(worlds(), vec(choices(), REQUESTS)), |(world, requests)| {
            let pair = Pair::start(&world, false);
            for request in requests.iter().map(|choices| request(choices)) {
                let [first, second] = pair.ask(&request);
                let (different, answered) = found.get();
                let is_answered = first.starts_with("200");
                found.set((different + u32::from(first != second), answered + u32::from(is_answered)));
            }
            Ok(())
        })
        .unwrap();
    let (different, answered) = found.get();
    assert!(different > 30 && answered > 60, "{different} answers differ, {answered} are 200");
}
