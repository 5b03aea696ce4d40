//! RowSet: rows kept for joining, already encoded, in one arena, with the rows joined to them.

use std::collections::HashMap;

use crate::value::{Value, ValueRef};

/// A value that connects rows, equal whatever type an engine gives it: `1`, `1.0` and `'1'` are one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// A whole number.
    Int(i64),
    /// Anything else that is text.
    Text(Box<str>),
    /// Bytes.
    Bytes(Box<[u8]>),
}

impl Key {
    /// The key that a cell is; `None` for NULL, which connects nothing.
    pub fn of(value: ValueRef<'_>) -> Option<Key> {
        Some(match value {
            ValueRef::Null => return None,
            ValueRef::Bool(truth) => Key::Int(i64::from(truth)),
            ValueRef::Int(int) => Key::Int(int),
            ValueRef::Float(float) => Key::of_text(&float.to_string()),
            ValueRef::Number(text) | ValueRef::Text(text) => Key::of_text(text),
            ValueRef::Bytes(bytes) => Key::Bytes(bytes.into()),
        })
    }

    fn of_text(text: &str) -> Key {
        match text.parse::<i64>() {
            Ok(int) if int.to_string() == text => Key::Int(int),
            _ => Key::Text(text.into()),
        }
    }

    /// The key as a value to bind.
    pub fn to_value(&self) -> Value {
        match self {
            Key::Int(int) => Value::Int(*int),
            Key::Text(text) => Value::Text(text.clone()),
            Key::Bytes(bytes) => Value::Bytes(bytes.clone()),
        }
    }
}

/// The rows of one join, found by the key of the row they belong to.
#[derive(Debug, Default)]
pub struct Joined {
    /// The link of the rows outside by which they find these rows.
    pub parent_link: usize,
    /// The rows.
    pub rows: RowSet,
    /// Which rows belong to a key, in their order.
    pub groups: HashMap<Key, Vec<usize>>,
}

/// Rows with encoded cells.
#[derive(Debug, Default)]
pub struct RowSet {
    /// The encoded cells of all rows, one after the other.
    pub bytes: Vec<u8>,
    ends: Vec<usize>,
    links: Vec<Option<Key>>,
    width: usize,
    link_width: usize,
    rows: usize,
    /// What is joined, by number of the join.
    pub joined: Vec<Joined>,
}

impl RowSet {
    /// An empty set of rows with `width` cells and `link_width` links each.
    pub fn new(width: usize, link_width: usize) -> RowSet {
        RowSet { width, link_width, ..RowSet::default() }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Ends the cell that was just appended to `bytes`.
    pub fn end_cell(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Keeps the next link of the row being appended.
    pub fn push_link(&mut self, key: Option<Key>) {
        self.links.push(key);
    }

    /// Ends the row whose cells and links were just appended.
    pub fn end_row(&mut self) {
        self.rows += 1;
        debug_assert_eq!(self.ends.len(), self.rows * self.width);
        debug_assert_eq!(self.links.len(), self.rows * self.link_width);
    }

    /// The encoded cell of a row.
    pub fn cell(&self, row: usize, cell: usize) -> &[u8] {
        let index = row * self.width + cell;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// The link of a row.
    pub fn link(&self, row: usize, link: usize) -> Option<&Key> {
        self.links[row * self.link_width + link].as_ref()
    }

    /// The different keys of a link, in order of their values.
    pub fn keys(&self, link: usize) -> Vec<Key> {
        let mut keys: Vec<Key> = (0..self.rows).filter_map(|row| self.link(row, link).cloned()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Forgets the rows, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.links.clear();
        self.rows = 0;
        self.joined.clear();
    }
}

#[cfg(test)]
mod tests {
    use crate::row::set::Key;
    use crate::value::ValueRef;

    #[test]
    fn a_key_is_one_whatever_type_the_engine_gives_it() {
        assert_eq!(Key::of(ValueRef::Text("7")), Key::of(ValueRef::Int(7)));
        assert_eq!(Key::of(ValueRef::Float(7.0)), Key::of(ValueRef::Int(7)));
        assert_ne!(Key::of(ValueRef::Text("07")), Key::of(ValueRef::Int(7)));
        assert_eq!(Key::of(ValueRef::Null), None);
    }
}
