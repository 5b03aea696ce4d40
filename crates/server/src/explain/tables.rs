//! What the rules say about each table of a request: which rule decides, which rows and columns there are.

use treeql::policy::{Forced, Reason, Rule, Rules, Verdict, is_secret};
use treeql::request::{Operation, Values, parse_query};
use treeql::schema::{Relation, Schema, Table, TableId, relations};

use crate::api::Context;
use crate::explain::explanation::{ColumnRules, RuleOutcome, TableRules};

/// The rules for every table that the request names.
pub fn table_rules(
    rules: &Rules,
    context: &Context<'_>,
    operation: Operation,
    table: &str,
) -> Vec<TableRules> {
    let schema = &context.snapshot.schema;
    let named = named_tables(context, schema, table);
    named.into_iter().map(|id| of_table(rules, context, operation, schema.table(id))).collect()
}

/// The table, those of joins and filters, and the junctions between them, each once. What does not exist is left out.
fn named_tables(context: &Context<'_>, schema: &Schema, table: &str) -> Vec<TableId> {
    let Some(root) = schema.find(table) else { return Vec::new() };
    let mut found = vec![root];
    let mut values = Values::default();
    let Ok(parsed) = parse_query(context.head.query(), table, context.mode(), &mut values) else {
        return found;
    };
    let joins = parsed.query.joins.iter().map(|path| path.split(',').collect::<Vec<&str>>());
    let filters = parsed.query.filters.iter().filter_map(|filter| filter.column.rsplit_once('.'));
    let filters = filters.map(|(path, _)| path.split('.').collect::<Vec<&str>>());
    for path in joins.chain(filters) {
        let mut from = root;
        for segment in path {
            let name = segment.split_once('!').map_or(segment, |(name, _)| name);
            let Some(to) = schema.find(name) else { break };
            for relation in relations(schema, from, to, |_, _| true) {
                if let Relation::HasAndBelongsToMany { junction, .. } = relation {
                    found.push(junction);
                }
            }
            found.push(to);
            from = to;
        }
    }
    let mut once = Vec::new();
    found.retain(|id| {
        !once.contains(id) && {
            once.push(*id);
            true
        }
    });
    found
}

fn of_table(rules: &Rules, context: &Context<'_>, operation: Operation, table: &Table) -> TableRules {
    let policy = &context.policy;
    let reasons = rules.reasons(context.principal, table);
    let deciding = reasons.iter().position(|(_, reason)| *reason == Reason::Decides);
    let mut outcomes: Vec<RuleOutcome> =
        reasons.iter().enumerate().map(|(index, (rule, reason))| outcome(index, rule, *reason)).collect();
    match policy.verdict(table) {
        Verdict::Open => outcomes.push(RuleOutcome {
            place: "authorization".to_owned(),
            decides: true,
            why: "is not switched on: everything is allowed".to_owned(),
        }),
        Verdict::Unknown => outcomes.push(RuleOutcome {
            place: "authorization".to_owned(),
            decides: true,
            why: "no rule is for who asks and names the table, so it does not exist".to_owned(),
        }),
        Verdict::Rule(..) => {}
    }
    let decided = deciding.map(|index| (index, reasons[index].0));
    TableRules {
        table: table.alias.to_string(),
        exists: policy.shows_table(operation, table),
        rules: outcomes,
        rows: rows(context, table, decided),
        columns: (0..table.columns.len()).map(|index| column(context, table, index, decided)).collect(),
    }
}

fn place(index: usize) -> String {
    format!("authorization.rules, rule {}", index + 1)
}

fn outcome(index: usize, rule: &Rule, reason: Reason) -> RuleOutcome {
    let operations: Vec<&str> = rule.allow.iter().map(Operation::name).collect();
    let tables: Vec<&str> = rule.tables.iter().collect();
    let why = match reason {
        Reason::Decides if operations.is_empty() => format!("is for {}, allows nothing", rule.who),
        Reason::Decides => format!("is for {}, allows {}", rule.who, operations.join(", ")),
        Reason::OtherPeople => format!("is for {}", rule.who),
        Reason::OtherTables => format!("is about {}", tables.join(", ")),
        Reason::TooLate(number) => format!("rule {number} has decided"),
    };
    RuleOutcome { place: place(index), decides: reason == Reason::Decides, why }
}

fn rows(context: &Context<'_>, table: &Table, decided: Option<(usize, &Rule)>) -> Vec<String> {
    let mut rows = Vec::new();
    if let Some((index, rule)) = decided.filter(|(_, rule)| !rule.filters.is_empty()) {
        rows.push(format!("{} ({})", rule.filter_text, place(index)));
    }
    for (forced, place) in forced(context) {
        if forced.restricts && forced.column_of(table).is_some() {
            let value = &context.policy.templates[usize::from(forced.claim)];
            rows.push(format!("{} = {value} ({place})", forced.column));
        }
    }
    rows
}

fn column(
    context: &Context<'_>,
    table: &Table,
    index: usize,
    decided: Option<(usize, &Rule)>,
) -> ColumnRules {
    let policy = &context.policy;
    let column = &table.columns[index];
    let force = forced(context).find(|(forced, _)| forced.column_of(table) == Some(index));
    let at = decided.map_or_else(String::new, |(index, _)| place(index));
    let (treatment, why) = if policy.secrets.hide(table, index) && is_secret(column) {
        ("hidden", "looks like a password or a key (publishSecrets publishes it)".to_owned())
    } else if !policy.shows_column(table, index) {
        ("hidden", if at.is_empty() { "the table does not exist".to_owned() } else { at })
    } else if let Some((forced, place)) = force {
        ("forced", format!("to {} ({place})", policy.templates[usize::from(forced.claim)]))
    } else if !policy.writes_column(table, index) {
        ("read-only", at)
    } else if column.generated {
        ("read-only", "the database computes it".to_owned())
    } else {
        ("shown", String::new())
    };
    ColumnRules { column: column.alias.to_string(), treatment, why }
}

/// The columns that are forced, with where they are configured. Those of multiTenancy stand first.
fn forced<'a>(context: &'a Context<'_>) -> impl Iterator<Item = (&'a Forced, String)> {
    context.policy.forced.iter().enumerate().map(|(index, forced)| {
        let place = if forced.restricts {
            format!("multiTenancy.rules, rule {}", index + 1)
        } else {
            "ipAddress".to_owned()
        };
        (forced, place)
    })
}
