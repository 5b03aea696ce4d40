//! Controller: a group of paths that can be switched on and off.

/// A group of paths, by the name that the reference gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// `/records`.
    Records,
    /// `/geojson`.
    GeoJson,
    /// `/cache`.
    Cache,
    /// `/status`.
    Status,
    /// `/health`.
    Health,
    /// `/openapi`.
    OpenApi,
    /// `/columns`.
    Columns,
}

const ALL: [(&str, Controller); 7] = [
    ("records", Controller::Records),
    ("geojson", Controller::GeoJson),
    ("openapi", Controller::OpenApi),
    ("cache", Controller::Cache),
    ("status", Controller::Status),
    ("health", Controller::Health),
    ("columns", Controller::Columns),
];

impl Controller {
    /// The group called `name`.
    pub fn parse(name: &str) -> Option<Controller> {
        ALL.iter().find(|(known, _)| *known == name).map(|(_, controller)| *controller)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// The names of all groups.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(name, _)| *name)
    }
}
