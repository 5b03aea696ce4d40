//! Records as callers send them, before their types are known.

use std::borrow::Cow;
use std::collections::HashMap;

/// A value of a record, still as the caller spelled it.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// JSON null.
    Null,
    /// JSON true or false.
    Bool(bool),
    /// A JSON number in the digits that were sent, so that none is lost.
    Number(Cow<'a, str>),
    /// A JSON string, or any value of a form.
    Text(Cow<'a, str>),
    /// A JSON array or object, as its text.
    Json(Cow<'a, str>),
}

/// Members and their values, in the order sent; of equal names the last value counts.
pub type Record<'a> = Vec<(Cow<'a, str>, Cell<'a>)>;

/// limit: members of a record; more columns than any of the databases allows.
pub const MEMBERS_MAX: usize = 4096;
/// limit: members of a record that are compared one by one; beyond, their number is the caller's and a map finds them.
const SCAN_MAX: usize = 32;

/// A record under construction.
pub struct Members<'a, V = Cell<'a>> {
    record: Vec<(Cow<'a, str>, V)>,
    /// Where each member stands, once there are too many to compare.
    places: HashMap<Cow<'a, str>, usize>,
}

impl<V> Default for Members<'_, V> {
    fn default() -> Self {
        Members { record: Vec::new(), places: HashMap::new() }
    }
}

impl<'a, V> Members<'a, V> {
    /// Adds a member; of equal names the last value counts.
    pub fn put(&mut self, name: Cow<'a, str>, value: V) {
        if let Some(place) = self.place(&name) {
            self.record[place].1 = value;
            return;
        }
        self.record.push((name, value));
        if self.record.len() > SCAN_MAX {
            let added = if self.places.is_empty() { 0 } else { self.record.len() - 1 };
            let names = self.record.iter().enumerate().skip(added);
            self.places.extend(names.map(|(place, (name, _))| (name.clone(), place)));
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.record.len() > SCAN_MAX {
            return self.places.get(name).copied();
        }
        self.record.iter().position(|(known, _)| known == name)
    }

    /// The record.
    pub fn finish(self) -> Vec<(Cow<'a, str>, V)> {
        self.record
    }
}

/// One record, or several to be treated as one.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordBatch<'a> {
    /// The records in the order sent.
    pub records: Vec<Record<'a>>,
    /// Whether the caller sent an array, and so gets one back.
    pub batch: bool,
}

#[cfg(test)]
mod tests {
    use crate::request::record::{Cell, Members};

    #[test]
    fn of_equal_names_the_last_counts_however_many_there_are() {
        let mut members = Members::default();
        for round in ["1", "2"] {
            for number in 0..100 {
                members.put(number.to_string().into(), Cell::Number(round.into()));
            }
        }
        let record = members.finish();
        assert_eq!(record.len(), 100);
        assert!(record.iter().all(|(_, cell)| *cell == Cell::Number("2".into())));
        assert_eq!(record[70].0, "70");
    }
}
