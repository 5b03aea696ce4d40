//! Writing: what the query string says about new records (SPEC 7.7 and 12.1).

use std::borrow::Cow;

use crate::error::Error;
use crate::mode::Mode;
use crate::nearest::{nearest, unknown};
use crate::request::query::{is_parameter, pairs};
use crate::request::shape::{Conflict, ConflictKey};

/// The names of the parameters.
const PARAMETERS: [&str; 5] = ["onConflict", "conflictKey", "onError", "dryRun", "answer"];

/// What the query string says about new records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writing<'a> {
    /// What becomes of a record whose key is taken.
    pub conflict: Conflict<'a>,
    /// Whether records that are refused are left out.
    pub is_skipping: bool,
    /// Whether nothing is to stay.
    pub is_dry_run: bool,
    /// Whether the answer is counts and not keys, so that there may be any number of records.
    pub is_counted: bool,
}

impl<'a> Writing<'a> {
    /// Reads a query string; parameters of others are left alone. Every error is 1013.
    pub fn parse(text: &'a str, table: &str, mode: Mode) -> Result<Writing<'a>, Error> {
        let mut writing = Writing::default();
        if text.is_empty() {
            return Ok(writing);
        }
        let (mut on_conflict, mut key): (Option<Cow<'_, str>>, ConflictKey<'a>) = (None, None);
        for (name, value) in pairs(text) {
            match &*name {
                "onConflict" => on_conflict = Some(value),
                "conflictKey" => key = Some(value),
                "onError" => {
                    writing.is_skipping = choice(table, "onError", &value, ["fail", "skip"])? == 1;
                    writing.is_counted = true;
                }
                "dryRun" => {
                    writing.is_dry_run = choice(table, "dryRun", &value, ["false", "true"])? == 1;
                    writing.is_counted |= writing.is_dry_run;
                }
                "answer" => {
                    writing.is_counted |= choice(table, "answer", &value, ["keys", "counts"])? == 1;
                }
                other => check_unknown(other, table, mode)?,
            }
        }
        let chosen = match on_conflict {
            Some(value) => choice(table, "onConflict", &value, ["error", "ignore", "update"])?,
            None => 0,
        };
        writing.conflict = match (chosen, key) {
            (0, None) => Conflict::Error,
            (0, Some(_)) => {
                let sentence = "means something only with onConflict=ignore or onConflict=update";
                return Err(Error::invalid(table, "conflictKey", sentence));
            }
            (1, key) => Conflict::Ignore(key),
            (_, key) => Conflict::Update(key),
        };
        Ok(writing)
    }
}

/// Which of the names it is.
fn choice<const N: usize>(
    table: &str,
    parameter: &str,
    value: &str,
    names: [&'static str; N],
) -> Result<usize, Error> {
    let place = names.iter().position(|name| *name == value);
    place.ok_or_else(|| Error::invalid(table, parameter, unknown("value", value, names)))
}

/// A parameter that looks like a misspelt one: without it, records would be written that were to be left alone.
fn check_unknown(name: &str, table: &str, mode: Mode) -> Result<(), Error> {
    let is_meant = mode.is_strict() && !name.starts_with('_') && !is_parameter(name);
    if is_meant && nearest(name, PARAMETERS).is_some() {
        return Err(Error::invalid(table, name, unknown("parameter", name, PARAMETERS)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::mode::Mode;
    use crate::request::shape::Conflict;
    use crate::request::writing::Writing;

    fn parse(text: &str) -> Option<Writing<'_>> {
        Writing::parse(text, "tags", Mode::Strict).ok()
    }

    #[test]
    fn conflicts_may_be_ignored_or_update() {
        let conflict = |text| parse(text).map(|writing| writing.conflict);
        assert_eq!(conflict("include=id"), Some(Conflict::Error));
        assert_eq!(conflict("onConflict=ignore"), Some(Conflict::Ignore(None)));
        let key = Some("a,b".into());
        assert_eq!(conflict("onConflict=update&conflictKey=a,b"), Some(Conflict::Update(key)));
        assert_eq!(conflict("conflictKey=a"), None);
        assert_eq!(conflict("onConflict=replace"), None);
    }

    #[test]
    fn what_is_misspelt_is_an_error() {
        assert!(
            ["onConflct=update", "dryrun=true", "dryRun=yes", "on_error=skip"]
                .into_iter()
                .all(|text| parse(text).is_none())
        );
        assert!(parse("_=1&callback=x&order=id&join=a").is_some());
    }

    #[test]
    fn counts_are_answered_where_keys_make_no_sense() {
        let is_counted = |text| parse(text).is_some_and(|writing| writing.is_counted);
        assert!(["dryRun=true", "onError=skip", "onError=fail", "answer=counts"].into_iter().all(is_counted));
        assert!(!is_counted("dryRun=false") && !is_counted("onConflict=update"));
    }
}
