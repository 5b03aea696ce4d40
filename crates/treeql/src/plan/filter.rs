//! Filters to conditions: the tree of AND and OR, and rows of related tables (SPEC 8.1, 8.2 and 10).

use std::sync::Arc;

use crate::error::{Code, Error};
use crate::plan::scope::{Scope, segment};
use crate::request::{Filter, Operator, Request, Spatial};
use crate::schema::{Column, ColumnType, ForeignKey, Relation, Table, TableId};
use crate::sql::{About, ColumnRef, Comparison, Condition, Exists, Param, Qualifier, Source, Wrap};

/// limit: how deep groups of filters may nest.
const GROUP_DEPTH_MAX: usize = 16;

/// The condition that all filters of a request make together.
pub fn conditions(scope: &Scope<'_>, table: TableId, request: &Request<'_>) -> Result<Condition, Error> {
    let mut tree = Node::default();
    let mut slot = 0;
    let mut aliases = 0;
    for filter in &request.query.filters {
        let mut resolver = Resolver { scope, filter, slot, aliases: &mut aliases };
        if let Some(condition) = resolver.resolve(table)? {
            tree.insert(&group_path(&filter.group, scope, table)?, condition);
        }
        slot += filter.slots;
    }
    Ok(tree.condition())
}

/// The runs of digits and of other characters that a suffix consists of: `1a2` is 1, a, 2.
fn group_path<'a>(group: &'a str, scope: &Scope<'_>, table: TableId) -> Result<Vec<&'a str>, Error> {
    let mut path = Vec::new();
    let mut rest = group;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|next: char| next.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        path.push(&rest[..end]);
        rest = &rest[end..];
    }
    if path.len() > GROUP_DEPTH_MAX {
        let sentence = format!("nests deeper than {GROUP_DEPTH_MAX} groups");
        return Err(Error::invalid(&scope.at(table).alias, "filter", sentence));
    }
    Ok(path)
}

/// A place in the tree: its own conditions and those of its children.
#[derive(Default)]
struct Node<'a> {
    own: Vec<Condition>,
    children: Vec<(&'a str, Node<'a>)>,
}

impl<'a> Node<'a> {
    fn insert(&mut self, path: &[&'a str], condition: Condition) {
        let [first, rest @ ..] = path else { return self.own.push(condition) };
        let index = match self.children.iter().position(|(name, _)| name == first) {
            Some(index) => index,
            None => {
                self.children.push((first, Node::default()));
                self.children.len() - 1
            }
        };
        self.children[index].1.insert(rest, condition);
    }

    /// All of its own, and one of its children's; children without conditions were never made.
    fn condition(self) -> Condition {
        let mut all = self.own;
        let mut any: Vec<Condition> = self.children.into_iter().map(|(_, node)| node.condition()).collect();
        match any.len() {
            0 => {}
            1 => all.push(any.remove(0)),
            _ => all.push(Condition::Any(any)),
        }
        if all.len() == 1 { all.remove(0) } else { Condition::All(all) }
    }
}

/// One filter on its way to a condition.
struct Resolver<'a, 'b> {
    scope: &'b Scope<'a>,
    filter: &'b Filter<'b>,
    slot: u16,
    aliases: &'b mut u16,
}

impl<'a> Resolver<'a, '_> {
    fn about(&self) -> String {
        format!("filter{}", self.filter.group)
    }

    /// `None` if the filter disappears, which happens in the lenient mode only.
    fn resolve(&mut self, table: TableId) -> Result<Option<Condition>, Error> {
        let definition = self.scope.at(table);
        // A column whose own name has a dot is found before the dot is taken for a path.
        let found = self.scope.column(definition, &self.filter.column);
        if let (None, Some((path, column))) = (found, self.filter.column.rsplit_once('.')) {
            return self.resolve_related(table, path, column);
        }
        let Some(index) = found else {
            if self.scope.is_strict() {
                return Err(self.scope.no_column(definition, &self.filter.column, &self.about()));
            }
            // compat: 9999 (SPEC: unknown-filter-column).
            return Err(Error::new(
                Code::Internal,
                format!("Unknown column '{}' in filter", self.filter.column),
            ));
        };
        self.leaf(definition, index, Qualifier::None).map(Some).or_else(|error| self.forgive(error))
    }

