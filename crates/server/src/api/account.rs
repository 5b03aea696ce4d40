//! Accounts: login, register, password, logout and me, if users can log in (SPEC 18.8).

use http::Method;
use serde_json::{Map, Value as Json};
use treeql::error::{Code, Error};
use treeql::request::RecordBatch;

use crate::api::context::Context;
use crate::auth::db_auth::{Credentials, DbAuth};
use crate::auth::revoked::Login;
use crate::auth::session::{Session, Sessions};
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
    (users, sessions): (&DbAuth, &Sessions),
    session: &mut Session,
    account: Account,
) -> Result<Response, Error> {
    let nobody = || Error::new(Code::AuthenticationRequired, "");
    if account == Account::Me {
        return session.user.clone().map(Response::json).ok_or_else(nobody);
    }
    if account == Account::Logout {
        let Session { user: Some(user), login: Some(login), .. } = std::mem::take(session) else {
            return Err(nobody());
        };
        sessions.revoked.end(&login);
        users.end_sessions(&context.snapshot, &login.name).await?;
        return Ok(Response::json(user));
    }
    let given = credentials(context, body, users).await?;
    let snapshot = &context.snapshot;
    let user = match account {
        Account::Login => users.login(snapshot, &given).await?,
        Account::Register => users.register(snapshot, &given).await?,
        _ => {
            let name = session.login.as_ref().map(|login| &*login.name);
            users.change_password(snapshot, &given, name).await?
        }
    };
    let document = document(&user.shown);
    if account == Account::Password {
        // Whoever has a copy of the cookie must not stay.
        let end = sessions.revoked.end_user(&user.name);
        session.login = Some(Login::new(user.name, user.generation, end)?);
    } else if account == Account::Login || users.logs_in_new_users() {
        session.user = Some(document.clone());
        session.login = Some(Login::new(user.name, user.generation, 0)?);
    }
    Ok(Response::json(document))
}

async fn credentials(context: &Context<'_>, body: Incoming, users: &DbAuth) -> Result<Credentials, Error> {
    let bytes = body.read(context.limits.body_bytes).await?;
    let batch = RecordBatch::parse(&bytes, context.body_kind(), 1, context.mode())?;
    Ok(users.credentials(batch.records.first().unwrap_or(&Vec::new())))
}

fn document(user: &Map<String, Json>) -> String {
    serde_json::to_string(user).unwrap_or_default()
}
