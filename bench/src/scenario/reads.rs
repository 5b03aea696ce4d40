//! Reads: records by id, lists and joins, with 32 requests in flight.

use crate::load::{Asked, Load};
use crate::measure::{Measured, Subject, interleaved};
use crate::program::Program;
use crate::report::{Report, Target};
use crate::scenario::stage::{CONNECTIONS, Stage, of, serve};

/// How many different requests are sent in turn.
const ASKED: u64 = 20_000;
/// Twenty posts of a category, the newest first; `alone/task.rs` has the same as SQL.
pub const LIST: &str = "/records/posts?filter=category_id,eq,3&order=id,desc&size=20";
/// Posts of the sample blog.
const POSTS: u64 = 10_000;

/// A number below `below` that looks drawn, the same in every run.
pub fn drawn(index: u64, below: u64) -> u64 {
    index.wrapping_mul(0x9E37_79B9_7F4A_7C15) % below
}

fn ids(table: &str, rows: u64) -> Vec<Asked> {
    let target = |index| format!("/records/{table}/{}", 1 + drawn(index, rows));
    (0..ASKED).map(|index| ("GET", target(index), String::new())).collect()
}

/// `GET /records/posts/ID` of 10,000 posts.
pub fn by_id(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let load = stage.load("by-id", &ids("posts", POSTS))?;
    let subjects = stage.of_kind(&["rowcast", "base", "alone"]);
    let rows = stage.beside_floor("by-id", &subjects, &load, "/records/posts/1")?;
    let floor = of(&rows, "floor")?;
    report.rows(&rows, Some(floor));
    for engine in stage.engines {
        let row = of(&rows, &format!("rowcast {}", engine.name))?;
        let (rate, cpu) = if engine.is_embedded() { (0.85, 1.25) } else { (0.55, 2.2) };
        report.verdict("by id ÷ floor", &engine.name, row.rate / floor.rate, "", Target::AtLeast(rate));
        report.verdict("CPU by id ÷ floor", &engine.name, row.cpu() / floor.cpu(), "", Target::AtMost(cpu));
        if !engine.is_embedded() {
            let alone = of(&rows, &format!("alone {}", engine.name))?;
            report.verdict(
                "by id ÷ driver alone",
                &engine.name,
                row.rate / alone.rate,
                "",
                Target::AtLeast(1.2),
            );
        }
    }
    Ok(())
}

/// The same of 10,000 and of six million rows with the same columns.
pub fn large(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let small = stage.load("small", &ids("guests", 10_000))?;
    let large = stage.load("large", &ids("visitors", stage.run.rows))?;
    let subjects = stage.of_kind(&["rowcast", "base"]);
    let all: Vec<(&Subject, &Load)> =
        subjects.iter().flat_map(|subject| [(*subject, &small), (*subject, &large)]).collect();
    let mut rows = interleaved("by-id of 10 k", &all, stage.run.rounds, stage.run.seconds)?;
    let pairs: Vec<(Measured, Measured)> = rows
        .chunks_mut(2)
        .map(|pair| {
            "by-id of 6 M".clone_into(&mut pair[1].scenario);
            (pair[0].clone(), pair[1].clone())
        })
        .collect();
    report.rows(&rows, None);
    for engine in stage.engines {
        let name = format!("rowcast {}", engine.name);
        let least = if engine.is_embedded() { 0.9 } else { 0.85 };
        for (small, large) in pairs.iter().filter(|(small, _)| small.subject == name) {
            report.verdict(
                "6 M ÷ 10 k rows",
                &engine.name,
                large.rate / small.rate,
                "",
                Target::AtLeast(least),
            );
        }
    }
    Ok(())
}

