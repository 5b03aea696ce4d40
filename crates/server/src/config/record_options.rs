//! Options of the middlewares that clean and check what is written; the names are those of php-crud-api where it has them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What values must be.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Validation {
    /// Rules for columns. Without one, the rules of types are not checked either.
    pub rules: Vec<ValidationRule>,
    /// Types of columns whose own rules are checked, separated by commas.
    pub types: String,
    /// Exposed names of the tables for which the rules of types are checked.
    pub tables: String,
}

/// A rule for the values of columns.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ValidationRule {
    /// Exposed names of the tables, separated by commas.
    pub tables: String,
    /// Names of the columns, separated by commas.
    pub columns: String,
    /// `numeric` or `required`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub check: String,
    /// A regular expression that is found in the text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pattern: String,
    /// The least number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The least number of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<usize>,
    /// The greatest number of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<usize>,
    /// The texts that are allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<String>,
    /// What callers are told.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What is done to values before they are checked.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Sanitation {
    /// What is done to text.
    pub rules: Vec<SanitationRule>,
    /// Types of columns whose values are brought into the form of the type, separated by commas.
    pub types: String,
    /// Exposed names of the tables for which that is done.
    pub tables: String,
}

/// What is done to the text of columns.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SanitationRule {
    /// Exposed names of the tables, separated by commas.
    pub tables: String,
    /// Names of the columns, separated by commas.
    pub columns: String,
    /// Whether HTML tags are removed.
    pub strip_tags: bool,
    /// Whether white space around the text is removed.
    pub trim: bool,
    /// `lower` or `upper`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub case: String,
}

fn all() -> String {
    "all".to_owned()
}

impl Default for Validation {
    fn default() -> Validation {
        Validation { rules: Vec::new(), types: all(), tables: all() }
    }
}

impl Default for ValidationRule {
    fn default() -> ValidationRule {
        ValidationRule {
            tables: all(),
            columns: all(),
            check: String::new(),
            pattern: String::new(),
            min: None,
            max: None,
            min_length: None,
            max_length: None,
            one_of: Vec::new(),
            message: String::new(),
        }
    }
}

impl Default for Sanitation {
    fn default() -> Sanitation {
        Sanitation { rules: Vec::new(), types: all(), tables: all() }
    }
}

impl Default for SanitationRule {
    fn default() -> SanitationRule {
        SanitationRule { tables: all(), columns: all(), strip_tags: false, trim: false, case: String::new() }
    }
}
