//! What a request for features asks for besides: which geometry, and where (SPEC 14).

use std::borrow::Cow;

/// What makes a request for records one for features.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features<'a> {
    /// The exposed name of the geometry column; without one the first that there is.
    pub geometry: Option<Cow<'a, str>>,
    /// The parameters that say where, each with the slot of its polygon in well-known text.
    pub areas: Vec<(&'static str, u16)>,
}

impl Features<'_> {
    /// The same, independent of the bytes it was read from.
    pub fn into_owned(self) -> Features<'static> {
        let geometry = self.geometry.map(|name| Cow::Owned(name.into_owned()));
        Features { geometry, areas: self.areas }
    }
}
