//! Keys and relations that the catalog does not have, declared in the configuration by their real names.

use crate::nearest::unknown;
use crate::schema::raw::RawTable;

/// Primary keys and foreign keys that the operator declares.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// Table and columns.
    keys: Vec<(String, Vec<String>)>,
    /// Table and column, referenced table and column.
    references: Vec<((String, String), (String, String))>,
}

impl Declared {
    /// Reads `table=column+column` pairs and `table.column=table.column` pairs, each separated by commas.
    /// The error is a sentence about the pair that is wrong.
    pub fn parse(primary_keys: &str, foreign_keys: &str) -> Result<Declared, String> {
        let mut declared = Declared::default();
        for pair in pairs(primary_keys) {
            let (table, columns) =
                pair.split_once('=').ok_or_else(|| format!("primaryKeys: '{pair}' is not table=column"))?;
            let columns = columns.split('+').map(|column| column.trim().to_owned()).collect();
            declared.keys.push((table.trim().to_owned(), columns));
        }
        for pair in pairs(foreign_keys) {
            let wrong = || format!("foreignKeys: '{pair}' is not table.column=table.column");
            let (from, to) = pair.split_once('=').ok_or_else(wrong)?;
            let column = |side: &str| side.trim().split_once('.').map(|(a, b)| (a.to_owned(), b.to_owned()));
            declared.references.push((column(from).ok_or_else(wrong)?, column(to).ok_or_else(wrong)?));
        }
        Ok(declared)
    }

    /// Whether a table, or a column of it, is named.
    pub fn names(&self, table: &str, column: Option<&str>) -> bool {
        let is_named = |of: &str, name: &str| of == table && column.is_none_or(|column| column == name);
        self.keys.iter().any(|(of, columns)| columns.iter().any(|name| is_named(of, name)))
            || self
                .references
                .iter()
                .any(|((of, name), (to, target))| is_named(of, name) || is_named(to, target))
    }

    /// Adds what is declared to what was found. The error names the table or column that does not exist.
    pub fn apply(&self, tables: &mut [RawTable]) -> Result<(), String> {
        for (name, columns) in &self.keys {
            let index = table(tables, name, "primaryKeys")?;
            let places = columns.iter().map(|column| place(&tables[index], column, "primaryKeys"));
            tables[index].key_columns = places.collect::<Result<_, _>>()?;
        }
        for ((name, column), (target, target_column)) in &self.references {
            let (from, to) = (table(tables, name, "foreignKeys")?, table(tables, target, "foreignKeys")?);
            place(&tables[from], column, "foreignKeys")?;
            place(&tables[to], target_column, "foreignKeys")?;
            let reference = (column.clone(), target.clone(), Some(target_column.clone()));
            if !tables[from].references.contains(&reference) {
                tables[from].references.push(reference);
            }
        }
        Ok(())
    }
}

fn pairs(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|pair| !pair.is_empty())
}

fn table(tables: &[RawTable], name: &str, setting: &str) -> Result<usize, String> {
    tables.iter().position(|table| table.name == name).ok_or_else(|| {
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        format!("{setting}: {}", unknown("table", name, names))
    })
}

fn place(table: &RawTable, name: &str, setting: &str) -> Result<usize, String> {
    table.columns.iter().position(|column| &*column.name == name).ok_or_else(|| {
        let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        format!("{setting}: {}", unknown(&format!("column of '{}'", table.name), name, names))
    })
}

#[cfg(test)]
mod tests {
    use crate::schema::declared::Declared;

    #[test]
    fn a_pair_of_another_form_is_refused() {
        assert!(Declared::parse("visits=day+page", "posts.author=people.id").is_ok());
        assert!(Declared::parse("visits", "").is_err());
        assert!(Declared::parse("", "posts.author=people").is_err());
    }

    #[test]
    fn what_does_not_exist_is_named() {
        let declared = Declared::parse("visits=day", "").expect("it is well formed");
        let error = declared.apply(&mut []).expect_err("there is no table");
        assert_eq!(error, "primaryKeys: unknown table 'visits'. There is none");
    }
}
