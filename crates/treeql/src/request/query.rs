//! The query string: include, exclude, filter, join, order, page and size (SPEC 2.5 and 8).

use std::borrow::Cow;
use std::num::IntErrorKind;

use crate::error::{Code, Error};
use crate::mode::Mode;
use crate::nearest::{self, nearest, unknown};
use crate::request::decode::decode;
use crate::request::features::Features;
use crate::request::filter::{Filter, Operator, parse_filter, split_comma};
use crate::request::number::leading_integer;
use crate::request::values::Values;

/// limit: filters of one request; each may become a nested query.
pub const FILTERS_MAX: usize = 100;
/// limit: values of all filters of one request; SQLite binds 32,766 at most.
pub const VALUES_MAX: usize = 16 * 1024;
/// limit: `join` parameters of one request.
pub const JOINS_MAX: usize = 50;
/// limit: `order` parameters of one request.
pub const ORDERS_MAX: usize = 50;
/// compat: the page size when `page` names none (SPEC 8.4).
const PAGE_SIZE_DEFAULT: i64 = 20;

/// The parameters that shape a list or a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Query<'a> {
    /// The first `include`.
    pub include: Option<Cow<'a, str>>,
    /// The first `exclude`.
    pub exclude: Option<Cow<'a, str>>,
    /// Every `join`: a path of tables.
    pub joins: Vec<Cow<'a, str>>,
    /// Every filter, its values cut out.
    pub filters: Vec<Filter<'a>>,
    /// Every `order`: a column and a direction.
    pub orders: Vec<Cow<'a, str>>,
    /// The slot of the text that is searched for in all text columns.
    pub search: Option<u16>,
    /// What makes the records features, if that is asked for.
    pub features: Option<Features<'a>>,
}

impl Query<'_> {
    /// The same query, independent of the bytes it was read from.
    pub fn into_owned(self) -> Query<'static> {
        fn own(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        Query {
            include: self.include.map(own),
            exclude: self.exclude.map(own),
            joins: self.joins.into_iter().map(own).collect(),
            filters: self
                .filters
                .into_iter()
                .map(|filter| Filter {
                    group: own(filter.group),
                    column: own(filter.column),
                    operator: filter.operator,
                    negated: filter.negated,
                    slots: filter.slots,
                })
                .collect(),
            orders: self.orders.into_iter().map(own).collect(),
            search: self.search,
            features: self.features.map(Features::into_owned),
        }
    }
}

/// The names of the parameters, for the nearest match; other names are left alone, as clients add their own.
const PARAMETERS: [&str; 7] = ["filter", "include", "exclude", "join", "order", "page", "size"];

/// Everything a query string says about a list: shape, values, and whether the rows are counted.
#[derive(Debug, Default)]
pub struct Parsed<'a> {
    /// The shape.
    pub query: Query<'a>,
    /// Whether `page` was given.
    pub counted: bool,
    /// The number of the page, if `page` was given.
    pub page: Option<i64>,
    /// The SIZE of `page`.
    pub page_size: Option<i64>,
    /// `size`.
    pub size: Option<i64>,
}

/// Reads a query string for a request to `table`; the values go to `values`.
pub fn parse_query<'a>(
    text: &'a str,
    table: &str,
    mode: Mode,
    values: &mut Values<'a>,
) -> Result<Parsed<'a>, Error> {
    let mut parsed = Parsed::default();
    for piece in text.split('&').filter(|piece| !piece.is_empty()) {
        let (name, value) = match piece.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (piece, None),
        };
        let name = decode(name).ok_or_else(|| not_utf8(table, name))?;
        let value = match value {
            Some(value) => Some(decode(value).ok_or_else(|| not_utf8(table, value))?),
            None => None,
        };
        parsed.parameter(name, value, table, mode, values)?;
    }
    parsed.finish(values);
    Ok(parsed)
}

/// The first value of a parameter that is none of this page, such as the text of a search.
pub fn parameter<'a>(text: &'a str, name: &str) -> Option<Cow<'a, str>> {
    parameters(text, name).next()
}

/// All values of such a parameter.
pub fn parameters<'a>(text: &'a str, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
    pairs(text).filter(move |(key, _)| key == name).map(|(_, value)| value)
}

/// All parameters with a value; what is not UTF-8 is left out.
pub fn pairs(text: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    let pairs = text.split('&').filter_map(|piece| piece.split_once('='));
    pairs.filter_map(|(key, value)| Some((base_name(decode(key)?), decode(value)?)))
}

/// Whether a parameter is one of those of a list.
pub fn is_parameter(name: &str) -> bool {
    PARAMETERS.contains(&name) || name.starts_with("filter")
}

/// The names of all parameters.
pub fn parameter_names(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let names = text.split('&').map(|piece| piece.split_once('=').map_or(piece, |(name, _)| name));
    names.filter_map(decode).map(base_name)
}

