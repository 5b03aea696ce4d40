//! The survey of `examples/survey` as a visitor meets it: the real service, its pages in a real browser.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::key::Key;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::browser::{Browser, Screen, is_there};
use crate::program::wire::{Answer, get, send};

mod browser;
mod program;

const WIDE: Screen = Screen { width: 1280, height: 900, is_dark: false };
/// How long nothing may happen before a test believes that nothing will.
const QUIET: Duration = Duration::from_millis(1500);
const VISITORS: i64 = 1000;
const CLOSES: usize = 3;
const CLIENTS: i64 = 16;

/// `examples/survey/run`, as `make survey` runs it.
struct Survey {
    child: Child,
    folder: PathBuf,
    api: u16,
    site: u16,
    password: Option<String>,
}

impl Survey {
    fn start(folder: &Path) -> Result<Self> {
        Self::start_on(folder, free_port()?, free_port()?)
    }

    fn start_on(folder: &Path, api: u16, site: u16) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/survey/run");
        let mut command = Command::new(script);
        command.arg(folder).env("ROWCAST", env!("CARGO_BIN_EXE_rowcast"));
        command.env("API_PORT", api.to_string()).env("SITE_PORT", site.to_string());
        // One test is many visitors at one address.
        command.env("ROWCAST_RATE_LIMIT_REQUESTS", "0");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().context("the output")?);
        let (mut password, mut is_ready) = (None, false);
        for line in output.lines().map_while(Result::ok) {
            password = line.split_once(", password ").map(|(_, word)| word.to_owned()).or(password);
            // The last line that Rowcast writes when it starts.
            is_ready = line.contains("?page=1,3");
            if is_ready {
                break;
            }
        }
        let survey = Self { child, folder: folder.to_owned(), api, site, password };
        ensure!(is_ready, "the survey did not start");
        while std::net::TcpStream::connect(("127.0.0.1", site)).is_err() {
            thread::sleep(Duration::from_millis(20));
        }
        Ok(survey)
    }

    fn stop(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        Command::new("kill").arg(self.child.id().to_string()).status()?;
        self.child.wait()?;
        Ok(())
    }

    async fn visit(&self, browser: &Browser) -> Result<()> {
        Ok(browser.client.goto(&format!("http://127.0.0.1:{}/site/", self.site)).await?)
    }

    /// What the service holds of the visitor of this browser.
    async fn record(&self, browser: &Browser) -> Result<Json> {
        let cookie = browser.value("document.cookie").await?;
        let id = cookie.as_str().and_then(|text| text.strip_prefix("survey_visitor=")).context("a cookie")?;
        let answer = get(self.api, &format!("/records/visitors/{id}"));
        ensure!(answer.status == 200, "{answer:?}");
        Ok(serde_json::from_str(&answer.body)?)
    }

    /// Waits until a column of the visitor's record counts `expected`.
    async fn counted(&self, browser: &Browser, column: &str, expected: i64) -> Result<()> {
        for _ in 0..200 {
            if self.record(browser).await?[column] == json!(expected) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        anyhow::bail!("{column} is not {expected}: {}", self.record(browser).await?)
    }
}

impl Drop for Survey {
    fn drop(&mut self) {
        // It fails when it has ended already, which is what we want.
        let _ = self.end();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Runs a test with the service and a browser that has never been there.
fn with_visitor(test: impl AsyncFnOnce(Survey, &Browser) -> Result<()>) -> Result<()> {
    if !is_there() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let survey = Survey::start(folder.path())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let browser = Browser::start(WIDE).await?;
        test(survey, &browser).await?;
        browser.stop().await
    })
}

const INVITATION: &str = "#survey-invitation";

async fn is_invited(browser: &Browser) -> Result<()> {
    browser.find(INVITATION).await.map(drop)
}

async fn is_left_alone(browser: &Browser) -> Result<()> {
    tokio::time::sleep(QUIET).await;
    let count = browser.value("document.querySelectorAll('#survey-invitation').length").await?;
    ensure!(count == json!(0), "the visitor is asked");
    Ok(())
}

/// Presses a key on a part of the invitation, as somebody without a mouse does.
async fn press(browser: &Browser, part: &str, key: Key) -> Result<()> {
    is_invited(browser).await?;
    let focus = "document.querySelector('#survey-invitation').shadowRoot.querySelector(arguments[0]).focus()";
    browser.client.execute(focus, vec![json!(part)]).await?;
    // To whatever has the focus: what is sent to an element moves the focus there, and the host has none.
    let value = key.into();
    let keys =
        KeyActions::new("keyboard".to_owned()).then(KeyAction::Down { value }).then(KeyAction::Up { value });
    Ok(browser.client.perform_actions(keys).await?)
}

