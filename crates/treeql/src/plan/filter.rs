//! The rows of a list: the filters of the caller, the search, and the rules.

use crate::error::Error;
use crate::plan::features::area_filters;
use crate::plan::groups::{Node, group_path};
use crate::plan::resolver::{Origin, Resolver, visible_rows};
use crate::plan::scope::Scope;
use crate::request::Request;
use crate::schema::TableId;
use crate::sql::{About, ColumnRef, Condition, Param, Qualifier, Source, Wrap};

/// The condition that all filters of a request make together, and the rules with them.
pub fn conditions(scope: &Scope<'_>, table: TableId, request: &Request<'_>) -> Result<Condition, Error> {
    let mut tree = Node::default();
    let mut slot = 0;
    let mut aliases = 0;
    for filter in &request.query.filters {
        let mut resolver = Resolver { scope, filter, origin: Origin::Caller(slot), aliases: &mut aliases };
        if let Some(condition) = resolver.resolve(table, Qualifier::None)? {
            tree.insert(&group_path(&filter.group, scope, table)?, condition);
        }
        slot += filter.slots;
    }
    for filter in area_filters(scope, table, request)? {
        let mut resolver =
            Resolver { scope, filter: &filter.1, origin: Origin::Caller(filter.0), aliases: &mut aliases };
        if let Some(condition) = resolver.resolve(table, Qualifier::None)? {
            tree.insert(&[], condition);
        }
    }
    if let Some(slot) = request.query.search {
        add_search(scope, table, request, slot, &mut tree);
    }
    let rows = visible_rows(scope, table, &Qualifier::None, &mut aliases)?;
    Ok(if rows.is_always() { tree.condition() } else { tree.condition().and(rows) })
}

/// The names under which the reference adds the conditions of a search, as long as the caller does not use them.
const SEARCH_GROUPS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Rows of which some text column contains the text that is searched for.
fn add_search<'a>(scope: &Scope<'_>, id: TableId, request: &'a Request<'_>, slot: u16, tree: &mut Node<'a>) {
    let table = scope.at(id);
    let columns = table.columns.iter().enumerate();
    let texts = columns.filter(|(index, column)| column.kind.is_text() && scope.shows(table, *index));
    let likes = texts.map(|(_, column)| {
        let about = Some(About::new(&table.alias, column));
        let param = Param { source: Source::Slot(slot), wrap: Wrap::Contains, about };
        Condition::Like(ColumnRef::plain(&column.name), param)
    });
    if scope.is_strict() {
        let likes: Vec<Condition> = likes.collect();
        if !likes.is_empty() {
            tree.insert(&[], Condition::Any(likes));
        }
        return;
    }
    // compat: at most ten columns, each an alternative to the numbered filters of the caller (SPEC 18.21).
    let is_free = |group: &&&str| !request.query.filters.iter().any(|filter| filter.group == ***group);
    for (group, like) in SEARCH_GROUPS.iter().filter(is_free).zip(likes) {
        tree.insert(&[group], like);
    }
}
