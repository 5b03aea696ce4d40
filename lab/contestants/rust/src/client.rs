//! Fetches a page N times, one after the other, to standard output: client URL N reuse|new.

use std::env::{args, var};
use std::io::{Write, copy, stdout};

use anyhow::{Context, Result};
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

fn main() -> Result<()> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [url, count, mode] = arguments.as_slice() else { anyhow::bail!("client URL N reuse|new") };
    let authority = Certificate::from_pem(&std::fs::read(var("CA").context("CA is not set")?)?)?;
    let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[authority])).build();
    let idle = if mode == "reuse" { 1 } else { 0 };
    let agent: Agent = Agent::config_builder().tls_config(tls).max_idle_connections(idle).build().into();
    let mut output = stdout().lock();
    for _ in 0..count.parse::<u64>()? {
        copy(&mut agent.get(url).call()?.body_mut().as_reader(), &mut output)?;
        output.write_all(b"\n")?;
    }
    Ok(())
}
