//! Values: what fills the holes of a request.

use std::borrow::Cow;

/// What fills the holes of a request.
#[derive(Clone, Debug, Default)]
pub struct Values<'a> {
    /// The values of the filters, in the order of the filters.
    pub slots: Vec<Cow<'a, str>>,
    /// The ids of the path, as sent; of an id of several columns, one value after the other.
    pub ids: Vec<Cow<'a, str>>,
    /// How many values make one id, less one.
    pub more_id_parts: usize,
    /// The most rows of a list, if there is a bound.
    pub limit: Option<i64>,
    /// How many rows of a list are passed over.
    pub offset: i64,
    /// What is known about who asks, for the conditions of the policy; what is not known is null.
    pub claims: Vec<Option<Cow<'a, str>>>,
}

impl Values<'_> {
    /// How many ids there are.
    pub fn id_count(&self) -> usize {
        self.ids.len() / (self.more_id_parts + 1)
    }

    /// A value of the id with this number.
    pub fn id(&self, number: usize, part: u16) -> &str {
        &self.ids[number * (self.more_id_parts + 1) + usize::from(part)]
    }

    /// The same values, independent of the bytes they were read from.
    pub fn into_owned(self) -> Values<'static> {
        fn own(value: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(value.into_owned())
        }
        Values {
            slots: self.slots.into_iter().map(own).collect(),
            ids: self.ids.into_iter().map(own).collect(),
            more_id_parts: self.more_id_parts,
            limit: self.limit,
            offset: self.offset,
            claims: self.claims.into_iter().map(|claim| claim.map(own)).collect(),
        }
    }
}