#[test]
fn yes_is_kept_and_opens_the_survey_in_a_new_tab() -> Result<()> {
    with_visitor(async |survey, browser| {
        survey.visit(browser).await?;
        press(browser, "a", Key::Enter).await?;
        is_left_alone(browser).await?;
        survey.counted(browser, "yes", 1).await?;
        let windows = browser.client.windows().await?;
        ensure!(windows.len() == 2, "{windows:?}");
        browser.client.switch_to_window(windows[1].clone()).await?;
        browser.text_with("h1", "The survey").await?;
        browser.client.switch_to_window(windows[0].clone()).await?;
        survey.visit(browser).await?;
        is_left_alone(browser).await
    })
}

#[test]
fn no_is_kept_and_shown_on_the_console() -> Result<()> {
    with_visitor(async |survey, browser| {
        survey.visit(browser).await?;
        press(browser, "button", Key::Enter).await?;
        survey.counted(browser, "no", 1).await?;
        survey.visit(browser).await?;
        is_left_alone(browser).await?;
        browser.client.goto(&format!("http://127.0.0.1:{}/console/", survey.site)).await?;
        let log_in = async |password: &str| -> Result<()> {
            for (field, text) in [("name", "console"), ("password", password)] {
                let field = browser.find(&format!("input[name={field}]")).await?;
                field.clear().await?;
                field.send_keys(text).await?;
            }
            Ok(browser.find("button").await?.click().await?)
        };
        log_in("wrong").await?;
        browser.text_with("#problem", "Name or password is wrong.").await?;
        log_in(survey.password.as_deref().context("a new password")?).await?;
        browser.text_with("#no", "1").await?;
        browser.text_with("#all", "1").await?;
        let latest = browser.text_with("#latest", "2").await?;
        ensure!(latest.contains("127.0.0.1") && latest.contains("no"), "{latest}");
        ensure!(browser.value("document.querySelectorAll('#chart rect').length").await? == json!(4));
        Ok(())
    })
}

#[test]
fn closed_three_times_is_never_again() -> Result<()> {
    with_visitor(async |survey, browser| {
        for (time, part) in (1..).zip([".close", "a", "button"]) {
            survey.visit(browser).await?;
            // The button at first, then Escape from wherever the focus is.
            let key = if part == ".close" { Key::Enter } else { Key::Escape };
            press(browser, part, key).await?;
            survey.counted(browser, "closes", time).await?;
        }
        survey.visit(browser).await?;
        is_left_alone(browser).await
    })
}

#[test]
fn who_refuses_cookies_or_tracking_is_not_asked() -> Result<()> {
    with_visitor(async |survey, browser| {
        browser.cdp("Emulation.setDocumentCookieDisabled", json!({"disabled": true})).await?;
        survey.visit(browser).await?;
        is_left_alone(browser).await?;
        browser.cdp("Emulation.setDocumentCookieDisabled", json!({"disabled": false})).await?;
        let refuse = "Object.defineProperty(Navigator.prototype, 'doNotTrack', { get: () => '1' })";
        let added = browser.cdp("Page.addScriptToEvaluateOnNewDocument", json!({"source": refuse})).await?;
        survey.visit(browser).await?;
        is_left_alone(browser).await?;
        ensure!(browser.value("document.cookie").await? == json!(""), "a cookie was set");
        browser.cdp("Page.removeScriptToEvaluateOnNewDocument", added).await?;
        // The same browser is asked when it refuses nothing.
        survey.visit(browser).await?;
        is_invited(browser).await
    })
}

#[test]
fn two_tabs_at_once_are_one_visitor() -> Result<()> {
    with_visitor(async |survey, browser| {
        survey.visit(browser).await?;
        let open = "window.open(location.href); window.open(location.href);";
        browser.client.execute("document.cookie = 'survey_visitor=; Max-Age=0; Path=/'", vec![]).await?;
        browser.client.execute(open, vec![]).await?;
        let windows = browser.client.windows().await?;
        let mut cookies = Vec::new();
        for window in &windows[1..] {
            browser.client.switch_to_window(window.clone()).await?;
            is_invited(browser).await?;
            cookies.push(browser.value("document.cookie").await?);
        }
        ensure!(cookies.len() == 2 && cookies[0] == cookies[1], "{cookies:?}");
        press(browser, "button", Key::Enter).await?;
        browser.client.switch_to_window(windows[1].clone()).await?;
        is_left_alone(browser).await?;
        survey.counted(browser, "no", 1).await
    })
}

