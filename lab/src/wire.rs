//! The checking client: one request over a kept connection, one whole answer.

use std::time::Duration;

use anyhow::{Context, Result};
use ureq::Agent;
use ureq::tls::TlsConfig;

/// A contestant under 200 callers may be slow; a hung one must not hang the lab.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// limit: no scenario asks for more than one file of 108,000 letters.
const BODY_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What is sent.
#[derive(Debug, Clone)]
pub struct Call {
    pub method: &'static str,
    pub url: String,
    /// JSON; empty for none.
    pub body: String,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Call {
    pub fn get(url: String) -> Call {
        Call { method: "GET", url, body: String::new() }
    }
}

/// A client that keeps its connection, as long as the server does.
pub fn client() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(ANSWER_TIMEOUT))
        .max_idle_connections_per_host(1)
        // It asks nobody but this machine, some of whose certificates are the lab's own.
        .tls_config(TlsConfig::builder().disable_verification(true).build())
        .build()
        .into()
}

pub fn send(agent: &Agent, call: &Call) -> Result<Answer> {
    let request = http::Request::builder().method(call.method).uri(&call.url);
    let place = || format!("{} {}", call.method, call.url);
    let mut response = if call.body.is_empty() {
        agent.run(request.body(())?)
    } else {
        agent.run(request.header("Content-Type", "application/json").body(call.body.as_str())?)
    }
    .with_context(place)?;
    let body =
        response.body_mut().with_config().limit(BODY_BYTES_MAX).read_to_string().with_context(place)?;
    Ok(Answer { status: response.status().as_u16(), body })
}
