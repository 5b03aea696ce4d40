//! Values: what fills the holes of a request.

use std::borrow::Cow;

/// What fills the holes of a request.
#[derive(Clone, Debug, Default)]
pub struct Values<'a> {
    /// The values of the filters, in the order of the filters.
    pub slots: Vec<Cow<'a, str>>,
    /// The ids of the path, as sent.
    pub ids: Vec<Cow<'a, str>>,
    /// The most rows of a list, if there is a bound.
    pub limit: Option<i64>,
    /// How many rows of a list are passed over.
    pub offset: i64,
    /// What is known about who asks, for the conditions of the policy.
    pub claims: Vec<Cow<'a, str>>,
}

impl Values<'_> {
    /// The same values, independent of the bytes they were read from.
    pub fn into_owned(self) -> Values<'static> {
        fn own(value: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(value.into_owned())
        }
        Values {
            slots: self.slots.into_iter().map(own).collect(),
            ids: self.ids.into_iter().map(own).collect(),
            limit: self.limit,
            offset: self.offset,
            claims: self.claims.into_iter().map(own).collect(),
        }
    }
}
