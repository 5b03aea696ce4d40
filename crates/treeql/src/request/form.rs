//! Forms as records: names with brackets make lists and maps, `…__is_null` makes a null (SPEC 3.2).

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use crate::request::record::{Cell, Members, Record, RecordBatch};

/// limit: how deep brackets may nest in the name of a form field.
const DEPTH_MAX: usize = 8;

/// The record, or the batch if all names are `0[…]`, `1[…]` and so on, that decoded pairs make.
pub fn records_of_form<'a>(pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>) -> RecordBatch<'a> {
    if pairs.iter().all(|(name, _)| !name.contains('[')) {
        let mut members = Members::default();
        for (name, value) in pairs {
            put(&mut members, name, Cell::Text(value));
        }
        return RecordBatch { records: vec![members.finish()], batch: false };
    }
    let mut tree = Map::new();
    for (name, value) in &pairs {
        insert(&mut tree, name, value);
    }
    let numbered = tree.keys().enumerate().all(|(index, name)| *name == index.to_string());
    if numbered && tree.values().all(Json::is_object) {
        let records = tree.into_iter().map(|(_, value)| match value {
            Json::Object(members) => record_of(members),
            _ => Record::new(),
        });
        return RecordBatch { records: records.collect(), batch: true };
    }
    RecordBatch { records: vec![record_of(tree)], batch: false }
}

fn put<'a>(members: &mut Members<'a>, name: Cow<'a, str>, cell: Cell<'a>) {
    match name.strip_suffix("__is_null") {
        Some(plain) => members.put(Cow::Owned(plain.to_owned()), Cell::Null),
        None => members.put(name, cell),
    }
}

fn record_of<'a>(fields: Map<String, Json>) -> Record<'a> {
    let mut members = Members::default();
    for (name, value) in fields {
        let cell = match value {
            Json::String(text) => Cell::Text(Cow::Owned(text)),
            other => Cell::Json(Cow::Owned(lists(other).to_string())),
        };
        put(&mut members, Cow::Owned(name), cell);
    }
    members.finish()
}

/// Puts `value` where `a[b][]` says.
fn insert(tree: &mut Map<String, Json>, name: &str, value: &str) {
    let (base, rest) = name.split_once('[').map_or((name, ""), |(base, _)| (base, &name[base.len()..]));
    let mut keys = vec![base];
    keys.extend(rest.split('[').skip(1).take(DEPTH_MAX).map(|part| part.trim_end_matches(']')));
    let mut at = tree;
    for (depth, key) in keys.iter().enumerate() {
        let key = if key.is_empty() { at.len().to_string() } else { (*key).to_owned() };
        if depth + 1 == keys.len() {
            at.insert(key, Json::String(value.to_owned()));
            return;
        }
        let next = at.entry(key).or_insert_with(|| Json::Object(Map::new()));
        if !next.is_object() {
            *next = Json::Object(Map::new());
        }
        let Json::Object(next) = next else { return };
        at = next;
    }
}

/// A map whose keys are 0, 1, 2 … is a list.
fn lists(value: Json) -> Json {
    match value {
        Json::Object(map) if map.keys().enumerate().all(|(index, key)| *key == index.to_string()) => {
            Json::Array(map.into_iter().map(|(_, value)| lists(value)).collect())
        }
        Json::Object(map) => Json::Object(map.into_iter().map(|(key, value)| (key, lists(value))).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use crate::request::form::records_of_form;
    use crate::request::record::Cell;

    #[test]
    fn numbered_fields_are_a_batch() {
        let pairs = vec![("0[name]".into(), "a".into()), ("1[name]".into(), "b".into())];
        let batch = records_of_form(pairs);
        assert!(batch.batch);
        assert_eq!(batch.records[1], [("name".into(), Cell::Text("b".into()))]);
    }

    #[test]
    fn brackets_make_lists() {
        let batch = records_of_form(vec![("a[]".into(), "1".into()), ("a[]".into(), "2".into())]);
        assert_eq!(batch.records[0], [("a".into(), Cell::Json(r#"["1","2"]"#.into()))]);
    }
}
