//! Stations: the middlewares that are switched on, ready to use.

use crate::middleware::ajax_only::AjaxOnly;
use crate::middleware::cors::Cors;
use crate::middleware::firewall::Firewall;
use crate::middleware::json::JsonMembers;
use crate::middleware::path_rules::PathRules;
use crate::middleware::rate_limit::RateLimit;
use crate::middleware::xml::Xml;
use crate::middleware::xsrf::Xsrf;

/// The middlewares that are switched on.
#[derive(Default)]
pub struct Stations {
    /// Whether plain requests are sent to https.
    pub ssl_redirect: bool,
    /// Whether the last address in `X-Forwarded-For` is the client's.
    pub reverse_proxy: bool,
    /// Which addresses are let in.
    pub firewall: Option<Firewall>,
    /// Which pages may read answers.
    pub cors: Option<Cors>,
    /// Whether writes come from scripts only.
    pub ajax_only: Option<AjaxOnly>,
    /// Whether writes repeat a token.
    pub xsrf: Option<Xsrf>,
    /// How often somebody may ask.
    pub rate_limit: Option<RateLimit>,
    /// Which paths exist for whom.
    pub paths: Option<PathRules>,
    /// Whether bodies may be XML.
    pub xml: Option<Xml>,
    /// Which text columns hold JSON.
    pub json: Option<JsonMembers>,
}
