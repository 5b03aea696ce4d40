//! Name mapping: real names of the database to the names that clients see.

use std::collections::HashMap;

/// Exposed names for real names of tables and columns; what is not mapped keeps its name.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    tables: HashMap<String, String>,
    columns: HashMap<(String, String), String>,
}

impl Mapping {
    /// Reads `real=exposed` pairs separated by commas; each side is a table or `table.column`.
    ///
    /// A pair of columns implies the pair of their tables. The error is a sentence about the pair that is wrong.
    pub fn parse(text: &str) -> Result<Mapping, String> {
        let mut mapping = Mapping::default();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (real, exposed) =
                pair.split_once('=').ok_or_else(|| format!("'{pair}' is not of the form real=exposed"))?;
            match (real.split_once('.'), exposed.split_once('.')) {
                (Some((table, column)), Some((table_alias, column_alias))) => {
                    mapping.tables.insert(table.into(), table_alias.into());
                    mapping.columns.insert((table.into(), column.into()), column_alias.into());
                }
                (None, None) => {
                    mapping.tables.insert(real.into(), exposed.into());
                }
                _ => return Err(format!("'{pair}' names a table on one side and a column on the other")),
            }
        }
        Ok(mapping)
    }

    /// The exposed name of a table.
    pub fn table<'a>(&'a self, name: &'a str) -> &'a str {
        self.tables.get(name).map_or(name, String::as_str)
    }

    /// The exposed name of a column.
    pub fn column<'a>(&'a self, table: &str, name: &'a str) -> &'a str {
        if self.columns.is_empty() {
            return name;
        }
        self.columns.get(&(table.to_owned(), name.to_owned())).map_or(name, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::mapping::Mapping;

    #[test]
    fn a_column_pair_maps_its_table_too() {
        let mapping = Mapping::parse("wp_posts.ID=posts.id, other=better").expect("it is well formed");
        assert_eq!(mapping.table("wp_posts"), "posts");
        assert_eq!(mapping.column("wp_posts", "ID"), "id");
        assert_eq!(mapping.column("wp_posts", "title"), "title");
        assert_eq!(mapping.table("other"), "better");
    }

    #[test]
    fn a_pair_of_two_kinds_is_refused() {
        assert!(Mapping::parse("posts.id=posts").is_err());
        assert!(Mapping::parse("posts").is_err());
    }
}
