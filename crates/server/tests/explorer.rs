//! The page at `/` in a real browser: what it shows, what it sends, and that nothing of the database becomes markup.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use crate::browser::{Browser, Screen, is_there};
use crate::program::files::{database, folder, text};
use crate::program::running::{Running, serve, start};
use crate::program::wire::{Answer, exchange, get};

mod browser;
mod program;

const WIDE: Screen = Screen { width: 1280, height: 900, is_dark: false };
const PHONE: Screen = Screen { width: 390, height: 844, is_dark: true };
/// A name that would do something if it became markup.
const HOSTILE: &str = "<img src=x onerror=document.title='broken'>";
const SCRIPT: &str = "
    CREATE TABLE authors (id integer PRIMARY KEY, name varchar(50) NOT NULL);
    CREATE TABLE posts (id integer PRIMARY KEY, author_id integer REFERENCES authors (id), title text NOT NULL, at date);
    INSERT INTO authors VALUES (1, 'Ada <b>Lovelace</b>');
    INSERT INTO posts VALUES (1, 1, '<script>document.title = \"broken\"</script>', '2026-01-31');
    CREATE TABLE \"<img src=x onerror=document.title='broken'>\" (id integer PRIMARY KEY, note text);
    CREATE VIEW titles AS SELECT title FROM posts;";

