//! Properties that hold for whatever is generated: values stay out of SQL, queries print as they parse, nothing panics.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of a test program for no test")]

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any};
use proptest::{prop_assert, prop_assert_eq, proptest};
use treeql::encode::{write_double, write_string};
use treeql::mode::Mode;
use treeql::plan::{JoinPlan, Plan, Setting, plan};
use treeql::policy::Policy;
use treeql::record::prepare;
use treeql::request::{
    BodyKind, Filter, Operator, Query, RecordBatch, Request, Values, Window, decode_path, parse_query,
};
use treeql::schema::{Publication, Schema};
use treeql::sql::{Args, Dialect, Source, Statement};

use crate::asked::{asked, hostile, mode, push, tables};
use crate::tokens::check;

#[path = "support/asked.rs"]
mod asked;
#[path = "support/schema.rs"]
mod schema;
#[path = "support/tokens.rs"]
mod tokens;

/// The statements of a plan; those for joins once for one key and once for several.
fn statements(plan: &Plan) -> Vec<Statement> {
    let copy = |statement: &Statement| Statement::new(statement.text.to_string(), statement.params.clone());
    let mut found = Vec::new();
    match plan {
        Plan::List(list) => {
            found.push(copy(&list.select.statement));
            found.extend(list.count.as_ref().map(copy));
            joins(&list.select.joins, &mut found);
        }
        Plan::Read(select) => {
            found.push(copy(&select.statement));
            joins(&select.joins, &mut found);
        }
        Plan::Write(write) => found.extend(write.statement.as_ref().map(copy)),
    }
    found
}

fn joins(plans: &[JoinPlan], found: &mut Vec<Statement>) {
    for plan in plans {
        for count in [1, 3] {
            let statement = plan.statement.for_keys(count);
            found.push(Statement::new(statement.text.to_string(), statement.params.clone()));
        }
        joins(&plan.joins, found);
    }
}

/// What the query of a list says when it is read again. Page and size are one of the pairs that make this window.
fn print(query: &Query<'_>, values: &Values<'_>, is_counted: bool) -> String {
    let mut text = String::new();
    let mut slots = values.slots.iter();
    for filter in &query.filters {
        let bound: Vec<&str> = slots.by_ref().take(usize::from(filter.slots)).map(Cow::as_ref).collect();
        let value = format!("{},{},{}", filter.column, operator(filter), bound.join(","));
        push(&mut text, &format!("filter{}", filter.group), &value);
    }
    query.include.iter().for_each(|columns| push(&mut text, "include", columns));
    query.exclude.iter().for_each(|columns| push(&mut text, "exclude", columns));
    query.joins.iter().for_each(|path| push(&mut text, "join", path));
    query.orders.iter().for_each(|order| push(&mut text, "order", order));
    match (is_counted, values.limit, values.offset) {
        (false, None, _) => {}
        (false, Some(limit), _) => push(&mut text, "size", &limit.to_string()),
        (true, None, _) => push(&mut text, "page", "1,-1"),
        (true, Some(limit), 0) => push(&mut text, "page", &format!("1,{limit}")),
        (true, Some(limit), offset) => {
            push(&mut text, "page", &format!("2,{offset}"));
            push(&mut text, "size", &limit.to_string());
        }
    }
    text
}

fn operator(filter: &Filter<'_>) -> String {
    let name = match filter.operator {
        Operator::Unknown => return "unknown".to_owned(),
        Operator::Never => "bt",
        _ => Operator::names()
            .find(|name| Operator::parse(name) == Some((filter.operator, false)))
            .expect("every other operator has a name"),
    };
    if filter.negated { format!("n{name}") } else { name.to_owned() }
}

proptest! {
    // Half of what is asked is refused, and half of the rest is short.
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn no_name_and_no_value_reaches_sql_unquoted_or_unbound(tables in tables(), asked in asked()) {
        let names: Vec<String> = tables
            .iter()
            .flat_map(|table| table.columns.iter().map(|column| column.name.to_string()).chain([table.name.clone()]))
            .collect();
        let root = asked.table(&tables).name.clone();
        let (query, body) = (asked.query(&tables), asked.body(&tables));
        let mut values = Values { ids: vec![Cow::Borrowed(&*asked.id)], ..Values::default() };
        let Ok(parsed) = parse_query(&query, &root, asked.mode, &mut values) else { return Ok(()) };
        let mut request = Request::new(asked.operation, &*root);
        request.query = parsed.query;
        request.counted = parsed.counted;
        request.window = Window::of(values.limit, values.offset);
        let batch = RecordBatch::parse(body.as_bytes(), BodyKind::Detected, 1, Mode::Lenient).unwrap();
        request.members = batch.records[0].iter().map(|(name, _)| name.clone()).collect();
        for dialect in Dialect::ALL {
            let schema = Schema::build(tables.clone(), &Publication::default()).unwrap();
            let setting = Setting { dialect, mode: asked.mode, srid: 4326, merges_reads: false };
            let Ok(plan) = plan(&request, &schema, &Policy::default(), setting) else { continue };
            for statement in statements(&plan) {
                if let Err(what) = check(&statement, dialect, &names) {
                    prop_assert!(false, "{what}\nof {}\nfor {root} ? {query}\n{body}", statement.text);
                }
            }
            // In the strict mode no filter is dropped, so every value of every filter is bound, in order.
            if let (Plan::List(list), Mode::Strict) = (&plan, asked.mode) {
                let params = list.select.statement.params.iter();
                let mut slots: Vec<u16> = params.filter_map(|param| slot(param.source)).collect();
                slots.sort_unstable();
                let all: Vec<u16> = (0..u16::try_from(values.slots.len()).unwrap()).collect();
                prop_assert_eq!(slots, all);
            }
            let definition = schema.table(schema.find(&root).unwrap());
            let prepared = prepare(asked.operation, definition, &[&*asked.id], &batch.records[0], dialect, asked.mode);
            let Ok(cells) = prepared else { continue };
            let args = Args { cells: &cells, ..Args::of(&values, asked.mode) };
            for statement in statements(&plan) {
                let own = statement.params.iter().filter(|param| !matches!(param.source, Source::Key(_)));
                // An error is fine, a panic is not.
                own.for_each(|param| drop(args.get(param)));
            }
        }
    }

}

