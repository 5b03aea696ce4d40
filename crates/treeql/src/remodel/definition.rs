//! Definitions: what a column is, what a new one is to be, and what is asked of one that is there.

use crate::error::Error;
use crate::remodel::asked::AskedColumn;
use crate::remodel::target::Target;
use crate::schema::{ColumnType, Schema, Table};
use crate::sql::{Definition, Reference};

/// Characters of a varchar, and bytes of a varbinary, of which nothing is said (as in the reference).
const LENGTH: u32 = 255;
/// Digits of a decimal of which nothing is said.
const PRECISION: u32 = 19;
/// Digits after the point of a decimal of which nothing is said.
const SCALE: u32 = 4;

/// What the column at `index` is.
pub fn definition_of(schema: &Schema, table: &Table, index: usize) -> Definition {
    let column = &table.columns[index];
    let reference = table.foreign_key(index).map(|key| {
        let target = schema.table(key.table);
        Reference { table: target.name.to_string(), column: target.columns[key.target].name.to_string() }
    });
    Definition {
        name: column.name.to_string(),
        kind: column.kind,
        length: column.length,
        precision: column.precision,
        scale: column.scale,
        nullable: column.nullable,
        is_key: table.key_columns == [index],
        reference,
    }
}

/// What a new column is to be, without what it refers to.
pub fn new_definition(name: String, asked: &AskedColumn) -> Result<Definition, Error> {
    let Some(kind) = asked.kind else {
        let names: Vec<&str> = ColumnType::given().map(ColumnType::name).collect();
        let sentence = format!("is missing; it is one of {}", names.join(", "));
        return Err(Error::invalid(&name, "type", sentence));
    };
    let is_key = asked.is_key.unwrap_or(false);
    let mut definition = Definition {
        name,
        kind,
        length: 0,
        precision: 0,
        scale: 0,
        nullable: asked.nullable.unwrap_or(false) && !is_key,
        is_key,
        reference: None,
    };
    size(&mut definition, asked)?;
    Ok(definition)
}

/// What a column is to be when what is asked is done to it.
pub fn with_asked(
    target: Target<'_>,
    table: &Table,
    index: usize,
    from: &Definition,
    asked: &AskedColumn,
) -> Result<Definition, Error> {
    let mut to = from.clone();
    if let Some(name) = &asked.name {
        to.name.clone_from(name);
    }
    if asked.kind.is_some_and(|kind| kind != from.kind) {
        to.kind = asked.kind.unwrap_or(from.kind);
        (to.length, to.precision, to.scale) = (0, 0, 0);
    }
    let is_sized = asked.length.is_some() || asked.precision.is_some() || asked.scale.is_some();
    if to.kind != from.kind || is_sized {
        size(&mut to, asked)?;
    }
    let is_part = !from.is_key && table.key_columns.contains(&index);
    match asked.is_key {
        // The document of a part of a key says so, and may be sent back.
        Some(true) if is_part => {}
        Some(false) if is_part => {
            let sentence = "it is part of a primary key of several columns, which cannot be changed here";
            return Err(Error::invalid(&table.alias, "pk", sentence));
        }
        Some(is_key) => to.is_key = is_key,
        None => {}
    }
    to.nullable = asked.nullable.unwrap_or(from.nullable);
    if (to.is_key || is_part) && to.nullable && !from.nullable {
        if target.shown.mode.is_strict() && asked.nullable == Some(true) {
            return Err(Error::invalid(&table.alias, "nullable", "a primary key is never NULL"));
        }
        to.nullable = false;
    }
    if to.is_key && !from.is_key {
        to.nullable = false;
    }
    match &asked.reference {
        Some(None) => to.reference = None,
        Some(Some(alias)) if !target.is_reference(table, index, alias) => {
            to.reference = Some(target.reference(alias, &to)?);
        }
        _ => {}
    }
    Ok(to)
}

/// The sizes of a type: what is asked, what was, else the defaults; none where the type has none.
fn size(definition: &mut Definition, asked: &AskedColumn) -> Result<(), Error> {
    let pick =
        |asked: Option<u32>, was: u32, default: u32| asked.unwrap_or(if was > 0 { was } else { default });
    match definition.kind {
        ColumnType::Varchar | ColumnType::Varbinary => {
            definition.length = pick(asked.length, definition.length, LENGTH);
        }
        ColumnType::Decimal => {
            definition.precision = pick(asked.precision, definition.precision, PRECISION);
            definition.scale = pick(asked.scale, definition.scale, SCALE.min(definition.precision));
            if definition.scale > definition.precision {
                let sentence = format!(
                    "{} digits after the point are more than the {} of all",
                    definition.scale, definition.precision
                );
                return Err(Error::invalid(&definition.name, "scale", sentence));
            }
        }
        _ => {}
    }
    Ok(())
}
