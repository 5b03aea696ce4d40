//! MergedPlan: one statement for the reads of several requests that differ in their id only.

use crate::error::Error;
use crate::plan::resolver::visible_rows;
use crate::plan::scope::Scope;
use crate::request::is_integer;
use crate::row::Key;
use crate::schema::{Column, ColumnType, Table, TableId, TableKind};
use crate::sql::{Keyed, KeyedStatement, Qualifier, keyed};

/// How single records are read together.
#[derive(Debug)]
pub struct MergedPlan {
    /// The query for several keys; the key comes first in each row, then the cells of the plan that it belongs to.
    pub statement: KeyedStatement,
    kind: KeyKind,
}

/// Keys whose equality is the database's and ours alike. Text is none: a collation may find `a` where `A` was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyKind {
    Small,
    Big,
    Uuid,
}

impl MergedPlan {
    /// The plan for a table with the given columns selected, if its key and the setting allow it.
    ///
    /// Only a primary key of the catalog is known to be unique, and a view has none.
    pub fn new(scope: &Scope<'_>, table: TableId, columns: &[&Column]) -> Result<Option<MergedPlan>, Error> {
        let definition = scope.at(table);
        let Some((key, kind)) = Self::key_column(scope, definition) else { return Ok(None) };
        let rows = visible_rows(scope, table, &Qualifier::None, &mut 0)?;
        let name = &definition.name;
        let query = Keyed { table: name, columns, key, junction: None, condition: &rows, order: &[] };
        Ok(Some(MergedPlan { statement: keyed(scope.setting.dialect, &query), kind }))
    }

    fn key_column<'a>(scope: &Scope<'_>, table: &'a Table) -> Option<(&'a Column, KeyKind)> {
        let [key] = table.key_columns.as_slice() else { return None };
        if !scope.setting.merges_reads || table.kind != TableKind::Table || table.primary_key != Some(*key) {
            return None;
        }
        let key = &table.columns[*key];
        let kind = match key.kind {
            ColumnType::Integer => KeyKind::Small,
            ColumnType::Bigint => KeyKind::Big,
            _ if key.is_uuid => KeyKind::Uuid,
            _ => return None,
        };
        Some((key, kind))
    }

    /// The key that an id of a path is, if it is written so that it can be merged with others.
    pub fn key(&self, id: &str) -> Option<Key> {
        match self.kind {
            // What no column of the type holds is an error on some engines, and must not be one for its neighbours.
            KeyKind::Small => integer(id).filter(|int| i32::try_from(*int).is_ok()).map(Key::Int),
            KeyKind::Big => integer(id).map(Key::Int),
            KeyKind::Uuid => is_uuid(id).then(|| Key::Text(id.to_ascii_lowercase().into())),
        }
    }
}

fn integer(id: &str) -> Option<i64> {
    id.parse().ok().filter(|_| is_integer(id))
}

/// The form of RFC 9562, section 4, which is the one that databases answer with.
fn is_uuid(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use crate::plan::merged::is_uuid;

    #[test]
    fn a_uuid_has_the_form_that_databases_answer_with() {
        assert!(is_uuid("f81d4fae-7dec-11d0-A765-00a0c91e6bf6"));
        for other in [
            "",
            "f81d4fae7dec11d0a76500a0c91e6bf6",
            "{f81d4fae-7dec-11d0-a765-00a0c91e6bf}",
            "g81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        ] {
            assert!(!is_uuid(other), "{other}");
        }
    }
}
