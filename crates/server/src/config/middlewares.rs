//! The list of middlewares that are switched on.

use treeql::nearest::unknown;

/// Middlewares that exist, by the names of the reference.
const NAMES: [&str; 21] = [
    "sslRedirect",
    "firewall",
    "cors",
    "ajaxOnly",
    "xsrf",
    "apiKeyAuth",
    "apiKeyDbAuth",
    "dbAuth",
    "jwtAuth",
    "basicAuth",
    "reconnect",
    "authorization",
    "sanitation",
    "validation",
    "ipAddress",
    "multiTenancy",
    "pageLimits",
    "joinLimits",
    "textSearch",
    "json",
    "xml",
];

/// The middlewares that are switched on.
pub struct Middlewares(Vec<String>);

impl Middlewares {
    /// Reads names separated by commas. The error is a sentence with the nearest name.
    pub fn parse(text: &str) -> Result<Middlewares, String> {
        let names: Vec<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        match names.iter().find(|name| !NAMES.contains(name)) {
            Some(name) => Err(format!("middlewares: {}", unknown("middleware", name, NAMES))),
            None => Ok(Middlewares(names.into_iter().map(str::to_owned).collect())),
        }
    }

    /// Whether one is switched on.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    /// What `make` makes, if the middleware is switched on.
    pub fn when<T>(&self, name: &str, make: impl FnOnce() -> Result<T, String>) -> Result<Option<T>, String> {
        if self.has(name) { make().map(Some) } else { Ok(None) }
    }
}