fn not_utf8(table: &str, text: &str) -> Error {
    let shown = nearest::shown(text);
    Error::invalid(table, "query", format!("'{shown}' is not UTF-8 when decoded"))
}

impl<'a> Parsed<'a> {
    fn parameter(
        &mut self,
        name: Cow<'a, str>,
        value: Option<Cow<'a, str>>,
        table: &str,
        mode: Mode,
        values: &mut Values<'a>,
    ) -> Result<(), Error> {
        let name = base_name(name);
        let query = &mut self.query;
        match (&*name, value) {
            ("include", value) => {
                once(query.include.is_some(), "include", table, mode)?;
                query.include = query.include.take().or(Some(value.unwrap_or_default()));
            }
            ("exclude", value) => {
                once(query.exclude.is_some(), "exclude", table, mode)?;
                query.exclude = query.exclude.take().or(Some(value.unwrap_or_default()));
            }
            ("join", Some(value)) => {
                at_most(query.joins.len(), JOINS_MAX, "join", table)?;
                query.joins.push(value);
            }
            ("order", Some(value)) => {
                at_most(query.orders.len(), ORDERS_MAX, "order", table)?;
                query.orders.push(value);
            }
            ("page", value) => {
                once(self.counted, "page", table, mode)?;
                self.counted = true;
                self.read_page(value, table, mode)?;
            }
            ("size", Some(value)) => {
                once(self.size.is_some(), "size", table, mode)?;
                self.size = Some(number("size", &value, 0, table, mode)?);
            }
            (other, Some(value)) if other.starts_with("filter") => {
                at_most(query.filters.len(), FILTERS_MAX, "filter", table)?;
                let group = match name {
                    Cow::Borrowed(name) => Cow::Borrowed(&name["filter".len()..]),
                    Cow::Owned(name) => Cow::Owned(name["filter".len()..].to_owned()),
                };
                self.read_filter(group, value, table, mode, values)?;
            }
            (known, None) if PARAMETERS.contains(&known) || known.starts_with("filter") => {
                if mode.is_strict() {
                    return Err(Error::invalid(table, known, "has no value"));
                }
            }
            (other, _) => check_unknown(other, table, mode)?,
        }
        Ok(())
    }

    fn read_filter(
        &mut self,
        group: Cow<'a, str>,
        value: Cow<'a, str>,
        table: &str,
        mode: Mode,
        values: &mut Values<'a>,
    ) -> Result<(), Error> {
        let name = format!("filter{group}");
        let filter = parse_filter(group, value.clone(), &mut values.slots)
            .map_err(|sentence| Error::invalid(table, &name, sentence))?;
        if values.slots.len() > VALUES_MAX {
            let sentence = format!("all filters together have more than {VALUES_MAX} values");
            return Err(Error::invalid(table, &name, sentence));
        }
        match filter {
            None if mode.is_strict() => {
                let sentence =
                    format!("'{value}' is not of the form column,operator,value; for example id,eq,1");
                Err(Error::invalid(table, &name, sentence))
            }
            None => Ok(()),
            Some(filter) if mode.is_strict() => {
                check_operator(&filter, &value, &name, table)?;
                self.query.filters.push(filter);
                Ok(())
            }
            Some(filter) => {
                self.query.filters.push(filter);
                Ok(())
            }
        }
    }

    /// `page=NUMBER[,SIZE]`; the size of an earlier `page` stays if a later one has none.
    fn read_page(&mut self, value: Option<Cow<'a, str>>, table: &str, mode: Mode) -> Result<(), Error> {
        let Some(value) = value else {
            if mode.is_strict() {
                return Err(Error::invalid(table, "page", "is empty; for example page=1 or page=2,50"));
            }
            self.page = self.page.or(Some(1));
            return Ok(());
        };
        let (page, size) = match split_comma(value.clone()) {
            Some((page, size)) => (page, Some(size)),
            None => (value, None),
        };
        self.page = Some(number("page", &page, 1, table, mode)?);
        if let Some(size) = size {
            self.page_size = Some(number("page", &size, 0, table, mode)?);
        }
        Ok(())
    }

    /// Turns page and size into a limit and an offset (SPEC 8.4).
    fn finish(&mut self, values: &mut Values<'a>) {
        let mut limit = self.size;
        let mut offset = 0;
        if let Some(page) = self.page {
            let page_size = self.page_size.unwrap_or(PAGE_SIZE_DEFAULT);
            offset = page.saturating_sub(1).saturating_mul(page_size);
            limit = Some(limit.map_or(page_size, |size| size.min(page_size)));
        }
        // compat: a negative limit or offset means neither (SPEC: odd-page-or-size); only the lenient mode gets
        // here with one, and the row limit of the policy is applied afterwards in both modes.
        if limit.is_some_and(|limit| limit < 0) || offset < 0 {
            (limit, offset) = (None, 0);
        }
        values.limit = limit;
        values.offset = offset;
    }
}

