//! Rule: who may do what with which tables, rows and columns.

use std::fmt::{self, Display, Formatter};

use crate::mode::Mode;
use crate::nearest::unknown;
use crate::policy::principal::Principal;
use crate::policy::template::Template;
use crate::request::{Filter, Operation, Query, Values, parse_query};
use crate::schema::Table;

/// For whom a rule is.
#[derive(Clone, Debug, PartialEq)]
pub enum Who {
    /// For all.
    Everyone,
    /// For those who have not shown credentials.
    Anonymous,
    /// For those who have.
    Authenticated,
    /// For those with this claim of this value.
    Claim(String, String),
}

impl Display for Who {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Who::Everyone => f.write_str("everyone"),
            Who::Anonymous => f.write_str("anonymous"),
            Who::Authenticated => f.write_str("authenticated"),
            Who::Claim(name, value) => write!(f, "{name}={value}"),
        }
    }
}

impl Who {
    /// Reads `everyone`, `anonymous`, `authenticated` or `claim=value`.
    pub fn parse(text: &str) -> Result<Who, String> {
        const WORDS: [&str; 3] = ["everyone", "anonymous", "authenticated"];
        Ok(match text.trim() {
            "everyone" | "" => Who::Everyone,
            "anonymous" => Who::Anonymous,
            "authenticated" => Who::Authenticated,
            other => match other.split_once('=') {
                Some((name, value)) => Who::Claim(name.trim().to_owned(), value.trim().to_owned()),
                None => return Err(format!("who: {}, or claim=value", unknown("word", other, WORDS))),
            },
        })
    }

    /// Whether somebody is meant.
    pub fn is(&self, principal: &Principal) -> bool {
        match self {
            Who::Everyone => true,
            Who::Anonymous => !principal.is_authenticated,
            Who::Authenticated => principal.is_authenticated,
            Who::Claim(name, value) => principal.claim(name) == Some(value),
        }
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations(u8);

impl Operations {
    const ALL: [Operation; 8] = [
        Operation::List,
        Operation::Read,
        Operation::Create,
        Operation::Update,
        Operation::Increment,
        Operation::Delete,
        Operation::Reflect,
        Operation::Remodel,
    ];

    /// Reads `all`, `none`, or names separated by commas.
    pub fn parse(text: &str) -> Result<Operations, String> {
        match text.trim() {
            "all" => return Ok(Operations(u8::MAX)),
            "none" | "" => return Ok(Operations(0)),
            _ => {}
        }
        let mut set = Operations(0);
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let names = Operations::ALL.iter().map(|operation| operation.name());
            let found = Operations::ALL.iter().find(|operation| operation.name() == name);
            set.0 |= Operations::bit(
                *found.ok_or_else(|| format!("allow: {}", unknown("operation", name, names)))?,
            );
        }
        Ok(set)
    }

    /// Whether an operation is in it.
    pub fn has(self, operation: Operation) -> bool {
        self.0 & Operations::bit(operation) != 0
    }

    /// Those that are in it, in the order of the protocol.
    pub fn iter(self) -> impl Iterator<Item = Operation> {
        Operations::ALL.into_iter().filter(move |operation| self.has(*operation))
    }

    fn bit(operation: Operation) -> u8 {
        match operation {
            Operation::List => 1,
            Operation::Read => 2,
            Operation::Create => 4,
            Operation::Update => 8,
            Operation::Increment => 16,
            Operation::Delete => 32,
            Operation::Reflect => 64,
            Operation::Remodel => 128,
        }
    }
}

/// Names of tables or columns, `*` for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names(Vec<String>);

impl Names {
    /// Reads names separated by commas.
    pub fn parse(text: &str) -> Names {
        Names(text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect())
    }

    /// Whether a name is among them.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == "*" || known == name)
    }

    /// The names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether they name a column: by its name, or as `table.column`.
    pub fn has_column(&self, table: &Table, column: usize) -> bool {
        self.has_alias(&table.alias, &table.columns[column].alias)
    }

    /// The same by the exposed names of table and column.
    fn has_alias(&self, table: &str, alias: &str) -> bool {
        self.iter().any(|name| match name.split_once('.') {
            Some((of, column)) => (of == "*" || of == table) && (column == "*" || column == alias),
            None => name == "*" || name == alias,
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Who may do what with which tables, rows and columns.
#[derive(Clone, Debug)]
pub struct Rule {
    /// For whom it is.
    pub who: Who,
    /// Exposed names of the tables it is about.
    pub tables: Names,
    /// What may be done.
    pub allow: Operations,
    /// Conditions of the rows that exist; the values are templates.
    pub filters: Vec<Filter<'static>>,
    /// What fills the slots of the filters.
    pub values: Vec<Template>,
    /// The conditions as they are configured.
    pub filter_text: String,
    /// Exposed names of columns that do not exist for them.
    pub hide: Names,
    /// Exposed names of columns that they cannot write.
    pub read_only: Names,
}

impl Rule {
    /// A rule that allows everything to everyone.
    pub fn open() -> Rule {
        Rule {
            who: Who::Everyone,
            tables: Names::parse("*"),
            allow: Operations(u8::MAX),
            filters: Vec::new(),
            values: Vec::new(),
            filter_text: String::new(),
            hide: Names::default(),
            read_only: Names::default(),
        }
    }

    /// Reads the condition of the rows: `column,operator,value`, or a query string `filter=…&filter1=…`.
    pub fn set_filter(&mut self, text: &str) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        let query = if text.starts_with("filter") && text.contains('=') {
            text.to_owned()
        } else {
            format!("filter={text}")
        };
        let mut values = Values::default();
        let parsed = parse_query(&query, "rule", Mode::Strict, &mut values).map_err(|error| {
            error.details.first().map_or_else(|| error.message(), |(_, sentence)| sentence.to_string())
        })?;
        self.filter_text = query.clone();
        let Query { filters, .. } = parsed.query.into_owned();
        self.filters = filters;
        self.values = values.slots.iter().map(|value| Template::parse(value)).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Whether a column is hidden. A name may be `table.column`.
    pub fn hides(&self, table: &Table, column: usize) -> bool {
        self.hide.has_column(table, column)
    }

    /// Whether a column cannot be written.
    pub fn keeps(&self, table: &Table, column: usize) -> bool {
        self.read_only.has_column(table, column)
    }

    /// Whether the rule hides a column of this exposed name or keeps it from being written.
    pub fn covers(&self, table: &str, alias: &str) -> bool {
        self.hide.has_alias(table, alias) || self.read_only.has_alias(table, alias)
    }

    /// Whether the condition of the rows asks for a column of this exposed name.
    pub fn asks_for(&self, alias: &str) -> bool {
        self.filters.iter().any(|filter| *filter.column == *alias)
    }
}
