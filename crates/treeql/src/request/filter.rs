//! The grammar of `filter=COLUMN,OPERATOR,VALUE` (SPEC 8.1): the shape in [`Filter`], the values in slots.

use std::borrow::Cow;

/// limit: values of one `in` filter; more would pass what databases take as parameters.
const IN_VALUES_MAX: usize = 4096;

/// What a filter compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Text contains the value.
    Contains,
    /// Text starts with the value.
    StartsWith,
    /// Text ends with the value.
    EndsWith,
    /// Equal.
    Equal,
    /// Less than.
    Less,
    /// Less than or equal.
    LessOrEqual,
    /// Greater than or equal.
    GreaterOrEqual,
    /// Greater than.
    Greater,
    /// Between two values, both included.
    Between,
    /// One of several values.
    In,
    /// NULL.
    IsNull,
    /// A spatial relation between a geometry column and a geometry given as WKT.
    Spatial(Spatial),
    /// Something that is always false: a `bt` without a second value, where the reference goes on.
    Never,
    /// An operator that does not exist, where the reference goes on and drops the filter.
    Unknown,
}

/// The spatial predicates (OGC Simple Features: ST_Contains and so on).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spatial {
    /// ST_Contains.
    Contains,
    /// ST_Crosses.
    Crosses,
    /// ST_Disjoint.
    Disjoint,
    /// ST_Equals.
    Equals,
    /// ST_Intersects.
    Intersects,
    /// ST_Overlaps.
    Overlaps,
    /// ST_Touches.
    Touches,
    /// ST_Within.
    Within,
    /// ST_IsClosed, without an argument.
    IsClosed,
    /// ST_IsSimple, without an argument.
    IsSimple,
    /// ST_IsValid, without an argument.
    IsValid,
}

const OPERATORS: [(&str, Operator); 22] = [
    ("cs", Operator::Contains),
    ("sw", Operator::StartsWith),
    ("ew", Operator::EndsWith),
    ("eq", Operator::Equal),
    ("lt", Operator::Less),
    ("le", Operator::LessOrEqual),
    ("ge", Operator::GreaterOrEqual),
    ("gt", Operator::Greater),
    ("bt", Operator::Between),
    ("in", Operator::In),
    ("is", Operator::IsNull),
    ("sco", Operator::Spatial(Spatial::Contains)),
    ("scr", Operator::Spatial(Spatial::Crosses)),
    ("sdi", Operator::Spatial(Spatial::Disjoint)),
    ("seq", Operator::Spatial(Spatial::Equals)),
    ("sin", Operator::Spatial(Spatial::Intersects)),
    ("sov", Operator::Spatial(Spatial::Overlaps)),
    ("sto", Operator::Spatial(Spatial::Touches)),
    ("swi", Operator::Spatial(Spatial::Within)),
    ("sic", Operator::Spatial(Spatial::IsClosed)),
    ("sis", Operator::Spatial(Spatial::IsSimple)),
    ("siv", Operator::Spatial(Spatial::IsValid)),
];

impl Operator {
    /// The operator called `name` and whether it is negated by a leading `n`.
    pub fn parse(name: &str) -> Option<(Operator, bool)> {
        let find = |name: &str| OPERATORS.iter().find(|(known, _)| *known == name).map(|(_, found)| *found);
        if let Some(operator) = find(name) {
            return Some((operator, false));
        }
        let plain = name.strip_prefix('n')?;
        // compat: there are no negated spatial operators (SPEC: negated-spatial-ignored).
        find(plain).filter(|operator| !matches!(operator, Operator::Spatial(_))).map(|found| (found, true))
    }

    /// The names of all operators; each but the spatial ones may have an `n` before it.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        OPERATORS.iter().map(|(name, _)| *name)
    }
}

/// One condition of a list, its values cut out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Filter<'a> {
    /// What followed `filter` in the name of the parameter: the place in the tree of AND and OR.
    pub group: Cow<'a, str>,
    /// The exposed column, with a path of tables before it if it contains a dot.
    pub column: Cow<'a, str>,
    /// What is compared.
    pub operator: Operator,
    /// Whether the opposite is asked.
    pub negated: bool,
    /// How many slots the values fill.
    pub slots: u16,
}

