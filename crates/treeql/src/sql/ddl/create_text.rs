//! CreateText: the CREATE TABLE that a database keeps for a table, taken apart so that a part of it can be changed.

use crate::error::{Code, Error};
use crate::sql::ddl::tokens::{Token, spelled, tokens};

/// Words that begin a clause of a column, after its type.
const STARTERS: [&str; 11] = [
    "CONSTRAINT",
    "PRIMARY",
    "NOT",
    "NULL",
    "UNIQUE",
    "CHECK",
    "DEFAULT",
    "COLLATE",
    "REFERENCES",
    "GENERATED",
    "AS",
];

/// The others of MySQL; elsewhere they may be a part of a type.
const MORE_STARTERS: [&str; 8] =
    ["CHARACTER", "CHARSET", "AUTO_INCREMENT", "COMMENT", "INVISIBLE", "VISIBLE", "REF_SYSTEM_ID", "SRID"];

/// How a database prints what it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// As somebody wrote it (SQLite).
    Written,
    /// In a form of its own: names are quoted, indexes stand among the columns, a backslash escapes (MySQL).
    Generated,
}

/// A CREATE TABLE, taken apart.
#[derive(Clone, Debug)]
pub struct CreateText {
    /// The columns in their order.
    pub columns: Vec<ColumnText>,
    /// The constraints of the table.
    pub constraints: Vec<Vec<Token>>,
    /// What follows the closing bracket.
    tail: Vec<Token>,
}

/// A column of it.
#[derive(Clone, Debug)]
pub struct ColumnText {
    /// The name, without quotes.
    pub name: String,
    /// The declared type, perhaps empty.
    pub kind: String,
    /// What follows the type, clause by clause.
    pub clauses: Vec<Vec<Token>>,
}

impl CreateText {
    /// Takes a text apart.
    ///
    /// # Errors
    ///
    /// If it is none that has columns in brackets, as that of a virtual table.
    pub fn parse(text: &str, print: Print) -> Result<CreateText, Error> {
        let all = tokens(text, print == Print::Generated);
        let open = all.iter().position(|token| token.is_mark("("));
        let is_table =
            all.iter().take(5).any(|token| token.is("TABLE")) && !all.iter().take(2).any(|t| t.is("VIRTUAL"));
        let (Some(open), true) = (open, is_table) else {
            let sentence = "the table is of a special kind, whose columns cannot be changed one by one";
            return Err(Error::new(Code::OperationNotSupported, "remodel").detail("table", sentence));
        };
        let items = split(&all[open + 1..]);
        let close = open + 1 + items.iter().map(|item| item.len() + 1).sum::<usize>();
        let mut create = CreateText {
            columns: Vec::new(),
            constraints: Vec::new(),
            tail: all.get(close..).unwrap_or_default().to_vec(),
        };
        for item in items {
            match item.first() {
                Some(first) if is_constraint(first, item.get(1), print) => {
                    create.constraints.push(item.to_vec())
                }
                Some(first) => create.columns.push(ColumnText::parse(first, &item[1..], print)),
                None => {}
            }
        }
        Ok(create)
    }

    /// The column called `name`.
    pub fn column(&mut self, name: &str) -> Result<&mut ColumnText, Error> {
        let found = self.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::new(Code::ColumnNotFound, name))
    }

    /// Whether a word stands after the closing bracket.
    pub fn has_option(&self, word: &str) -> bool {
        self.tail.iter().any(|token| token.is(word))
    }

    /// What stands after the closing bracket.
    pub fn options(&self) -> String {
        spelled(&self.tail)
    }

    /// The names of the foreign keys of one column, and whether the constraint is one of these.
    pub fn is_foreign_key_of(constraint: &[Token], column: &str) -> bool {
        is_of(constraint, "FOREIGN", column)
    }

    /// Whether a constraint is the primary key of this column alone.
    pub fn is_primary_key_of(constraint: &[Token], column: &str) -> bool {
        is_of(constraint, "PRIMARY", column)
    }

    /// Whether a constraint of the table mentions a column as its own.
    pub fn mentions(constraint: &[Token], column: &str) -> bool {
        // What another table is referred to by is not about this one.
        let own = constraint.iter().position(|token| token.is("REFERENCES")).unwrap_or(constraint.len());
        constraint[..own].iter().any(|token| token.names(column))
    }

    /// The name of a constraint that has one.
    pub fn constraint_name(constraint: &[Token]) -> Option<String> {
        constraint.first().filter(|first| first.is("CONSTRAINT"))?;
        constraint.get(1).map(Token::name)
    }
}

