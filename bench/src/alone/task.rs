//! Task: what the bare programs are asked to do, and the JSON that they answer.

use anyhow::Context;

/// The list that scenarios ask for: 20 of the posts of one category, the newest first.
pub const LIST: &str = "FROM posts WHERE category_id = 3 ORDER BY id DESC LIMIT 20";

/// A request to a bare program.
pub enum Task {
    /// One record of a table by its key.
    Read(&'static str, i64),
    /// The list of [`LIST`].
    List,
    /// One more row of `entries`.
    Insert(String, i64),
}

impl Task {
    /// Reads `/records/TABLE/ID`, `/records/posts`, or a body for `/records/entries`.
    pub fn parse(target: &str, body: &[u8]) -> anyhow::Result<Task> {
        let mut parts = target.trim_start_matches("/records/").split('/');
        let table = match parts.next().unwrap_or_default() {
            "posts" => "posts",
            "visitors" => "visitors",
            "guests" => "guests",
            "entries" => "entries",
            other => anyhow::bail!("no table {other}"),
        };
        if let Some(id) = parts.next() {
            return Ok(Task::Read(table, id.parse()?));
        }
        if body.is_empty() {
            return Ok(Task::List);
        }
        let record: serde_json::Value = serde_json::from_slice(body)?;
        let name = record["name"].as_str().context("a name")?;
        Ok(Task::Insert(name.to_owned(), record["score"].as_i64().context("a score")?))
    }
}

/// A cell as JSON.
pub enum Cell<'a> {
    Null,
    Int(i64),
    Float(f64),
    Text(&'a str),
}

/// Records, or one, written as they come.
pub struct Records {
    out: Vec<u8>,
    is_list: bool,
    count: usize,
}

impl Records {
    /// Nothing is written yet but the head of a list.
    pub fn new(is_list: bool) -> Records {
        let mut out = Vec::with_capacity(512);
        if is_list {
            out.extend_from_slice(b"{\"records\":[");
        }
        Records { out, is_list, count: 0 }
    }

    /// Writes a row.
    pub fn row<'a>(&mut self, cells: impl Iterator<Item = (&'a str, Cell<'a>)>) -> anyhow::Result<()> {
        self.out.extend_from_slice(if self.count > 0 { b",{" } else { b"{" });
        self.count += 1;
        for (index, (name, cell)) in cells.enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.out.push(b'"');
            self.out.extend_from_slice(name.as_bytes());
            self.out.extend_from_slice(b"\":");
            match cell {
                Cell::Null => self.out.extend_from_slice(b"null"),
                Cell::Int(int) => self.out.extend_from_slice(itoa::Buffer::new().format(int).as_bytes()),
                Cell::Float(float) => serde_json::to_writer(&mut self.out, &float)?,
                Cell::Text(text) => serde_json::to_writer(&mut self.out, text)?,
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    /// All that was written.
    pub fn finish(mut self) -> Vec<u8> {
        if self.is_list {
            self.out.extend_from_slice(b"]}");
        }
        self.out
    }
}
