//! Options of php-crud-api: those under other names here, and those that Rowcast does not have.

use toml::{Table, Value};

/// What begins the names of the environment variables of php-crud-api; the rest is as ours.
pub const PREFIX: &str = "PHP_CRUD_API_";

/// Its options whose name here is another one.
pub const RENAMED: [(&str, &str); 3] = [
    ("dbAuth.sessionName", "session.sessionName"),
    ("jwtAuth.sessionName", "session.sessionName"),
    ("basicAuth.sessionName", "session.sessionName"),
];

/// Its options that Rowcast does not have, and what to do.
const ABSENT: [(&str, &str); 23] = [
    ("command", "is not run here; set it for the database user, for example with ALTER ROLE … SET"),
    ("customControllers", "is code; put another service beside this one"),
    ("customOpenApiBuilders", "is code; leave it out"),
    ("cacheType", "is not needed: the schema is kept in memory; leave it out"),
    ("cachePath", "is not needed: the schema is kept in memory; leave it out"),
    ("jsonOptions", "does not exist: answers are always spelled as with its default; leave it out"),
    ("debug", "does not exist: what went wrong is in the log; leave it out"),
    ("wpAuth.mode", "belongs to WordPress, which is not supported; use dbAuth or jwtAuth"),
    ("wpAuth.wpDirectory", "belongs to WordPress, which is not supported; use dbAuth or jwtAuth"),
    ("wpAuth.usernameFormField", "belongs to WordPress, which is not supported; use dbAuth or jwtAuth"),
    ("wpAuth.passwordFormField", "belongs to WordPress, which is not supported; use dbAuth or jwtAuth"),
    ("authorization.tableHandler", "is code; write [[authorization.rules]]"),
    ("authorization.columnHandler", "is code; write hide and readOnly in [[authorization.rules]]"),
    ("authorization.recordHandler", "is code; write filter in [[authorization.rules]]"),
    ("authorization.pathHandler", "is code; write [[authorization.paths]]"),
    ("validation.handler", "is code; write [[validation.rules]]"),
    ("sanitation.handler", "is code; write [[sanitation.rules]]"),
    ("multiTenancy.handler", "is code; write [[multiTenancy.rules]]"),
    ("reconnect.databaseHandler", "is code; write reconnect.database"),
    ("reconnect.usernameHandler", "is code; write reconnect.username"),
    ("reconnect.passwordHandler", "is code; write reconnect.password"),
    ("customization.beforeHandler", "is code; put a proxy before this server"),
    ("customization.afterHandler", "is code; put a proxy before this server"),
];

/// Why an option does not exist here, if it is one of php-crud-api.
pub fn absent(path: &str) -> Option<&'static str> {
    ABSENT.iter().find(|(name, _)| *name == path).map(|(_, reason)| *reason)
}

/// The options that Rowcast does not have.
pub fn absent_names() -> impl Iterator<Item = &'static str> {
    ABSENT.iter().map(|(name, _)| *name)
}

/// Gives the options of a file that have another name here that name.
pub fn rename(table: &mut Table) {
    for (from, to) in RENAMED {
        let split = |path: &'static str| path.split_once('.').expect("renamed options are in a section");
        let ((section, name), (new_section, new_name)) = (split(from), split(to));
        let taken = table.get_mut(section).and_then(Value::as_table_mut).and_then(|table| table.remove(name));
        let Some(value) = taken else { continue };
        let place = table.entry(new_section).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(place) = place {
            place.entry(new_name).or_insert(value);
        }
    }
}
