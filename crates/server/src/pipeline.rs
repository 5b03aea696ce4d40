//! The pipeline: every station that a request passes, in order. This is the page to know.

use std::borrow::Cow;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::database::{Database, Snapshot};
use http::{Method, StatusCode};
use treeql::error::{Code, Error};
use treeql::mode::Mode;
use treeql::policy::{Principal, Rules};

use crate::api::{
    Account, Context, Controller, Documents, Explorer, Health, Limits, RecordRules, answer_account, route,
};
use crate::auth::{Auth, Identity};
use crate::http::{Answer, Head, Incoming, Response, compress};
use crate::log;
use crate::middleware::buckets::Standing;
use crate::middleware::firewall::client_ip;
use crate::middleware::metrics::{Counter, Metrics};
use crate::middleware::reconnect::Reconnect;
use crate::middleware::xml::Xml;
use crate::middleware::{Stations, exposition, ssl_redirect};

/// The whole state of the server, as a worker sees it.
pub struct Pipeline {
    /// The database.
    pub database: Arc<Database>,
    /// The databases of tenants, if each has one.
    pub tenants: Option<Arc<Reconnect>>,
    /// Path prefix of the API.
    pub base_path: String,
    /// Groups of paths that exist.
    pub controllers: Vec<Controller>,
    /// Bounds of requests.
    pub limits: Limits,
    /// The middlewares that look at the head of a message.
    pub stations: Arc<Stations>,
    /// How people say who they are; `None` if nobody can.
    pub auth: Option<Arc<Auth>>,
    /// What is done to records before they are written.
    pub record_rules: Arc<RecordRules>,
    /// Who may do what.
    pub rules: Arc<Rules>,
    /// Descriptions of the API.
    pub documents: Arc<Documents>,
    /// The page for people at `/`, if there is one.
    pub explorer: Option<Explorer>,
    /// What balancers ask for.
    pub health: Arc<Health>,
    /// What counts requests, if metrics are switched on.
    pub counter: Option<Counter>,
    /// Where metrics can be read here, and what they are.
    pub metrics: Option<(String, Arc<Metrics>)>,
    /// Whether each request is logged.
    pub log_requests: bool,
}

impl Answer for Rc<Pipeline> {
    async fn answer(&self, head: Head, body: Incoming) -> Response {
        self.handle(head, body).await
    }
}

impl Pipeline {
    /// Answers a request, whatever happens.
    async fn handle(&self, head: Head, body: Incoming) -> Response {
        let path = self.path(head.path());
        if path.starts_with("/health")
            && self.controllers.contains(&Controller::Health)
            && let Some(response) = Box::pin(self.health.answer(&head, path, &self.database)).await
        {
            return response;
        }
        let start = (self.log_requests || self.counter.is_some()).then(Instant::now);
        let mut standing = None;
        let mut response = match self.stations(&head, body, &mut standing).await {
            Ok(response) => response,
            Err(error) => self.error(&error),
        };
        if let Some(xsrf) = &self.stations.xsrf {
            xsrf.finish(head.headers(), self.is_secure(&head), &mut response.headers);
        }
        if let Some(limit) = &self.stations.rate_limit {
            limit.finish(standing, &mut response.headers);
        }
        if let Some(cors) = &self.stations.cors {
            cors.finish(head.headers(), &mut response.headers);
        }
        if let Some(xml) = self.stations.xml.filter(|_| Xml::is_asked(&head)) {
            response = xml.answer(response, self.mode());
        }
        compress(head.headers(), &mut response);
        if let Some(start) = start {
            self.note(&head, response.status, start.elapsed());
        }
        response
    }

    /// Logs and counts a request that is answered, if that is asked for.
    fn note(&self, head: &Head, status: StatusCode, time: Duration) {
        if self.log_requests {
            log::request(head.method().as_str(), head.path(), status.as_u16(), time);
        }
        if let Some(counter) = &self.counter {
            let exists = |table: &str| self.database.snapshot().schema.find(table).is_some();
            counter.count((head.method(), self.path(head.path())), status, time, exists);
        }
    }

    /// The stations, in their order. Each may answer; what comes later never sees what an earlier one refused.
    async fn stations(
        &self,
        head: &Head,
        body: Incoming,
        standing: &mut Option<Standing>,
    ) -> Result<Response, Error> {
        let on = &*self.stations;
        if on.ssl_redirect
            && let Some(response) = ssl_redirect::check(head.headers(), head.is_tls(), head.target())?
        {
            return Ok(response);
        }
        let client = head.peer().address.and_then(|peer| client_ip(head.headers(), peer, on.reverse_proxy));
        if let Some(firewall) = &on.firewall {
            firewall.check(client)?;
        }
        if let Some(cors) = &on.cors
            && let Some(preflight) = cors.check(head.method(), head.headers())?
        {
            return Ok(preflight);
        }
        if let Some(ajax_only) = &on.ajax_only {
            ajax_only.check(head.method(), head.headers())?;
        }
        if let Some(xsrf) = &on.xsrf {
            xsrf.check(head.method(), head.headers())?;
        }
        if let Some(limit) = &on.rate_limit {
            limit.before(client, Instant::now(), standing)?;
        }
        if let Some(explorer) = &self.explorer
            && let Some(page) = explorer.answer(head, self.path(head.path()))
        {
            return Ok(page);
        }
        let snapshot = self.database.snapshot();
        match &self.auth {
            Some(auth) => Box::pin(self.known(auth, head, body, snapshot, client, standing)).await,
            None => {
                if let Some(limit) = &on.rate_limit {
                    limit.after(client, None, None, Instant::now(), standing)?;
                }
                self.serve(head, body, snapshot, &Principal::anonymous(), client).await
            }
        }
    }