proptest! {
    #[test]
    fn a_query_is_printed_as_it_is_parsed(tables in tables(), asked in asked(), noise in "(&?(page|size|filter|include|order)=?[-0-9a-z,%]{0,6}){0,3}") {
        let text = asked.query(&tables) + &noise;
        let mut values = Values::default();
        let Ok(parsed) = parse_query(&text, "t", asked.mode, &mut values) else { return Ok(()) };
        let printed = print(&parsed.query, &values, parsed.counted);
        let mut again = Values::default();
        let reparsed = parse_query(&printed, "t", asked.mode, &mut again);
        prop_assert!(reparsed.is_ok(), "{text} was printed as {printed}, which is {reparsed:?}");
        let reparsed = reparsed.unwrap();
        prop_assert_eq!(&reparsed.query, &parsed.query, "{}", printed);
        prop_assert_eq!(&again.slots, &values.slots, "{}", printed);
        prop_assert_eq!((again.limit, again.offset), (values.limit, values.offset), "{} {}", text, printed);
        prop_assert_eq!(reparsed.counted, parsed.counted);
    }

    #[test]
    fn no_query_and_no_path_makes_the_parser_panic(text in "\\PC*", hostile in hostile(), mode in mode()) {
        for text in [text, hostile] {
            drop(parse_query(&text, "posts", mode, &mut Values::default()));
            drop(decode_path(&text));
        }
    }

    #[test]
    fn no_body_makes_the_parser_panic(bytes in vec(any::<u8>(), 0..200), is_form: bool) {
        let kind = if is_form { BodyKind::Form } else { BodyKind::Detected };
        drop(RecordBatch::parse(&bytes, kind, 5, Mode::Strict));
    }

    #[test]
    fn nothing_like_json_makes_the_parser_panic(text in "[\\[{]([\\[\\]{}:,\"\\\\u0-9a-f. -]|null|true|\"a\"){0,40}") {
        drop(RecordBatch::parse(text.as_bytes(), BodyKind::Detected, 5, Mode::Strict));
    }

    #[test]
    fn nothing_like_a_form_makes_the_parser_panic(text in "([a-c0-2\\[\\]&=%+]|__is_null){0,40}") {
        drop(RecordBatch::parse(text.as_bytes(), BodyKind::Form, 5, Mode::Strict));
    }

    #[test]
    fn a_string_is_the_same_after_json(text: String, hostile in hostile()) {
        for text in [text, hostile, "\u{2028}\u{2029}\u{0}\u{1f}\u{7f}/".to_owned()] {
            let mut json = Vec::new();
            write_string(&mut json, &text);
            prop_assert_eq!(serde_json::from_slice::<String>(&json).unwrap(), text);
        }
    }

    #[test]
    fn a_double_is_the_same_after_json(bits: u64, exponent in -30i32..30, digits in 0..1_000_000u32) {
        for number in [f64::from_bits(bits), f64::from(digits) * 10f64.powi(exponent)] {
            let mut json = Vec::new();
            write_double(&mut json, number);
            let text = String::from_utf8(json).unwrap();
            if number.is_finite() {
                // serde_json reads fast rather than exactly; the standard library reads exactly, but is no judge of JSON.
                prop_assert!(serde_json::from_str::<f64>(&text).is_ok(), "{}", text);
                prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits(), "{}", text);
            } else {
                prop_assert_eq!(text, "null");
            }
        }
    }
}

fn slot(source: Source) -> Option<u16> {
    match source {
        Source::Slot(slot) => Some(slot),
        _ => None,
    }
}

/// A test of the judge: what it lets pass is known, and it finds what it is there for.
#[test]
fn the_tokenizer_finds_what_does_not_belong() {
    let names = ["a".to_owned(), "b\"c".to_owned()];
    let judge = |text: &str| {
        let params = Vec::new();
        check(&Statement::new(text.to_owned(), params), Dialect::Sqlite, &names)
    };
    assert_eq!(judge("SELECT \"a\",\"b\"\"c\" FROM \"a\" r1 WHERE 1=0"), Ok(()));
    for text in [
        "SELECT a",
        "SELECT \"b\"",
        "SELECT 'a'",
        "SELECT 7",
        "SELECT 1; SELECT 1",
        "SELECT 1 --",
        "SELECT ?1",
        "\"a",
    ] {
        assert!(judge(text).is_err(), "{text}");
    }
}
