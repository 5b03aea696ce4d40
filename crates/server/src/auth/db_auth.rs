//! dbAuth: users who log in with a name and a password that a table of the database holds (SPEC 18.8).

use std::borrow::Cow;
use std::sync::Arc;

use engine::database::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use treeql::error::{Code, Error};
use treeql::policy::names_secret;
use treeql::request::{Cell, Record};

use crate::auth::mode::Mode;
use crate::auth::password::{Algorithm, hash_async, verify_async};
use crate::auth::revoked::Login;
use crate::auth::users;
use crate::http::list;

/// Settings of users who log in.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Whether a login is `required` or `optional`.
    pub mode: String,
    /// The table of the users, by its exposed name.
    pub users_table: String,
    /// The table or view that a login looks into; empty means the table of the users.
    pub login_table: String,
    /// The column of the name.
    pub username_column: String,
    /// The column of the password's hash.
    pub password_column: String,
    /// The columns of the record that a login answers with, separated by commas; empty means all but those that look like
    /// passwords and keys.
    pub returned_columns: String,
    /// The field of the name in bodies.
    pub username_form_field: String,
    /// The field of the password in bodies.
    pub password_form_field: String,
    /// The field of the new password in bodies.
    pub new_password_form_field: String,
    /// A column of whole numbers in the table of the users that says how often their sessions were ended: a logout and a
    /// change of the password count it up, and sessions of an earlier number are worth nothing, on every server and after
    /// a restart. Empty means that each server remembers in its memory which sessions have ended.
    pub session_column: String,
    /// Whether people can register: `1`, or a JSON object of columns that a new user gets; empty means no.
    pub register_user: String,
    /// Whether a new user is logged in at once.
    pub login_after_registration: bool,
    /// The least number of characters of a password.
    pub password_length: usize,
    /// How new passwords are hashed: `bcrypt` or `argon2id`.
    pub password_hash: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: "required".to_owned(),
            users_table: "users".to_owned(),
            login_table: String::new(),
            username_column: "username".to_owned(),
            password_column: "password".to_owned(),
            returned_columns: String::new(),
            username_form_field: "username".to_owned(),
            password_form_field: "password".to_owned(),
            new_password_form_field: "newPassword".to_owned(),
            session_column: String::new(),
            register_user: String::new(),
            login_after_registration: false,
            password_length: 12,
            password_hash: "bcrypt".to_owned(),
        }
    }
}

/// Users who log in.
pub struct DbAuth {
    options: Options,
    /// Whether a login is demanded.
    pub mode: Mode,
    algorithm: Algorithm,
    registration: Option<Map<String, Json>>,
}

/// What a body says.
pub struct Credentials {
    /// The name, empty if it is missing.
    pub username: String,
    /// The password, empty if it is missing.
    pub password: String,
    /// The new password, empty if it is missing.
    pub new_password: String,
}

/// A user who has shown the right password, or has just been made.
pub struct User {
    /// The record that is answered.
    pub shown: Map<String, Json>,
    /// The name, as the table has it.
    pub name: String,
    /// What `sessionColumn` holds.
    pub generation: String,
}

