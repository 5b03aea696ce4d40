//! The description of an API holds what a principal may do, and nothing that they may not see.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of a test program for no test")]

use serde_json::{Map, Value as Json, json};
use treeql::mode::Mode;
use treeql::openapi::{Asked, Groups, Surface, Version, describe};
use treeql::policy::{Names, Operations, Policy, Principal, Rule, Rules};
use treeql::schema::{ColumnType, Publication, RawTable, Schema, TableKind};
use treeql::sql::Dialect;

use crate::schema::{table, with_references};

#[path = "support/schema.rs"]
mod schema;

const VERSIONS: [Version; 2] = [Version::V3_0, Version::V3_1];

fn tables() -> Vec<RawTable> {
    use ColumnType::{
        Bigint, Blob, Boolean, Clob, Date, Decimal, Double, Geometry, Integer, Timestamp, Varchar,
    };
    let view = RawTable {
        kind: TableKind::View,
        key_columns: Vec::new(),
        ..table("totals", &[("tag", Varchar), ("count", Clob)])
    };
    let visits = RawTable {
        key_columns: vec![0, 1],
        ..table("visits", &[("day", Date), ("page", Varchar), ("hits", Bigint)])
    };
    let post_tags = table("post_tags", &[("id", Integer), ("post_id", Integer), ("tag_id", Integer)]);
    let posts = [
        ("id", Integer),
        ("user_id", Integer),
        ("title", Varchar),
        ("price", Decimal),
        ("rating", Double),
        ("icon", Blob),
        ("place", Geometry),
        ("at", Timestamp),
        ("published", Boolean),
    ];
    vec![
        with_references(table("posts", &posts), &[("user_id", "people")]),
        with_references(post_tags, &[("post_id", "posts"), ("tag_id", "tags")]),
        table("tags", &[("id", Integer), ("name", Varchar)]),
        table("people", &[("id", Integer), ("name", Varchar), ("secret", Varchar)]),
        table("kunsthåndværk", &[("id", Varchar), ("navn", Varchar)]),
        visits,
        view,
    ]
}

fn document(policy: &Policy, dialect: Dialect, mode: Mode, version: Version) -> Json {
    let first_of_composite_key = dialect.first_of_composite_key();
    let publication = Publication { first_of_composite_key, ..Publication::default() };
    let schema = Schema::build(tables(), &publication).unwrap();
    let base = json!({"info": {"title": "Test", "version": "1"}}).as_object().unwrap().clone();
    let groups = Groups { records: true, geojson: true, status: true, cache: true, health: true };
    let surface = Surface { base, groups, ..Surface::default() };
    let asked = Asked { schema: &schema, policy, dialect, mode, surface: &surface, version };
    serde_json::from_str(&describe(&asked).text("http://localhost")).unwrap()
}

fn open() -> Json {
    document(&Policy::default(), Dialect::Postgres, Mode::Strict, Version::V3_0)
}

/// What anonymous people may do under these rules.
fn ruled(rules: &[(&str, &str, &str)]) -> Json {
    let rules = rules.iter().map(|(tables, allow, hide)| Rule {
        tables: Names::parse(tables),
        allow: Operations::parse(allow).unwrap(),
        hide: Names::parse(hide),
        ..Rule::open()
    });
    let rules = Rules::new(Policy::default(), Some(rules.collect()), Vec::new());
    let policy = rules.policy(&Principal::anonymous());
    document(&policy, Dialect::Postgres, Mode::Strict, Version::V3_0)
}

