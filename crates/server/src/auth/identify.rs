//! identify(): who asks, by everything that a request shows.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::database::Snapshot;
use http::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use treeql::error::{Code, Error};
use treeql::policy::{Principal, names_secret};

use crate::auth::api_key::{self, ApiKeys, presented};
use crate::auth::basic::Basic;
use crate::auth::db_auth::DbAuth;
use crate::auth::jwt::Verifier;
use crate::auth::mode::Mode;
use crate::auth::session::{Session, Sessions};
use crate::auth::users;
use crate::http::header_name;

/// Settings of API keys that a table of the database holds.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DbKeyOptions {
    /// Whether a key is `required` or `optional`.
    pub mode: String,
    /// The header that carries the key.
    pub header: String,
    /// The table of the users, by its exposed name.
    pub users_table: String,
    /// The column of the key.
    pub api_key_column: String,
}

impl Default for DbKeyOptions {
    fn default() -> DbKeyOptions {
        DbKeyOptions {
            mode: "required".to_owned(),
            header: "X-API-Key".to_owned(),
            users_table: "users".to_owned(),
            api_key_column: "api_key".to_owned(),
        }
    }
}

/// API keys that a table of the database holds.
pub struct DbKeys {
    mode: Mode,
    header: HeaderName,
    table: String,
    column: String,
}

impl DbKeys {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &DbKeyOptions) -> Result<DbKeys, String> {
        Ok(DbKeys {
            mode: Mode::parse("apiKeyDbAuth.mode", &options.mode)?,
            header: header_name("apiKeyDbAuth.header", &options.header)?,
            table: options.users_table.clone(),
            column: options.api_key_column.clone(),
        })
    }

    async fn check<'a>(
        &self,
        headers: &'a HeaderMap,
        snapshot: &Arc<Snapshot>,
    ) -> Result<Option<(&'a str, Map<String, Json>)>, Error> {
        let Some(key) = presented(headers, &self.header, self.mode)? else { return Ok(None) };
        let user = users::find(snapshot, &self.table, &self.column, key).await?;
        // A collation may take other letters for the same: the key itself must be equal.
        let user = user.filter(|user| user.get(&self.column).and_then(Json::as_str) == Some(key));
        let user = user.map(|mut user| {
            // What is secret is no claim.
            user.retain(|name, _| *name != self.column && !names_secret(name));
            (key, user)
        });
        user.map(Some).ok_or_else(api_key::wrong)
    }
}

/// Every way to authenticate that is switched on.
pub struct Auth {
    /// Keys of the configuration.
    pub api_keys: Option<ApiKeys>,
    /// Keys of the database.
    pub db_keys: Option<DbKeys>,
    /// Users who log in.
    pub db_auth: Option<DbAuth>,
    /// Tokens.
    pub jwt: Option<Verifier>,
    /// Names and passwords of a file.
    pub basic: Option<Basic>,
    /// Cookies of those who have logged in.
    pub sessions: Sessions,
    /// Whether a token or a password begins a session, so that its cookie will do for later requests.
    pub remembers: bool,
}

/// What was found out about who asks.
pub struct Identity<'a> {
    /// Who asks, or why not.
    pub result: Result<Principal, Error>,
    /// A name of who asks that stays the same, if they have one.
    pub user: Option<String>,
    /// The API key that was verified.
    pub key: Option<&'a str>,
    /// The session after this request.
    pub session: Session,
    /// Headers that the answer must have.
    pub headers: HeaderMap,
}

/// What identify works on.
struct Seen<'a> {
    headers: &'a HeaderMap,
    snapshot: &'a Arc<Snapshot>,
    now: u64,
    claims: Map<String, Json>,
    is_known: bool,
    user: Option<String>,
    key: Option<&'a str>,
}

impl Auth {
    /// The present, in seconds since 1970, unless tests have stopped the clock.
    pub fn now(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.jwt.as_ref().map_or(now, |jwt| jwt.time(now))
    }