    /// An unknown operator makes the filter disappear where the reference drops it.
    fn forgive(&self, error: Error) -> Result<Option<Condition>, Error> {
        if self.filter.operator == Operator::Unknown { Ok(None) } else { Err(error) }
    }

    /// The condition on a column, with the values as holes.
    fn leaf(&self, table: &Table, index: usize, qualifier: Qualifier) -> Result<Condition, Error> {
        let column = &table.columns[index];
        let reference = ColumnRef { qualifier, name: column.name.clone() };
        let about = About::new(&table.alias, column);
        let param = |slot: u16, wrap: Wrap| Param {
            source: Source::Slot(self.slot + slot),
            wrap,
            about: Some(Arc::clone(&about)),
        };
        let like = |wrap: Wrap| Condition::Like(reference.clone(), param(0, wrap));
        let compare = |comparison: Comparison, slot: u16| {
            Condition::Compare(reference.clone(), comparison, param(slot, Wrap::None))
        };
        let condition = match self.filter.operator {
            Operator::Contains => like(Wrap::Contains),
            Operator::StartsWith => like(Wrap::StartsWith),
            Operator::EndsWith => like(Wrap::EndsWith),
            Operator::Equal => compare(Comparison::Equal, 0),
            Operator::Less => compare(Comparison::Less, 0),
            Operator::LessOrEqual => compare(Comparison::LessOrEqual, 0),
            Operator::GreaterOrEqual => compare(Comparison::GreaterOrEqual, 0),
            Operator::Greater => compare(Comparison::Greater, 0),
            Operator::Between => Condition::All(vec![
                compare(Comparison::GreaterOrEqual, 0),
                compare(Comparison::LessOrEqual, 1),
            ]),
            Operator::In => {
                let params = (0..self.filter.slots).map(|slot| param(slot, Wrap::None)).collect();
                Condition::In(reference.clone(), params)
            }
            Operator::IsNull => Condition::IsNull(reference.clone()),
            Operator::Never => Condition::never(),
            Operator::Spatial(spatial) => self.spatial(table, column, reference.clone(), spatial)?,
            Operator::Unknown => return Err(Error::new(Code::Internal, "unknown operator")),
        };
        Ok(if self.filter.negated { Condition::Not(Box::new(condition)) } else { condition })
    }

    fn spatial(
        &self,
        table: &Table,
        column: &Column,
        reference: ColumnRef,
        spatial: Spatial,
    ) -> Result<Condition, Error> {
        let dialect = self.scope.setting.dialect;
        if !dialect.has_spatial() {
            if !self.scope.is_strict() {
                // compat: 9999 (SPEC: spatial-on-sqlite).
                return Err(Error::new(
                    Code::Internal,
                    format!("{} has no spatial functions", dialect.name()),
                ));
            }
            let sentence =
                format!("spatial operators need spatial functions, which {} does not have", dialect.name());
            return Err(Error::invalid(&table.alias, &self.about(), sentence));
        }
        if self.scope.is_strict() && column.kind != ColumnType::Geometry {
            let sentence = format!("column '{}' is of type {}, not geometry", column.alias, column.kind);
            return Err(Error::invalid(&table.alias, &self.about(), sentence));
        }
        let param = (self.filter.slots > 0).then(|| Param::bare(Source::Slot(self.slot)));
        Ok(Condition::Spatial(reference, spatial, param, self.scope.setting.srid))
    }

