//! Plans create, update, increment and delete.

use crate::error::{Code, Error};
use crate::plan::columns::Selection;
use crate::plan::conflict::on_conflict;
use crate::plan::read::{by_id, key_columns};
use crate::plan::scope::Scope;
use crate::plan::tree::{Key, Taken, WritePlan};
use crate::request::{Operation, Request};
use crate::schema::{Column, Table, TableId, TableKind};
use crate::sql::{self, About, Param, Source};

/// Plans `POST /records/{table}` for the members of one record.
pub fn create(scope: &Scope<'_>, id: TableId, request: &Request<'_>) -> Result<WritePlan, Error> {
    let table = writable(scope, id)?;
    let mut cells = cells(scope, id, request, &[])?;
    let forced = forced(scope, table);
    for (column, claim) in &forced {
        let column = &table.columns[*column];
        cells.push((column, Param::of(Source::Claim(*claim), About::new(&table.alias, column))));
    }
    let sent = sent_key(scope, table, &cells);
    let returned = scope.key(table).filter(|_| sent == Key::Generated).map(|index| &table.columns[index]);
    let returns_key = returned.is_some() && scope.setting.dialect.returning("").is_some();
    // A row of nothing but defaults names no key, and SQLite has no text for what becomes of it.
    let conflict = on_conflict(scope, id, request, &cells)?.filter(|_| !cells.is_empty());
    let taken = match &conflict {
        None => Taken::Error,
        Some(conflict) if conflict.update.is_some() => Taken::Updated,
        Some(_) => Taken::Ignored,
    };
    let (dialect, srid) = (scope.setting.dialect, scope.setting.srid);
    let cells = cells.into_iter().map(|(column, param)| (column.clone(), param)).collect();
    let insert =
        sql::Insert { table: table.name.clone(), cells, conflict, returning: returned.cloned(), srid };
    let width = request.members.len();
    let statement = Some(sql::insert(dialect, &insert, 1, width));
    // Spider numbers the rows of one statement as its shards do, not one after the other.
    let returning = insert.returning.clone().filter(|_| !table.is_sharded);
    let many = sql::Insert { returning, ..insert };
    Ok(WritePlan {
        table: id,
        statement,
        key: sent,
        key_is_number: table.key().is_none_or(|key| key.kind.is_integer()),
        key_is_quoted: table.key().is_some_and(|key| key.quoted),
        returns_key,
        counts_rows: false,
        claims: forced.into_iter().map(|(_, claim)| claim).collect(),
        taken,
        rows: Some(Box::new(sql::Rows::new(dialect, many, width))),
    })
}

/// What a create answers with: the key as sent, the address of a record with a composite key, or what the database makes.
fn sent_key(scope: &Scope<'_>, table: &Table, cells: &[(&Column, Param)]) -> Key {
    let place = |column: usize| {
        let name = &table.columns[column].name;
        cells.iter().find_map(|(cell, param)| match param.source {
            Source::Cell(place) if cell.name == *name => Some(usize::from(place)),
            _ => None,
        })
    };
    if scope.is_strict() && scope.key_columns(table).len() > 1 {
        let parts = table
            .key_columns
            .iter()
            .map(|column| Some((table.columns[*column].alias.clone(), place(*column)?)));
        return parts.collect::<Option<Vec<_>>>().map_or(Key::Generated, Key::Address);
    }
    scope.key(table).and_then(place).map_or(Key::Generated, Key::Sent)
}

/// Plans `PUT` and `PATCH /records/{table}/{id}` for the members of one record.
pub fn change(scope: &Scope<'_>, id: TableId, request: &Request<'_>) -> Result<WritePlan, Error> {
    let table = writable(scope, id)?;
    let condition = by_id(scope, id, request.composite)?;
    let cells = cells(scope, id, request, &key_columns(scope, table, request.composite)?)?;
    let (dialect, srid) = (scope.setting.dialect, scope.setting.srid);
    let statement = match (cells.is_empty(), request.operation) {
        (true, _) => None,
        (false, Operation::Increment) => Some(sql::increment(dialect, &table.name, &cells, &condition)),
        (false, _) => Some(sql::update(dialect, &table.name, &cells, &condition, srid)),
    };
    Ok(rows_affected(id, statement))
}