impl DbAuth {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options) -> Result<DbAuth, String> {
        let registration = match options.register_user.as_str() {
            "" => None,
            "1" => Some(Map::new()),
            text => Some(serde_json::from_str(text).map_err(|error| {
                format!("dbAuth.registerUser is neither 1 nor a JSON object of columns: {error}")
            })?),
        };
        let setting = |error: String| format!("dbAuth.passwordHash: {error}");
        Ok(DbAuth {
            mode: Mode::parse("dbAuth.mode", &options.mode)?,
            algorithm: Algorithm::parse(&options.password_hash).map_err(setting)?,
            registration,
            options: options.clone(),
        })
    }

    /// The credentials in a record that was sent.
    pub fn credentials(&self, record: &Record<'_>) -> Credentials {
        let field = |name: &str| match record.iter().find(|(known, _)| known == name) {
            Some((_, Cell::Text(text) | Cell::Number(text))) => text.to_string(),
            _ => String::new(),
        };
        Credentials {
            username: field(&self.options.username_form_field),
            password: field(&self.options.password_form_field),
            new_password: field(&self.options.new_password_form_field),
        }
    }

    /// The record of the user whose name and password these are; else 1012, after the same time whoever it is.
    pub async fn login(&self, snapshot: &Arc<Snapshot>, given: &Credentials) -> Result<User, Error> {
        let found =
            users::find(snapshot, self.login_table(), &self.options.username_column, &given.username).await?;
        let hash = found
            .as_ref()
            .and_then(|user| user.get(&self.options.password_column)?.as_str().map(str::to_owned));
        let is_right = verify_async(given.password.clone(), hash, self.algorithm).await?;
        match found.filter(|_| is_right) {
            Some(user) => self.user(snapshot, user).await,
            None => Err(Error::new(Code::AuthenticationFailed, &*given.username)),
        }
    }

    /// Makes a new user. The checks are in the order of SPEC 18.8.
    pub async fn register(&self, snapshot: &Arc<Snapshot>, given: &Credentials) -> Result<User, Error> {
        let Some(columns) = &self.registration else {
            return Err(Error::new(Code::AuthenticationFailed, &*given.username));
        };
        if given.username.trim().is_empty() {
            return Err(Error::new(Code::UsernameEmpty, ""));
        }
        self.check_length(&given.password)?;
        let (table, column) = (&*self.options.users_table, &*self.options.username_column);
        if users::find(snapshot, table, column, &given.username).await?.is_some() {
            return Err(Error::new(Code::UserAlreadyExists, &*given.username));
        }
        let hash = hash_async(given.password.clone(), self.algorithm).await?;
        let mut record: Record<'_> =
            columns.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), users::cell(value))).collect();
        record.retain(|(name, _)| name != column && *name != self.options.password_column);
        record.push((Cow::Borrowed(column), Cell::Text(Cow::Borrowed(&given.username))));
        record.push((Cow::Borrowed(&self.options.password_column), Cell::Text(Cow::Owned(hash))));
        users::create(snapshot, table, record).await?;
        let user = users::find(snapshot, table, column, &given.username).await?;
        self.user(snapshot, user.unwrap_or_default()).await
    }

    /// Gives the user a new password; the old one must be right.
    pub async fn change_password(
        &self,
        snapshot: &Arc<Snapshot>,
        given: &Credentials,
        logged_in: Option<&str>,
    ) -> Result<User, Error> {
        if logged_in != Some(&*given.username) {
            return Err(Error::new(Code::AuthenticationFailed, &*given.username));
        }
        self.check_length(&given.new_password)?;
        let mut user = self.login(snapshot, given).await?;
        let hash = hash_async(given.new_password.clone(), self.algorithm).await?;
        let column = Cow::Borrowed(&*self.options.password_column);
        user.generation =
            self.write(snapshot, &user.name, vec![(column, Cell::Text(Cow::Owned(hash)))]).await?;
        Ok(user)
    }

    /// Ends all sessions of a user, if the table of the users keeps count of them.
    pub async fn end_sessions(&self, snapshot: &Arc<Snapshot>, name: &str) -> Result<(), Error> {
        if !self.options.session_column.is_empty() {
            self.write(snapshot, name, Vec::new()).await?;
        }
        Ok(())
    }

    /// Whether the table of the users says that a login has not ended.
    pub async fn is_current(&self, snapshot: &Arc<Snapshot>, login: &Login) -> Result<bool, Error> {
        if self.options.session_column.is_empty() {
            return Ok(true);
        }
        let (table, column) = (&*self.options.users_table, &*self.options.username_column);
        let user = users::find(snapshot, table, column, &login.name).await?;
        Ok(user.is_some_and(|user| self.generation(&user) == login.generation))
    }

    /// Changes the record of a user, and counts up the number of their sessions; the new one.
    async fn write(
        &self,
        snapshot: &Arc<Snapshot>,
        name: &str,
        mut record: Record<'_>,
    ) -> Result<String, Error> {
        let table = &*self.options.users_table;
        let found = users::find(snapshot, table, &self.options.username_column, name).await?;
        let key = users::key_column(snapshot, table)
            .map(|key| users::text(found.as_ref().and_then(|user| user.get(key))));
        let key = key.ok_or_else(|| Error::new(Code::PrimaryKeyNotFound, table))?;
        let mut generation = String::new();
        if !self.options.session_column.is_empty() {
            let last: u64 = found.map_or(0, |user| self.generation(&user).parse().unwrap_or_default());
            generation = (last + 1).to_string();
            let column = Cow::Borrowed(&*self.options.session_column);
            record.push((column, Cell::Number(Cow::Owned(generation.clone()))));
        }
        users::update(snapshot, table, &key, record).await?;
        Ok(generation)
    }

    async fn user(&self, snapshot: &Arc<Snapshot>, record: Map<String, Json>) -> Result<User, Error> {
        let name = users::text(record.get(&self.options.username_column));
        let mut generation = self.generation(&record);
        // A view for logins need not have the column.
        if !self.options.login_table.is_empty() && !self.options.session_column.is_empty() {
            let (table, column) = (&*self.options.users_table, &*self.options.username_column);
            let user = users::find(snapshot, table, column, &name).await?;
            generation = user.map_or_else(String::new, |user| self.generation(&user));
        }
        Ok(User { shown: self.shown(record), name, generation })
    }

    fn generation(&self, user: &Map<String, Json>) -> String {
        users::text(user.get(&self.options.session_column))
    }

    /// Whether people can register and are then logged in at once.
    pub fn logs_in_new_users(&self) -> bool {
        self.options.login_after_registration
    }

    fn login_table(&self) -> &str {
        if self.options.login_table.is_empty() {
            &self.options.users_table
        } else {
            &self.options.login_table
        }
    }

    fn check_length(&self, password: &str) -> Result<(), Error> {
        let least = self.options.password_length;
        if password.len() < least {
            return Err(Error::new(Code::PasswordTooShort, least.to_string()));
        }
        Ok(())
    }

    /// The columns that are returned, in their order, and never the password.
    fn shown(&self, mut user: Map<String, Json>) -> Map<String, Json> {
        user.shift_remove(&self.options.password_column);
        user.shift_remove(&self.options.session_column);
        if self.options.returned_columns.is_empty() {
            user.retain(|name, _| !names_secret(name));
            return user;
        }
        let mut shown = Map::new();
        for name in list(&self.options.returned_columns) {
            if let Some(value) = user.get(name) {
                shown.insert(name.to_owned(), value.clone());
            }
        }
        shown
    }
}
