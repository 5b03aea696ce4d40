//! Rows: the statements that insert many rows, made when they are first needed.

use std::sync::{Arc, OnceLock};

use crate::schema::Column;
use crate::sql::args::Args;
use crate::sql::dialect::Dialect;
use crate::sql::insert::{Insert, copy, insert, insert_in_order};
use crate::sql::statement::{Param, Statement};

/// limit: rows of one statement, or of one run of a statement that takes a row at a time.
const ROWS_MAX: usize = 4096;
/// limit: rows of one stream.
const STREAM_ROWS_MAX: usize = 32 * 1024;
/// limit: holes of one statement; PostgreSQL and MySQL number them with 16 bits.
const HOLES_MAX: usize = 60_000;
/// How many powers of two there are up to [`ROWS_MAX`].
const SIZES: usize = 13;

/// The statements that insert many rows.
#[derive(Debug)]
pub struct Rows {
    dialect: Dialect,
    insert: Insert,
    /// The members of a record, written or not.
    pub width: usize,
    /// limit: rows of one statement, a power of two.
    pub rows_max: usize,
    /// What takes rows as a stream of text, where the dialect has that and no key may be taken.
    pub copy: Option<Statement>,
    /// The key, a whole number, that the database makes for each row, where it costs a round trip to ask for each.
    pub made_key: Option<Column>,
    sizes: [OnceLock<Arc<Statement>>; SIZES],
    sizes_in_order: [OnceLock<Arc<Statement>>; SIZES],
}

impl Rows {
    /// The statements for records of `width` members.
    pub fn new(dialect: Dialect, insert: Insert, width: usize) -> Rows {
        let made_key = insert.returning.clone().filter(|key| key.kind.is_integer());
        let insert = Insert { returning: None, ..insert };
        let holes = insert.cells.len().max(width).max(1);
        let most = if insert.cells.is_empty() { 1 } else { (HOLES_MAX / holes).clamp(1, ROWS_MAX) };
        let rows_max = power_of_two(most);
        let is_plain = insert.conflict.is_none() && !insert.cells.is_empty();
        let copy = (is_plain && dialect.has_copy()).then(|| copy(dialect, &insert));
        Rows {
            dialect,
            insert,
            width,
            rows_max,
            copy,
            made_key: made_key.filter(|_| is_plain && dialect.is_remote()),
            sizes: Default::default(),
            sizes_in_order: Default::default(),
        }
    }

    /// The most rows at once.
    pub fn most(&self) -> usize {
        if self.copy.is_some() { STREAM_ROWS_MAX } else { self.rows_max }
    }

    /// How many of `left` rows to write at once: a power of two where each number needs a statement of its own.
    pub fn batch(&self, left: usize) -> usize {
        let most = left.min(self.most());
        if self.copy.is_some() || self.dialect.writes_on_a_thread() { most } else { power_of_two(most) }
    }

    /// The same of rows whose keys the database makes.
    pub fn batch_in_order(&self, left: usize) -> usize {
        power_of_two(left.min(self.rows_max))
    }

    /// Of rows whose cells stand in `args` one row after the other, `count` from `first` on.
    pub fn part<'a>(&self, args: Args<'a>, first: usize, count: usize) -> Args<'a> {
        Args { cells: &args.cells[first * self.width..(first + count) * self.width], ..args }
    }

    /// The statement for `count` rows; it is kept if that is a power of two.
    pub fn of(&self, count: usize) -> Arc<Statement> {
        kept(&self.sizes, count, || insert(self.dialect, &self.insert, count, self.width))
    }

    /// The statement that inserts `count` rows one after the other and answers with their keys.
    pub fn in_order(&self, count: usize) -> Arc<Statement> {
        let insert = || Insert { returning: self.made_key.clone(), ..self.insert.clone() };
        kept(&self.sizes_in_order, count, || insert_in_order(self.dialect, &insert(), count, self.width))
    }

    /// Whether rows whose key is taken are left out.
    pub fn is_ignoring(&self) -> bool {
        self.insert.conflict.as_ref().is_some_and(|conflict| conflict.update.is_none())
    }

    /// The reference system of shapes.
    pub fn srid(&self) -> u32 {
        self.insert.srid
    }

    /// The holes of one row with the columns they fill.
    pub fn cells(&self) -> &[(Column, Param)] {
        &self.insert.cells
    }
}

/// The greatest one that is not more.
fn power_of_two(count: usize) -> usize {
    if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 }
}

fn kept(
    sizes: &[OnceLock<Arc<Statement>>; SIZES],
    count: usize,
    make: impl FnOnce() -> Statement,
) -> Arc<Statement> {
    if !count.is_power_of_two() {
        return Arc::new(make());
    }
    Arc::clone(sizes[count.trailing_zeros() as usize].get_or_init(|| Arc::new(make())))
}
