//! Shape: what records with the same members have in common.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use treeql::error::{Code, Error};
use treeql::plan::Plan;
use treeql::record::prepare_cells;
use treeql::request::{Cell, Fields, Record};
use treeql::sql::{Rows, Source};
use treeql::value::Value;

use crate::exec::recipe::Recipe;

/// What records with the same members have in common.
pub struct Shape {
    /// Their names, in their order.
    pub members: Vec<Box<str>>,
    /// How they are written.
    pub plan: Arc<Plan>,
    columns: Vec<Option<usize>>,
    /// Whether the server makes the key, which is the last member.
    pub is_key_made: bool,
}

/// The statements of a plan for new records.
pub fn rows(plan: &Plan) -> &Rows {
    plan.write().rows.as_ref().expect("a create has statements for many rows")
}

/// The names of the columns, mapped. Two of the same name are an error: one of them would get lost.
pub fn header(
    fields: &Fields,
    buffer: &[u8],
    mapped: &HashMap<String, String>,
) -> Result<Vec<Box<str>>, Error> {
    let wrong = |sentence: String| {
        Error::new(Code::HttpMessageNotReadable, "").detail("body", format!("line 1: {sentence}"))
    };
    let mut names: Vec<Box<str>> = Vec::with_capacity(fields.len());
    for index in 0..fields.len() {
        let Cell::Text(name) = fields.cell(index, buffer).map_err(wrong)? else {
            return Err(wrong(format!("field {} has no name; the first line names the columns", index + 1)));
        };
        let name = mapped.get(&*name).map_or(&*name, String::as_str);
        if names.iter().any(|known| **known == *name) {
            return Err(wrong(format!("two fields are called '{name}'")));
        }
        names.push(name.into());
    }
    Ok(names)
}

impl Shape {
    /// Plans records with these members.
    pub fn new(recipe: &Recipe, members: Vec<Box<str>>, is_key_made: bool) -> Result<Shape, Error> {
        let mut request = recipe.request.clone();
        request.key_is_made = is_key_made;
        request.members = members.iter().map(|name| Cow::Owned(name.to_string())).collect();
        let plan = recipe.snapshot.plan(&request, &recipe.policy)?;
        let write = plan.write();
        let is_unknown = |claim: &u16| recipe.values.claims[usize::from(*claim)].is_none();
        if write.claims.iter().any(is_unknown) {
            let sentence = "something that is written into every record of this table is not known about you";
            return Err(Error::new(Code::OperationForbidden, "").detail("authorization", sentence));
        }
        let table = recipe.snapshot.schema.table(write.table);
        let mut columns = vec![None; members.len()];
        for (column, param) in rows(&plan).cells() {
            if let Source::Cell(place) = param.source {
                columns[usize::from(place)] = table.column(&column.alias);
            }
        }
        Ok(Shape { members, plan, columns, is_key_made })
    }

    /// Appends the values of the cells of one record.
    pub fn prepare<'a>(
        &self,
        recipe: &Recipe,
        cells: impl Iterator<Item = Cell<'a>>,
        values: &mut Vec<Value>,
    ) -> Result<(), Error> {
        let setting = recipe.snapshot.setting;
        let table = recipe.snapshot.schema.table(self.plan.write().table);
        prepare_cells(table, &self.columns, cells, setting.dialect, setting.mode, values)
    }
}

/// Appends the values of a record of CSV.
pub fn csv_cells(
    recipe: &Recipe,
    shape: &Shape,
    fields: &Fields,
    buffer: &[u8],
    values: &mut Vec<Value>,
) -> Result<(), Error> {
    let unreadable = |sentence: String| Error::new(Code::HttpMessageNotReadable, "").detail("body", sentence);
    let width = shape.members.len() - usize::from(shape.is_key_made);
    if fields.len() != width {
        return Err(unreadable(format!("has {} fields, but the first line has {width}", fields.len())));
    }
    let mut bad = None;
    let cell = |index: usize| {
        fields.cell(index, buffer).unwrap_or_else(|sentence| {
            bad = bad.take().or(Some(format!("field '{}' {sentence}", shape.members[index])));
            Cell::Null
        })
    };
    let before = values.len();
    let result = if recipe.clean.is_none() && recipe.make_key.is_none() {
        shape.prepare(recipe, (0..width).map(cell), values)
    } else {
        let names = shape.members.iter().map(|name| Cow::Borrowed(&**name));
        let mut record: Record<'_> = names.zip((0..width).map(cell)).collect();
        completed(recipe, &mut record)
            .and_then(|()| shape.prepare(recipe, record.into_iter().map(|(_, cell)| cell), values))
    };
    match bad {
        Some(sentence) => {
            values.truncate(before);
            Err(unreadable(sentence))
        }
        None => result,
    }
}

/// The key is made if there is none, then the record is cleaned and checked.
fn completed(recipe: &Recipe, record: &mut Record<'_>) -> Result<(), Error> {
    if let Some(key) = &recipe.make_key {
        (key.make)(record)?;
    }
    recipe.clean.as_ref().map_or(Ok(()), |clean| clean(record))
}
