//! A filter to its condition: columns, related tables, and the rows that rules leave (SPEC 8.1 and 10).

use std::sync::Arc;

use crate::error::{Code, Error};
use crate::mode::Mode;
use crate::plan::groups::{Node, group_path};
use crate::plan::scope::{Scope, Setting, segment};
use crate::policy::{Policy, Secrets, Verdict};
use crate::request::{Filter, Operator, Spatial};
use crate::schema::{Column, ColumnType, ForeignKey, Relation, Table, TableId};
use crate::sql::{About, ColumnRef, Comparison, Condition, Exists, Param, Qualifier, Source, Wrap};

/// The condition that the rules put on the rows of `table`: those of the policy, and those of the tenant.
///
/// It holds for every statement on the table but an insert, so there is no way round it.
pub fn visible_rows(
    scope: &Scope<'_>,
    table: TableId,
    qualifier: &Qualifier,
    aliases: &mut u16,
) -> Result<Condition, Error> {
    let definition = scope.at(table);
    let mut conditions = Vec::new();
    if let Verdict::Rule(rule, first) = scope.policy.verdict(definition) {
        // A rule may name what the caller may not see, and what cannot be resolved in it is an error in both modes.
        let open = Policy { secrets: Secrets::published(), ..Policy::default() };
        let setting = Setting { mode: Mode::Strict, ..scope.setting };
        let all = Scope { policy: &open, setting, ..*scope };
        let mut tree = Node::default();
        let mut claim = first;
        for filter in &rule.filters {
            let mut resolver = Resolver { scope: &all, filter, origin: Origin::Rule(claim), aliases };
            let condition = resolver
                .resolve(table, qualifier.clone())
                .map_err(|error| broken_rule(definition, &error))?;
            tree.insert(
                &group_path(&filter.group, scope, table)?,
                condition.unwrap_or_else(Condition::never),
            );
            claim += filter.slots;
        }
        if !rule.filters.is_empty() {
            conditions.push(tree.condition());
        }
    }
    for forced in scope.policy.forced.iter().filter(|forced| forced.restricts) {
        if let Some(index) = forced.column_of(definition) {
            let column = &definition.columns[index];
            let reference = ColumnRef { qualifier: qualifier.clone(), name: column.name.clone() };
            let param = Param::of(Source::Claim(forced.claim), About::new(&definition.alias, column));
            conditions.push(Condition::Compare(reference, Comparison::Equal, param));
        }
    }
    Ok(if conditions.len() == 1 { conditions.remove(0) } else { Condition::All(conditions) })
}

/// A rule that does not fit the schema shows nothing, and says so to the operator's log through 9999.
fn broken_rule(table: &Table, error: &Error) -> Error {
    let what = error.details.first().map_or_else(|| error.message(), |(_, sentence)| sentence.to_string());
    Error::new(Code::Internal, format!("The rule for '{}' does not fit the schema: {what}", table.alias))
}

/// One filter on its way to a condition.
pub struct Resolver<'a, 'b> {
    /// Where names are looked up; for a rule, everything.
    pub scope: &'b Scope<'a>,
    /// The filter.
    pub filter: &'b Filter<'b>,
    /// Where its first value comes from.
    pub origin: Origin,
    /// How many aliases have been given out in the statement.
    pub aliases: &'b mut u16,
}

/// Whose filter it is, and the number of its first value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The caller's, who may name what they may see.
    Caller(u16),
    /// A rule's, which may name everything.
    Rule(u16),
}

impl Origin {
    fn source(self, slot: u16) -> Source {
        match self {
            Origin::Caller(first) => Source::Slot(first + slot),
            Origin::Rule(first) => Source::Claim(first + slot),
        }
    }
}

impl<'a> Resolver<'a, '_> {
    fn about(&self) -> String {
        format!("filter{}", self.filter.group)
    }

    /// `None` if the filter disappears, which happens in the lenient mode only.
    pub fn resolve(&mut self, table: TableId, qualifier: Qualifier) -> Result<Option<Condition>, Error> {
        let definition = self.scope.at(table);
        // A column whose own name has a dot is found before the dot is taken for a path.
        let found = self.scope.column(definition, &self.filter.column);
        if let (None, Some((path, column))) = (found, self.filter.column.rsplit_once('.')) {
            return self.resolve_related(table, qualifier, path, column);
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
        self.leaf(definition, index, qualifier).map(Some).or_else(|error| self.forgive(error))
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
            source: self.origin.source(slot),
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
        let param = (self.filter.slots > 0).then(|| Param::bare(self.origin.source(0)));
        Ok(Condition::Spatial(reference, spatial, param, self.scope.setting.srid))
    }

    /// A filter on a related table: at least one related row satisfies it.
    fn resolve_related(
        &mut self,
        table: TableId,
        qualifier: Qualifier,
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
        let outer = match qualifier {
            Qualifier::None => Qualifier::Table(self.scope.at(table).name.clone()),
            given => given,
        };
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
                self.step(to, inner, rest, column)?
                    .map(|leaf| self.exists(to, alias, there, here, leaf))
                    .transpose()?
            }
            Relation::HasMany { key } => {
                let (here, there) = (column_of(from, key.target, &outer), column_of(to, key.column, &inner));
                self.step(to, inner, rest, column)?
                    .map(|leaf| self.exists(to, alias, there, here, leaf))
                    .transpose()?
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
        let Some(leaf) = leaf else { return Ok(None) };
        let inside = self.exists(to, last, there, far, leaf)?;
        self.exists(junction, alias, near, here, inside).map(Some)
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

    /// At least one row of `table`; for the caller, one that they may see.
    fn exists(
        &mut self,
        table: TableId,
        alias: u16,
        inner: ColumnRef,
        outer: ColumnRef,
        condition: Condition,
    ) -> Result<Condition, Error> {
        let condition = match self.origin {
            Origin::Caller(_) => {
                let rows = visible_rows(self.scope, table, &Qualifier::Related(alias), self.aliases)?;
                rows.and(condition)
            }
            Origin::Rule(_) => condition,
        };
        let table = self.scope.at(table).name.clone();
        Ok(Condition::Exists(Box::new(Exists { table, alias, inner, outer, condition })))
    }
}
