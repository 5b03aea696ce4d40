//! Options: every setting with its default; the descriptions become docs/configuration.md.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::identify::DbKeyOptions;
use crate::auth::{api_key, basic, db_auth, jwt, session};
use crate::config::policy_options::{
    Authorization, IpAddress, JoinLimits, MultiTenancy, PageLimits, TextSearch,
};
use crate::config::record_options::{Sanitation, Validation};
use crate::http::tls;
use crate::middleware::{ajax_only, cors, firewall, json, metrics, rate_limit, reconnect, xml, xsrf};

/// All settings.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// The database to serve: a SQLite file (`shop.db`), `mysql://user@host/database` or `postgres://user@host/database`.
    pub database: String,
    /// The kind of the database, `mysql`, `pgsql` or `sqlite`, if `database` is its name only, as in php-crud-api.
    pub driver: String,
    /// With `driver`: the host of the database (default `localhost`), or the SQLite file (default `data.db`).
    pub address: String,
    /// With `driver`: the port of the database; 0 for its usual one.
    pub port: u16,
    /// With `driver`: the user of the database.
    pub username: String,
    /// With `driver`: the password of that user.
    pub password: String,
    /// The password of the database user, if it is not part of `database`.
    pub database_password: String,
    /// A file that holds the password of the database user, and nothing else.
    pub database_password_file: String,
    /// Most connections of this process to a database server, all workers together; 0 means one
    /// that watches the schema and eight for each worker, of more than four workers 32 or four for each.
    pub pool_size: PoolSize,
    /// Seconds after which changes of the schema by others are noticed, at the latest.
    pub cache_time: CacheTime,
    /// Whether reads of single records that arrive at the same moment are put to a database server as one statement. It
    /// changes no answer; SQLite has no use for it.
    pub merge_reads: MergeReads,
    /// Address and port to listen on. The default can be reached from this machine only.
    pub listen: Listen,
    /// Encrypted connections.
    pub tls: tls::Options,
    /// Number of worker threads; 0 means one per core.
    pub workers: u16,
    /// Whether input that is not understood is an error that says so. `false` does what php-crud-api does.
    pub strict: Strict,
    /// Real names of the tables to publish, separated by commas; `all` publishes every table.
    pub tables: Tables,
    /// Columns to publish though they look like passwords or keys: exposed names, separated by commas, each `column` or
    /// `table.column`; `*` for all. Others of the kind do not exist for callers (docs/security.md).
    pub publish_secrets: String,
    /// Other names for tables and columns: `real=exposed` pairs separated by commas, each side `table` or
    /// `table.column`.
    pub mapping: String,
    /// Primary keys that the catalog does not have, as of views: `table=column` pairs separated by commas, columns of
    /// one key joined by `+`.
    pub primary_keys: String,
    /// Relations that the catalog does not have: `table.column=table.column` pairs separated by commas; the second
    /// column must be unique.
    pub foreign_keys: String,
    /// Keys that the server makes for records that come without one: `table=random53` or `table=uuidv7` pairs separated
    /// by commas. For engines whose own keys do not hold across servers.
    pub ids: String,
    /// Whether whole numbers of 64 bits are JSON strings, for readers whose numbers end at 53 bits, as JavaScript's.
    pub big_integers_as_strings: bool,
    /// Path prefix under which the API lives, for example `/api`.
    pub base_path: String,
    /// Groups of paths that exist, separated by commas: `records`, `geojson`, `openapi`, `status`, `health`, and those that
    /// are off unless they are named: `cache`, and `columns`, with which callers change tables.
    pub controllers: Controllers,
    /// Members of the description at `/openapi` that are not made from the schema, as a JSON object: `info` with `title`
    /// and `version`, and perhaps `servers`.
    pub open_api_base: OpenApiBase,
    /// Whether a browser that asks for `/` gets a page with the tables, requests to try and the description of the API,
    /// instead of JSON. The page shows what `/openapi` says, so that has to be among `controllers`.
    pub explorer: Explorer,
    /// Reference system of shapes in requests, as an EPSG number.
    pub geometry_srid: Srid,
    /// Middlewares that are switched on, separated by commas: `sslRedirect`, `firewall`, `cors`, `ajaxOnly`, `xsrf`,
    /// `apiKeyAuth`, `apiKeyDbAuth`, `dbAuth`, `jwtAuth`, `basicAuth`, `reconnect`, `authorization`, `sanitation`, `validation`,
    /// `ipAddress`, `multiTenancy`, `pageLimits`, `joinLimits`, `textSearch`, `json`, `xml`. Their order does not matter: the
    /// order of the pipeline is fixed.
    pub middlewares: Middlewares,
    /// Which addresses are let in.
    pub firewall: firewall::Options,
    /// Which pages may read answers.
    pub cors: cors::Options,
    /// Whether writes come from scripts only.
    pub ajax_only: ajax_only::Options,
    /// Whether writes repeat a token.
    pub xsrf: xsrf::Options,
    /// How often somebody may ask.
    pub rate_limit: rate_limit::Options,
    /// Keys of the configuration.
    pub api_key_auth: api_key::Options,
    /// Keys of the database.
    pub api_key_db_auth: DbKeyOptions,
    /// Users who log in.
    pub db_auth: db_auth::Options,
    /// Tokens.
    pub jwt_auth: jwt::Options,
    /// Names and passwords of a file.
    pub basic_auth: basic::Options,
    /// Cookies of those who have logged in.
    pub session: session::Options,
    /// A database for each tenant.
    pub reconnect: reconnect::Options,
    /// Who may do what.
    pub authorization: Authorization,
    /// Columns whose value comes from who asks.
    pub multi_tenancy: MultiTenancy,
    /// Columns that take the address of the client.
    pub ip_address: IpAddress,
    /// How far and how much can be listed.
    pub page_limits: PageLimits,
    /// How much can be joined.
    pub join_limits: JoinLimits,
    /// What is done to values before they are checked.
    pub sanitation: Sanitation,
    /// What values must be.
    pub validation: Validation,
    /// A search through all text columns.
    pub text_search: TextSearch,
    /// JSON in text columns.
    pub json: json::Options,
    /// Bodies in XML.
    pub xml: xml::Options,
    /// What is counted, for Prometheus.
    pub metrics: metrics::Options,
    /// What is logged.
    pub log: Log,
    /// Bounds of what one caller can ask for.
    pub limits: Limits,
}