fn run(test: impl Future<Output = Result<()>>) -> Result<()> {
    if !is_there() {
        return Ok(());
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(test)
}

fn blog(arguments: &[&str]) -> (tempfile::TempDir, Running) {
    let folder = folder();
    let path = database(&folder, "blog.db", SCRIPT);
    let server = serve(text(&path), arguments);
    (folder, server)
}

#[test]
fn a_wide_screen_shows_the_tables_and_the_answer_to_a_request() -> Result<()> {
    run(look(WIDE, &[], "/"))
}

#[test]
fn a_phone_at_night_shows_the_same_below_a_base_path() -> Result<()> {
    run(look(PHONE, &["--set", "basePath=/api"], "/api"))
}

async fn look(screen: Screen, arguments: &[&str], path: &str) -> Result<()> {
    let (_folder, server) = blog(arguments);
    let browser = Browser::start(screen).await?;
    browser.client.goto(&format!("http://127.0.0.1:{}{path}", server.port)).await?;
    browser.find("body[data-ready]").await?;
    ensure!(browser.value("document.querySelectorAll('details[data-table]').length").await? == json!(4));
    ensure!(browser.text_with("#summary", "Rowcast").await?.contains("4 tables and views"));
    // With the keyboard, as without a mouse.
    let posts = browser.find("details[data-table=posts] summary").await?;
    posts.send_keys(&Key::Enter.to_string()).await?;
    let columns = browser.text_with("details[data-table=posts] tbody", "id").await?;
    for part in ["author_id", "→ authors", "title", "clob", "date", "may be null"] {
        ensure!(columns.contains(part), "{part} in {columns}");
    }
    browser.text_with("details[data-table=posts] ul", "author_id leads to authors").await?;
    browser.find("details[data-table=posts] .actions button").await?.click().await?;
    browser.find("#send").await?.click().await?;
    let status = browser.text_with("#status", "200").await?;
    ensure!(status.contains(" ms · ") && status.contains(" bytes"), "{status}");
    let answer = browser.text_with("#answer", "{").await?;
    ensure!(answer.contains("\"title\": \"<script>"), "{answer}");
    look_at_reference(&browser).await?;
    let width = browser.value("document.documentElement.scrollWidth - window.innerWidth").await?;
    ensure!(width.as_i64().is_some_and(|beyond| beyond <= 0), "{width} pixels lie beyond the screen");
    let names = browser
        .value("[...document.querySelectorAll('details[data-table]')].map((d) => d.dataset.table)")
        .await?;
    ensure!(names.as_array().is_some_and(|names| names.contains(&json!(HOSTILE))), "{names}");
    ensure!(browser.client.title().await? == "Rowcast", "a name or a value has become markup");
    let is_dark = browser.value("matchMedia('(prefers-color-scheme: dark)').matches").await?;
    ensure!(is_dark == json!(screen.is_dark), "the screen is as it was asked for");
    let ground = browser.value("getComputedStyle(document.body).backgroundColor").await?;
    ensure!(
        ground == json!(if screen.is_dark { "rgb(21, 24, 28)" } else { "rgb(255, 255, 255)" }),
        "{ground}"
    );
    let complaints = browser.complaints().await?;
    ensure!(complaints.is_empty(), "{complaints:#?}");
    browser.stop().await?;
    server.stop();
    Ok(())
}

async fn look_at_reference(browser: &Browser) -> Result<()> {
    browser.find("#show-reference").await?.click().await?;
    browser.find(".swagger-ui .opblock-tag-section").await?;
    let sections = browser.client.find_all(Locator::Css(".swagger-ui .opblock-tag-section")).await?.len();
    ensure!(sections > 4, "{sections} groups of operations");
    browser
        .client
        .execute("document.querySelector('#operations-tag-posts, .opblock-tag').click()", vec![])
        .await?;
    browser.find(".swagger-ui .opblock").await?;
    Ok(())
}

#[test]
fn who_signs_in_sees_what_they_may_see() -> Result<()> {
    run(async {
        let settings = ["middlewares=apiKeyAuth", "apiKeyAuth.keys=open-sesame"];
        let arguments: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let (_folder, server) = blog(&arguments);
        let browser = Browser::start(WIDE).await?;
        browser.client.goto(&format!("http://127.0.0.1:{}/", server.port)).await?;
        browser.text_with("#summary", "401: Authentication required").await?;
        browser.find("#key-value").await?.send_keys("open-sesame").await?;
        browser.find("#key button").await?.click().await?;
        browser.text_with("#summary", "Rowcast").await?;
        browser.find("details[data-table=posts]").await?;
        browser.find("#send").await?.click().await?;
        browser.text_with("#status", "200").await?;
        browser.stop().await?;
        server.stop();
        Ok(())
    })
}

/// The picture in the documentation, of the sample blog; `BLESS=1` takes it again.
#[test]
fn the_sample_blog_is_shown() -> Result<()> {
    run(async {
        let folder = folder();
        let server = start(&["demo", text(folder.path()), "--listen", "127.0.0.1:0"], &[]);
        let browser = Browser::start(Screen { height: 800, ..WIDE }).await?;
        browser.client.goto(&format!("http://127.0.0.1:{}/", server.port)).await?;
        browser.find("details[data-table=comments] summary").await?.click().await?;
        browser.text_with("details[data-table=comments] tbody", "id").await?;
        let picture = browser.client.screenshot().await?;
        ensure!(picture.starts_with(b"\x89PNG"), "{} bytes", picture.len());
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explorer.png");
        if std::env::var_os("BLESS").is_some() || !file.exists() {
            fs::write(&file, picture)?;
        }
        browser.stop().await?;
        server.stop();
        Ok(())
    })
}

fn asked(port: u16, target: &str, accept: &str) -> Option<Answer> {
    let request =
        format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: {accept}\r\n\r\n");
    Answer::parse(&exchange(port, request.as_bytes()))
}

#[test]
fn a_page_is_for_browsers_and_json_for_others() {
    let (_folder, server) = blog(&[]);
    let page = asked(server.port, "/", "text/html,*/*;q=0.8").expect("an answer");
    assert!(page.head.contains("content-type: text/html; charset=utf-8"), "{}", page.head);
    assert!(
        page.head.contains("content-security-policy: default-src 'none'; script-src 'self';"),
        "{}",
        page.head
    );
    assert!(page.head.contains("vary: accept"), "{}", page.head);
    assert!(!page.body.contains("authors"), "the page itself holds nothing of the database");
    let json = get(server.port, "/");
    assert!(json.head.contains("content-type: application/json"), "{}", json.head);
    assert!(json.body.contains("\"database\":\"sqlite\""), "{}", json.body);
    let script = get(server.port, "/explorer/app.js");
    assert!(script.head.contains("cache-control: public, max-age=31536000, immutable"), "{}", script.head);
    assert_eq!(get(server.port, "/explorer/../Cargo.toml").status, 404);
    server.stop();
}

#[test]
fn the_page_can_be_taken_away() {
    for setting in ["explorer=false", "controllers=records"] {
        let (_folder, server) = blog(&["--set", setting]);
        let json = asked(server.port, "/", "text/html").expect("an answer");
        assert!(json.head.contains("content-type: application/json"), "{}", json.head);
        assert_eq!(get(server.port, "/explorer/app.js").status, 404);
        server.stop();
    }
}