/// Plans `DELETE /records/{table}/{id}`.
pub fn delete(scope: &Scope<'_>, id: TableId, request: &Request<'_>) -> Result<WritePlan, Error> {
    let table = writable(scope, id)?;
    let condition = by_id(scope, id, request.composite)?;
    // Spider says 0 whatever it deleted; the rows that it answers with are true.
    let returning = table.key().filter(|_| table.is_sharded);
    let statement = sql::delete(scope.setting.dialect, &table.name, &condition, returning);
    Ok(WritePlan { counts_rows: returning.is_some(), ..rows_affected(id, Some(statement)) })
}

fn rows_affected(table: TableId, statement: Option<sql::Statement>) -> WritePlan {
    WritePlan {
        table,
        statement,
        key: Key::Generated,
        key_is_number: true,
        key_is_quoted: false,
        returns_key: false,
        counts_rows: false,
        claims: Vec::new(),
        taken: Taken::Error,
        rows: None,
    }
}

/// A table with a primary key that is no view: 1023 and 1015, in this order (SPEC 5).
fn writable<'a>(scope: &Scope<'a>, id: TableId) -> Result<&'a Table, Error> {
    let table = scope.at(id);
    let has_address = scope.is_strict() && !scope.key_columns(table).is_empty();
    if scope.key(table).is_none() && !has_address {
        return Err(Error::new(Code::PrimaryKeyNotFound, table.alias.clone()));
    }
    if table.kind == TableKind::View {
        return Err(Error::new(Code::OperationNotSupported, scope.operation.name()));
    }
    Ok(table)
}

/// The columns that the members of the record write, with the place of each member in the record.
fn cells<'a>(
    scope: &Scope<'a>,
    id: TableId,
    request: &Request<'_>,
    key: &[usize],
) -> Result<Vec<(&'a Column, Param)>, Error> {
    let table = scope.at(id);
    let selection = Selection::parse(scope, &request.query, id, &[id])?;
    let forced = forced(scope, table);
    let mut cells = Vec::new();
    let mut unknown: Option<Error> = None;
    for (place, member) in request.members.iter().enumerate() {
        let Some(index) = scope.column(table, member) else {
            if scope.is_strict() {
                let mut error = scope.no_column(table, member, member);
                match &mut unknown {
                    Some(first) => first.details.append(&mut error.details),
                    None => unknown = Some(error),
                }
            }
            continue;
        };
        let column = &table.columns[index];
        // What the rules force is not the caller's to choose (SPEC 18.15 and 18.17).
        if forced.iter().any(|(column, _)| *column == index)
            || key.contains(&index)
            || !selection.has(id, table, index)
        {
            continue;
        }
        let is_made = request.key_is_made && table.primary_key == Some(index);
        if !is_made && !scope.policy.writes_column(table, index) {
            if scope.is_strict() {
                let sentence = "is read-only for you";
                return Err(Error::invalid(&table.alias, member, sentence));
            }
            continue;
        }
        if column.generated {
            if scope.is_strict() {
                let sentence = "is computed by the database and cannot be written";
                return Err(Error::invalid(&table.alias, member, sentence));
            }
            continue;
        }
        let place = u16::try_from(place).expect("members are bounded by the parser");
        cells.push((column, Param::of(Source::Cell(place), About::new(&table.alias, column))));
    }
    unknown.map_or(Ok(cells), Err)
}

/// The columns of `table` that the rules force, with the claims that fill them.
fn forced(scope: &Scope<'_>, table: &Table) -> Vec<(usize, u16)> {
    scope.policy.forced.iter().filter_map(|forced| Some((forced.column_of(table)?, forced.claim))).collect()
}
