//! Generated requests: each a row of choices, so that a failing one shrinks to few.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use crate::support::transcript::Request;
use crate::world::{SHAPES, Shape, WORDS};

const MISSPELT: [&str; 7] = ["titel", "pasword", "scop", "peopel", "post", "idd", "wrd"];
const OPERATORS: [&str; 12] = ["eq", "neq", "lt", "ge", "cs", "ncs", "sw", "in", "bt", "is", "nis", "zz"];

/// The choices of one request.
pub fn choices() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 12..40)
}

/// Takes one choice after the other; when they end, the first of everything.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn number(&mut self, below: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % below
    }

    fn pick<'b>(&mut self, from: &[&'b str]) -> &'b str {
        from[self.number(from.len())]
    }

    fn shape(&mut self) -> &'static Shape {
        &SHAPES[self.number(SHAPES.len())]
    }

    fn column(&mut self, shape: &'static Shape) -> &'static str {
        let number = self.number(shape.columns.len() * 8);
        match shape.columns.get(number % (shape.columns.len() + 1)) {
            Some((name, _)) => name,
            None => MISSPELT[number % MISSPELT.len()],
        }
    }

    fn table(&mut self, shape: &'static Shape) -> &'static str {
        if self.number(16) == 15 { self.pick(&MISSPELT) } else { shape.name }
    }

    fn value(&mut self) -> String {
        match self.number(4) {
            0 => self.pick(&WORDS).replace('%', "%25"),
            1 => ["open", "shut", "x,y", "POINT(1 2)"][self.number(4)].to_owned(),
            2 => (200 - self.number(8)).to_string(),
            _ => self.number(9).to_string(),
        }
    }

    fn id(&mut self) -> String {
        match self.number(4) {
            0 => format!(
                "post_id={};lang={}",
                self.number(4) + 1,
                char::from(b'a' + u8::try_from(self.number(6)).unwrap())
            ),
            1 => format!("{},{},{}", self.number(9), 200 - self.number(8), self.number(15)),
            _ => (self.number(14) + 1).to_string(),
        }
    }

    fn parameter(&mut self, shape: &'static Shape) -> String {
        let other = self.shape();
        match self.number(12) {
            0..=2 => {
                let group = self.pick(&["", "", "1", "2", "1a"]);
                format!("filter{group}={},{},{}", self.column(shape), self.pick(&OPERATORS), self.value())
            }
            3..=4 => {
                let path = self.path(other, ".");
                format!("filter={path}.{},{},{}", self.column(other), self.pick(&OPERATORS), self.value())
            }
            5..=6 => format!("join={}", self.path(other, ",")),
            7 => format!("order={},{}", self.column(shape), self.pick(&["asc", "desc", "down"])),
            8 => format!("include={},{}.{}", self.column(shape), other.name, self.column(other)),
            9 => format!("exclude={}", self.column(shape)),
            10 => format!("search={}", self.value().replace(' ', "+")),
            _ => {
                self.pick(&["page=1", "page=2,2", "size=3", "size=0", "size=-1", "bbox=0,0,9,60"]).to_owned()
            }
        }
    }

    fn path(&mut self, last: &'static Shape, mark: &str) -> String {
        let first = self.shape();
        if self.number(3) == 0 {
            format!("{}{mark}{}", first.name, last.name)
        } else {
            self.table(last).to_owned()
        }
    }

    fn body(&mut self, shape: &'static Shape) -> String {
        let count = self.number(4);
        let record = |choices: &mut Self| {
            let members: Vec<String> = (0..count)
                .map(|_| {
                    // Keys that are sent could clash with hidden rows, which the database says itself.
                    let name =
                        Some(choices.column(shape)).filter(|name| !["id", "lang", "post_id"].contains(name));
                    let value = choices.value().replace("%25", "%");
                    let value = if value.parse::<i64>().is_ok() { value } else { format!("\"{value}\"") };
                    format!("\"{}\":{value}", name.unwrap_or("scope"))
                })
                .collect();
            format!("{{{}}}", members.join(","))
        };
        let first = record(self);
        if self.number(5) == 0 { format!("[{first},{}]", record(self)) } else { first }
    }
}

/// The request that these choices make.
pub fn request(choices: &[u8]) -> Request {
    let mut choices = Choices(choices.iter());
    let shape = choices.shape();
    let kind = choices.number(16);
    let table = choices.table(shape);
    let (line, body) = match kind {
        12 => (format!("POST /records/{table}"), choices.body(shape)),
        13 => (format!("PUT /records/{table}/{}", choices.id()), choices.body(shape)),
        14 => (format!("PATCH /records/{table}/{}", choices.id()), choices.body(shape)),
        15 => (format!("DELETE /records/{table}/{}", choices.id()), String::new()),
        11 => (
            choices.pick(&["GET /", "GET /openapi", "GET /columns", "GET /columns/posts"]).to_owned(),
            String::new(),
        ),
        _ => {
            let controller = if kind == 10 { "geojson" } else { "records" };
            let id = if kind >= 8 && kind != 10 { format!("/{}", choices.id()) } else { String::new() };
            let count = choices.number(4);
            let parameters: Vec<String> = (0..count).map(|_| choices.parameter(shape)).collect();
            let query = parameters.join("&").replace(' ', "+");
            (format!("GET /{controller}/{table}{id}?{query}"), String::new())
        }
    };
    Request { line, headers: Vec::new(), body }
}
