//! Policy: the rules that hold for one kind of principal, as the planner asks for them.

use std::borrow::Cow;
use std::sync::Arc;

use crate::policy::principal::Principal;
use crate::policy::rule::{Names, Rule};
use crate::policy::secrets::Secrets;
use crate::policy::template::Template;
use crate::request::Operation;
use crate::schema::Table;

/// A column that is not the caller's to choose: set on create, left out of changes.
#[derive(Clone, Debug)]
pub struct Forced {
    /// Exposed names of the tables; empty means all.
    pub tables: Vec<String>,
    /// Exposed name of the column.
    pub column: String,
    /// Which claim value fills it.
    pub claim: u16,
    /// Whether only rows with this value exist (multi-tenancy), or it is only written (the address of the client).
    pub restricts: bool,
}

impl Forced {
    /// The column of `table` that is forced, if it has one.
    pub fn column_of(&self, table: &Table) -> Option<usize> {
        let is_meant = self.tables.is_empty() || self.tables.iter().any(|name| **name == *table.alias);
        if is_meant { table.column(&self.column) } else { None }
    }
}

/// What a principal may see and touch, and how much at once.
///
/// Plans are kept by policy: two requests share a plan only if their policies have the same id. The values that differ
/// between people with the same policy are claims, bound like any other value.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Which policy this is, among those of the process.
    pub id: u32,
    /// limit: how many tables a path of a join or a filter may have after the first.
    pub join_depth_max: usize,
    /// limit: how many tables all joins of a request may name together.
    pub join_tables_max: usize,
    /// limit: how many records are joined to one record, per join.
    pub join_rows_max: Option<usize>,
    /// limit: the most rows of one list; `None` means as many as there are, streamed.
    pub rows_max: Option<i64>,
    /// limit: the highest page number.
    pub pages_max: Option<i64>,
    /// The parameter that searches all text columns.
    pub search: Option<String>,
    /// The rules in their order, each with the number of its first claim; `None`: everything is allowed.
    pub rules: Option<Vec<(Arc<Rule>, u16)>>,
    /// Which columns that look like passwords and keys are published.
    pub secrets: Secrets,
    /// Columns that are not the caller's to choose.
    pub forced: Arc<[Forced]>,
    /// What makes the claims, by number.
    pub templates: Vec<Template>,
}

impl Default for Policy {
    /// Everything may be done, but secrets do not exist; joins are bounded because each table is a query.
    fn default() -> Policy {
        Policy {
            id: 0,
            join_depth_max: 8,
            join_tables_max: 32,
            join_rows_max: None,
            rows_max: None,
            pages_max: None,
            search: None,
            rules: None,
            secrets: Secrets::default(),
            forced: Arc::new([]),
            templates: Vec::new(),
        }
    }
}

/// What the rules say about a table.
#[derive(Clone, Copy, Debug)]
pub enum Verdict<'a> {
    /// There are no rules: everything is allowed.
    Open,
    /// This rule decides; the number is that of its first claim.
    Rule(&'a Rule, u16),
    /// There are rules and none names the table: it does not exist.
    Unknown,
}