    /// Who asks. `is_login` says that the request is one by which people log in, which nobody must have done before.
    pub async fn identify<'a>(
        &self,
        headers: &'a HeaderMap,
        snapshot: &'a Arc<Snapshot>,
        is_secure: bool,
        is_login: bool,
    ) -> Identity<'a> {
        let now = self.now();
        let before = self.sessions.decode(headers, now).unwrap_or_default();
        let mut session = before.clone();
        let mut seen =
            Seen { headers, snapshot, now, claims: Map::new(), is_known: false, user: None, key: None };
        let mut answer = HeaderMap::new();
        let result = self.ways(&mut seen, &mut session, &mut answer, is_login).await;
        if session != before
            && let Err(error) = self.put_cookie(&session, now, is_secure, &mut answer)
        {
            return Identity { result: Err(error), user: None, key: None, session, headers: answer };
        }
        let result = result.map(|()| {
            if seen.is_known { Principal::from_claims(&seen.claims) } else { Principal::anonymous() }
        });
        Identity { result, user: seen.user, key: seen.key, session, headers: answer }
    }

    /// Adds the cookie that keeps a session, or ends it.
    pub fn put_cookie(
        &self,
        session: &Session,
        now: u64,
        is_secure: bool,
        headers: &mut HeaderMap,
    ) -> Result<(), Error> {
        let cookie = if session.is_empty() {
            self.sessions.clear(is_secure)
        } else {
            self.sessions.encode(session, now, is_secure)?
        };
        headers.append(http::header::SET_COOKIE, cookie);
        Ok(())
    }

    async fn ways(
        &self,
        seen: &mut Seen<'_>,
        session: &mut Session,
        answer: &mut HeaderMap,
        is_login: bool,
    ) -> Result<(), Error> {
        if let Some(keys) = &self.api_keys {
            seen.key = keys.check(seen.headers)?;
            seen.is_known |= seen.key.is_some();
        }
        if let Some(keys) = &self.db_keys {
            let found = keys.check(seen.headers, seen.snapshot).await?;
            seen.key = seen.key.or(found.as_ref().map(|(key, _)| *key));
            seen.add(found.map(|(_, user)| user));
        }
        if let Some(users) = &self.db_auth {
            if session.user.is_some() && !Box::pin(self.is_current(users, session, seen.snapshot)).await? {
                *session = Session::default();
            }
            seen.user = session.login.as_ref().map(|login| login.name.clone());
            let user = session.user.as_deref().and_then(|user| serde_json::from_str(user).ok());
            let is_required = users.mode.is_required() && !is_login;
            seen.require(user, is_required)?;
        }
        if let Some(jwt) = &self.jwt {
            Box::pin(self.token(jwt, seen, session)).await?;
        }
        if let Some(basic) = &self.basic {
            self.password(basic, seen, session, answer).await?;
        }
        Ok(())
    }

    /// Whether the login of a session has not ended, here or by what the database says.
    async fn is_current(
        &self,
        users: &DbAuth,
        session: &Session,
        snapshot: &Arc<Snapshot>,
    ) -> Result<bool, Error> {
        match &session.login {
            Some(login) if !self.sessions.revoked.has(login) => users.is_current(snapshot, login).await,
            _ => Ok(false),
        }
    }

    /// compat: a bad token ends what an earlier one began (SPEC 18.1).
    async fn token(&self, jwt: &Verifier, seen: &mut Seen<'_>, session: &mut Session) -> Result<(), Error> {
        let checked = jwt.check(seen.headers, seen.now).await.inspect_err(|_error| session.claims = None)?;
        let fresh = checked.map(|claims| Map::clone(&claims));
        if self.remembers && fresh.is_some() {
            session.claims.clone_from(&fresh);
        }
        let claims = fresh.or_else(|| session.claims.clone());
        if seen.user.is_none() {
            let subject = claims.as_ref().and_then(|claims| claims.get("sub"));
            seen.user = subject.and_then(Json::as_str).map(str::to_owned);
        }
        seen.require(claims, jwt.mode().is_required())
    }

    async fn password(
        &self,
        basic: &Basic,
        seen: &mut Seen<'_>,
        session: &mut Session,
        answer: &mut HeaderMap,
    ) -> Result<(), Error> {
        let checked = basic.check(seen.headers).await.inspect_err(|_error| session.username = None)?;
        if self.remembers && checked.is_some() {
            session.username.clone_from(&checked);
        }
        let name = checked.or_else(|| session.username.clone());
        seen.user = seen.user.take().or_else(|| name.clone());
        let claims = name.map(|name| Map::from_iter([("username".to_owned(), Json::String(name))]));
        seen.require(claims, basic.mode().is_required()).inspect_err(|_error| {
            answer.insert(http::header::WWW_AUTHENTICATE, HeaderValue::clone(&basic.challenge()));
        })
    }
}

impl Seen<'_> {
    /// The first way that knows something about somebody decides what: two of them are never mixed, or the role of one
    /// person would meet the tenant of another.
    fn add(&mut self, claims: Option<Map<String, Json>>) {
        if let Some(claims) = claims {
            self.is_known = true;
            if self.claims.is_empty() {
                self.claims = claims;
            }
        }
    }

    /// Adds claims; without any, 1011 if they are required.
    fn require(&mut self, claims: Option<Map<String, Json>>, is_required: bool) -> Result<(), Error> {
        if claims.is_none() && is_required {
            return Err(Error::new(Code::AuthenticationRequired, ""));
        }
        self.add(claims);
        Ok(())
    }
}
