//! Writer: the one place where SQL text grows; identifiers are always quoted, values are always holes.

use crate::sql::dialect::Dialect;
use crate::sql::statement::{Param, Statement};

/// SQL text under construction.
pub struct Writer {
    dialect: Dialect,
    text: String,
    params: Vec<Param>,
}

impl Writer {
    /// An empty text in `dialect`.
    pub fn new(dialect: Dialect) -> Writer {
        Writer { dialect, text: String::with_capacity(128), params: Vec::new() }
    }

    /// The dialect that is written.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Appends fixed text: keywords and punctuation, never a name or a value.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends a quoted identifier.
    pub fn name(&mut self, name: &str) {
        let quoted = self.quoted(name);
        self.text.push_str(&quoted);
    }

    /// A quoted identifier, for the places where the dialect puts something around it.
    pub fn quoted(&self, name: &str) -> String {
        let quote = self.dialect.quote();
        let mut quoted = String::with_capacity(name.len() + 2);
        quoted.push(quote);
        for character in name.chars() {
            if character == quote {
                quoted.push(quote);
            }
            quoted.push(character);
        }
        quoted.push(quote);
        quoted
    }

    /// Makes a hole and gives its placeholder, for the places where the dialect puts something around it.
    pub fn hole(&mut self, param: Param) -> String {
        self.params.push(param);
        self.dialect.placeholder(self.params.len())
    }

    /// Appends a hole.
    pub fn param(&mut self, param: Param) {
        let placeholder = self.hole(param);
        self.text.push_str(&placeholder);
    }

    /// Appends items with `separator` between them.
    pub fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        separator: &str,
        mut write: impl FnMut(&mut Writer, T),
    ) {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.text.push_str(separator);
            }
            write(self, item);
        }
    }

    /// The finished statement.
    pub fn finish(self) -> Statement {
        Statement::new(self.text, self.params)
    }
}