/// What is logged, to standard error.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Log {
    /// How log lines look: `human` or `json`.
    pub format: String,
    /// The least severe lines that are logged: `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
    /// Whether each request is logged, with status and time.
    pub requests: bool,
}

impl Default for Log {
    fn default() -> Log {
        Log { format: "human".to_owned(), level: "info".to_owned(), requests: false }
    }
}

/// Bounds of what one caller can ask for. What goes beyond is answered with an error that names the bound.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Bytes of a request body.
    pub body_bytes: u64,
    /// Records in one request.
    pub batch_rows: usize,
    /// Ids in one path.
    pub ids: usize,
    /// Bytes of the body of an import: CSV, lines of JSON, or JSON of which counts are answered. They are kept in the
    /// directory for temporary files until all have arrived.
    pub import_bytes: u64,
    /// Seconds that an import may be written; on SQLite other writes wait so long.
    pub import_seconds: u64,
    /// Tables in one path of a join or of a filter.
    pub join_depth: usize,
    /// Tables in all joins of one request.
    pub join_tables: usize,
    /// Rows of one list; 0 means as many as there are, streamed. Whoever asks for more is told so; lenient, the list ends
    /// there, as one does for which nothing is asked.
    pub list_rows: i64,
    /// Bytes of one answer of `/records`; 0 means as many as there are, streamed.
    pub answer_bytes: usize,
    /// Seconds that the database may work on a statement; 0 means as long as it takes. On SQLite it bounds reads.
    pub statement_seconds: u64,
    /// Seconds for which it goes on serving after Ctrl-C or SIGTERM, while `/health/ready` says that it is not ready; as
    /// many as balancers need to notice.
    pub drain_delay_seconds: u64,
    /// Seconds that requests in flight have to end after that.
    pub drain_seconds: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes: 16 * 1024 * 1024,
            batch_rows: 10_000,
            ids: 5_000,
            import_bytes: 16 * 1024 * 1024 * 1024,
            import_seconds: 600,
            join_depth: 8,
            join_tables: 32,
            list_rows: 0,
            answer_bytes: 0,
            statement_seconds: 0,
            drain_delay_seconds: 0,
            drain_seconds: 30,
        }
    }
}

/// A setting of a plain type whose default is not that of the type.
macro_rules! setting {
    ($name:ident, $type:ty, $default:expr) => {
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(inline)]
        pub struct $name(pub $type);

        impl Default for $name {
            fn default() -> $name {
                $name($default)
            }
        }
    };
}

setting!(Listen, String, "127.0.0.1:8080".to_owned());
setting!(Strict, bool, true);
setting!(Tables, String, "all".to_owned());
setting!(Controllers, String, "records,geojson,openapi,status,health".to_owned());
setting!(OpenApiBase, String, r#"{"info":{"title":"Rowcast","version":"1.0.0"}}"#.to_owned());
setting!(Explorer, bool, true);
setting!(Srid, u32, 4326);
setting!(Middlewares, String, "cors".to_owned());
setting!(PoolSize, u32, 0);
setting!(CacheTime, u64, 10);
setting!(MergeReads, bool, true);
