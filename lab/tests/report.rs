//! The report of the sample run, as a browser shows it, and its schema.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/lab")
}

fn lab(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_rowcast-lab")).args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Loads the page in a frame of this width and gives what the script says about it.
fn measure(page: &str, width: u32, script: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    let harness = format!(
        "<!doctype html><meta charset=utf-8><body style='margin:0'>\
         <iframe style='border:0;width:{width}px;height:800px' srcdoc=\"{quoted}\"></iframe>\
         <script>onload = () => {{ const page = document.querySelector('iframe').contentDocument;\
         const found = {script}; document.title = JSON.stringify(found); }}</script>"
    );
    let file = folder.path().join("page.html");
    fs::write(&file, harness).expect("the page is written");
    let profile = folder.path().join("profile");
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-quic"])
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("chromium is installed; tests/install does that");
    let page = String::from_utf8_lossy(&output.stdout);
    let title = page.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
    let title = title.unwrap_or_else(|| panic!("no title:\n{}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(&title.replace("&amp;", "&").replace("&quot;", "\"")).expect("JSON in the title")
}

#[test]
fn a_browser_draws_every_chart_and_table_and_a_narrow_one_does_not_scroll_sideways() {
    let out = tempfile::tempdir().expect("a folder");
    let folder = out.path().to_str().expect("its name is UTF-8");
    lab(&["report", sample().to_str().expect("UTF-8"), "--out", folder]);
    let page = fs::read_to_string(out.path().join("report.html")).expect("a page");
    let run: Value =
        serde_json::from_slice(&fs::read(sample().join("run.json")).expect("a run")).expect("JSON");
    let measures: Vec<&Value> = run["scenarios"]
        .as_array()
        .expect("scenarios")
        .iter()
        .flat_map(|scenario| scenario["measures"].as_array().expect("measures"))
        .collect();
    let cells: usize = measures.iter().map(|measure| measure["cells"].as_array().map_or(0, Vec::len)).sum();
    assert!(measures.len() > 10 && cells > 40, "the sample is a whole run");
    let script = "{ wide: page.documentElement.scrollWidth, charts: page.querySelectorAll('svg.chart').length,\
        bars: [...page.querySelectorAll('svg .bar')].filter(bar => bar.getBoundingClientRect().height > 5).length,\
        tall: [...page.querySelectorAll('svg.chart')].every(svg => svg.getBoundingClientRect().height >= 38),\
        rows: page.querySelectorAll('section > .figures tbody tr').length,\
        empty: [...page.querySelectorAll('section > .figures td:nth-child(2)')].filter(cell => !cell.textContent).length,\
        letters: Math.min(...[...page.querySelectorAll('svg text, td, p')].map(it => parseFloat(getComputedStyle(it).fontSize))),\
        outside: [...page.querySelectorAll('svg text')].filter(it => it.getBoundingClientRect().right > page.defaultView.innerWidth).length,\
        requests: page.defaultView.performance.getEntriesByType('resource').length }";
    for width in [1280, 390] {
        let found = measure(&page, width, script);
        assert_eq!(found["charts"], measures.len(), "{found}");
        assert_eq!(found["bars"], cells, "{found}");
        assert_eq!(found["rows"], cells, "{found}");
        assert_eq!((&found["tall"], &found["empty"]), (&Value::Bool(true), &0.into()), "{found}");
        assert!(found["wide"].as_u64() <= Some(width.into()), "at {width} px: {found}");
        assert!(found["letters"].as_f64() >= Some(12.0), "{found}");
        assert_eq!(found["requests"], 0, "the page needs nothing beside it: {found}");
    }
}

#[test]
fn the_sample_is_what_the_program_writes_today() {
    let out = tempfile::tempdir().expect("a folder");
    lab(&["report", sample().to_str().expect("UTF-8"), "--out", out.path().to_str().expect("UTF-8")]);
    for name in ["run.json", "report.md", "report.html"] {
        let written = fs::read_to_string(out.path().join(name)).expect("it is written");
        let kept = fs::read_to_string(sample().join(name)).expect("it is kept");
        assert!(written == kept, "docs/lab/{name} is stale; `cargo run -p lab -- report docs/lab`");
    }
}

#[test]
fn the_schema_is_what_the_program_prints() {
    let printed = String::from_utf8(lab(&["schema"])).expect("UTF-8");
    let kept = fs::read_to_string(sample().join("run.schema.json")).expect("it is kept");
    assert!(printed == kept, "docs/lab/run.schema.json is stale; `cargo run -p lab -- schema` prints it");
}