impl ColumnText {
    /// A column without clauses.
    pub fn new(name: &str, kind: String) -> ColumnText {
        ColumnText { name: name.to_owned(), kind, clauses: Vec::new() }
    }

    fn parse(name: &Token, rest: &[Token], print: Print) -> ColumnText {
        let more = if print == Print::Generated { &MORE_STARTERS[..] } else { &[] };
        let starts = |token: &Token| STARTERS.iter().chain(more).any(|word| token.is(word));
        let is_start = |at: usize| starts(&rest[at]) || is_on_update(rest, at);
        let end = (0..rest.len()).find(|at| is_start(*at)).unwrap_or(rest.len());
        let mut clauses: Vec<Vec<Token>> = Vec::new();
        let mut depth = 0;
        for (at, token) in rest.iter().enumerate().skip(end) {
            let starts = depth == 0 && is_start(at) && !continues(clauses.last(), token);
            depth += i32::from(token.is_mark("(")) - i32::from(token.is_mark(")"));
            match clauses.last_mut() {
                Some(clause) if !starts => clause.push(token.clone()),
                _ => clauses.push(vec![token.clone()]),
            }
        }
        ColumnText { name: name.name(), kind: spelled(&rest[..end]), clauses }
    }

    /// Whether one of its clauses begins with one of these words.
    pub fn has(&self, words: &[&str]) -> bool {
        self.clauses.iter().any(|clause| begins(clause, words))
    }

    /// Takes away the clauses that begin with one of these words.
    pub fn remove(&mut self, words: &[&str]) {
        self.clauses.retain(|clause| !begins(clause, words));
    }

    /// Whether the database computes its values.
    pub fn is_generated(&self) -> bool {
        self.has(&["GENERATED", "AS"])
    }

    /// The clauses as text, each with a blank before it.
    pub fn tail(&self) -> String {
        self.clauses.iter().map(|clause| format!(" {}", spelled(clause))).collect()
    }
}

/// Whether a clause begins with one of these words, its name aside.
fn begins(clause: &[Token], words: &[&str]) -> bool {
    let is_named = clause.first().is_some_and(|first| first.is("CONSTRAINT"));
    let first = clause.get(if is_named { 2 } else { 0 });
    first.is_some_and(|first| words.iter().any(|word| first.is(word)))
}

/// Whether a word that may begin a clause belongs to the one before: `NOT NULL`, `DEFAULT NULL`, `ON DELETE SET NULL`,
/// `CONSTRAINT x UNIQUE`, `NOT DEFERRABLE`, `GENERATED ALWAYS AS`.
fn continues(clause: Option<&Vec<Token>>, token: &Token) -> bool {
    let Some(clause) = clause else { return false };
    let Some(last) = clause.last() else { return false };
    let is_name = clause.len() == 2 && clause[0].is("CONSTRAINT");
    let is_reference = begins(clause, &["REFERENCES"]);
    is_name
        || (clause.len() == 1 && clause[0].is("CONSTRAINT"))
        || ["NOT", "DEFAULT", "SET", "ALWAYS", "COLLATE"].iter().any(|word| last.is(word))
        || (is_reference && token.is("NOT"))
}

fn is_on_update(tokens: &[Token], at: usize) -> bool {
    let is_reference = tokens[..at].iter().any(|token| token.is("REFERENCES"));
    !is_reference && tokens[at].is("ON") && tokens.get(at + 1).is_some_and(|next| next.is("UPDATE"))
}

fn is_constraint(first: &Token, second: Option<&Token>, print: Print) -> bool {
    let second_is = |word: &str| second.is_some_and(|token| token.is(word) || token.is_mark(word));
    first.is("CONSTRAINT")
        || (first.is("PRIMARY") && second_is("KEY"))
        || (first.is("FOREIGN") && second_is("KEY"))
        || (first.is("CHECK") && second_is("("))
        || first.is("UNIQUE")
        || (print == Print::Generated
            && ["KEY", "INDEX", "FULLTEXT", "SPATIAL", "PERIOD"].iter().any(|word| first.is(word)))
}