/// The name without brackets: `filter[]`, `filter[3]` and `filter` are one parameter (SPEC 2.5).
fn base_name(name: Cow<'_, str>) -> Cow<'_, str> {
    match name {
        Cow::Borrowed(name) => Cow::Borrowed(name.split_once('[').map_or(name, |(base, _)| base)),
        Cow::Owned(name) => {
            Cow::Owned(name.split_once('[').map_or(name.clone(), |(base, _)| base.to_owned()))
        }
    }
}

fn once(given: bool, name: &str, table: &str, mode: Mode) -> Result<(), Error> {
    if given && mode.is_strict() {
        return Err(Error::invalid(table, name, "is given more than once; it may be given once"));
    }
    Ok(())
}

fn at_most(count: usize, max: usize, name: &str, table: &str) -> Result<(), Error> {
    if count >= max {
        return Err(Error::invalid(table, name, format!("is given more than {max} times")));
    }
    Ok(())
}

fn number(name: &str, text: &str, least: i64, table: &str, mode: Mode) -> Result<i64, Error> {
    if !mode.is_strict() {
        return Ok(leading_integer(text));
    }
    let shown = || nearest::shown(text);
    let sentence = match text.parse::<i64>() {
        Ok(number) if number >= least => return Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
            format!("{} does not fit into 64 bits", shown())
        }
        _ => format!("'{}' is not a whole number of at least {least}", shown()),
    };
    Err(Error::invalid(table, name, sentence))
}

fn check_operator(filter: &Filter<'_>, value: &str, name: &str, table: &str) -> Result<(), Error> {
    match filter.operator {
        Operator::Unknown => {
            let operator = value.split(',').nth(1).unwrap_or_default();
            let sentence = unknown("operator", operator, Operator::names());
            Err(Error::invalid(table, name, format!("{sentence}; each but the spatial ones negated by n")))
        }
        Operator::Never => {
            let sentence = format!("'{value}' has one value; bt needs two, for example id,bt,1,9");
            Err(Error::invalid(table, name, sentence))
        }
        _ => Ok(()),
    }
}

/// A parameter that looks like a misspelt one is an error: without it, a list would silently be a longer one.
fn check_unknown(name: &str, table: &str, mode: Mode) -> Result<(), Error> {
    if !mode.is_strict() || name.starts_with('_') || PARAMETERS.contains(&name) {
        return Ok(());
    }
    match nearest(name, PARAMETERS) {
        Some(_) => {
            let sentence = unknown("parameter", name, PARAMETERS);
            Err(Error::new(Code::InputValidationFailed, table).detail(name, sentence))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::mode::Mode;
    use crate::request::number::leading_integer;
    use crate::request::query::parse_query;
    use crate::request::values::Values;

    fn window(text: &str, mode: Mode) -> Option<(Option<i64>, i64)> {
        let mut values = Values::default();
        parse_query(text, "posts", mode, &mut values).ok().map(|_| (values.limit, values.offset))
    }

    #[test]
    fn page_and_size_make_a_limit_and_an_offset() {
        assert_eq!(window("page=2", Mode::Strict), Some((Some(20), 20)));
        assert_eq!(window("page=3,5&size=2", Mode::Strict), Some((Some(2), 10)));
        assert_eq!(window("size=7", Mode::Strict), Some((Some(7), 0)));
    }

    #[test]
    fn odd_numbers_are_errors_or_what_the_reference_does() {
        assert_eq!(window("size=-1", Mode::Strict), None);
        assert_eq!(window("page=1&page=2", Mode::Strict), None);
        assert_eq!(window("size=-1", Mode::Lenient), Some((None, 0)));
        assert_eq!(window("page=1,5&page=2", Mode::Lenient), Some((Some(5), 5)));
        assert_eq!(leading_integer("12abc"), 12);
        assert_eq!(leading_integer("abc"), 0);
    }

    #[test]
    fn all_filters_together_have_a_bounded_number_of_values() {
        let one = format!("filter=id,in,{}", vec!["1"; 4096].join(","));
        assert!(window(&[one.as_str(); 4].join("&"), Mode::Lenient).is_some());
        assert_eq!(window(&[one.as_str(); 5].join("&"), Mode::Lenient), None);
    }

    #[test]
    fn a_misspelt_parameter_is_an_error_and_a_foreign_one_is_not() {
        assert_eq!(window("fliter=id,eq,1", Mode::Strict), None);
        assert_eq!(window("_=123&callback=x", Mode::Strict), Some((None, 0)));
    }
}
