//! Secrets: columns that look like passwords or keys do not exist for callers until they are published.

use crate::policy::rule::Names;
use crate::schema::{Column, ColumnType, Table};

/// What the names of such columns end with, in small letters and without what separates words.
pub const ENDINGS: [&str; 17] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "userpass",
    "passhash",
    "passwordhash",
    "passworddigest",
    "passwordsalt",
    "secret",
    "secrethash",
    "token",
    "tokenhash",
    "apikey",
    "secretkey",
    "privatekey",
    "accesskey",
];

/// Which secrets are published; all others are hidden from everyone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Secrets {
    published: Names,
}

impl Secrets {
    /// Reads exposed names of columns separated by commas: `column`, `table.column`, or `*` for all.
    pub fn parse(published: &str) -> Secrets {
        Secrets { published: Names::parse(published) }
    }

    /// Every secret is published. This is for the server itself, which looks into the table of its users.
    pub fn published() -> Secrets {
        Secrets::parse("*")
    }

    /// Whether the column at `column` of `table` is a secret that is not published.
    pub fn hide(&self, table: &Table, column: usize) -> bool {
        is_secret(&table.columns[column]) && !self.published.has_column(table, column)
    }

    /// The names that publish something, for checks against a schema.
    pub fn names(&self) -> &Names {
        &self.published
    }
}

/// Whether a column looks like a password or a key: by its real or its exposed name, and because it holds text or bytes.
///
/// A number, a date or a truth value under such a name (`is_secret`, `password_changed`) is no secret.
pub fn is_secret(column: &Column) -> bool {
    let holds_text = column.kind.is_text() || column.kind.is_binary() || column.kind == ColumnType::Bit;
    holds_text && (names_secret(&column.name) || names_secret(&column.alias))
}

/// Whether a name is one that secrets have.
pub fn names_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    ENDINGS.iter().any(|ending| plain.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use crate::policy::secrets::names_secret;

    #[test]
    fn names_of_passwords_and_keys_are_known_however_they_are_spelled() {
        let secrets = "password,Passwd,pwd,user_pass,pass_hash,password_hash,passwordHash,PASSWORD-DIGEST,secret,\
                       client_secret,api_key,apiKey,APIKEY,token,access_token,refreshToken,reset_token_hash,private_key,\
                       aws_secret_key";
        for name in secrets.split(',') {
            assert!(names_secret(name), "{name}");
        }
    }

    #[test]
    fn names_that_only_begin_so_are_no_secrets() {
        for name in
            "pass,key,passport,password_changed_at,secretary,tokens,token_count,bypass,hash,salt,".split(',')
        {
            assert!(!names_secret(name), "{name}");
        }
    }
}
