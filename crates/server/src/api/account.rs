//! Accounts: login, register, password, logout and me, if users can log in (SPEC 18.8).

use http::Method;
use serde_json::{Map, Value as Json};
use treeql::error::{Code, Error};
use treeql::request::RecordBatch;

use crate::api::context::Context;
use crate::auth::db_auth::{Credentials, DbAuth};
use crate::auth::session::Session;
use crate::http::{Incoming, Response};

/// What a request about an account asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// `POST /login`.
    Login,
    /// `POST /register`.
    Register,
    /// `POST /password`.
    Password,
    /// `POST /logout`.
    Logout,
    /// `GET /me`.
    Me,
}

impl Account {
    /// What a request asks for; only the first segment of the path counts.
    pub fn of(method: &Method, path: &str) -> Option<Account> {
        let first = path.trim_start_matches('/').split('/').next()?;
        match (method, first) {
            (&Method::POST, "login") => Some(Account::Login),
            (&Method::POST, "register") => Some(Account::Register),
            (&Method::POST, "password") => Some(Account::Password),
            (&Method::POST, "logout") => Some(Account::Logout),
            (&Method::GET, "me") => Some(Account::Me),
            _ => None,
        }
    }

    /// Whether it is asked by those who have not logged in yet.
    pub fn is_for_strangers(self) -> bool {
        self != Account::Password
    }
}

/// Answers a request about an account; what changes of who is logged in changes in `session`.
pub async fn answer(
    context: &Context<'_>,
    body: Incoming,
    users: &DbAuth,
    session: &mut Session,
    account: Account,
) -> Result<Response, Error> {
    let nobody = || Error::new(Code::AuthenticationRequired, "");
    if account == Account::Me {
        return session.user.clone().map(Response::json).ok_or_else(nobody);
    }
    if account == Account::Logout {
        let user = session.user.take().ok_or_else(nobody)?;
        *session = Session::default();
        return Ok(Response::json(user));
    }
    let given = credentials(context, body, users).await?;
    let snapshot = &context.snapshot;
    let user = match account {
        Account::Login => users.login(snapshot, &given).await?,
        Account::Register => users.register(snapshot, &given).await?,
        _ => users.change_password(snapshot, &given, logged_in(users, session).as_deref()).await?,
    };
    let document = document(&user);
    if account == Account::Login || (account == Account::Register && users.logs_in_new_users()) {
        session.user = Some(document.clone());
    }
    Ok(Response::json(document))
}

async fn credentials(context: &Context<'_>, body: Incoming, users: &DbAuth) -> Result<Credentials, Error> {
    let bytes = body.read(context.limits.body_bytes).await?;
    let batch = RecordBatch::parse(&bytes, context.body_kind(), 1, context.mode())?;
    Ok(users.credentials(batch.records.first().unwrap_or(&Vec::new())))
}

fn logged_in(users: &DbAuth, session: &Session) -> Option<String> {
    let user: Map<String, Json> = serde_json::from_str(session.user.as_deref()?).ok()?;
    users.username(&user)
}

fn document(user: &Map<String, Json>) -> String {
    serde_json::to_string(user).unwrap_or_default()
}
