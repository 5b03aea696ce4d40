//! What becomes of a new record whose key is taken (SPEC 7.7).

use crate::error::{Code, Error};
use crate::plan::resolver::visible_rows;
use crate::plan::scope::Scope;
use crate::request::{Conflict, ConflictKey, Operation, Request};
use crate::schema::{Column, Table, TableId};
use crate::sql::{Condition, OnConflict, Param, Qualifier, Source};

/// `None` if it is an error. A key that is none is 1013, an update that the caller may not make 1014.
pub fn on_conflict(
    scope: &Scope<'_>,
    id: TableId,
    request: &Request<'_>,
    cells: &[(&Column, Param)],
) -> Result<Option<OnConflict>, Error> {
    let table = scope.at(id);
    let (key, is_update) = match &request.conflict {
        Conflict::Error => return Ok(None),
        Conflict::Ignore(key) => (key, false),
        Conflict::Update(key) => (key, true),
    };
    let key = key_columns(scope, table, key)?;
    let of = |index: &usize| table.columns[*index].clone();
    let numbered = table.key().filter(|column| column.kind.is_integer()).cloned();
    if !is_update {
        let condition = Condition::always();
        return Ok(Some(OnConflict { key: key.iter().map(of).collect(), update: None, condition, numbered }));
    }
    if !scope.policy.shows_table(Operation::Update, table) {
        let sentence = "would update records of this table, which you may not";
        return Err(Error::new(Code::OperationForbidden, "").detail("onConflict", sentence));
    }
    let is_key = |column: &Column| {
        key.iter().chain(&table.key_columns).any(|index| table.columns[*index].name == column.name)
    };
    // What the rules force is set on create and left out of updates (SPEC 18.15 and 18.17).
    let update = cells
        .iter()
        .filter(|(column, param)| matches!(param.source, Source::Cell(_)) && !is_key(column))
        .map(|(column, _)| (*column).clone())
        .collect();
    let condition = visible_rows(scope, id, &Qualifier::Table(table.name.clone()), &mut 0)?;
    Ok(Some(OnConflict { key: key.iter().map(of).collect(), update: Some(update), condition, numbered }))
}

/// The columns of the key that is named, or of the primary key.
fn key_columns(scope: &Scope<'_>, table: &Table, named: &ConflictKey<'_>) -> Result<Vec<usize>, Error> {
    let refuse = |sentence: String| Error::invalid(&table.alias, "conflictKey", sentence);
    let Some(named) = named else {
        if table.key_columns.is_empty() {
            let sentence = format!("is needed: '{}' has no primary key; {}", table.alias, keys(scope, table));
            return Err(refuse(sentence));
        }
        return Ok(table.key_columns.clone());
    };
    let mut columns = Vec::new();
    for name in named.split(',') {
        let index = scope.column(table, name).ok_or_else(|| scope.no_column(table, name, "conflictKey"))?;
        columns.push(index);
    }
    let is_same = |key: &[usize]| {
        key.len() == columns.len() && key.iter().all(|index| columns.contains(index)) && !key.is_empty()
    };
    if is_same(&table.key_columns) || table.unique_keys.iter().any(|key| is_same(key)) {
        return Ok(columns);
    }
    let shown = crate::nearest::shown(named);
    Err(refuse(format!("'{shown}' is no unique key of '{}'; {}", table.alias, keys(scope, table))))
}

/// The unique keys that the caller may know of.
fn keys(scope: &Scope<'_>, table: &Table) -> String {
    let all = std::iter::once(&table.key_columns).chain(&table.unique_keys).filter(|key| !key.is_empty());
    let shown = all.filter(|key| key.iter().all(|index| scope.shows(table, *index)));
    let names: Vec<String> = shown
        .map(|key| key.iter().map(|index| &*table.columns[*index].alias).collect::<Vec<_>>().join(","))
        .collect();
    if names.is_empty() { "there is none".to_owned() } else { format!("there are: {}", names.join("; ")) }
}
