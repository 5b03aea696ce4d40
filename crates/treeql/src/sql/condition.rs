//! Condition: a resolved WHERE clause, and its text in a dialect.

use crate::request::Spatial;
use crate::sql::statement::Param;
use crate::sql::writer::Writer;

/// What stands before a column name.
#[derive(Clone, Debug, PartialEq)]
pub enum Qualifier {
    /// Nothing: the only table of the statement.
    None,
    /// The name of the table.
    Table(Box<str>),
    /// The alias `r1`, `r2` … of a related table.
    Related(u16),
}

/// A column in a condition, by its real name.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnRef {
    /// The table it is of.
    pub qualifier: Qualifier,
    /// Its name in the database.
    pub name: Box<str>,
}

/// A comparison of a column with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`.
    Equal,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>=`.
    GreaterOrEqual,
    /// `>`.
    Greater,
}

/// Rows of a related table of which at least one must satisfy a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Exists {
    /// The related table, by its real name.
    pub table: Box<str>,
    /// Its alias, `r1` and so on.
    pub alias: u16,
    /// The column of the related table that must equal `outer`.
    pub inner: ColumnRef,
    /// The column of the table outside.
    pub outer: ColumnRef,
    /// What must hold for the related row.
    pub condition: Condition,
}

/// A condition whose names are resolved and whose values are holes.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// All of them; of none: true.
    All(Vec<Condition>),
    /// At least one of them; of none: false.
    Any(Vec<Condition>),
    /// The opposite; where the inside is NULL, NULL again (SPEC 8.1).
    Not(Box<Condition>),
    /// A comparison.
    Compare(ColumnRef, Comparison, Param),
    /// Text that matches a pattern.
    Like(ColumnRef, Param),
    /// One of several values.
    In(ColumnRef, Vec<Param>),
    /// NULL.
    IsNull(ColumnRef),
    /// A spatial predicate, with its shape if it has one; the number is the SRID of the shape.
    Spatial(ColumnRef, Spatial, Option<Param>, u32),
    /// At least one related row.
    Exists(Box<Exists>),
}

impl Condition {
    /// The condition that holds always.
    pub fn always() -> Condition {
        Condition::All(Vec::new())
    }

    /// The condition that holds never.
    pub fn never() -> Condition {
        Condition::Any(Vec::new())
    }

    /// Both, without empty brackets.
    pub fn and(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::All(mut all), Condition::All(more)) => {
                all.extend(more);
                Condition::All(all)
            }
            (Condition::All(mut all), other) => {
                all.push(other);
                Condition::All(all)
            }
            (one, Condition::All(mut all)) => {
                all.insert(0, one);
                Condition::All(all)
            }
            (one, other) => Condition::All(vec![one, other]),
        }
    }

    /// Whether it holds always, by its form.
    pub fn is_always(&self) -> bool {
        matches!(self, Condition::All(all) if all.is_empty())
    }

    /// Appends ` WHERE …`, or nothing if the condition holds always.
    pub fn write_where(&self, writer: &mut Writer) {
        if !self.is_always() {
            writer.text(" WHERE ");
            self.write(writer);
        }
    }

    /// Appends the condition.
    pub fn write(&self, writer: &mut Writer) {
        match self {
            Condition::All(all) => write_group(writer, all, " AND ", "1=1"),
            Condition::Any(any) => write_group(writer, any, " OR ", "1=0"),
            Condition::Not(inside) => {
                writer.text("NOT (");
                inside.write(writer);
                writer.text(")");
            }
            Condition::Compare(column, comparison, param) => {
                column.write(writer);
                writer.text(comparison.text());
                writer.param(param.clone());
            }
            Condition::Like(column, param) => {
                column.write(writer);
                writer.text(" LIKE ");
                writer.param(param.clone());
                writer.text(writer.dialect().like_escape());
            }
            Condition::In(column, params) => {
                column.write(writer);
                writer.text(" IN (");
                writer.list(params, ",", |writer, param| writer.param(param.clone()));
                writer.text(")");
            }
            Condition::IsNull(column) => {
                column.write(writer);
                writer.text(" IS NULL");
            }
            Condition::Spatial(column, spatial, param, srid) => {
                write_spatial(writer, column, *spatial, param.as_ref(), *srid);
            }
            Condition::Exists(exists) => exists.write(writer),
        }
    }
}

fn write_group(writer: &mut Writer, parts: &[Condition], separator: &str, empty: &str) {
    match parts {
        [] => writer.text(empty),
        [only] => only.write(writer),
        _ => {
            writer.text("(");
            writer.list(parts, separator, |writer, part| part.write(writer));
            writer.text(")");
        }
    }
}

fn write_spatial(
    writer: &mut Writer,
    column: &ColumnRef,
    spatial: Spatial,
    param: Option<&Param>,
    srid: u32,
) {
    let column = column.quoted(writer);
    let placeholder = param.map(|param| writer.hole(param.clone())).unwrap_or_default();
    let text = writer.dialect().spatial(spatial, &column, &placeholder, srid);
    writer.text(&text.expect("the planner refuses spatial filters where the dialect has none"));
}

impl Comparison {
    fn text(self) -> &'static str {
        match self {
            Comparison::Equal => " = ",
            Comparison::Less => " < ",
            Comparison::LessOrEqual => " <= ",
            Comparison::GreaterOrEqual => " >= ",
            Comparison::Greater => " > ",
        }
    }
}

impl ColumnRef {
    /// A column of the only table of a statement.
    pub fn plain(name: &str) -> ColumnRef {
        ColumnRef { qualifier: Qualifier::None, name: name.into() }
    }

    /// Appends the column.
    pub fn write(&self, writer: &mut Writer) {
        let quoted = self.quoted(writer);
        writer.text(&quoted);
    }

    /// The column with its qualifier, quoted.
    pub fn quoted(&self, writer: &Writer) -> String {
        let name = writer.quoted(&self.name);
        match &self.qualifier {
            Qualifier::None => name,
            Qualifier::Table(table) => format!("{}.{name}", writer.quoted(table)),
            Qualifier::Related(alias) => format!("r{alias}.{name}"),
        }
    }
}

impl Exists {
    fn write(&self, writer: &mut Writer) {
        writer.text("EXISTS (SELECT 1 FROM ");
        writer.name(&self.table);
        writer.text(&format!(" r{} WHERE ", self.alias));
        self.inner.write(writer);
        writer.text(" = ");
        self.outer.write(writer);
        if !self.condition.is_always() {
            writer.text(" AND ");
            self.condition.write(writer);
        }
        writer.text(")");
    }
}