    /// Finds out who asks, answers, and keeps what has changed of their session.
    async fn known(
        &self,
        auth: &Auth,
        head: &Head,
        body: Incoming,
        snapshot: Arc<Snapshot>,
        client: Option<IpAddr>,
        standing: &mut Option<Standing>,
    ) -> Result<Response, Error> {
        let account = auth.db_auth.as_ref().and_then(|_| Account::of(head.method(), self.path(head.path())));
        let is_secure = self.is_secure(head);
        let is_login = account.is_some_and(Account::is_for_strangers);
        let Identity { result, user, key, session, headers } =
            auth.identify(head.headers(), &snapshot, is_secure, is_login).await;
        let limit = self.stations.rate_limit.as_ref();
        let note = |error: &Error| match limit {
            Some(limit) if error.code == Code::AuthenticationFailed => limit.failed(client, Instant::now()),
            _ => {}
        };
        let counted = match limit {
            Some(limit) => limit.after(client, user.as_deref(), key, Instant::now(), standing),
            None => Ok(()),
        };
        let result = result.inspect_err(note).and_then(|principal| counted.map(|()| principal));
        let mut response = match (result, account, &auth.db_auth) {
            (Err(error), ..) => self.error(&error),
            (Ok(principal), Some(account), Some(users)) => {
                let mut after = session.clone();
                let address = self.address(head, client);
                let context = self.context(head, snapshot, &principal, &address);
                let stores = (users, &auth.sessions);
                let answer = Box::pin(answer_account(&context, body, stores, &mut after, account)).await;
                let mut response = answer.inspect_err(note).unwrap_or_else(|error| self.error(&error));
                if after != session {
                    auth.put_cookie(&after, auth.now(), is_secure, &mut response.headers)?;
                }
                response
            }
            (Ok(principal), ..) => {
                let answer = self.serve(head, body, snapshot, &principal, client).await;
                answer.unwrap_or_else(|error| self.error(&error))
            }
        };
        // A login has set a cookie of its own, which is newer than what identify knew.
        for (name, value) in &headers {
            if !response.headers.contains_key(name) {
                response.headers.append(name, value.clone());
            }
        }
        Ok(response)
    }

    async fn serve(
        &self,
        head: &Head,
        body: Incoming,
        mut snapshot: Arc<Snapshot>,
        principal: &Principal,
        client: Option<IpAddr>,
    ) -> Result<Response, Error> {
        if let Some(paths) = &self.stations.paths {
            paths.check(principal, head.method(), self.path(head.path()))?;
        }
        // After authentication, because metrics tell which tables there are.
        if let Some((_, metrics)) = self.metrics.as_ref().filter(|(path, _)| self.path(head.path()) == *path)
            && *head.method() == Method::GET
        {
            return Ok(exposition::answer(metrics, &self.database));
        }
        if let Some(tenants) = &self.tenants {
            snapshot = Box::pin(tenants.snapshot(principal)).await?;
        }
        let address = self.address(head, client);
        let context = self.context(head, snapshot, principal, &address);
        route(&context, body, self.path(head.path()), &self.controllers).await
    }

    fn context<'a>(
        &'a self,
        head: &'a Head,
        snapshot: Arc<Snapshot>,
        principal: &'a Principal,
        address: &'a str,
    ) -> Context<'a> {
        let policy = self.rules.policy(principal);
        let (record_rules, base_path) = (&self.record_rules, &*self.base_path);
        Context {
            head,
            database: &self.database,
            snapshot,
            policy,
            principal,
            address,
            record_rules,
            json: self.stations.json.as_ref(),
            is_xml: self.stations.xml.is_some() && Xml::is_asked(head),
            documents: &self.documents,
            base_path,
            limits: &self.limits,
        }
    }

    /// The address of the client as text.
    ///
    /// speed: that of the connection is text already, and making it cost 1,300 instructions (docs/performance.md).
    fn address<'a>(&self, head: &'a Head, client: Option<IpAddr>) -> Cow<'a, str> {
        match client {
            Some(client) if self.stations.reverse_proxy => client.to_string().into(),
            Some(_) => Cow::Borrowed(&head.peer().text),
            None => Cow::Borrowed(""),
        }
    }

    fn error(&self, error: &Error) -> Response {
        Response::error(error, self.mode())
    }

    fn is_secure(&self, head: &Head) -> bool {
        ssl_redirect::is_secure(head.headers(), head.is_tls())
    }

    /// The path after the prefix of the API (SPEC 2.1).
    fn path<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(&self.base_path).unwrap_or(path)
    }

    fn mode(&self) -> Mode {
        self.database.options().mode
    }
}
