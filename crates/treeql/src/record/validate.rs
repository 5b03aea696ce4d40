//! Validation: what a record may hold, by declared rules and by the types of the columns (SPEC 18.14).

use serde::{Deserialize, Serialize};

use crate::record::rule::{Check, ValidationRule};
use crate::record::selection::Selection;
use crate::record::type_problem::type_problem;
use crate::request::{Cell, Operation, Record};
use crate::schema::{Column, Table};

/// What is checked: declared rules first, then the rules of the column's type.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Validation {
    /// What values must be, by table and column.
    pub rules: Vec<ValidationRule>,
    /// The column types whose rules are checked.
    pub types: Selection,
    /// The exposed names of the tables for which the rules of types are checked.
    pub tables: Selection,
}

impl Validation {
    /// What is wrong with `record`: member to sentence, one for each member that is a column of `table` and not
    /// accepted, in the order of the record. Columns that a new record must have and has not come last.
    ///
    /// `shows` says which columns exist for the caller; nothing is said about the others.
    pub fn validate(
        &self,
        operation: Operation,
        table: &Table,
        shows: impl Fn(usize) -> bool,
        record: &Record<'_>,
    ) -> Vec<(Box<str>, Box<str>)> {
        let typed = self.tables.contains(&table.alias);
        let mut problems = Vec::new();
        for (name, cell) in record {
            let Some(index) = table.column(name).filter(|index| shows(*index)) else { continue };
            let column = &table.columns[index];
            if let Some(rule) = self.rules(table, column).find(|rule| !rule.check.accepts(cell)) {
                problems.push((name.as_ref().into(), rule.sentence().into()));
            } else if let Some(problem) = self.problem(cell, column, typed) {
                problems.push((name.as_ref().into(), problem.into()));
            }
        }
        if operation == Operation::Create {
            problems.extend(self.missing(table, shows, record));
        }
        problems
    }

    fn problem(&self, cell: &Cell<'_>, column: &Column, typed: bool) -> Option<&'static str> {
        if typed && self.types.contains(column.kind.name()) { type_problem(cell, column) } else { None }
    }

    fn missing(
        &self,
        table: &Table,
        shows: impl Fn(usize) -> bool,
        record: &Record<'_>,
    ) -> impl Iterator<Item = (Box<str>, Box<str>)> {
        let columns = table.columns.iter().enumerate();
        columns.filter(move |(index, _)| shows(*index)).filter_map(move |(_, column)| {
            let rule = self.rules(table, column).find(|rule| matches!(rule.check, Check::Required))?;
            let sent = record.iter().any(|(name, _)| *name == *column.alias);
            (!sent).then(|| (column.alias.clone(), rule.sentence().into()))
        })
    }

    fn rules(&self, table: &Table, column: &Column) -> impl Iterator<Item = &ValidationRule> {
        self.rules
            .iter()
            .filter(|rule| rule.tables.contains(&table.alias) && rule.columns.contains_column(column))
    }
}

#[cfg(test)]
mod tests {
    use crate::mode::Mode;
    use crate::record::sample::table;
    use crate::record::validate::Validation;
    use crate::request::{BodyKind, Operation, RecordBatch};
    use crate::schema::ColumnType;

    const RULES: &str = r#"{"rules":[
        {"columns":"post_id","check":"numeric","message":"must be numeric"},
        {"tables":"comments","columns":"message,author","check":"required"},
        {"tables":"comments","columns":["message"],"pattern":"^[a-z]+$","message":"small letters only"},
        {"tables":"tags","columns":"all","maxLength":1}
    ]}"#;

    fn problems(validation: &str, operation: Operation, body: &str) -> String {
        let validation: Validation = serde_json::from_str(validation).expect("it is a validation");
        let columns = [
            ("id", ColumnType::Integer),
            ("post_id", ColumnType::Integer),
            ("message", ColumnType::Varchar),
            ("by", ColumnType::Clob),
        ];
        let mut comments = table("comments", &columns);
        comments.columns[1].alias = "post".into();
        comments.columns[3].alias = "author".into();
        let batch =
            RecordBatch::parse(body.as_bytes(), BodyKind::Detected, 1, Mode::Strict).expect("it is JSON");
        let problems = validation.validate(operation, &comments, |_| true, &batch.records[0]);
        problems.iter().map(|(name, sentence)| format!("{name}: {sentence}; ")).collect()
    }

    #[test]
    fn declared_rules_come_before_the_rules_of_types() {
        let cases = [
            (r#"{"post":1,"message":"abc"}"#, ""),
            (r#"{"post":"two","message":"abc"}"#, "post: must be numeric; "),
            (r#"{"post":"1.5"}"#, "post: invalid integer; "),
            (r#"{"post":null}"#, "post: must be numeric; "),
            (r#"{"message":"ABC","post":"x"}"#, "message: small letters only; post: must be numeric; "),
            (r#"{"message":"abcabcabcabc"}"#, "message: string too long; "),
            (r#"{"message":"","id":null}"#, "message: is required; id: cannot be null; "),
            (r#"{"post_id":"two","other":true}"#, ""),
        ];
        for (body, expected) in cases {
            assert_eq!(problems(RULES, Operation::Update, body), expected, "{body}");
        }
    }

    #[test]
    fn a_new_record_has_what_is_required() {
        let body = r#"{"message":"abc"}"#;
        assert_eq!(problems(RULES, Operation::Create, body), "author: is required; ");
        assert_eq!(problems(RULES, Operation::Create, r#"{"author":"x"}"#), "message: is required; ");
        assert_eq!(problems(RULES, Operation::Update, body), "");
    }

    #[test]
    fn rules_of_types_are_for_some_types_and_tables() {
        let body = r#"{"post":"two","message":1}"#;
        let both = "post: invalid integer; message: invalid varchar; ";
        assert_eq!(problems("{}", Operation::Create, body), both);
        let some = r#"{"types":"varchar,clob"}"#;
        assert_eq!(problems(some, Operation::Create, body), "message: invalid varchar; ");
        assert_eq!(problems(r#"{"tables":"posts"}"#, Operation::Create, body), "");
        assert_eq!(problems(r#"{"types":"none"}"#, Operation::Create, body), "");
    }
}