/// Why a filter cannot be read: a sentence for the caller.
pub type FilterError = String;

/// Reads one filter; its values are pushed to `slots`. `Ok(None)` if it has no comma at all.
pub fn parse_filter<'a>(
    group: Cow<'a, str>,
    text: Cow<'a, str>,
    slots: &mut Vec<Cow<'a, str>>,
) -> Result<Option<Filter<'a>>, FilterError> {
    let Some((column, rest)) = split_comma(text) else { return Ok(None) };
    let (name, value) = match split_comma(rest.clone()) {
        Some((name, value)) => (name, value),
        None => (rest, Cow::Borrowed("")),
    };
    let (operator, negated) = Operator::parse(&name).unwrap_or((Operator::Unknown, false));
    let before = slots.len();
    let operator = push_values(operator, value, slots)?;
    let count = u16::try_from(slots.len() - before).map_err(|e| e.to_string())?;
    Ok(Some(Filter { group, column, operator, negated, slots: count }))
}

fn push_values<'a>(
    operator: Operator,
    value: Cow<'a, str>,
    slots: &mut Vec<Cow<'a, str>>,
) -> Result<Operator, FilterError> {
    match operator {
        Operator::IsNull | Operator::Unknown | Operator::Never => {}
        Operator::Spatial(Spatial::IsClosed | Spatial::IsSimple | Spatial::IsValid) => {}
        Operator::Between => match split_comma(value) {
            Some((low, high)) => slots.extend([low, high]),
            None => return Ok(Operator::Never),
        },
        Operator::In => {
            let before = slots.len();
            match value {
                Cow::Borrowed(text) => slots.extend(text.split(',').map(Cow::Borrowed)),
                Cow::Owned(text) => slots.extend(text.split(',').map(|part| Cow::Owned(part.to_owned()))),
            }
            pad(slots, before)?;
        }
        _ => slots.push(value),
    }
    Ok(operator)
}

/// Fills up to a power of two with the last value, so that there are few shapes of lists.
fn pad(slots: &mut Vec<Cow<'_, str>>, before: usize) -> Result<(), FilterError> {
    let count = slots.len() - before;
    if count > IN_VALUES_MAX {
        return Err(format!("'in' takes at most {IN_VALUES_MAX} values, here are {count}"));
    }
    let last = slots[slots.len() - 1].clone();
    slots.resize(before + count.next_power_of_two(), last);
    Ok(())
}

/// Cuts at the first comma, without copying borrowed text.
pub fn split_comma(text: Cow<'_, str>) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    match text {
        Cow::Borrowed(text) => text.split_once(',').map(|(a, b)| (Cow::Borrowed(a), Cow::Borrowed(b))),
        Cow::Owned(text) => {
            text.split_once(',').map(|(a, b)| (Cow::Owned(a.to_owned()), Cow::Owned(b.to_owned())))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::request::filter::{Operator, parse_filter};

    #[test]
    fn the_value_keeps_its_commas() {
        let mut slots = Vec::new();
        let filter = parse_filter("".into(), "title,neq,a,b".into(), &mut slots).expect("it is well formed");
        let filter = filter.expect("it has a comma");
        assert_eq!((filter.operator, filter.negated), (Operator::Equal, true));
        assert_eq!(slots.as_slice(), ["a,b"]);
    }

    #[test]
    fn lists_are_padded_to_a_power_of_two() {
        let mut slots = Vec::new();
        parse_filter("".into(), "id,in,1,2,3".into(), &mut slots).expect("it is well formed");
        assert_eq!(slots.as_slice(), ["1", "2", "3", "3"]);
    }

    #[test]
    fn two_negations_are_no_operator() {
        assert_eq!(Operator::parse("nneq"), None);
        assert_eq!(Operator::parse("EQ"), None);
        assert_eq!(Operator::parse("nsin"), None);
    }
}
