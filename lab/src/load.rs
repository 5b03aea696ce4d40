//! Load from generators that others wrote and everyone knows: oha, wrk, and ab as it was used in the originals.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::lab::Lab;
use crate::process::output;

/// A contestant that hangs fails; it does not hang the lab.
const ANSWER_TIMEOUT: &str = "20s";
/// ab counts whole seconds only, so its warm-up counts requests.
const WARM_UP_REQUESTS: u64 = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Keep-alive, HTTP/1.1, unless said otherwise.
    Oha,
    /// One connection for each request, as published.
    Ab,
    /// A script that says itself what it asks for, kept connections; in whole seconds.
    Wrk,
}

/// When it is enough.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    Seconds(f64),
    Requests(u64),
    /// Whatever comes first.
    Either(f64, u64),
}

/// What is asked for, again and again.
#[derive(Debug, Clone)]
pub struct Load {
    pub tool: Tool,
    pub method: &'static str,
    /// For oha a regular expression, if `is_pattern`, in which a dot is a dot: escaped, it is any letter, and the address
    /// is no longer this machine's.
    pub url: String,
    pub is_pattern: bool,
    /// JSON; empty for none.
    pub body: String,
    /// A file with one body in each line, instead of `body`.
    pub bodies: Option<String>,
    pub connections: u32,
    pub limit: Limit,
    /// Requests a second in an open loop: a late answer counts from when it should have been asked for.
    pub rate: Option<u64>,
    /// More arguments of the tool.
    pub more: Vec<String>,
    /// What the script of wrk reads.
    pub environment: Vec<(String, String)>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Loaded {
    /// Answered with a status of 200 to 299.
    pub good: u64,
    /// Anything else: other statuses, broken connections, time-outs.
    pub failed: u64,
    pub seconds: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

impl Load {
    /// A GET over oha.
    pub fn get(url: String, connections: u32, limit: Limit) -> Load {
        Load {
            tool: Tool::Oha,
            method: "GET",
            url,
            is_pattern: false,
            body: String::new(),
            bodies: None,
            connections,
            limit,
            rate: None,
            more: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// The same for a moment, so that caches are filled and code is compiled before anything is timed.
    ///
    /// # Returns
    ///
    /// What is to be timed: of ab as many requests as its warm-up says that the time allows, for it counts whole seconds.
    ///
    /// # Errors
    ///
    /// As [`Load::run`].
    pub fn warm_up(&self, lab: &Lab) -> Result<Load> {
        let limit = match self.tool {
            Tool::Oha | Tool::Wrk => Limit::Seconds(lab.options.warm_up),
            Tool::Ab => Limit::Requests(WARM_UP_REQUESTS),
        };
        let found = Load { limit, rate: None, ..self.clone() }.run(lab)?;
        let limit = match (self.tool, self.limit) {
            (Tool::Ab, Limit::Either(seconds, requests)) => {
                let rate = found.good as f64 / found.seconds.max(0.001);
                Limit::Requests(((rate * seconds) as u64).clamp(WARM_UP_REQUESTS.min(requests), requests))
            }
            (_, limit) => limit,
        };
        Ok(Load { limit, ..self.clone() })
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// If the tool is missing or fails.
    pub fn run(&self, lab: &Lab) -> Result<Loaded> {
        ensure!(!self.url.contains("\\."), "an escaped dot is any letter to oha: {}", self.url);
        match self.tool {
            Tool::Oha => from_oha(&output(Command::new(lab.tool("oha")).args(self.oha()))?),
            Tool::Ab => from_ab(&output(Command::new(lab.tool("ab")).args(self.ab()))?),
            Tool::Wrk => {
                let mut command = Command::new(lab.tool("wrk"));
                command.args(self.wrk()).envs(self.environment.iter().cloned());
                from_wrk(&output(&mut command)?)
            }
        }
    }

    fn oha(&self) -> Vec<String> {
        let mut words: Vec<String> =
            ["--no-tui", "--output-format", "json", "--redirect", "0", "-t", ANSWER_TIMEOUT, "-c"]
                .map(str::to_owned)
                .to_vec();
        words.push(self.connections.to_string());
        match self.limit {
            Limit::Requests(requests) => words.extend(["-n".to_owned(), requests.to_string()]),
            Limit::Seconds(seconds) | Limit::Either(seconds, _) => {
                let milliseconds = (seconds * 1000.0).round();
                words.extend(["-z".to_owned(), format!("{milliseconds}ms"), "-w".to_owned()]);
            }
        }
        if let Some(rate) = self.rate {
            words.extend(["-q".to_owned(), rate.to_string(), "--latency-correction".to_owned()]);
        }
        words.extend(["-m".to_owned(), self.method.to_owned()]);
        if let Some(file) = &self.bodies {
            words.extend(["-Z".to_owned(), file.clone()]);
        } else if !self.body.is_empty() {
            words.extend(["-d".to_owned(), self.body.clone()]);
        }
        if self.bodies.is_some() || !self.body.is_empty() {
            words.extend(["-T".to_owned(), "application/json".to_owned()]);
        }
        words.extend(self.more.clone());
        if self.is_pattern {
            words.push("--rand-regex-url".to_owned());
        }
        words.push(self.url.clone());
        words
    }

    fn wrk(&self) -> Vec<String> {
        let seconds = match self.limit {
            Limit::Seconds(seconds) | Limit::Either(seconds, _) => seconds.ceil().max(1.0),
            Limit::Requests(_) => 1.0,
        };
        let mut words = vec!["-t1".to_owned(), format!("-c{}", self.connections), format!("-d{seconds}s")];
        words.extend(self.more.clone());
        words.push(self.url.clone());
        words
    }

    fn ab(&self) -> Vec<String> {
        // Lengths may differ (-l), and what is slow must not be given up (-s).
        let mut words: Vec<String> = ["-q", "-l", "-s", "60", "-c"].map(str::to_owned).to_vec();
        words.push(self.connections.to_string());
        match self.limit {
            Limit::Requests(requests) => words.extend(["-n".to_owned(), requests.to_string()]),
            // In this order: -t sets -n, too.
            Limit::Either(seconds, requests) => {
                let seconds = seconds.ceil().max(1.0);
                words.extend(["-t".to_owned(), seconds.to_string(), "-n".to_owned(), requests.to_string()]);
            }
            Limit::Seconds(seconds) => {
                words.extend(["-t".to_owned(), seconds.ceil().max(1.0).to_string()]);
            }
        }
        words.extend(self.more.clone());
        words.push(self.url.clone());
        words
    }
}

/// Reads the JSON of oha.
///
/// # Errors
///
/// If it is not what oha prints.
pub fn from_oha(text: &str) -> Result<Loaded> {
    let value: Value = serde_json::from_str(text).context("oha printed no JSON")?;
    let counts = |key: &str| -> Vec<(String, u64)> {
        let members = value[key].as_object().cloned().unwrap_or_default();
        members.into_iter().map(|(name, count)| (name, count.as_u64().unwrap_or_default())).collect()
    };
    let statuses = counts("statusCodeDistribution");
    let good = statuses.iter().filter(|(status, _)| status.starts_with('2')).map(|(_, count)| count).sum();
    let other: u64 =
        statuses.iter().filter(|(status, _)| !status.starts_with('2')).map(|(_, count)| count).sum();
    let errors: u64 = counts("errorDistribution")
        .iter()
        .filter(|(reason, _)| !reason.contains("deadline"))
        .map(|(_, count)| count)
        .sum();
    let percentile = |name: &str| value["latencyPercentiles"][name].as_f64().unwrap_or_default() * 1000.0;
    Ok(Loaded {
        good,
        failed: other + errors,
        seconds: value["summary"]["total"].as_f64().context("oha printed no total")?,
        p50_ms: percentile("p50"),
        p99_ms: percentile("p99"),
    })
}

/// Reads the text of ab.
///
/// # Errors
///
/// If it is not what ab prints.
pub fn from_ab(text: &str) -> Result<Loaded> {
    let number = |label: &str| -> Option<f64> {
        let line = text.lines().find(|line| line.trim_start().starts_with(label))?;
        line.trim_start()[label.len()..].split_whitespace().next()?.parse().ok()
    };
    let complete = number("Complete requests:").context("ab printed no requests")?;
    ensure!(complete > 0.0, "ab completed no request");
    let bad =
        number("Failed requests:").unwrap_or_default() + number("Non-2xx responses:").unwrap_or_default();
    Ok(Loaded {
        good: (complete - bad) as u64,
        failed: bad as u64,
        seconds: number("Time taken for tests:").context("ab printed no time")?,
        p50_ms: number("50%").unwrap_or_default(),
        p99_ms: number("99%").unwrap_or_default(),
    })
}

/// Reads the text of wrk with a script that ends with a line of its own: requests/s, p50, p99 and errors.
///
/// # Errors
///
/// If it is not what wrk and the script print.
pub fn from_wrk(text: &str) -> Result<Loaded> {
    let wanted = || format!("wrk printed no line of figures: {text}");
    let total = text.lines().find(|line| line.contains(" requests in ")).with_context(wanted)?;
    let last = text.lines().last().with_context(wanted)?;
    let number = |part: &str| -> Option<f64> {
        part.split_whitespace().find_map(|word| word.parse().ok()).filter(|number: &f64| number.is_finite())
    };
    let parts: Vec<f64> = last.split(',').filter_map(number).collect();
    let [rate, p50_ms, p99_ms, errors] = parts[..] else { anyhow::bail!(wanted()) };
    let all = number(total).with_context(wanted)?;
    ensure!(all > 0.0 && rate > 0.0, "wrk completed no request");
    let failed = errors as u64;
    Ok(Loaded { good: (all as u64).saturating_sub(failed), failed, seconds: all / rate, p50_ms, p99_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_oha_prints_is_read_and_answers_cut_off_at_the_end_are_no_failures() {
        let text = r#"{"summary":{"total":2.0},"latencyPercentiles":{"p50":0.001,"p99":0.004},
            "statusCodeDistribution":{"200":90,"201":5,"500":3},
            "errorDistribution":{"aborted due to deadline":8,"connection refused":2}}"#;
        let loaded = from_oha(text).unwrap();
        assert_eq!(loaded, Loaded { good: 95, failed: 5, seconds: 2.0, p50_ms: 1.0, p99_ms: 4.0 });
    }

    #[test]
    fn what_wrk_and_its_script_print_is_read() {
        let text = "Running 2s test\n  26000 requests in 2.00s, 4.72MB read\nRequests/sec:  13000.00\n\
            13000 requests/s, p50 2.27 ms, p99 22.35 ms, 3 errors\n";
        let loaded = from_wrk(text).unwrap();
        assert_eq!(loaded, Loaded { good: 25997, failed: 3, seconds: 2.0, p50_ms: 2.27, p99_ms: 22.35 });
        assert!(from_wrk("unable to connect\n").is_err());
    }

    #[test]
    fn what_ab_prints_is_read() {
        let text = "Time taken for tests:   2.000 seconds\nComplete requests:      100\n\
            Failed requests:        1\nNon-2xx responses:      4\n  50%      2\n  99%     10\n";
        let loaded = from_ab(text).unwrap();
        assert_eq!(loaded, Loaded { good: 95, failed: 5, seconds: 2.0, p50_ms: 2.0, p99_ms: 10.0 });
        assert!(from_ab("Complete requests: 0\n").is_err());
    }
}
