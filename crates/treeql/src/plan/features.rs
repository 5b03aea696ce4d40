//! Features: which columns are their id and geometry, and where they lie (SPEC 14).

use std::borrow::Cow;

use crate::error::{Code, Error};
use crate::plan::scope::Scope;
use crate::request::{Features, Filter, Operator, Request, Spatial};
use crate::schema::{ColumnType, TableId};

/// The columns of a feature that are no properties.
#[derive(Clone, Copy, Debug)]
pub struct FeatureColumns {
    /// The primary key.
    pub id: Option<usize>,
    /// The geometry.
    pub geometry: Option<usize>,
}

/// The columns of features of a table, among those that this principal may see.
pub fn feature_columns(
    scope: &Scope<'_>,
    table: TableId,
    asked: &Features<'_>,
) -> Result<FeatureColumns, Error> {
    let definition = scope.at(table);
    // One column of several tells no features apart; the lenient mode takes the first (SPEC: composite-key).
    let is_whole = !scope.is_strict() || definition.key_columns.len() < 2;
    let id = definition.primary_key.filter(|key| is_whole && scope.shows(definition, *key));
    Ok(FeatureColumns { id, geometry: geometry(scope, table, asked)? })
}

fn geometry(scope: &Scope<'_>, table: TableId, asked: &Features<'_>) -> Result<Option<usize>, Error> {
    let definition = scope.at(table);
    let is_geometry = |index: &usize| definition.columns[*index].kind == ColumnType::Geometry;
    let Some(name) = asked.geometry.as_deref() else {
        return Ok(
            (0..definition.columns.len()).find(|index| is_geometry(index) && scope.shows(definition, *index))
        );
    };
    let found = scope.column(definition, name);
    if !scope.is_strict() {
        // compat: a name that is none, or another column, means that there is no geometry (SPEC 14).
        return Ok(found.filter(is_geometry));
    }
    let Some(index) = found else { return Err(scope.no_column(definition, name, "geometry")) };
    if !is_geometry(&index) {
        let kind = definition.columns[index].kind;
        let sentence = format!("column '{name}' is of type {kind}, not geometry");
        return Err(Error::invalid(&definition.alias, "geometry", sentence));
    }
    Ok(Some(index))
}

/// What `bbox` and `tile` mean: filters on the geometry, each with the slot of its polygon and its parameter.
pub fn area_filters(
    scope: &Scope<'_>,
    table: TableId,
    request: &Request<'_>,
) -> Result<Vec<(u16, Filter<'static>)>, Error> {
    let Some(asked) = request.query.features.as_ref().filter(|asked| !asked.areas.is_empty()) else {
        return Ok(Vec::new());
    };
    let definition = scope.at(table);
    let dialect = scope.setting.dialect;
    let no = |sentence: String| match scope.is_strict() {
        true => Error::invalid(&definition.alias, asked.areas[0].0, sentence),
        // compat: 9999 (SPEC 14).
        false => Error::new(Code::Internal, sentence),
    };
    if !dialect.has_spatial() {
        return Err(no(format!("needs spatial functions, which {} does not have", dialect.name())));
    }
    let Some(index) = geometry(scope, table, asked)? else {
        return Err(no(format!("'{}' has no geometry column to compare with", definition.alias)));
    };
    let filter = |(_, slot): &(&str, u16)| {
        let filter = Filter {
            group: Cow::Borrowed(""),
            column: Cow::Owned(definition.columns[index].alias.to_string()),
            operator: Operator::Spatial(Spatial::Intersects),
            negated: false,
            slots: 1,
        };
        (*slot, filter)
    };
    Ok(asked.areas.iter().map(filter).collect())
}
