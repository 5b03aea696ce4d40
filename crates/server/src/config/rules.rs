//! Options of the middlewares to the rules that the planner is given.

use serde::Serialize;
use serde::de::DeserializeOwned;
use treeql::policy::{Names, Operations, Policy, RULES_MAX, Rule, Rules, Secrets, Template, Tenancy, Who};

use crate::api::RecordRules;
use crate::config::middlewares::Middlewares;
use crate::config::options::Options;
use crate::config::policy_options::Rule as RuleOptions;
use crate::http::list;

/// The rules that the configuration says. The error is a sentence that names the setting.
pub fn rules(options: &Options, on: &Middlewares) -> Result<Rules, String> {
    let has = |name: &str| on.has(name);
    let limits = &options.limits;
    let mut policy = Policy {
        join_depth_max: limits.join_depth,
        join_tables_max: limits.join_tables,
        secrets: Secrets::parse(&options.publish_secrets),
        rows_max: (limits.list_rows > 0).then_some(limits.list_rows),
        ..Policy::default()
    };
    if has("pageLimits") {
        policy.pages_max = (options.page_limits.pages > 0).then_some(options.page_limits.pages);
        policy.rows_max = Some(
            policy.rows_max.map_or(options.page_limits.records, |max| max.min(options.page_limits.records)),
        );
    }
    if has("joinLimits") {
        policy.join_depth_max = policy.join_depth_max.min(options.join_limits.depth);
        policy.join_tables_max = policy.join_tables_max.min(options.join_limits.tables);
        policy.join_rows_max = Some(options.join_limits.records);
    }
    if has("textSearch") {
        policy.search = Some(options.text_search.parameter.clone());
    }
    let authorization =
        if has("authorization") { Some(authorization(&options.authorization.rules)?) } else { None };
    let mut tenancies = Vec::new();
    if has("multiTenancy") {
        for tenant in &options.multi_tenancy.rules {
            let value = Template::parse(&tenant.value).map_err(|error| format!("multiTenancy: {error}"))?;
            tenancies.push(Tenancy {
                tables: names(&tenant.tables),
                column: tenant.column.clone(),
                value,
                restricts: true,
            });
        }
    }
    if has("ipAddress") {
        for column in names(&options.ip_address.columns) {
            let tables = names(&options.ip_address.tables);
            tenancies.push(Tenancy { tables, column, value: Template::address(), restricts: false });
        }
    }
    Ok(Rules::new(policy, authorization, tenancies))
}

/// What is done to records before they are written. The error is a sentence that names the setting.
pub fn record_rules(options: &Options, on: &Middlewares) -> Result<RecordRules, String> {
    let mut rules = RecordRules::default();
    if on.has("sanitation") {
        rules.sanitation = Some(converted(&options.sanitation, "sanitation")?);
    }
    if on.has("validation") {
        rules.validation = Some(converted(&options.validation, "validation")?);
    }
    Ok(rules)
}

/// The rules of the pure crate, read from the options of the same names.
fn converted<T: DeserializeOwned>(options: &impl Serialize, name: &str) -> Result<T, String> {
    let value = serde_json::to_value(options).map_err(|error| format!("{name}: {error}"))?;
    serde_json::from_value(value).map_err(|error| format!("{name}: {error}"))
}

fn names(text: &str) -> Vec<String> {
    list(text).map(str::to_owned).collect()
}

fn authorization(options: &[RuleOptions]) -> Result<Vec<Rule>, String> {
    if options.len() > RULES_MAX {
        return Err(format!("authorization.rules: {} rules; there may be {RULES_MAX}", options.len()));
    }
    let mut rules = Vec::new();
    for (index, options) in options.iter().enumerate() {
        let at = |error: String| format!("authorization.rules, rule {}: {error}", index + 1);
        if options.tables.trim().is_empty() {
            return Err(at("tables is empty; name tables, or * for all".to_owned()));
        }
        let mut rule = Rule {
            who: Who::parse(&options.who).map_err(at)?,
            tables: Names::parse(&options.tables),
            allow: Operations::parse(&options.allow).map_err(at)?,
            hide: Names::parse(&options.hide),
            read_only: Names::parse(&options.read_only),
            ..Rule::open()
        };
        rule.set_filter(&options.filter).map_err(at)?;
        rules.push(rule);
    }
    Ok(rules)
}
