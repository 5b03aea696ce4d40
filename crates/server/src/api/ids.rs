//! Ids: which records a path is about.

use std::borrow::Cow;

use treeql::error::{Code, Error};
use treeql::request::{Values, composite_ids};

use crate::api::context::Context;

/// The third segment of a path: ids with commas between, or addresses by several columns.
#[derive(Clone, Copy)]
pub struct Ids<'a> {
    /// Decoded.
    pub text: &'a str,
    /// As sent, for addresses whose values may hold what separates them.
    pub raw: &'a str,
}

/// The ids that were read.
pub struct Found<'a> {
    /// The values of the ids.
    pub values: Values<'a>,
    /// Whether they are addresses by all columns of the primary key.
    pub composite: bool,
    /// Whether there is a comma, which makes it a batch.
    pub batch: bool,
}

impl<'a> Ids<'a> {
    /// Reads the ids of records of `table`. Too many are 2000 (413).
    pub fn read(self, context: &'a Context<'_>, table: &str) -> Result<Found<'a>, Error> {
        let mut values = context.values();
        let mut composite = false;
        match self.addresses(context, table) {
            Some((width, parts)) => {
                composite = true;
                values.ids = parts;
                values.more_id_parts = width - 1;
            }
            None => values.ids = self.text.split(',').map(Cow::Borrowed).collect(),
        }
        let (count, max) = (values.id_count(), context.limits.ids);
        if count > max {
            let sentence = format!("{count} ids in the path; one request may have {max} (limits.ids)");
            return Err(Error::new(Code::TooLarge, sentence));
        }
        Ok(Found { batch: count > 1, values, composite })
    }

    fn addresses(self, context: &Context<'_>, table: &str) -> Option<(usize, Vec<Cow<'a, str>>)> {
        // speed: first, as few addresses are by several columns, and finding the table is the rest (docs/performance.md).
        if !self.text.contains('=') {
            return None;
        }
        let schema = &context.snapshot.schema;
        let table = schema.table(schema.find(table)?);
        if table.key_columns.len() < 2 {
            return None;
        }
        // A client that was made from a description escapes the address as a whole, as it does with any value.
        let is_escaped = !self.raw.contains('=') && context.mode().is_strict();
        let segment = if is_escaped { self.text } else { self.raw };
        if !segment.contains('=') {
            return None;
        }
        let key: Vec<&str> = table.key_columns.iter().map(|index| &*table.columns[*index].alias).collect();
        composite_ids(segment, &key).map(|parts| (key.len(), parts))
    }
}
