//! Joins: a tree of tables from the `join` paths, planned as one query per level (SPEC 9).

use std::sync::Arc;

use crate::encode::key;
use crate::error::Error;
use crate::plan::columns::Selection;
use crate::plan::resolver::visible_rows;
use crate::plan::scope::{Scope, segment};
use crate::plan::tree::JoinPlan;
use crate::request::Query;
use crate::row::{Layout, LayoutCell, Member, MemberKind};
use crate::schema::{Column, Relation, TableId};
use crate::sql::{ColumnRef, Condition, Junction, Keyed, Qualifier, junction_alias, keyed};

/// A table in the tree of joins.
pub struct JoinNode {
    /// The segment of the path, which is also the name of the member.
    name: Box<str>,
    table: TableId,
    relations: Vec<Relation>,
    children: Vec<JoinNode>,
}

/// Reads the `join` paths; common beginnings share a node.
pub fn tree(scope: &Scope<'_>, root: TableId, query: &Query<'_>) -> Result<Vec<JoinNode>, Error> {
    let mut nodes = Vec::new();
    let mut tables = 0;
    for path in &query.joins {
        let mut segments = Vec::new();
        for text in path.split(',') {
            let (name, _) = segment(text);
            match scope.table(name, Some("join")) {
                Ok(table) => segments.push((text, table)),
                // compat: names that do not exist are dropped and the path closes up (SPEC 9).
                Err(_unknown) if !scope.is_strict() => {}
                Err(error) => return Err(error),
            }
        }
        if segments.len() > scope.policy.join_depth_max {
            check_limit(scope, root, scope.policy.join_depth_max, "tables in one path")?;
            segments.truncate(scope.policy.join_depth_max);
        }
        insert(scope, &mut nodes, root, root, &segments, &mut tables)?;
    }
    Ok(nodes)
}

fn check_limit(scope: &Scope<'_>, root: TableId, max: usize, what: &str) -> Result<(), Error> {
    if scope.is_strict() {
        return Err(Error::invalid(&scope.at(root).alias, "join", format!("names more than {max} {what}")));
    }
    Ok(())
}

fn insert(
    scope: &Scope<'_>,
    nodes: &mut Vec<JoinNode>,
    root: TableId,
    from: TableId,
    segments: &[(&str, TableId)],
    tables: &mut usize,
) -> Result<(), Error> {
    let [(name, table), rest @ ..] = segments else { return Ok(()) };
    let index = match nodes.iter().position(|node| *node.name == **name) {
        Some(index) => index,
        None => {
            if *tables >= scope.policy.join_tables_max {
                return check_limit(scope, root, scope.policy.join_tables_max, "tables");
            }
            *tables += 1;
            let relations = scope.relations(from, *table, segment(name).1, "join")?;
            nodes.push(JoinNode { name: (*name).into(), table: *table, relations, children: Vec::new() });
            nodes.len() - 1
        }
    };
    let node = &mut nodes[index];
    insert(scope, &mut node.children, root, node.table, rest, tables)
}

/// All tables of the tree, for the check of include and exclude.
pub fn tables(nodes: &[JoinNode], found: &mut Vec<TableId>) {
    for node in nodes {
        found.push(node.table);
        tables(&node.children, found);
    }
}

/// Makes the columns that connect the tables of the tree mandatory (SPEC 8.5).
pub fn require(nodes: &[JoinNode], from: TableId, selection: &mut Selection<'_>) {
    for node in nodes {
        for relation in &node.relations {
            match relation {
                Relation::BelongsTo { key } => {
                    selection.require([(from, key.column), (node.table, key.target)]);
                }
                Relation::HasMany { key } => {
                    selection.require([(node.table, key.column), (from, key.target)]);
                }
                Relation::HasAndBelongsToMany { source, target, .. } => {
                    selection.require([(from, source.target), (node.table, target.target)]);
                }
            }
        }
        require(&node.children, node.table, selection);
    }
}

/// The columns of a query as they are selected and laid out.
pub struct Cells<'a> {
    /// What is selected.
    pub columns: Vec<&'a Column>,
    /// Where each column of the table stands, by position in the table.
    positions: Vec<(usize, usize)>,
    /// The layout under construction.
    pub layout: Layout,
}