fn keys(value: &Json) -> Vec<&str> {
    value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Calls `look` with every object of a document.
fn walk(value: &Json, look: &mut impl FnMut(&Map<String, Json>)) {
    match value {
        Json::Object(object) => {
            look(object);
            object.values().for_each(|value| walk(value, look));
        }
        Json::Array(items) => items.iter().for_each(|value| walk(value, look)),
        _ => {}
    }
}

#[test]
fn names_are_those_that_clients_of_the_reference_know() {
    let document = open();
    assert_eq!(keys(&document), ["info", "openapi", "servers", "paths", "components", "tags"]);
    assert_eq!(document["openapi"], "3.0.3");
    assert_eq!(keys(&document["paths"]["/records/posts"]), ["get", "post"]);
    assert_eq!(keys(&document["paths"]["/records/posts/{id}"]), ["get", "put", "delete", "patch"]);
    let list = &document["paths"]["/records/posts"]["get"];
    assert_eq!(list["operationId"], "list_posts");
    assert_eq!(list["description"], "list posts");
    assert_eq!(list["tags"], json!(["posts"]));
    let parameters: Vec<&str> =
        list["parameters"].as_array().unwrap().iter().filter_map(|p| p["$ref"].as_str()).collect();
    let expected = ["filter", "include", "exclude", "order", "size", "page", "join"];
    assert_eq!(parameters, expected.map(|name| format!("#/components/parameters/{name}")));
    assert_eq!(list["responses"]["200"]["$ref"], "#/components/responses/list-posts");
    let kunst = &document["paths"]["/records/kunsthåndværk"]["post"];
    assert_eq!(kunst["operationId"], "create_kunsthandvaerk");
    assert_eq!(kunst["requestBody"]["$ref"], "#/components/requestBodies/create-kunsthandvaerk");
    assert_eq!(kunst["responses"]["200"]["$ref"], "#/components/responses/pk_string");
    let columns =
        &document["components"]["schemas"]["list-posts"]["properties"]["records"]["items"]["properties"];
    assert_eq!(columns["user_id"]["type"], "integer");
    assert_eq!(columns["user_id"]["x-references"], "people");
    assert_eq!(columns["id"]["x-primary-key"], true);
    assert_eq!(columns["id"]["x-referenced"], json!(["post_tags.post_id"]));
    assert_eq!(document["paths"]["/status/ping"]["get"]["operationId"], "ping_status");
}

#[test]
fn a_view_without_a_key_is_listed_and_nothing_else() {
    let document = open();
    assert_eq!(keys(&document["paths"]["/records/totals"]), ["get"]);
    assert_eq!(document["paths"]["/records/totals/{id}"], Json::Null);
}

#[test]
fn a_key_of_several_columns_is_an_address_where_it_must_be_one() {
    let id = |document: &Json| {
        document["paths"]["/records/visits/{id}"]["get"]["parameters"].as_array().cloned().unwrap_or_default()
    };
    let strict = open();
    assert!(id(&strict).iter().any(|parameter| {
        parameter["description"].as_str().is_some_and(|text| text.contains("day=VALUE;page=VALUE"))
    }));
    assert_eq!(
        strict["paths"]["/records/visits"]["post"]["responses"]["200"]["$ref"],
        "#/components/responses/pk_string"
    );
    let lenient = document(&Policy::default(), Dialect::MySql, Mode::Lenient, Version::V3_0);
    assert!(id(&lenient).is_empty(), "there is no such path");
}

#[test]
fn joined_records_stand_for_foreign_keys_and_lists_after_the_columns() {
    let document = open();
    let posts = &document["components"]["schemas"]["joined-posts"]["anyOf"][0]["properties"];
    assert_eq!(posts["user_id"]["anyOf"][1]["$ref"], "#/components/schemas/joined-people");
    assert_eq!(posts["post_tags"]["items"]["$ref"], "#/components/schemas/joined-post_tags");
    assert_eq!(posts["tags"]["items"]["$ref"], "#/components/schemas/joined-tags");
}

#[test]
fn what_may_not_be_seen_is_not_named() {
    let document = ruled(&[("people", "none", ""), ("posts", "list,read", "rating"), ("*", "all", "")]);
    assert_eq!(keys(&document["paths"]["/records/posts"]), ["get"]);
    assert_eq!(keys(&document["paths"]["/records/posts/{id}"]), ["get"]);
    assert_eq!(document["components"]["schemas"]["create-posts"], Json::Null);
    let text = document.to_string();
    for hidden in ["people", "secret", "rating"] {
        assert!(!text.contains(hidden), "{hidden} is told");
    }
    assert!(text.contains("user_id"), "the column is theirs to see");
}

#[test]
fn features_are_described_where_there_is_a_shape() {
    let document = open();
    assert_eq!(document["paths"]["/geojson/posts/{id}"]["get"]["operationId"], "feature_posts");
    assert_eq!(document["paths"]["/geojson/tags"], Json::Null);
}

#[test]
fn who_may_create_only_sees_no_records() {
    let document = ruled(&[("posts", "create", "")]);
    assert_eq!(
        keys(&document["paths"]),
        ["/records/posts", "/status/ping", "/cache/clear", "/health/live", "/health/ready"]
    );
    assert_eq!(keys(&document["paths"]["/records/posts"]), ["post"]);
    let schemas = keys(&document["components"]["schemas"]);
    assert!(
        !schemas.iter().any(|name| name.starts_with("list-") || name.starts_with("joined-")),
        "{schemas:?}"
    );
}

#[test]
fn every_reference_leads_somewhere_and_every_operation_has_a_name_of_its_own() {
    for dialect in Dialect::ALL {
        for (mode, version) in
            [Mode::Strict, Mode::Lenient].into_iter().flat_map(|mode| VERSIONS.map(|v| (mode, v)))
        {
            let document = document(&Policy::default(), dialect, mode, version);
            let (mut ids, mut references) = (Vec::new(), 0);
            walk(&document, &mut |object| {
                if let Some(reference) = object.get("$ref").and_then(Json::as_str) {
                    references += 1;
                    let pointer = reference.trim_start_matches('#');
                    assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
                }
                ids.extend(object.get("operationId").and_then(Json::as_str).map(str::to_owned));
            });
            assert!(references > 100, "{references} references");
            let count = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), count);
        }
    }
}

#[test]
fn the_newer_edition_has_types_instead_of_nullable() {
    let newer = document(&Policy::default(), Dialect::Postgres, Mode::Strict, Version::V3_1);
    assert_eq!(newer["openapi"], "3.1.0");
    walk(&newer, &mut |object| assert!(!object.contains_key("nullable"), "{object:?}"));
    let name = &newer["components"]["schemas"]["read-tags"]["properties"]["name"];
    assert_eq!(name["type"], json!(["string", "null"]));
    let older = open();
    assert_eq!(older["components"]["schemas"]["read-tags"]["properties"]["name"]["nullable"], true);
}

#[test]
fn what_is_sent_has_bounds_where_something_refuses_the_rest() {
    let sent = |dialect, mode| {
        let document = document(&Policy::default(), dialect, mode, Version::V3_0);
        document["components"]["schemas"]["create-posts"].clone()
    };
    let postgres = sent(Dialect::Postgres, Mode::Strict);
    assert_eq!(postgres["additionalProperties"], false);
    assert_eq!(postgres["properties"]["title"]["maxLength"], 255);
    assert_eq!(postgres["properties"]["price"]["pattern"], r"^-?[0-9]{1,15}(\.[0-9]{1,4})?$");
    let sqlite = sent(Dialect::Sqlite, Mode::Lenient);
    assert_eq!(sqlite.get("additionalProperties"), None);
    assert_eq!(sqlite["properties"]["title"].get("maxLength"), None);
}
