//! A real Chromium without a window, driven through chromedriver (W3C WebDriver).

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;
use url::{ParseError, Url};

/// limit: how long the page may take to come to a state.
const PATIENCE: Duration = Duration::from_secs(60);
const OPTIONS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
];

/// What a page is looked at with.
#[derive(Clone, Copy)]
pub struct Screen {
    pub width: u32,
    pub height: u32,
    pub is_dark: bool,
}

/// A browser with a profile of its own.
pub struct Browser {
    pub client: Client,
    driver: Child,
    _profile: TempDir,
}

/// Whether there is a browser to test with. In CI there must be.
#[allow(clippy::print_stderr, reason = "what is left out is said where it is read")]
pub fn is_there() -> bool {
    let found = ["chromium", "chromedriver"].iter().all(|name| program(name).is_some());
    assert!(
        found || std::env::var_os("CI").is_none(),
        "chromium and chromedriver are missing; tests/install build"
    );
    if !found {
        eprintln!("Chromium is left out: it is not installed; try `tests/install build`");
    }
    found
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Browser {
    pub async fn start(screen: Screen) -> Result<Browser> {
        let profile = tempfile::tempdir()?;
        let mut driver = Command::new("chromedriver")
            .args(["--port=0", "--allowed-ips=127.0.0.1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("chromedriver")?;
        let output = driver.stdout.take().context("the output of chromedriver")?;
        let port = BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                Some(line.split_once("successfully on port ")?.1.trim_end_matches('.').to_owned())
            })
            .context("chromedriver did not start")?;
        let mut options: Vec<String> = OPTIONS.map(str::to_owned).to_vec();
        options.push(format!("--user-data-dir={}", profile.path().display()));
        options.push(format!("--window-size={},{}", screen.width, screen.height));
        if screen.is_dark {
            options.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        let metrics =
            json!({"width": screen.width, "height": screen.height, "pixelRatio": 1, "touch": false});
        let wanted = Map::from_iter([
            ("browserName".to_owned(), json!("chrome")),
            ("goog:loggingPrefs".to_owned(), json!({"browser": "ALL"})),
            (
                "goog:chromeOptions".to_owned(),
                json!({
                    "args": options, "binary": program("chromium"), "mobileEmulation": {"deviceMetrics": metrics}
                }),
            ),
        ]);
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await;
        match client {
            Ok(client) => Ok(Browser { client, driver, _profile: profile }),
            Err(error) => {
                driver.kill().ok();
                driver.wait().ok();
                bail!("chromium does not start: {error}")
            }
        }
    }

    /// The first element, as soon as there is one.
    pub async fn find(&self, css: &str) -> Result<fantoccini::elements::Element> {
        self.client
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::Css(css))
            .await
            .with_context(|| css.to_owned())
    }

    /// The text of an element, as soon as it begins with `start`.
    pub async fn text_with(&self, css: &str, start: &str) -> Result<String> {
        let script = "return document.querySelector(arguments[0])?.textContent ?? '';";
        let end = std::time::Instant::now() + PATIENCE;
        loop {
            let text = self.client.execute(script, vec![json!(css)]).await?;
            let text = text.as_str().unwrap_or_default();
            if text.starts_with(start) && !text.is_empty() {
                return Ok(text.to_owned());
            }
            ensure!(std::time::Instant::now() < end, "{css} is {text:?}, not {start:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The value of an expression in the page.
    pub async fn value(&self, expression: &str) -> Result<Json> {
        Ok(self.client.execute(&format!("return {expression};"), Vec::new()).await?)
    }

    /// What the page complained about since the last time: errors of scripts, refused resources, broken policies.
    pub async fn complaints(&self) -> Result<Vec<String>> {
        let entries = self.client.issue_cmd(Log).await?;
        let is_severe = |entry: &&Json| entry["level"] == "SEVERE" || entry["source"] == "security";
        Ok(entries.as_array().into_iter().flatten().filter(is_severe).map(Json::to_string).collect())
    }

    /// A command of Chromium's own protocol, for what WebDriver has no word for; answers what it answers.
    pub async fn cdp(&self, command: &str, parameters: Json) -> Result<Json> {
        let command = Cdp { command: command.to_owned(), parameters };
        Ok(self.client.issue_cmd(command).await?)
    }

    pub async fn stop(mut self) -> Result<()> {
        self.client.clone().close().await?;
        self.driver.kill()?;
        self.driver.wait()?;
        Ok(())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Both fail when it has ended already, which is what we want.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The log of the console, which chromedriver has beyond the standard.
#[derive(Debug)]
struct Log;

impl WebDriverCompatibleCommand for Log {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _url: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({"type": "browser"}).to_string()))
    }
}

/// A command of Chromium's own protocol, which chromedriver hands on.
#[derive(Debug)]
struct Cdp {
    command: String,
    parameters: Json,
}

impl WebDriverCompatibleCommand for Cdp {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _url: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({"cmd": self.command, "params": self.parameters}).to_string()))
    }
}
