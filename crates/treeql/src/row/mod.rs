//! What is answered: the layout of rows, and sets of rows that are kept while others are joined to them.

mod layout;
mod set;

pub use layout::{Layout, LayoutCell, Member, MemberKind};
pub use set::{Joined, Key, RowSet};
