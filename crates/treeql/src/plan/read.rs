//! Plans lists and single records.

use std::sync::Arc;

use crate::encode::FeatureLayout;
use crate::error::{Code, Error};
use crate::nearest;
use crate::plan::columns::Selection;
use crate::plan::features::feature_columns;
use crate::plan::filter::conditions;
use crate::plan::join::{self, Cells};
use crate::plan::merged::MergedPlan;
use crate::plan::resolver::visible_rows;
use crate::plan::scope::Scope;
use crate::plan::tree::{JoinPlan, ListPlan, SelectPlan};
use crate::request::{Query, Request, Window};
use crate::schema::{Column, Table, TableId, TableKind};
use crate::sql::{About, ColumnRef, Comparison, Condition, Param, Qualifier, Select, Source, count, select};

/// Plans `GET /records/{table}`.
pub fn list(scope: &Scope<'_>, table: TableId, request: &Request<'_>) -> Result<ListPlan, Error> {
    let condition = conditions(scope, table, request)?;
    let order = order(scope, table, &request.query)?;
    let count = request.counted.then(|| count(scope.setting.dialect, &scope.at(table).name, &condition));
    let Selected { cells, feature, joins } = selected(scope, table, &request.query)?;
    let query = Select {
        table: &scope.at(table).name,
        columns: &cells.columns,
        condition: &condition,
        order: &order,
        window: request.window,
    };
    let statement = select(scope.setting.dialect, &query);
    let select =
        SelectPlan { table, statement, layout: Arc::new(cells.layout), feature, joins, merged: None };
    Ok(ListPlan::new(select, count))
}

/// Plans `GET /records/{table}/{id}`; several ids run the same plan several times.
pub fn read(scope: &Scope<'_>, table: TableId, request: &Request<'_>) -> Result<SelectPlan, Error> {
    let definition = scope.at(table);
    if request.query.features.is_some() && definition.kind == TableKind::View {
        // compat: a view has no features that can be told apart (SPEC 14).
        return Err(Error::new(Code::OperationNotSupported, request.operation.name()));
    }
    let condition = by_id(scope, table, request.composite)?;
    let Selected { cells, feature, joins } = selected(scope, table, &request.query)?;
    let columns = &cells.columns;
    let all = Window::All;
    let query = Select { table: &definition.name, columns, condition: &condition, order: &[], window: all };
    let statement = select(scope.setting.dialect, &query);
    let merged = match joins.is_empty() && !request.composite {
        true => MergedPlan::new(scope, table, columns)?,
        false => None,
    };
    Ok(SelectPlan { table, statement, layout: Arc::new(cells.layout), feature, joins, merged })
}

/// The condition that the primary key is the id of the path, and that the record may be seen.
pub fn by_id(scope: &Scope<'_>, table: TableId, composite: bool) -> Result<Condition, Error> {
    let definition = scope.at(table);
    let columns = key_columns(scope, definition, composite)?;
    let conditions = columns.into_iter().enumerate().map(|(part, column)| {
        let key = &definition.columns[column];
        let source = Source::Id(u16::try_from(part).expect("a key has few columns"));
        let param = Param::of(source, About::new(&definition.alias, key));
        Condition::Compare(ColumnRef::plain(&key.name), Comparison::Equal, param)
    });
    let rows = visible_rows(scope, table, &Qualifier::None, &mut 0)?;
    Ok(Condition::All(conditions.collect()).and(rows))
}

/// The columns by which an id addresses a record.
pub fn key_columns(scope: &Scope<'_>, table: &Table, composite: bool) -> Result<Vec<usize>, Error> {
    if composite {
        let columns = scope.key_columns(table).to_vec();
        return if columns.is_empty() { Err(no_key(table)) } else { Ok(columns) };
    }
    if scope.is_strict() && scope.key_columns(table).len() > 1 {
        // One value of a composite key may address several rows: that is never what was meant.
        let names = table.key_columns.iter().map(|index| &*table.columns[*index].alias);
        let example: Vec<String> = names.map(|name| format!("{name}={{{name}}}")).collect();
        let sentence =
            format!("the key of '{}' has several columns; write {}", table.alias, example.join(";"));
        return Err(Error::invalid(&table.alias, "id", sentence));
    }
    let key = scope.key(table).ok_or_else(|| no_key(table))?;
    Ok(vec![key])
}

