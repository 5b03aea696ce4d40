//! The statements of a plan, and where each of their values comes from.

use engine::exec::Step;
use serde_json::{Value as Json, json};
use treeql::mode::Mode;
use treeql::plan::{JoinPlan, Plan};
use treeql::policy::{Policy, Rules};
use treeql::request::{Operation, Values, parse_query};
use treeql::sql::{Param, Source, Statement, Wrap};
use treeql::value::Value;

use crate::api::Context;
use crate::explain::explanation::{Bound, Explained};

/// limit: records of a batch whose statements are shown.
const STEPS_MAX: usize = 8;

/// What values are looked up in.
pub struct Seen<'a> {
    /// The policy of who asks.
    pub policy: &'a Policy,
    /// All rules, for their places.
    pub rules: &'a Rules,
    /// The query string.
    pub query: &'a str,
    /// The table of the request.
    pub table: &'a str,
    /// How forgiving the protocol is.
    pub mode: Mode,
}

/// What holds for one run of a statement.
struct Run<'a> {
    seen: &'a Seen<'a>,
    values: &'a Values<'a>,
    id: usize,
    cells: &'a [Value],
}

/// The statements of a list.
pub fn of_list(seen: &Seen<'_>, plan: &Plan, values: &Values<'_>) -> Vec<Explained> {
    let Plan::List(list) = plan else { return Vec::new() };
    let run = Run { seen, values, id: 0, cells: &[] };
    let mut found = vec![run.explained(format!("list of {}", seen.table), &list.select.statement)];
    if let Some(count) = &list.count {
        found.push(run.explained(format!("count of {}", seen.table), count));
    }
    run.joins(seen.table, &list.select.joins, &mut found);
    found
}

/// The statements of a read; of several ids, those for the first.
pub fn of_read(seen: &Seen<'_>, plan: &Plan, values: &Values<'_>) -> Vec<Explained> {
    let Plan::Read(select) = plan else { return Vec::new() };
    let run = Run { seen, values, id: 0, cells: &[] };
    let mut found = vec![run.explained(format!("record of {}", seen.table), &select.statement)];
    run.joins(seen.table, &select.joins, &mut found);
    found
}

/// The statements of a write, one for each record.
pub fn of_write(
    seen: &Seen<'_>,
    context: &Context<'_>,
    operation: Operation,
    steps: &[Step],
    values: &Values<'_>,
) -> Vec<Explained> {
    let steps = steps.iter().enumerate().take(STEPS_MAX);
    let statements = steps.filter_map(|(id, step)| {
        let Plan::Write(write) = &*step.plan else { return None };
        let statement = write.statement.as_ref()?;
        let table = context.snapshot.schema.table(write.table);
        let run = Run { seen, values, id, cells: &step.cells };
        Some(run.explained(format!("{} of {}", operation.name(), table.alias), statement))
    });
    statements.collect()
}

impl Run<'_> {
    fn explained(&self, purpose: String, statement: &Statement) -> Explained {
        Explained {
            purpose,
            sql: statement.text.to_string(),
            values: statement.params.iter().map(|param| self.bound(param)).collect(),
        }
    }

    fn joins(&self, to: &str, joins: &[JoinPlan], found: &mut Vec<Explained>) {
        for join in joins {
            let statement = join.statement.for_keys(1);
            found.push(self.explained(format!("records joined to {to}"), &statement));
            self.joins("joined records", &join.joins, found);
        }
    }

    fn bound(&self, param: &Param) -> Bound {
        let (source, value) = match param.source {
            Source::Slot(slot) => (self.slot(slot), json!(self.values.slots[usize::from(slot)])),
            Source::Id(part) => ("request: id of the path".to_owned(), json!(self.values.id(self.id, part))),
            Source::Limit => ("size of the list".to_owned(), json!(self.values.limit)),
            Source::Offset => ("records passed over".to_owned(), json!(self.values.offset)),
            Source::Cell(cell) => {
                ("request: member of the record".to_owned(), plain(&self.cells[usize::from(cell)]))
            }
            Source::Claim(claim) => (self.claim(claim), json!(self.values.claims[usize::from(claim)])),
            Source::Key(_) => ("keys of the records that are joined to".to_owned(), Json::Null),
        };
        let pattern = match param.wrap {
            Wrap::None => None,
            Wrap::Contains => Some("%…%"),
            Wrap::StartsWith => Some("…%"),
            Wrap::EndsWith => Some("%…"),
        };
        let column = param.about.as_ref().map(|about| format!("{}.{}", about.table, about.column));
        Bound { source, value, pattern, column }
    }

    /// The filter that a slot belongs to.
    fn slot(&self, slot: u16) -> String {
        let mut values = Values::default();
        let parsed = parse_query(self.seen.query, self.seen.table, self.seen.mode, &mut values);
        let mut first = 0;
        for filter in parsed.iter().flat_map(|parsed| &parsed.query.filters) {
            if (first..first + filter.slots).contains(&slot) {
                return format!("request: filter{} on {}", filter.group, filter.column);
            }
            first += filter.slots;
        }
        let search = self.seen.policy.search.as_deref().unwrap_or_default();
        format!("request: {search} (textSearch)")
    }

    /// The template that makes a claim, and the setting that has it.
    fn claim(&self, claim: u16) -> String {
        let policy = self.seen.policy;
        let template = &policy.templates[usize::from(claim)];
        let is_constant = !template.to_string().contains('{');
        let kind = if is_constant { "constant" } else { "claim" };
        let place = match policy.forced.iter().position(|forced| forced.claim == claim) {
            Some(index) if policy.forced[index].restricts => {
                format!("multiTenancy.rules, rule {}", index + 1)
            }
            Some(_) => "ipAddress".to_owned(),
            None => self.rule_of(claim),
        };
        format!("{kind} {template} ({place})")
    }

    fn rule_of(&self, claim: u16) -> String {
        let held = self.seen.policy.rules.iter().flatten();
        let owner = held.rev().find(|(rule, first)| *first <= claim && !rule.values.is_empty());
        let number = owner.and_then(|(owner, _)| {
            self.seen.rules.all().position(|rule| std::ptr::eq(rule, &**owner)).map(|at| at + 1)
        });
        number.map_or_else(String::new, |number| format!("authorization.rules, rule {number}"))
    }
}

fn plain(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Int(int) => json!(int),
        Value::Float(float) => json!(float),
        Value::Text(text) => json!(text),
        Value::Bytes(bytes) => json!(format!("{} bytes", bytes.len())),
    }
}
