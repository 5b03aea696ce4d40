//! The most rows that a list may have, applied to what its caller asked for (SPEC 8.4).

use crate::error::Error;
use crate::mode::Mode;
use crate::request::query::Parsed;
use crate::request::values::Values;

impl Parsed<'_> {
    /// Applies the most rows that a list may have. Asking for more is 1013; the lenient mode sends what is allowed.
    ///
    /// Answers whether the bound counts though the caller did not say how many records they want.
    pub fn bound(&self, max: i64, table: &str, mode: Mode, values: &mut Values<'_>) -> Result<bool, Error> {
        if values.limit.is_some_and(|limit| limit <= max) {
            return Ok(false);
        }
        if mode.is_strict() {
            let asked = self.size.map(|_| "size").or(self.page_size.map(|_| "page"));
            if let Some(name) = asked {
                let sentence =
                    format!("a list has at most {max} records here; ask for pages, as page=2,{max}");
                return Err(Error::invalid(table, name, sentence));
            }
            // The pages are those that are sent, without a gap between them.
            values.offset = self.page.map_or(0, |page| page.saturating_sub(1).saturating_mul(max));
        }
        values.limit = Some(max);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use crate::mode::Mode;
    use crate::request::query::parse_query;
    use crate::request::values::Values;

    #[test]
    fn more_than_a_list_may_have_is_refused_or_cut() {
        let bound = |text: &str, mode: Mode| {
            let mut values = Values::default();
            let parsed = parse_query(text, "posts", mode, &mut values).ok()?;
            let is_cut = parsed.bound(10, "posts", mode, &mut values).ok()?;
            Some((is_cut, values.limit, values.offset))
        };
        for text in ["size=11", "page=1,11", "page=2,50&size=20"] {
            assert_eq!(bound(text, Mode::Strict), None, "{text}");
            assert!(bound(text, Mode::Lenient).is_some_and(|(_, limit, _)| limit == Some(10)), "{text}");
        }
        assert_eq!(bound("size=10", Mode::Strict), Some((false, Some(10), 0)));
        assert_eq!(bound("page=3,50&size=5", Mode::Strict), Some((false, Some(5), 100)));
        assert_eq!(bound("", Mode::Strict), Some((true, Some(10), 0)));
        assert_eq!(bound("page=3", Mode::Strict), Some((true, Some(10), 20)));
        assert_eq!(bound("size=-1", Mode::Lenient), Some((true, Some(10), 0)));
    }
}
