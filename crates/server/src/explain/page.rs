//! An explanation as text for a terminal.

use std::fmt::Write;

use crate::explain::explanation::{Bound, Explained, Explanation, TableRules};

/// The explanation in sections: tables, limits, statements, and the refusal if there is one.
pub fn page(explanation: &Explanation) -> String {
    let mut text =
        format!("{}\n  as {}, operation {}\n", explanation.request, explanation.who, explanation.operation);
    for table in &explanation.tables {
        write_table(&mut text, table);
    }
    line(&mut text, "\nLimits");
    for limit in &explanation.limits {
        let max = limit.max.map_or_else(|| "none".to_owned(), |max| max.to_string());
        line(&mut text, &format!("  {max:<8} {}", limit.what));
    }
    for (index, statement) in explanation.statements.iter().enumerate() {
        write_statement(&mut text, index + 1, statement);
    }
    match &explanation.refusal {
        Some(refusal) => line(&mut text, &format!("\nRefused with {}\n  {}", refusal.status, refusal.body)),
        None if explanation.statements.is_empty() => line(&mut text, "\nNothing would be run."),
        None => line(&mut text, "\nNothing was run."),
    }
    text
}

fn line(text: &mut String, content: &str) {
    text.push_str(content);
    text.push('\n');
}

fn write_table(text: &mut String, table: &TableRules) {
    let exists = if table.exists { "" } else { " (does not exist for this request)" };
    line(text, &format!("\nTable {}{exists}", table.table));
    for rule in &table.rules {
        let mark = if rule.decides { "decides" } else { "-" };
        line(text, &format!("  {mark:<8} {}: {}", rule.place, rule.why));
    }
    for row in &table.rows {
        line(text, &format!("  rows     {row}"));
    }
    for column in &table.columns {
        let why = if column.why.is_empty() { String::new() } else { format!(": {}", column.why) };
        line(text, &format!("  {:<20} {}{why}", column.column, column.treatment));
    }
}

fn write_statement(text: &mut String, number: usize, statement: &Explained) {
    line(text, &format!("\nStatement {number}, {}\n  {}", statement.purpose, statement.sql));
    for (index, bound) in statement.values.iter().enumerate() {
        write_bound(text, index + 1, bound);
    }
}

fn write_bound(text: &mut String, number: usize, bound: &Bound) {
    let column = bound.column.as_ref().map_or_else(String::new, |column| format!(" for {column}"));
    let pattern = bound.pattern.map_or_else(String::new, |pattern| format!(" as {pattern}"));
    // Writing to a String does not fail.
    let _ = writeln!(text, "  {number:>3} {}{column}: {}{pattern}", bound.source, bound.value);
}