#[test]
fn it_is_silent_while_the_api_is_down_and_remembers_after_a_restart() -> Result<()> {
    with_visitor(async |survey, browser| {
        survey.visit(browser).await?;
        press(browser, ".close", Key::Enter).await?;
        survey.counted(browser, "closes", 1).await?;
        let (folder, api, site) = (survey.folder.clone(), survey.api, survey.site);
        survey.stop()?;
        // The site is there, the API is not.
        let mut pages = Command::new("python3")
            .args(["-m", "http.server", "--bind", "127.0.0.1", "--directory"])
            .arg(folder.join("pages"))
            .arg(site.to_string())
            .stderr(Stdio::null())
            .spawn()?;
        while std::net::TcpStream::connect(("127.0.0.1", site)).is_err() {
            thread::sleep(Duration::from_millis(20));
        }
        let url = format!("http://127.0.0.1:{site}/site/");
        browser.client.goto(&url).await?;
        is_left_alone(browser).await?;
        browser.text_with("h1", "The Daily Loaf").await?;
        pages.kill()?;
        pages.wait()?;
        let survey = Survey::start_on(&folder, api, site)?;
        survey.visit(browser).await?;
        press(browser, "button", Key::Enter).await?;
        survey.counted(browser, "no", 1).await?;
        ensure!(survey.record(browser).await?["closes"] == json!(1));
        Ok(())
    })
}

#[test]
fn a_thousand_visitors_who_close_three_times_are_counted_exactly() -> Result<()> {
    let folder: TempDir = tempfile::tempdir()?;
    let survey = Survey::start(folder.path())?;
    let expect = |answer: Answer, body: &str| ensure_is(&answer, body);
    thread::scope(|scope| {
        let client = |first: i64| {
            (first..VISITORS).step_by(usize::try_from(CLIENTS)?).try_for_each(|visitor| {
                let id = 4_611_686_018_427_387_904 + visitor;
                let body = format!("{{\"id\":\"{id}\",\"site\":\"a.example\"}}");
                expect(send(survey.api, "POST", "/records/visitors", &body), &format!("\"{id}\""))
            })
        };
        join((0..CLIENTS).map(|first| scope.spawn(move || client(first))).collect())
    })?;
    thread::scope(|scope| {
        // All clients close at all visitors, so that they meet at the same records.
        let client = |_| {
            (0..VISITORS).try_for_each(|visitor| {
                let target = format!("/records/visitors/{}", 4_611_686_018_427_387_904 + visitor);
                expect(send(survey.api, "PATCH", &target, "{\"closes\":1}"), "1")
            })
        };
        join((0..CLOSES).map(|number| scope.spawn(move || client(number))).collect())
    })?;
    for visitor in 0..VISITORS {
        let id = 4_611_686_018_427_387_904 + visitor;
        let answer = get(survey.api, &format!("/records/visitors/{id}"));
        ensure!(answer.body.contains("\"closes\":3}"), "{answer:?}");
    }
    survey.stop()
}

fn ensure_is(answer: &Answer, body: &str) -> Result<()> {
    ensure!(answer.status == 200 && answer.body == body, "{answer:?}, not {body}");
    Ok(())
}

fn join(clients: Vec<thread::ScopedJoinHandle<'_, Result<()>>>) -> Result<()> {
    clients.into_iter().try_for_each(|client| client.join().expect("a client does not panic"))
}

#[test]
fn a_visitor_sees_and_does_no_more_than_is_theirs() -> Result<()> {
    let folder: TempDir = tempfile::tempdir()?;
    let survey = Survey::start(folder.path())?;
    let create = |body: &str| send(survey.api, "POST", "/records/visitors", body);
    ensure_is(&create("{\"id\":\"7\"}"), "\"7\"")?;
    ensure_is(&create("{\"id\":\"8\"}"), "\"8\"")?;
    let refused = [
        ("GET", "/records/visitors", "", 404),
        ("GET", "/records/visitors/7,8", "", 413),
        ("PUT", "/records/visitors/7", "{\"yes\":1}", 404),
        ("DELETE", "/records/visitors/7", "", 404),
        ("PATCH", "/records/visitors/7", "{\"closes\":-1}", 422),
        ("PATCH", "/records/visitors/7", "{\"closes\":5}", 422),
        ("POST", "/records/visitors", "[{\"id\":9},{\"id\":10}]", 413),
        ("POST", "/records/visitors", "{\"id\":\"11\",\"site\":\"<script>\"}", 422),
        ("POST", "/records/visitors", "{\"id\":\"12\",\"answered\":\"2026-01-01\"}", 404),
    ];
    for (method, target, body, status) in refused {
        let answer = send(survey.api, method, target, body);
        ensure!(answer.status == status, "{method} {target} {body}: {answer:?}");
    }
    let answer = get(survey.api, "/records/visitors/7");
    ensure_is(&answer, "{\"id\":7,\"site\":\"\",\"yes\":0,\"no\":0,\"closes\":0}")?;
    survey.stop()
}