fn no_key(table: &Table) -> Error {
    Error::new(Code::PrimaryKeyNotFound, table.alias.clone())
}

/// What is selected of a table.
struct Selected<'a> {
    cells: Cells<'a>,
    feature: Option<FeatureLayout>,
    joins: Vec<JoinPlan>,
}

/// What is selected of the table and of those that are joined, and the plans of the joins.
fn selected<'a>(scope: &Scope<'a>, table: TableId, query: &Query<'_>) -> Result<Selected<'a>, Error> {
    let nodes = join::tree(scope, table, query)?;
    let mut tables = vec![table];
    join::tables(&nodes, &mut tables);
    let mut selection = Selection::parse(scope, query, table, &tables)?;
    join::require(&nodes, table, &mut selection);
    let feature = query.features.as_ref().map(|asked| feature_columns(scope, table, asked)).transpose()?;
    if let Some(columns) = feature {
        selection.keep([columns.id, columns.geometry].into_iter().flatten().map(|column| (table, column)));
    }
    let mut cells = Cells::shown(scope, table, &selection, Vec::new());
    let feature = feature.map(|columns| FeatureLayout {
        id: columns.id.and_then(|column| cells.position(column)),
        geometry: columns.geometry.and_then(|column| cells.position(column)),
    });
    let joins = join::plan_joins(scope, &nodes, table, &selection, &mut cells)?;
    Ok(Selected { cells, feature, joins })
}

/// The columns that `order` names, else the primary key, else all columns (SPEC 8.3).
fn order<'a>(scope: &Scope<'a>, table: TableId, query: &Query<'_>) -> Result<Vec<(&'a Column, bool)>, Error> {
    let definition = scope.at(table);
    let mut order = Vec::new();
    for text in &query.orders {
        let (name, direction) = text.split_once(',').unwrap_or((text, "asc"));
        let Some(index) = scope.column(definition, name) else {
            if scope.is_strict() {
                return Err(scope.no_column(definition, name, "order"));
            }
            continue;
        };
        order.push((&definition.columns[index], is_descending(scope, definition, direction)?));
    }
    if order.is_empty() {
        order = default_order(scope, definition);
    }
    let ties = scope.order_without_key(definition).into_iter().map(|index| &definition.columns[index]);
    for column in ties {
        if !order.iter().any(|(known, _)| known.name == column.name) {
            order.push((column, false));
        }
    }
    Ok(order)
}

fn is_descending(scope: &Scope<'_>, table: &Table, direction: &str) -> Result<bool, Error> {
    let lower = direction.to_ascii_lowercase();
    if scope.is_strict() && lower != "asc" && lower != "desc" {
        let shown = nearest::shown(direction);
        let sentence = format!("'{shown}' is no direction; it is asc or desc, for example id,desc");
        return Err(Error::invalid(&table.alias, "order", sentence));
    }
    Ok(lower.starts_with("desc"))
}

fn default_order<'a>(scope: &Scope<'a>, table: &'a Table) -> Vec<(&'a Column, bool)> {
    let all: Vec<usize> = (0..table.columns.len()).collect();
    let columns = match (scope.key(table), scope.key_columns(table)) {
        (_, keys) if !keys.is_empty() => keys.to_vec(),
        (Some(key), _) => vec![key],
        (None, _) => all.into_iter().filter(|index| scope.shows(table, *index)).collect(),
    };
    columns.into_iter().map(|index| (&table.columns[index], false)).collect()
}