    /// A filter on a related table: at least one related row satisfies it.
    fn resolve_related(
        &mut self,
        table: TableId,
        path: &str,
        column: &str,
    ) -> Result<Option<Condition>, Error> {
        let segments: Vec<&str> = path.split('.').collect();
        if segments.len() > self.scope.policy.join_depth_max {
            if !self.scope.is_strict() {
                return Ok(None);
            }
            let sentence = format!("goes through more than {} tables", self.scope.policy.join_depth_max);
            return Err(Error::invalid(&self.scope.at(table).alias, &self.about(), sentence));
        }
        let outer = Qualifier::Table(self.scope.at(table).name.clone());
        match self.step(table, outer, &segments, column) {
            Ok(condition) => Ok(condition),
            // compat: a path or column that cannot be resolved makes the filter disappear (SPEC 10).
            Err(_unresolved) if !self.scope.is_strict() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn step(
        &mut self,
        from: TableId,
        outer: Qualifier,
        segments: &[&str],
        column: &str,
    ) -> Result<Option<Condition>, Error> {
        let [first, rest @ ..] = segments else {
            let table = self.scope.at(from);
            let Some(index) = self.scope.column(table, column) else {
                return Err(self.scope.no_column(table, column, &self.about()));
            };
            return self.leaf(table, index, outer).map(Some);
        };
        let (name, key) = segment(first);
        let to = self.scope.table(name, Some(&self.about()))?;
        let relations = self.scope.relations(from, to, key, &self.about())?;
        let owners =
            relations.iter().filter(|relation| matches!(relation, Relation::BelongsTo { .. })).count();
        // A join follows every key to an owner; a filter needs the one that is meant.
        if owners > 1 && self.scope.is_strict() {
            return Err(self.scope.ambiguous(from, to, &relations, &self.about()));
        }
        let Some(relation) = relations.first() else { return Ok(None) };
        let alias = self.next_alias(&outer);
        let inner = Qualifier::Related(alias);
        let column_of = |table: TableId, index: usize, qualifier: &Qualifier| ColumnRef {
            qualifier: qualifier.clone(),
            name: self.scope.at(table).columns[index].name.clone(),
        };
        let condition = match relation {
            Relation::BelongsTo { key } => {
                let (here, there) = (column_of(from, key.column, &outer), column_of(to, key.target, &inner));
                self.step(to, inner, rest, column)?.map(|leaf| self.exists(to, alias, there, here, leaf))
            }
            Relation::HasMany { key } => {
                let (here, there) = (column_of(from, key.target, &outer), column_of(to, key.column, &inner));
                self.step(to, inner, rest, column)?.map(|leaf| self.exists(to, alias, there, here, leaf))
            }
            Relation::HasAndBelongsToMany { junction, source, target } => {
                let here = column_of(from, source.target, &outer);
                let (source, target) = (*source, *target);
                self.through(*junction, alias, source, target, here, (to, rest, column))?
            }
        };
        Ok(condition)
    }

    /// Two steps: to a row of the junction, and from it to the related row.
    fn through(
        &mut self,
        junction: TableId,
        alias: u16,
        source: ForeignKey,
        target: ForeignKey,
        here: ColumnRef,
        (to, rest, column): (TableId, &[&str], &str),
    ) -> Result<Option<Condition>, Error> {
        let names = &self.scope.at(junction).columns;
        let junction_column = |index: usize| ColumnRef {
            qualifier: Qualifier::Related(alias),
            name: names[index].name.clone(),
        };
        let (near, far) = (junction_column(source.column), junction_column(target.column));
        let last = self.next_alias(&here.qualifier);
        let key = self.scope.at(to).columns[target.target].name.clone();
        let there = ColumnRef { qualifier: Qualifier::Related(last), name: key };
        let leaf = self.step(to, Qualifier::Related(last), rest, column)?;
        Ok(leaf.map(|leaf| {
            let inside = self.exists(to, last, there, far, leaf);
            self.exists(junction, alias, near, here, inside)
        }))
    }

    /// A new alias. A table may itself be called `r1`; inside, that name would mean the related table.
    fn next_alias(&mut self, outer: &Qualifier) -> u16 {
        *self.aliases += 1;
        match outer {
            Qualifier::Table(name) if name.eq_ignore_ascii_case(&format!("r{}", self.aliases)) => {
                *self.aliases += 1;
            }
            _ => {}
        }
        *self.aliases
    }

    fn exists(
        &self,
        table: TableId,
        alias: u16,
        inner: ColumnRef,
        outer: ColumnRef,
        condition: Condition,
    ) -> Condition {
        let table = self.scope.at(table).name.clone();
        Condition::Exists(Box::new(Exists { table, alias, inner, outer, condition }))
    }
}
