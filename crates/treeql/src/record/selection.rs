//! Selection: the names of tables, columns or types that a setting is about.

use serde::{Deserialize, Serialize};

use crate::schema::Column;

/// All names, or those of a list.
///
/// A setting spells it as names separated by commas or as a list of names. `all`, `*` and empty select everything,
/// `none` alone selects nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(from = "Spelling", into = "String")]
pub struct Selection(Option<Vec<String>>);

impl Selection {
    /// Whether `name` is selected.
    pub fn contains(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.iter().any(|selected| selected == name))
    }

    /// Whether the exposed or the real name of `column` is selected.
    pub fn contains_column(&self, column: &Column) -> bool {
        self.contains(&column.alias) || self.contains(&column.name)
    }

    /// The names of the list, for whoever checks that they exist; none if all are selected.
    pub fn names(&self) -> &[String] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<&str> for Selection {
    fn from(text: &str) -> Selection {
        Selection::of(text.split(','))
    }
}

impl From<Selection> for String {
    fn from(selection: Selection) -> String {
        match selection.0 {
            None => "all".to_owned(),
            Some(names) if names.is_empty() => "none".to_owned(),
            Some(names) => names.join(","),
        }
    }
}

impl Selection {
    /// compat: a list with the word `all` in it is all.
    fn of<'a>(names: impl Iterator<Item = &'a str>) -> Selection {
        let names: Vec<&str> = names.map(str::trim).filter(|name| !name.is_empty()).collect();
        match names.as_slice() {
            [] => Selection(None),
            ["none"] => Selection(Some(Vec::new())),
            names if names.contains(&"all") || names.contains(&"*") => Selection(None),
            names => Selection(Some(names.iter().map(|name| (*name).to_owned()).collect())),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected names separated by commas, or a list of names")]
enum Spelling {
    Text(String),
    List(Vec<String>),
}

impl From<Spelling> for Selection {
    fn from(spelling: Spelling) -> Selection {
        match spelling {
            Spelling::Text(text) => Selection::from(text.as_str()),
            Spelling::List(names) => Selection::of(names.iter().map(String::as_str)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::record::selection::Selection;

    #[test]
    fn a_selection_is_all_a_text_or_a_list() {
        let read = |json: &str| serde_json::from_str::<Selection>(json).expect("it is a selection");
        assert_eq!(read(r#""posts, tags""#), read(r#"["posts", "tags"]"#));
        assert!(read(r#""posts,tags""#).contains("tags") && !read(r#""posts""#).contains("tags"));
        for all in [r#""all""#, r#""*""#, r#"["posts", "all"]"#, r#"" ,""#, "[]"] {
            assert_eq!(read(all), Selection::default(), "{all}");
        }
        assert!(Selection::default().contains("tags") && !read(r#""none""#).contains("tags"));
        for text in ["all", "none", "posts,tags"] {
            assert_eq!(String::from(Selection::from(text)), text);
        }
        let error = serde_json::from_str::<Selection>("7").expect_err("7 is no name").to_string();
        assert!(error.contains("names separated by commas"), "{error}");
    }
}
