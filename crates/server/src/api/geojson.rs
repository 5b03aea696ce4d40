//! `/geojson`: records as features of a map (SPEC 14).

use std::borrow::Cow;

use treeql::encode::{bbox_polygon, tile_polygon};
use treeql::error::{Code, Error};
use treeql::nearest::{nearest, unknown};
use treeql::request::{Features, Values, parameter_names, parameters};

use crate::api::context::Context;
use crate::api::controller::Controller;
use crate::api::ids::Ids;
use crate::api::records;
use crate::http::Response;

/// The parameters that records do not have.
const PARAMETERS: [&str; 3] = ["geometry", "bbox", "tile"];

/// `GET /geojson/{table}`: a list as a collection of features.
pub async fn list(context: &Context<'_>, table: &str) -> Result<Response, Error> {
    let answer = records::list_as(context, table, |values| features_of_list(context, table, values)).await?;
    context.open_json(Controller::GeoJson, table, answer)
}

/// What makes the records of a list features.
pub fn features_of_list<'a>(
    context: &'a Context<'_>,
    table: &str,
    values: &mut Values<'a>,
) -> Result<Option<Features<'a>>, Error> {
    let mut features = features(context, table)?;
    features.areas = areas(context, table, values)?;
    Ok(Some(features))
}

/// `GET /geojson/{table}/{id}`: a record as a feature, several as a collection.
pub async fn read(context: &Context<'_>, table: &str, ids: Ids<'_>) -> Result<Response, Error> {
    let features = features(context, table)?;
    let answer = records::read_as(context, table, ids, Some(features)).await?;
    context.open_json(Controller::GeoJson, table, answer)
}

/// What makes records that are read by id features.
pub fn features<'a>(context: &'a Context<'_>, table: &str) -> Result<Features<'a>, Error> {
    if context.mode().is_strict() {
        check_names(context, table)?;
    }
    Ok(Features { geometry: one(context, table, "geometry")?, areas: Vec::new() })
}

/// A parameter that looks like a misspelt one is an error: without it, a list would silently be a longer one.
fn check_names(context: &Context<'_>, table: &str) -> Result<(), Error> {
    for name in parameter_names(context.head.query()) {
        if !name.starts_with('_') && !PARAMETERS.contains(&&*name) && nearest(&name, PARAMETERS).is_some() {
            let sentence = unknown("parameter", &name, PARAMETERS);
            return Err(Error::new(Code::InputValidationFailed, table).detail(&*name, sentence));
        }
    }
    Ok(())
}

/// The parameter called `name`; in the strict mode it may be given once.
fn one<'a>(context: &'a Context<'_>, table: &str, name: &str) -> Result<Option<Cow<'a, str>>, Error> {
    let first = parameters(context.head.query(), name).next();
    let count = parameter_names(context.head.query()).filter(|given| given == name).count();
    match (&first, count) {
        _ if !context.mode().is_strict() => Ok(first),
        (None, 1) => Err(Error::invalid(table, name, "has no value")),
        (_, 0 | 1) => Ok(first),
        _ => Err(Error::invalid(table, name, "is given more than once; it may be given once")),
    }
}

/// The polygons of `bbox` and `tile`, as values. One that is none is an error in both modes.
fn areas<'a>(
    context: &'a Context<'_>,
    table: &str,
    values: &mut Values<'a>,
) -> Result<Vec<(&'static str, u16)>, Error> {
    type Polygon = fn(&str) -> Result<String, String>;
    let known: [(&'static str, Polygon); 2] = [("bbox", bbox_polygon), ("tile", tile_polygon)];
    let mut areas = Vec::new();
    for (name, polygon) in known {
        let Some(text) = one(context, table, name)? else { continue };
        let polygon = polygon(&text).map_err(|sentence| Error::invalid(table, name, sentence))?;
        let slot = u16::try_from(values.slots.len()).expect("the values of filters are bounded");
        areas.push((name, slot));
        values.slots.push(polygon.into());
    }
    Ok(areas)
}
