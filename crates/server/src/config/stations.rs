//! Options of the middlewares that look at the head of a message, and of authentication, ready to use.

use std::sync::Arc;

use crate::auth::Auth;
use crate::auth::api_key::ApiKeys;
use crate::auth::basic::Basic;
use crate::auth::db_auth::DbAuth;
use crate::auth::identify::DbKeys;
use crate::auth::jwt::Verifier;
use crate::auth::session::Sessions;
use crate::config::middlewares::Middlewares;
use crate::config::options::Options;
use crate::config::policy_options::PathRule as PathRuleOptions;
use crate::middleware::Stations;
use crate::middleware::ajax_only::AjaxOnly;
use crate::middleware::cors::Cors;
use crate::middleware::firewall::Firewall;
use crate::middleware::json::JsonMembers;
use crate::middleware::path_rules::{PATH_RULES_MAX, PathRule, PathRules};
use crate::middleware::rate_limit::RateLimit;
use crate::middleware::xml::Xml;
use crate::middleware::xsrf::Xsrf;

/// The stations that are switched on. The error is a sentence that names the setting.
pub fn stations(options: &Options, on: &Middlewares) -> Result<Stations, String> {
    Ok(Stations {
        ssl_redirect: on.has("sslRedirect"),
        reverse_proxy: options.firewall.reverse_proxy,
        firewall: on.when("firewall", || Firewall::compile(&options.firewall))?,
        cors: on.when("cors", || Cors::compile(&options.cors))?,
        ajax_only: on.when("ajaxOnly", || AjaxOnly::compile(&options.ajax_only))?,
        xsrf: on.when("xsrf", || Xsrf::compile(&options.xsrf))?,
        rate_limit: RateLimit::compile(&options.rate_limit, has_auth(on))?,
        paths: on.when("authorization", || paths(&options.authorization.paths))?.flatten(),
        xml: on.when("xml", || Xml::compile(&options.xml))?,
        json: on.when("json", || JsonMembers::compile(&options.json))?,
    })
}

fn has_auth(on: &Middlewares) -> bool {
    ["apiKeyAuth", "apiKeyDbAuth", "dbAuth", "jwtAuth", "basicAuth"].iter().any(|way| on.has(way))
}

fn paths(options: &[PathRuleOptions]) -> Result<Option<PathRules>, String> {
    if options.len() > PATH_RULES_MAX {
        return Err(format!("authorization.paths: {} rules; there may be {PATH_RULES_MAX}", options.len()));
    }
    let rule = |(index, rule): (usize, &PathRuleOptions)| {
        PathRule::parse(&rule.who, &rule.methods, &rule.path, rule.allow)
            .map_err(|error| format!("authorization.paths, rule {}: {error}", index + 1))
    };
    let rules: Vec<PathRule> = options.iter().enumerate().map(rule).collect::<Result<_, _>>()?;
    Ok((!rules.is_empty()).then_some(PathRules(rules)))
}

/// How people say who they are, if any way is switched on.
pub fn auth(options: &Options, on: &Middlewares) -> Result<Option<Arc<Auth>>, String> {
    if !has_auth(on) {
        return Ok(None);
    }
    Ok(Some(Arc::new(Auth {
        api_keys: on.when("apiKeyAuth", || ApiKeys::compile(&options.api_key_auth))?,
        db_keys: on.when("apiKeyDbAuth", || DbKeys::compile(&options.api_key_db_auth))?,
        db_auth: on.when("dbAuth", || DbAuth::compile(&options.db_auth))?,
        jwt: on.when("jwtAuth", || Verifier::compile(&options.jwt_auth))?,
        basic: on.when("basicAuth", || Basic::compile(&options.basic_auth))?,
        sessions: Sessions::compile(&options.session)?,
        remembers: options.session.remember,
    })))
}
