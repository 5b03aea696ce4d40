//! Layout: names and kinds of the cells of a row, ready for the encoder, and what is joined to it.

use std::sync::Arc;

use crate::sql::CellKind;

/// A cell of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutCell {
    /// The exposed name of the column.
    pub name: Box<str>,
    /// The name as a JSON member name, with its quotes and the colon.
    pub key: Box<[u8]>,
    /// How the value is spelled.
    pub kind: CellKind,
    /// Whether clients see it; the others only connect rows.
    pub shown: bool,
}

/// How joined rows stand in their record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    /// One record or null, in place of the foreign key in this cell.
    Record {
        /// The cell of the foreign key.
        cell: usize,
    },
    /// A list of records, after the cells.
    List,
}

/// A member of a record that holds joined rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The name as a JSON member name, with its quotes and the colon.
    pub key: Box<[u8]>,
    /// One record or a list.
    pub kind: MemberKind,
    /// Which joins feed it, by number; of several the rows follow one another.
    pub joins: Vec<usize>,
    /// The layout of the joined rows.
    pub layout: Arc<Layout>,
}

/// Names and kinds of the cells of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The cells in the order of the statement's columns.
    pub cells: Vec<LayoutCell>,
    /// Cells whose values connect rows, by position; a row set keeps them.
    pub links: Vec<usize>,
    /// What is joined.
    pub members: Vec<Member>,
    /// The link that is null where a junction leads to a record that may not be seen.
    pub presence: Option<usize>,
}

impl Layout {
    /// The link for the cell at `cell`, made if it is new.
    pub fn link(&mut self, cell: usize) -> usize {
        match self.links.iter().position(|known| *known == cell) {
            Some(link) => link,
            None => {
                self.links.push(cell);
                self.links.len() - 1
            }
        }
    }
}