impl<'a> Cells<'a> {
    /// The shown columns of `table`, after `before` cells of another kind.
    pub fn shown(
        scope: &Scope<'a>,
        id: TableId,
        selection: &Selection<'_>,
        before: Vec<LayoutCell>,
    ) -> Cells<'a> {
        let table = scope.at(id);
        let offset = before.len();
        let mut cells = Cells {
            columns: Vec::new(),
            positions: Vec::new(),
            layout: Layout { cells: before, ..Layout::default() },
        };
        for index in 0..table.columns.len() {
            if scope.shows(table, index) && selection.has(id, table, index) {
                cells.push(scope, offset, id, index, true);
            }
        }
        cells
    }

    /// The cell of a column of the table, if it is selected.
    pub fn position(&self, column: usize) -> Option<usize> {
        self.positions.iter().find(|(known, _)| *known == column).map(|(_, cell)| *cell)
    }

    fn push(&mut self, scope: &Scope<'a>, offset: usize, id: TableId, index: usize, shown: bool) {
        let column = &scope.at(id).columns[index];
        self.positions.push((index, offset + self.columns.len()));
        self.columns.push(column);
        self.layout.cells.push(layout_cell(scope, column, shown));
    }

    /// The cell of a column, selected without being shown if it was not.
    fn cell(&mut self, scope: &Scope<'a>, id: TableId, index: usize) -> usize {
        if let Some(cell) = self.position(index) {
            return cell;
        }
        let offset = self.layout.cells.len() - self.columns.len();
        self.push(scope, offset, id, index, false);
        self.layout.cells.len() - 1
    }
}

fn layout_cell(scope: &Scope<'_>, column: &Column, shown: bool) -> LayoutCell {
    LayoutCell {
        name: column.alias.clone(),
        key: key(&column.alias),
        kind: scope.setting.dialect.cell_kind(column),
        shown,
    }
}

/// Plans the joins of a level and hangs them into its layout.
pub fn plan_joins<'a>(
    scope: &Scope<'a>,
    nodes: &[JoinNode],
    from: TableId,
    selection: &Selection<'_>,
    cells: &mut Cells<'a>,
) -> Result<Vec<JoinPlan>, Error> {
    let mut plans = Vec::new();
    for node in nodes {
        let mut list: Option<Member> = None;
        for relation in &node.relations {
            let Some(parent_cell) = parent_cell(scope, from, relation, cells) else { continue };
            let plan = plan_join(scope, node, relation, selection, cells.layout.link(parent_cell))?;
            let layout = Arc::clone(&plan.layout);
            let join = plans.len();
            plans.push(plan);
            match relation {
                Relation::BelongsTo { .. } => cells.layout.members.push(Member {
                    key: key(&node.name),
                    kind: MemberKind::Record { cell: parent_cell },
                    joins: vec![join],
                    layout,
                }),
                // compat: the lists of several foreign keys follow one another (SPEC 9.2); strict never gets here twice.
                _ => {
                    let member = list.get_or_insert_with(|| Member {
                        key: key(&node.name),
                        kind: MemberKind::List,
                        joins: Vec::new(),
                        layout,
                    });
                    member.joins.push(join);
                }
            }
        }
        cells.layout.members.extend(list);
    }
    Ok(plans)
}

/// The cell whose value leads to the joined rows. A foreign key that is not shown hides its relation (SPEC:
/// key-excluded-from-join); other keys are selected without being shown.
fn parent_cell<'a>(
    scope: &Scope<'a>,
    from: TableId,
    relation: &Relation,
    cells: &mut Cells<'a>,
) -> Option<usize> {
    match relation {
        Relation::BelongsTo { key } => {
            let cell = cells.cell(scope, from, key.column);
            cells.layout.cells[cell].shown.then_some(cell)
        }
        Relation::HasMany { key } => Some(cells.cell(scope, from, key.target)),
        Relation::HasAndBelongsToMany { source, .. } => Some(cells.cell(scope, from, source.target)),
    }
}

