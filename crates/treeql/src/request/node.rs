//! Node: a value of an XML body, and the element that becomes one as it is read.

use std::borrow::Cow;

use crate::request::number::is_numeric;
use crate::request::record::{Cell, Members};

/// What an element holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing, whatever stands in it.
    Null,
    /// A truth value.
    Boolean,
    /// A number.
    Number,
    /// Text.
    Text,
    /// A member for each element in it.
    Object,
    /// An item for each element in it.
    Array,
}

impl Kind {
    /// Whether only the text in an element counts.
    pub fn is_plain(self) -> bool {
        !matches!(self, Kind::Object | Kind::Array)
    }
}

/// A value of an XML body.
pub enum Node {
    /// Null, a truth value, a number or text.
    Scalar(Cell<'static>),
    /// Values in their order.
    Array(Vec<Node>),
    /// Values by name.
    Object(Vec<(Cow<'static, str>, Node)>),
}

impl Node {
    /// The value as a member of a record has it.
    pub fn into_cell(self) -> Cell<'static> {
        match self {
            Node::Scalar(cell) => cell,
            Node::Array(_) | Node::Object(_) => {
                let mut out = String::new();
                self.write(&mut out);
                Cell::Json(Cow::Owned(out))
            }
        }
    }

    /// Appends the value as JSON.
    fn write(&self, out: &mut String) {
        match self {
            Node::Scalar(Cell::Null) => out.push_str("null"),
            Node::Scalar(Cell::Bool(truth)) => out.push_str(if *truth { "true" } else { "false" }),
            Node::Scalar(Cell::Number(text) | Cell::Json(text)) => out.push_str(text),
            Node::Scalar(Cell::Text(text)) => write_string(out, text),
            Node::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write(out);
                }
                out.push(']');
            }
            Node::Object(members) => {
                out.push('{');
                for (index, (name, node)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    write_string(out, name);
                    out.push(':');
                    node.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// An element whose end is to come.
pub struct Open {
    name: String,
    /// What it holds, if that is known yet.
    pub kind: Option<Kind>,
    text: String,
    members: Members<'static, Node>,
    items: Vec<Node>,
}

impl Open {
    /// An element of which nothing but its name is known.
    pub fn new(name: &str) -> Open {
        Open {
            name: name.to_owned(),
            kind: None,
            text: String::new(),
            members: Members::default(),
            items: Vec::new(),
        }
    }

    /// An element begins in this one, which decides what it holds if nothing else did.
    pub fn begin_child(&mut self) -> Kind {
        let is_text = !self.text.trim().is_empty();
        *self.kind.get_or_insert(if is_text { Kind::Text } else { Kind::Object })
    }

    /// compat: an attribute `__type` becomes a member.
    pub fn put_type(&mut self, value: &str) {
        if !value.is_empty() {
            let value = Node::Scalar(Cell::Text(Cow::Owned(value.to_owned())));
            self.members.put(Cow::Borrowed("__type"), value);
        }
    }

    /// Adds what an element in this one holds; of equal names the last counts.
    pub fn put(&mut self, name: String, node: Node) {
        match self.kind {
            Some(Kind::Array) => self.items.push(node),
            _ => self.members.put(Cow::Owned(name), node),
        }
    }

    /// Adds text; between elements there may be blanks only.
    pub fn push_text(&mut self, text: &str) -> Result<(), String> {
        if self.kind.is_none_or(Kind::is_plain) {
            self.text.push_str(text);
            return Ok(());
        }
        if text.trim().is_empty() {
            return Ok(());
        }
        Err(format!("there is text between the elements of '{}'", self.name))
    }

    /// The name and the value of the element, now that it has ended.
    pub fn close(self) -> Result<(String, Node), String> {
        // compat: an element with nothing in it is an empty object.
        let default = if self.text.is_empty() { Kind::Object } else { Kind::Text };
        let node = match self.kind.unwrap_or(default) {
            Kind::Null => Node::Scalar(Cell::Null),
            Kind::Boolean => Node::Scalar(Cell::Bool(self.text.starts_with(['1', 't', 'T']))),
            Kind::Number => {
                let digits = json_number(self.text.trim());
                let digits = digits.ok_or_else(|| {
                    format!("'{}' in '{}' is no number", self.text.escape_debug(), self.name)
                })?;
                Node::Scalar(Cell::Number(Cow::Owned(digits)))
            }
            Kind::Text => Node::Scalar(Cell::Text(Cow::Owned(self.text))),
            Kind::Object => Node::Object(self.members.finish()),
            Kind::Array => Node::Array(self.items),
        };
        Ok((self.name, node))
    }
}

/// A number with the digits that were sent, spelled as JSON wants it: `+.5` is `0.5`.
fn json_number(text: &str) -> Option<String> {
    if !is_numeric(text) {
        return None;
    }
    let unsigned = text.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.trim_start_matches('0');
    let mut number = String::from(if text.starts_with('-') { "-" } else { "" });
    number.push_str(if whole.is_empty() { "0" } else { whole });
    if !fraction.is_empty() {
        number.push('.');
        number.push_str(fraction);
    }
    if let Some(exponent) = exponent {
        number.push('e');
        number.push_str(exponent);
    }
    Some(number)
}
