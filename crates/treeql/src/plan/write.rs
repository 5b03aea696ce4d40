//! Plans create, update, increment and delete.

use crate::error::{Code, Error};
use crate::plan::columns::Selection;
use crate::plan::read::by_id;
use crate::plan::scope::Scope;
use crate::plan::tree::{Key, WritePlan};
use crate::request::{Operation, Request};
use crate::schema::{Column, Table, TableId, TableKind};
use crate::sql::{self, About, Param, Source};

/// Plans `POST /records/{table}` for the members of one record.
pub fn create(scope: &Scope<'_>, id: TableId, request: &Request<'_>) -> Result<WritePlan, Error> {
    let table = writable(scope, id)?;
    let cells = cells(scope, id, request, None)?;
    let key = table.key().ok_or_else(|| Error::new(Code::PrimaryKeyNotFound, table.alias.clone()))?;
    let sent = cells.iter().find_map(|(column, param)| match param.source {
        Source::Cell(cell) if column.name == key.name => Some(Key::Sent(usize::from(cell))),
        _ => None,
    });
    let returns_key = sent.is_none() && scope.setting.dialect.returning("").is_some();
    let returning = returns_key.then_some(key);
    let statement = sql::insert(scope.setting.dialect, &table.name, &cells, returning, scope.setting.srid);
    Ok(WritePlan {
        table: id,
        statement: Some(statement),
        key: sent.unwrap_or(Key::Generated),
        key_is_number: key.kind.is_integer(),
        returns_key,
    })
}

/// Plans `PUT` and `PATCH /records/{table}/{id}` for the members of one record.
pub fn change(scope: &Scope<'_>, id: TableId, request: &Request<'_>) -> Result<WritePlan, Error> {
    let table = writable(scope, id)?;
    let cells = cells(scope, id, request, table.primary_key)?;
    let condition = by_id(scope, id)?;
    let (dialect, srid) = (scope.setting.dialect, scope.setting.srid);
    let statement = match (cells.is_empty(), request.operation) {
        (true, _) => None,
        (false, Operation::Increment) => Some(sql::increment(dialect, &table.name, &cells, &condition)),
        (false, _) => Some(sql::update(dialect, &table.name, &cells, &condition, srid)),
    };
    Ok(rows_affected(id, statement))
}

/// Plans `DELETE /records/{table}/{id}`.
pub fn delete(scope: &Scope<'_>, id: TableId) -> Result<WritePlan, Error> {
    let table = writable(scope, id)?;
    let condition = by_id(scope, id)?;
    Ok(rows_affected(id, Some(sql::delete(scope.setting.dialect, &table.name, &condition))))
}

fn rows_affected(table: TableId, statement: Option<sql::Statement>) -> WritePlan {
    WritePlan { table, statement, key: Key::Generated, key_is_number: true, returns_key: false }
}

/// A table with a primary key that is no view: 1023 and 1015, in this order (SPEC 5).
fn writable<'a>(scope: &Scope<'a>, id: TableId) -> Result<&'a Table, Error> {
    let table = scope.at(id);
    if table.primary_key.is_none() {
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
    key: Option<usize>,
) -> Result<Vec<(&'a Column, Param)>, Error> {
    let table = scope.at(id);
    let selection = Selection::parse(scope, &request.query, id, &[id])?;
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
        if key == Some(index) || !selection.has(id, table, index) {
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