/// Twenty posts of a category, the newest first.
pub fn list(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let load = stage.load("list", &[("GET", LIST.to_owned(), String::new())])?;
    let subjects = stage.of_kind(&["rowcast", "base", "alone"]);
    let rows = stage.beside_floor("list", &subjects, &load, LIST)?;
    report.rows(&rows, Some(of(&rows, "floor")?));
    for engine in stage.engines {
        let row = of(&rows, &format!("rowcast {}", engine.name))?;
        let alone = of(&rows, &format!("alone {}", engine.name))?;
        let ratio = row.server_cpu / alone.server_cpu;
        report.verdict("server CPU of a list ÷ driver alone", &engine.name, ratio, "", Target::AtMost(1.5));
    }
    Ok(())
}

/// Twenty posts with their users and comments.
pub fn join(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let target = |id| format!("/records/posts?join=users&join=comments&filter=id,ge,{id}&order=id&size=20");
    let asked: Vec<Asked> =
        (0..400).map(|index| ("GET", target(1 + drawn(index, POSTS)), String::new())).collect();
    let load = stage.load("join", &asked)?;
    let rows = stage.beside_floor("join", &stage.of_kind(&["rowcast", "base"]), &load, &target(1))?;
    let floor = of(&rows, "floor")?;
    report.rows(&rows, Some(floor));
    // On a server its three statements decide, which the plans in the tests show.
    for engine in stage.engines.iter().filter(|engine| engine.is_embedded()) {
        let row = of(&rows, &format!("rowcast {}", engine.name))?;
        report.verdict(
            "list with two joins ÷ floor",
            &engine.name,
            row.rate / floor.rate,
            "",
            Target::AtLeast(0.12),
        );
    }
    Ok(())
}

/// By id with a token and a filter on the rows, beside the same without.
pub fn policy(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let Some(engine) = stage.engines.iter().find(|engine| engine.is_embedded()) else { return Ok(()) };
    let file = stage.home.join("policy.toml");
    std::fs::write(
        &file,
        "middlewares = \"cors,jwtAuth,authorization\"\n[jwtAuth]\nsecret = \"a secret of at least thirty-two bytes\"\n\
         [[authorization.rules]]\ntables = \"*\"\nallow = \"all\"\nfilter = \"id,lt,1000000\"\n",
    )?;
    let file = file.display().to_string();
    let mut arguments = serve(&engine.url).to_vec();
    arguments.extend(["--config", &file]);
    let program = Program::start(&stage.run.program, &arguments)?;
    let name = format!("rowcast {} with JWT", engine.name);
    let subject = Subject { name, address: program.address.clone(), pid: program.pid(), database: None };
    let header = format!("X-Authorization: Bearer {}\r\n", token());
    let asked = ids("posts", POSTS);
    let plain = stage.load("plain", &asked)?;
    let known = Load::new(stage.home, "policy", CONNECTIONS, &header, &asked)?;
    let without = stage.subject(&format!("rowcast {}", engine.name))?;
    let all = [(without, &plain), (&subject, &known)];
    let rows = interleaved("by-id, policy", &all, stage.run.rounds, stage.run.seconds)?;
    report.rows(&rows, None);
    let ratio = rows[1].cpu() / rows[0].cpu();
    report.verdict("JWT and row policy ÷ plain, CPU", &engine.name, ratio, "", Target::AtMost(1.25));
    let ratio = rows[0].rate / rows[1].rate;
    report.verdict("JWT and row policy ÷ plain, time", &engine.name, ratio, "", Target::AtMost(1.25));
    Ok(())
}

/// A token that is good for the rest of the year 2099 (RFC 7515, HS256).
fn token() -> String {
    use base64::Engine as _;
    let encode = |bytes: &[u8]| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
    let head = encode(br#"{"alg":"HS256","typ":"JWT"}"#);
    let signed =
        format!("{head}.{}", encode(br#"{"sub":"7","role":"editor","iat":1700000000,"exp":4102444800}"#));
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"a secret of at least thirty-two bytes");
    format!("{signed}.{}", encode(ring::hmac::sign(&key, signed.as_bytes()).as_ref()))
}