fn plan_join(
    scope: &Scope<'_>,
    node: &JoinNode,
    relation: &Relation,
    selection: &Selection<'_>,
    parent_link: usize,
) -> Result<JoinPlan, Error> {
    let table = scope.at(node.table);
    let (owner, key_column) = match relation {
        Relation::BelongsTo { key } => (node.table, key.target),
        Relation::HasMany { key } => (node.table, key.column),
        Relation::HasAndBelongsToMany { junction, source, .. } => (*junction, source.column),
    };
    let key_definition = &scope.at(owner).columns[key_column];
    let mut cells =
        Cells::shown(scope, node.table, selection, vec![layout_cell(scope, key_definition, false)]);
    cells.layout.link(0);
    let joins = plan_joins(scope, &node.children, node.table, selection, &mut cells)?;
    let rows = RowRules::of(scope, node.table, relation)?;
    let mut junction_part = None;
    if let Relation::HasAndBelongsToMany { junction, target, .. } = relation {
        let presence = cells.cell(scope, node.table, target.target);
        cells.layout.presence = Some(cells.layout.link(presence));
        let junction = scope.at(*junction);
        junction_part = Some(Junction {
            table: &junction.name,
            to: &junction.columns[target.column],
            target: &table.columns[target.target],
            condition: &rows.junction,
        });
    }
    let statement = keyed(
        scope.setting.dialect,
        &Keyed {
            table: &table.name,
            columns: &cells.columns,
            key: key_definition,
            junction: junction_part,
            condition: &rows.table,
            order: &order(scope, node.table, relation),
        },
    );
    let rows_max = scope.policy.join_rows_max;
    Ok(JoinPlan { parent_link, statement, layout: Arc::new(cells.layout), joins, rows_max })
}

/// By what joined rows are ordered: the primary key, that of the junction if there is one, or what may be seen.
fn order(scope: &Scope<'_>, table: TableId, relation: &Relation) -> Vec<ColumnRef> {
    let (owner, qualifier) = match relation {
        Relation::BelongsTo { .. } => return Vec::new(),
        Relation::HasMany { .. } => (table, None),
        Relation::HasAndBelongsToMany { junction, .. } => {
            (*junction, Some(Qualifier::Related(junction_alias(&scope.at(table).name))))
        }
    };
    let column = |id: TableId, qualifier: &Option<Qualifier>, index: usize| ColumnRef {
        qualifier: qualifier.clone().unwrap_or_else(|| Qualifier::Table(scope.at(id).name.clone())),
        name: scope.at(id).columns[index].name.clone(),
    };
    if let Some(key) = scope.key(scope.at(owner)) {
        return vec![column(owner, &qualifier, key)];
    }
    let mut order: Vec<ColumnRef> = scope
        .order_without_key(scope.at(owner))
        .into_iter()
        .map(|index| column(owner, &qualifier, index))
        .collect();
    if owner != table && !order.is_empty() {
        let shown = (0..scope.at(table).columns.len()).filter(|index| scope.shows(scope.at(table), *index));
        order.extend(shown.map(|index| column(table, &None, index)));
    }
    order
}

/// The rows that rules leave of a joined table and of the junction to it, with their columns qualified as the statement
/// needs it.
struct RowRules {
    table: Condition,
    junction: Condition,
}

impl RowRules {
    fn of(scope: &Scope<'_>, table: TableId, relation: &Relation) -> Result<RowRules, Error> {
        // The first numbers are the junction's.
        let mut aliases = 1;
        let Relation::HasAndBelongsToMany { junction, .. } = relation else {
            let table = visible_rows(scope, table, &Qualifier::None, &mut aliases)?;
            return Ok(RowRules { table, junction: Condition::always() });
        };
        let name = &scope.at(table).name;
        let between = Qualifier::Related(junction_alias(name));
        let junction = visible_rows(scope, *junction, &between, &mut aliases)?;
        let table = visible_rows(scope, table, &Qualifier::Table(name.clone()), &mut aliases)?;
        Ok(RowRules { table, junction })
    }
}
