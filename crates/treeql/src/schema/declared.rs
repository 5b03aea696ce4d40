//! Keys and relations that the catalog does not have, declared in the configuration by their real names.

use crate::nearest::unknown;
use crate::schema::column::ColumnType;
use crate::schema::raw::RawTable;
use crate::schema::table::MadeKey;

/// Primary keys and foreign keys that the operator declares.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// Table and columns.
    keys: Vec<(String, Vec<String>)>,
    /// Table and column, referenced table and column.
    references: Vec<((String, String), (String, String))>,
    /// Table, and how its keys are made.
    made_keys: Vec<(String, MadeKey)>,
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

    /// Adds `table=random53` and `table=uuidv7` pairs, separated by commas. The error is a sentence about the pair that
    /// is wrong.
    pub fn with_ids(mut self, ids: &str) -> Result<Declared, String> {
        for pair in pairs(ids) {
            let (table, name) =
                pair.split_once('=').ok_or_else(|| format!("ids: '{pair}' is not table=random53"))?;
            let names = MadeKey::NAMES.iter().map(|(name, _)| *name);
            let made = MadeKey::NAMES.iter().find(|(known, _)| *known == name.trim());
            let (_, made) =
                made.ok_or_else(|| format!("ids: {}", unknown("way to make ids", name.trim(), names)))?;
            self.made_keys.push((table.trim().to_owned(), *made));
        }
        Ok(self)
    }

    /// How the keys of the table are made.
    pub fn made_key(&self, table: &str) -> Option<MadeKey> {
        self.made_keys.iter().find(|(name, _)| name == table).map(|(_, made)| *made)
    }

    /// Whether a table, or a column of it, is named.
    pub fn names(&self, table: &str, column: Option<&str>) -> bool {
        let is_named = |of: &str, name: &str| of == table && column.is_none_or(|column| column == name);
        self.made_keys.iter().any(|(of, _)| of == table && column.is_none())
            || self.keys.iter().any(|(of, columns)| columns.iter().any(|name| is_named(of, name)))
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
        self.made_keys.iter().try_for_each(|(name, made)| fits(&tables[table(tables, name, "ids")?], *made))
    }
}

/// Whether the key of the table can hold what is made.
fn fits(table: &RawTable, made: MadeKey) -> Result<(), String> {
    let [key] = table.key_columns.as_slice() else {
        return Err(format!("ids: table '{}' has no primary key of one column", table.name));
    };
    let column = &table.columns[*key];
    let (fits, wanted) = match made {
        // SQLite's INTEGER has 64 bits, whatever the protocol calls it.
        MadeKey::Random53 => (column.kind.is_integer(), "a bigint"),
        MadeKey::UuidV7 => (
            matches!(column.kind, ColumnType::Varchar | ColumnType::Clob)
                && (column.length == 0 || column.length >= 36),
            "a text of 36 characters",
        ),
    };
    if fits {
        return Ok(());
    }
    Err(format!(
        "ids: the key '{}' of table '{}' is {}, but must be {wanted}",
        column.name, table.name, column.kind
    ))
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
    fn ids_are_made_in_known_ways() {
        assert!(Declared::default().with_ids("visitors=random53, log=uuidv7").is_ok());
        let error = Declared::default().with_ids("visitors=uuid7").expect_err("it is no such way");
        assert_eq!(
            error,
            "ids: unknown way to make ids 'uuid7', did you mean 'uuidv7'? Allowed: random53, uuidv7"
        );
    }

    #[test]
    fn what_does_not_exist_is_named() {
        let declared = Declared::parse("visits=day", "").expect("it is well formed");
        let error = declared.apply(&mut []).expect_err("there is no table");
        assert_eq!(error, "primaryKeys: unknown table 'visits'. There is none");
    }
}
