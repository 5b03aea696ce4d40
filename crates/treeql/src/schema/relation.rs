//! How two tables are related, as joins and filters on related tables see it.

use crate::schema::snapshot::Schema;
use crate::schema::table::{ForeignKey, TableId};

/// A relation from one table to another (php-crud-api: belongsTo, hasMany, hasAndBelongsToMany).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first table has a foreign key to the second.
    BelongsTo {
        /// From the first table to the second.
        key: ForeignKey,
    },
    /// The second table has a foreign key to the first.
    HasMany {
        /// From the second table to the first.
        key: ForeignKey,
    },
    /// A third table has foreign keys to both.
    HasAndBelongsToMany {
        /// The third table.
        junction: TableId,
        /// From the junction to the first table.
        source: ForeignKey,
        /// From the junction to the second table.
        target: ForeignKey,
    },
}

/// Every relation from `from` to `to`: belongs-to first, then has-many; many-to-many only if there is neither.
///
/// Only foreign keys count that `usable` accepts, with the table that has them. The junction is the first table in schema
/// order that references both.
pub fn relations(
    schema: &Schema,
    from: TableId,
    to: TableId,
    usable: impl Fn(TableId, &ForeignKey) -> bool,
) -> Vec<Relation> {
    let mut found: Vec<Relation> =
        keys(schema, from, to, &usable).map(|key| Relation::BelongsTo { key }).collect();
    found.extend(keys(schema, to, from, &usable).map(|key| Relation::HasMany { key }));
    if found.is_empty() {
        found.extend(junction(schema, from, to, &usable));
    }
    found
}

fn keys<'a>(
    schema: &'a Schema,
    from: TableId,
    to: TableId,
    usable: &'a impl Fn(TableId, &ForeignKey) -> bool,
) -> impl Iterator<Item = ForeignKey> + 'a {
    schema.table(from).references(to).copied().filter(move |key| usable(from, key))
}

fn junction(
    schema: &Schema,
    from: TableId,
    to: TableId,
    usable: &impl Fn(TableId, &ForeignKey) -> bool,
) -> Option<Relation> {
    // Both lists are in schema order, so the first junction is the first by name, as in the reference.
    schema.table(from).referenced_by.iter().find_map(|(junction, _)| {
        let source = keys(schema, *junction, from, usable).next()?;
        // compat: a table joined to itself through one foreign key lists itself once per junction row
        // (SPEC: self-join-through-junction); with two foreign keys the second one leads on.
        let target = keys(schema, *junction, to, usable)
            .find(|key| key.column != source.column)
            .or_else(|| keys(schema, *junction, to, usable).next().filter(|_| from != to))?;
        Some(Relation::HasAndBelongsToMany { junction: *junction, source, target })
    })
}
