//! Args: the values of one run of a statement, found by parameter.

use crate::error::Error;
use crate::mode::Mode;
use crate::nearest;
use crate::request::{Values, decode_base64, is_integer, is_numeric};
use crate::schema::ColumnType;
use crate::sql::statement::{About, Param, Source, Wrap};
use crate::value::{Value, ValueRef};

/// Everything the parameters of a statement can refer to.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    /// The values of the request.
    pub values: &'a Values<'a>,
    /// Which id of the path this run is about.
    pub id: usize,
    /// The members of the record, converted.
    pub cells: &'a [Value],
    /// The keys of the rows that are joined to.
    pub keys: &'a [Value],
    /// Whether malformed values are errors.
    pub mode: Mode,
}

/// A value ready to be bound: borrowed where possible.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound<'a> {
    /// As it lies.
    Ref(ValueRef<'a>),
    /// Made for this run.
    Owned(Value),
}

impl Bound<'_> {
    /// The value, borrowed.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Bound::Ref(value) => *value,
            Bound::Owned(value) => value.as_ref(),
        }
    }
}

impl<'a> Args<'a> {
    /// Arguments of which only the values of the request matter.
    pub fn of(values: &'a Values<'a>, mode: Mode) -> Args<'a> {
        Args { values, id: 0, cells: &[], keys: &[], mode }
    }

    /// The value of `param`. An error is 1013 and names the column whose type the value does not have.
    pub fn get(&self, param: &Param) -> Result<Bound<'a>, Error> {
        match param.source {
            Source::Slot(slot) => self.text(&self.values.slots[usize::from(slot)], param, self.mode),
            // What is not known, or is no value of its column, equals nothing, in both modes: a database that reads a
            // number at the beginning of a text would let `7 or so` in as 7.
            Source::Claim(claim) => match &self.values.claims[usize::from(claim)] {
                Some(text) => self.text(text, param, Mode::Strict).or(Ok(Bound::Ref(ValueRef::Null))),
                None => Ok(Bound::Ref(ValueRef::Null)),
            },
            Source::Id(part) => self.text(self.values.id(self.id, part), param, self.mode),
            Source::Limit => Ok(Bound::Ref(self.values.limit.map_or(ValueRef::Null, ValueRef::Int))),
            Source::Offset => Ok(Bound::Ref(ValueRef::Int(self.values.offset))),
            Source::Cell(cell) => Ok(Bound::Ref(self.cells[usize::from(cell)].as_ref())),
            Source::Key(key) => Ok(Bound::Ref(self.keys[usize::from(key)].as_ref())),
        }
    }

    fn text(&self, text: &'a str, param: &Param, mode: Mode) -> Result<Bound<'a>, Error> {
        // The same in both modes: PostgreSQL refuses it, the others end the text there or compare it in their own way.
        if memchr::memchr(0, text.as_bytes()).is_some() {
            let (table, column) =
                param.about.as_ref().map_or(("", "filter"), |about| (&about.table, &about.column));
            return Err(Error::invalid(table, column, "contains a NUL character, which no column stores"));
        }
        if param.wrap != Wrap::None {
            return Ok(Bound::Owned(Value::Text(pattern(text, param.wrap).into())));
        }
        match &param.about {
            Some(about) => typed(text, about, mode),
            None => Ok(Bound::Ref(ValueRef::Text(text))),
        }
    }
}

/// The value as the type of its column reads it. In the lenient mode what does not fit goes on as text, and the
/// database does with it what it does (SPEC 11.1).
fn typed<'a>(text: &'a str, about: &About, mode: Mode) -> Result<Bound<'a>, Error> {
    let fits = match about.kind {
        ColumnType::Integer | ColumnType::Bigint => {
            if let Some(int) = text.parse::<i64>().ok().filter(|_| is_integer(text)) {
                return Ok(Bound::Ref(ValueRef::Int(int)));
            }
            false
        }
        ColumnType::Boolean if mode.is_strict() => match text {
            "1" | "true" => return Ok(Bound::Ref(ValueRef::Int(1))),
            "0" | "false" => return Ok(Bound::Ref(ValueRef::Int(0))),
            _ => false,
        },
        ColumnType::Float | ColumnType::Double | ColumnType::Decimal => is_numeric(text),
        // The blanks of a query string may have been plus signs.
        ColumnType::Varbinary | ColumnType::Blob if mode.is_strict() => {
            return match decode_base64(&text.replace(' ', "+")) {
                Ok(bytes) => Ok(Bound::Owned(Value::Bytes(bytes.into()))),
                Err(_malformed) => Err(unfit(text, about)),
            };
        }
        _ => true,
    };
    if fits || !mode.is_strict() {
        return Ok(Bound::Ref(ValueRef::Text(text)));
    }
    Err(unfit(text, about))
}

fn unfit(text: &str, about: &About) -> Error {
    let shown = nearest::shown(text);
    let form = if about.kind.is_binary() { " in base64" } else { "" };
    let sentence = format!("'{shown}' is no {} value{form}, which column '{}' has", about.kind, about.column);
    Error::invalid(&about.table, &about.column, sentence)
}

/// A LIKE pattern in which the wildcards of the value are literal (SPEC 8.1).
fn pattern(text: &str, wrap: Wrap) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    if matches!(wrap, Wrap::Contains | Wrap::EndsWith) {
        pattern.push('%');
    }
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    if matches!(wrap, Wrap::Contains | Wrap::StartsWith) {
        pattern.push('%');
    }
    pattern
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::Arc;

    use crate::mode::Mode;
    use crate::request::Values;
    use crate::schema::ColumnType;
    use crate::sql::args::{Args, pattern};
    use crate::sql::statement::{About, Param, Source, Wrap};
    use crate::value::ValueRef;

    #[test]
    fn a_claim_that_is_no_value_of_its_column_equals_nothing() {
        let about = About { table: "notes".into(), column: "team_id".into(), kind: ColumnType::Integer };
        let param = Param::of(Source::Claim(0), Arc::new(about));
        for mode in [Mode::Strict, Mode::Lenient] {
            let is_bound = |claim: Option<&str>, value: ValueRef<'_>| {
                let values = Values { claims: vec![claim.map(Cow::Borrowed)], ..Values::default() };
                Args::of(&values, mode).get(&param).is_ok_and(|bound| bound.as_ref() == value)
            };
            assert!(is_bound(Some("7"), ValueRef::Int(7)));
            for other in [None, Some("7 or so"), Some("7e0"), Some(""), Some("0x7"), Some("7\0")] {
                assert!(is_bound(other, ValueRef::Null), "{other:?}");
            }
        }
    }

    #[test]
    fn wildcards_of_the_value_are_literal() {
        assert_eq!(pattern("50%_\\", Wrap::Contains), "%50\\%\\_\\\\%");
        assert_eq!(pattern("a", Wrap::StartsWith), "a%");
        assert_eq!(pattern("a", Wrap::EndsWith), "%a");
    }
}