impl Policy {
    /// What the rules say about a table: the first that names it decides.
    pub fn verdict(&self, table: &Table) -> Verdict<'_> {
        let Some(rules) = &self.rules else { return Verdict::Open };
        match rules.iter().find(|(rule, _)| rule.tables.has(&table.alias)) {
            Some((rule, first)) => Verdict::Rule(rule, *first),
            None => Verdict::Unknown,
        }
    }

    /// Whether `table` exists for this principal and `operation`.
    pub fn shows_table(&self, operation: Operation, table: &Table) -> bool {
        match self.verdict(table) {
            Verdict::Open => true,
            Verdict::Rule(rule, _) => rule.allow.has(operation),
            Verdict::Unknown => false,
        }
    }

    /// Whether the column at `column` of `table` exists for this principal.
    pub fn shows_column(&self, table: &Table, column: usize) -> bool {
        if self.secrets.hide(table, column) {
            return false;
        }
        match self.verdict(table) {
            Verdict::Open => true,
            Verdict::Rule(rule, _) => !rule.hides(table, column),
            Verdict::Unknown => false,
        }
    }

    /// Whether the column may be written, by those who see it.
    pub fn writes_column(&self, table: &Table, column: usize) -> bool {
        match self.verdict(table) {
            Verdict::Open => true,
            Verdict::Rule(rule, _) => !rule.keeps(table, column),
            Verdict::Unknown => false,
        }
    }

    /// Whether a new table of this exposed name may be made.
    pub fn creates_table(&self, alias: &str) -> bool {
        let Some(rules) = &self.rules else { return true };
        let decides = rules.iter().find(|(rule, _)| rule.tables.has(alias));
        decides.is_some_and(|(rule, _)| rule.allow.has(Operation::Remodel))
    }

    /// Whether a new table may have a column of this exposed name.
    pub fn creates_column(&self, table: &str, alias: &str) -> bool {
        let Some(rules) = &self.rules else { return true };
        let decides = rules.iter().find(|(rule, _)| rule.tables.has(table));
        decides.is_some_and(|(rule, _)| !rule.covers(table, alias))
    }

    /// Whether the same rules would hold for a table under another exposed name; else a new name would be a way round
    /// them.
    pub fn holds_alike(&self, table: &Table, alias: &str) -> bool {
        let is_forced = |name: &str| {
            self.forced.iter().any(|forced| forced.restricts && forced.tables.iter().any(|of| of == name))
        };
        let deciding = |name: &str| self.rules.iter().flatten().position(|(rule, _)| rule.tables.has(name));
        let qualified = |names: &Names, of: &str| {
            names.iter().any(|name| name.split_once('.').is_some_and(|(table, _)| table == of))
        };
        let is_named = |name: &str| {
            let rules = self.rules.iter().flatten();
            rules.clone().any(|(rule, _)| qualified(&rule.hide, name) || qualified(&rule.read_only, name))
                || qualified(self.secrets.names(), name)
        };
        deciding(&table.alias) == deciding(alias)
            && !self.filters_reach(table, None)
            && ![&*table.alias, alias].iter().any(|name| is_forced(name) || is_named(name))
    }

    /// Whether a column of this exposed name may be made, changed or removed: not one that is hidden or kept, that is
    /// not the caller's to choose, or that a rule about rows asks for.
    pub fn remodels_column(&self, table: &Table, alias: &str) -> bool {
        let is_meant = |forced: &Forced| {
            forced.column == alias
                && (forced.tables.is_empty() || forced.tables.iter().any(|name| **name == *table.alias))
        };
        if self.forced.iter().any(is_meant) || self.filters_reach(table, Some(alias)) {
            return false;
        }
        match self.verdict(table) {
            Verdict::Open => true,
            Verdict::Rule(rule, _) => !rule.covers(&table.alias, alias) && !rule.asks_for(alias),
            Verdict::Unknown => false,
        }
    }

    /// Whether a condition of rows goes over a table, or asks for a column of it, along a path of tables.
    fn filters_reach(&self, table: &Table, column: Option<&str>) -> bool {
        let reaches = |path: &str| {
            let mut segments: Vec<&str> = path.split('.').collect();
            let last = segments.pop();
            let is_on_path = segments.iter().any(|one| one.split('!').next() == Some(&*table.alias));
            is_on_path && column.is_none_or(|column| last == Some(column))
        };
        let filters = self.rules.iter().flatten().flat_map(|(rule, _)| &rule.filters);
        filters.into_iter().any(|filter| reaches(&filter.column))
    }

    /// The claims of somebody, in the order of their numbers. A missing one is null, which equals nothing.
    pub fn claims<'a>(&'a self, principal: &'a Principal, address: &'a str) -> Vec<Option<Cow<'a, str>>> {
        self.templates.iter().map(|template| template.value(principal, address)).collect()
    }
}