/// Whether a constraint is of a kind and about this column alone.
fn is_of(constraint: &[Token], word: &str, column: &str) -> bool {
    let Some(at) = constraint.iter().position(|token| token.is(word)) else { return false };
    let Some(open) = constraint[at..].iter().position(|token| token.is_mark("(")) else { return false };
    let items = split(&constraint[at + open + 1..]);
    matches!(items.as_slice(), [only] if only.first().is_some_and(|name| name.names(column)))
}

/// The items between here and the closing bracket, which commas separate.
fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let mut items = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, token) in tokens.iter().enumerate() {
        if token.is_mark("(") {
            depth += 1;
        } else if token.is_mark(")") && depth == 0 {
            items.push(&tokens[start..at]);
            return items;
        } else if token.is_mark(")") {
            depth -= 1;
        } else if token.is_mark(",") && depth == 0 {
            items.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    items.push(&tokens[start..]);
    items
}

#[cfg(test)]
mod tests {
    use crate::sql::ddl::create_text::{CreateText, Print};

    fn parsed(text: &str) -> CreateText {
        CreateText::parse(text, Print::Written).expect("it is a table")
    }

    fn clauses(text: &str) -> Vec<String> {
        let create = parsed(&format!("CREATE TABLE t ({text})"));
        create.columns[0].clauses.iter().map(|clause| crate::sql::ddl::tokens::spelled(clause)).collect()
    }

    #[test]
    fn a_column_is_name_type_and_clauses() {
        let create = parsed(
            "CREATE TABLE IF NOT EXISTS \"a (b\" (id integer primary key, \"c,d\" decimal(10, 2) NOT NULL) STRICT",
        );
        assert_eq!(create.columns.len(), 2);
        assert_eq!((&*create.columns[1].name, &*create.columns[1].kind), ("c,d", "decimal(10, 2)"));
        assert!(create.has_option("strict"));
    }

    #[test]
    fn what_belongs_together_stays_together() {
        assert_eq!(clauses("a int NOT NULL DEFAULT NULL"), ["NOT NULL", "DEFAULT NULL"]);
        assert_eq!(
            clauses("a int CONSTRAINT x NOT NULL ON CONFLICT FAIL UNIQUE CHECK (a NOT NULL)"),
            ["CONSTRAINT x NOT NULL ON CONFLICT FAIL", "UNIQUE", "CHECK (a NOT NULL)"]
        );
        assert_eq!(
            clauses(
                "a int REFERENCES b (id) ON DELETE SET NULL ON UPDATE SET DEFAULT NOT DEFERRABLE DEFAULT 1"
            ),
            ["REFERENCES b (id) ON DELETE SET NULL ON UPDATE SET DEFAULT NOT DEFERRABLE", "DEFAULT 1"]
        );
        assert_eq!(
            clauses("a int GENERATED ALWAYS AS (b + 1) STORED"),
            ["GENERATED ALWAYS AS (b + 1) STORED"]
        );
        let printed = "CREATE TABLE \"t\" (\"a\" timestamp NULL DEFAULT current_timestamp() ON UPDATE \
            current_timestamp() COMMENT 'it\\'s')";
        let create = CreateText::parse(printed, Print::Generated).expect("it is a table");
        let expected = " NULL DEFAULT current_timestamp() ON UPDATE current_timestamp() COMMENT 'it\\'s'";
        assert_eq!((create.columns[0].clauses.len(), &*create.columns[0].tail()), (4, expected));
        assert_eq!(clauses("a DEFAULT (1) NULL"), ["DEFAULT (1)", "NULL"]);
    }

    #[test]
    fn constraints_are_told_from_columns() {
        let create = parsed(
            "CREATE TABLE t (a int, \"check\" int, PRIMARY KEY (a), CONSTRAINT f FOREIGN KEY (\"check\") REFERENCES u (a), \
             UNIQUE (a, \"check\"), CHECK (a > 1))",
        );
        assert_eq!((create.columns.len(), create.constraints.len()), (2, 4));
        assert!(CreateText::is_primary_key_of(&create.constraints[0], "A"));
        assert!(CreateText::is_foreign_key_of(&create.constraints[1], "check"));
        assert!(!CreateText::mentions(&create.constraints[1], "a"));
        assert!(CreateText::mentions(&create.constraints[2], "check"));
        assert_eq!(CreateText::constraint_name(&create.constraints[1]).as_deref(), Some("f"));
    }

    #[test]
    fn a_virtual_table_is_refused() {
        assert!(CreateText::parse("CREATE VIRTUAL TABLE t USING fts5(a)", Print::Written).is_err());
    }
}
