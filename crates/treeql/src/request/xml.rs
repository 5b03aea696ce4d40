//! XML as records: elements are members, their attribute `type` says what they hold (SPEC 18.20).

use std::borrow::Cow;

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::{Code, Error};
use crate::mode::Mode;
use crate::request::node::{Kind, Node, Open};
use crate::request::record::{Record, RecordBatch};

/// limit: levels of elements, as many as libxml2, and so the reference, reads.
const ELEMENT_DEPTH_MAX: usize = 256;
/// limit: attributes of an element; two mean something, and each is compared with all others.
const ATTRIBUTES_MAX: usize = 16;

/// Reads one element with any name: a record, or a batch if its type is `array`.
///
/// Elements beside or inside others may have white space around them, which the reference fails at. A document type is an
/// error, so that no entity can be declared. Every error is 1008; its details say what is wrong.
///
/// ```
/// use treeql::mode::Mode;
/// use treeql::request::{Cell, records_of_xml};
///
/// let batch = records_of_xml(b"<post><title>A &amp; B</title><likes type='null'/></post>", Mode::Strict).unwrap();
/// assert!(!batch.batch);
/// assert_eq!(batch.records[0], [("title".into(), Cell::Text("A & B".into())), ("likes".into(), Cell::Null)]);
/// ```
pub fn records_of_xml(body: &[u8], mode: Mode) -> Result<RecordBatch<'static>, Error> {
    let text = std::str::from_utf8(body).map_err(|e| {
        unreadable(format!("is not UTF-8 from byte {} on; send text in UTF-8", e.valid_up_to()))
    })?;
    match read(text)? {
        Node::Object(members) => Ok(RecordBatch { records: vec![record_of(members)], batch: false }),
        Node::Array(items) => {
            let odd = items.iter().position(|item| !matches!(item, Node::Object(_)));
            match odd {
                Some(index) if mode.is_strict() => {
                    Err(unreadable(format!("has an array whose element {} is no object", index + 1)))
                }
                // compat: an element that is no object counts as an empty record (SPEC 3.4).
                _ => {
                    Ok(RecordBatch { records: items.into_iter().map(record_of_node).collect(), batch: true })
                }
            }
        }
        Node::Scalar(_) => {
            Err(unreadable("is an element without elements; a record has one for each member"))
        }
    }
}

fn unreadable(sentence: impl Into<Box<str>>) -> Error {
    Error::new(Code::HttpMessageNotReadable, "").detail("body", sentence)
}

fn record_of_node(node: Node) -> Record<'static> {
    match node {
        Node::Object(members) => record_of(members),
        Node::Scalar(_) | Node::Array(_) => Record::new(),
    }
}

fn record_of(members: Vec<(Cow<'static, str>, Node)>) -> Record<'static> {
    members.into_iter().map(|(name, node)| (name, node.into_cell())).collect()
}

fn read(text: &str) -> Result<Node, Error> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    reader.config_mut().expand_empty_elements = true;
    let mut tree = Tree::default();
    loop {
        let event = reader
            .read_event()
            .map_err(|e| unreadable(format!("is no XML at byte {}: {e}", reader.error_position())))?;
        let at = reader.buffer_position();
        let step = match event {
            Event::Eof => break,
            other => tree.take(other),
        };
        step.map_err(|sentence| unreadable(format!("is no record at byte {at}: {sentence}")))?;
    }
    match tree.root {
        Some(root) if tree.open.is_empty() => Ok(root),
        _ => {
            Err(unreadable("is cut off, or no XML at all; send one element with an element for each member"))
        }
    }
}

/// The elements read so far.
#[derive(Default)]
struct Tree {
    open: Vec<Open>,
    /// How many elements are open in one that holds plain text, to which theirs is added.
    inside_text: usize,
    root: Option<Node>,
}

impl Tree {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(element) | Event::Empty(element) => self.begin(&element),
            Event::End(_) => self.end(),
            Event::Text(text) => self.text(&text.xml10_content()),
            Event::CData(text) => {
                if let Some(open) = self.open.last_mut() {
                    open.kind.get_or_insert(Kind::Text);
                }
                self.text(&text.xml10_content())
            }
            Event::GeneralRef(entity) => self.text(resolve(&entity)?.encode_utf8(&mut [0; 4])),
            Event::DocType(_) => {
                Err("a document type is not read, because of what entities can do".to_owned())
            }
            Event::Decl(declaration) => match declaration.encoding() {
                Some(Ok(encoding)) if !is_utf8(&encoding) => {
                    Err(format!("it says to be {encoding}, not UTF-8"))
                }
                _ => Ok(()),
            },
            Event::Comment(_) | Event::PI(_) | Event::Eof => Ok(()),
        }
    }

    fn begin(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        let name = element.name().into_inner();
        if !is_name(name) {
            return Err(format!("'{}' is no name of an element", name.escape_debug()));
        }
        if self.root.is_some() {
            return Err(format!("'{name}' is a second element beside the root"));
        }
        // compat: text before the first element makes it all text; without any it is an object.
        let is_text = self.open.last_mut().is_some_and(|parent| parent.begin_child().is_plain());
        if is_text {
            self.inside_text += 1;
            return Ok(());
        }
        if self.open.len() == ELEMENT_DEPTH_MAX {
            return Err(format!("elements nest deeper than {ELEMENT_DEPTH_MAX} levels"));
        }
        let mut open = Open::new(name);
        for (index, attribute) in element.attributes().enumerate() {
            if index == ATTRIBUTES_MAX {
                return Err(format!("'{name}' has more than {ATTRIBUTES_MAX} attributes"));
            }
            let attribute = attribute.map_err(|e| format!("'{name}' has a bad attribute: {e}"))?;
            let value = || {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                value.map_err(|e| format!("'{name}' has a bad attribute: {e}"))
            };
            match attribute.key.into_inner() {
                "type" => open.kind = kind(name, &value()?)?,
                "__type" => open.put_type(&value()?),
                _ => {}
            }
        }
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        if self.inside_text > 0 {
            self.inside_text -= 1;
            return Ok(());
        }
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (name, node) = open.close()?;
        match self.open.last_mut() {
            Some(parent) => parent.put(name, node),
            None => self.root = Some(node),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        if let Some(illegal) = text.chars().find(|c| !is_legal(*c)) {
            return Err(format!("XML does not allow the character U+{:04X}", u32::from(illegal)));
        }
        match self.open.last_mut() {
            Some(open) => open.push_text(text),
            None if text.trim().is_empty() => Ok(()),
            None => Err("there is text outside of all elements".to_owned()),
        }
    }
}

/// The kind that an attribute says; `None` if it is empty, as if it were not there.
fn kind(element: &str, name: &str) -> Result<Option<Kind>, String> {
    let kind = match name {
        "" => return Ok(None),
        "null" => Kind::Null,
        "boolean" => Kind::Boolean,
        "number" => Kind::Number,
        "string" => Kind::Text,
        "object" => Kind::Object,
        "array" => Kind::Array,
        _ => {
            return Err(format!(
                "the type '{}' of '{element}' is none of null, boolean, number, string, object and array",
                name.escape_debug()
            ));
        }
    };
    Ok(Some(kind))
}

/// The character of a reference: by its number, or one of the five that XML has a name for.
fn resolve(reference: &BytesRef<'_>) -> Result<char, String> {
    let number = reference.resolve_char_ref().map_err(|e| e.to_string())?;
    let named = || resolve_predefined_entity(reference).and_then(|text| text.chars().next());
    number.or_else(named).ok_or_else(|| format!("the entity '&{};' is not known", reference.escape_debug()))
}

/// What XML calls a character.
fn is_legal(c: char) -> bool {
    c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}') || matches!(c, '\t' | '\n' | '\r')
}

fn is_name(name: &str) -> bool {
    let is_start = |c: char| c.is_alphabetic() || matches!(c, '_' | ':');
    name.starts_with(is_start)
        && name.chars().all(|c| is_start(c) || c.is_alphanumeric() || matches!(c, '-' | '.') || !c.is_ascii())
}

fn is_utf8(encoding: &str) -> bool {
    ["utf-8", "utf8", "us-ascii"].iter().any(|known| encoding.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::{prop_assert_eq, proptest};

    use crate::mode::Mode;
    use crate::request::record::{Cell, RecordBatch};
    use crate::request::xml::records_of_xml;

    fn parse(text: &str) -> Result<RecordBatch<'static>, String> {
        records_of_xml(text.as_bytes(), Mode::Strict).map_err(|e| e.to_string())
    }

    #[track_caller]
    fn member(element: &str) -> Cell<'static> {
        let batch = parse(&format!("<r>{element}</r>")).expect("it is XML");
        assert_eq!(batch.records[0].len(), 1, "{element}");
        assert_eq!(batch.records[0][0].0, "m", "{element}");
        batch.records[0][0].1.clone()
    }

    #[test]
    fn the_type_says_what_an_element_holds() {
        let table = [
            ("<m>x</m>", Cell::Text("x".into())),
            ("<m> x&#10;&lt;&amp;&gt;&quot;&apos;&#x1F388;</m>", Cell::Text(" x\n<&>\"'🎈".into())),
            ("<m>  </m>", Cell::Text("  ".into())),
            ("<m>a<!-- b -->c<?d e?></m>", Cell::Text("ac".into())),
            ("<m><![CDATA[<b>&amp;]]></m>", Cell::Text("<b>&amp;".into())),
            ("<m><![CDATA[]]></m>", Cell::Text("".into())),
            ("<m>x<b>y<i type='array'>z</i></b>!</m>", Cell::Text("xyz!".into())),
            ("<m type='string'/>", Cell::Text("".into())),
            ("<m type='string'><b>x</b></m>", Cell::Text("x".into())),
            ("<m type='string'>7</m>", Cell::Text("7".into())),
            ("<m type=''>7</m>", Cell::Text("7".into())),
            ("<m type='null'>x</m>", Cell::Null),
            ("<m type=\"boolean\">true</m>", Cell::Bool(true)),
            ("<m type='boolean'>T</m>", Cell::Bool(true)),
            ("<m type='boolean'>1</m>", Cell::Bool(true)),
            ("<m type='boolean'>yes</m>", Cell::Bool(false)),
            ("<m type='boolean'/>", Cell::Bool(false)),
            ("<m type='number'>12345678901234567890.10</m>", Cell::Number("12345678901234567890.10".into())),
            ("<m type='number'> +.5e3 </m>", Cell::Number("0.5e3".into())),
            ("<m type='number'>-007.</m>", Cell::Number("-7".into())),
            ("<m/>", Cell::Json("{}".into())),
            ("<m></m>", Cell::Json("{}".into())),
            ("<m type='object'> </m>", Cell::Json("{}".into())),
            ("<m type='array'/>", Cell::Json("[]".into())),
            (
                "<m type='array'><a>1</a>\n<b type='number'>01</b><c type='null'/></m>",
                Cell::Json(r#"["1",1,null]"#.into()),
            ),
            (
                "<m><a>1</a><b><c type='boolean'>t</c></b><a>\"/</a></m>",
                Cell::Json(r#"{"a":"\"/","b":{"c":true}}"#.into()),
            ),
            ("<m __type='x'><a>1</a></m>", Cell::Json(r#"{"__type":"x","a":"1"}"#.into())),
            ("<m>1</m><m>2</m>", Cell::Text("2".into())),
            ("<m>a\r\nb</m>", Cell::Text("a\nb".into())),
        ];
        for (element, cell) in table {
            assert_eq!(member(element), cell, "{element}");
        }
    }

    #[test]
    fn one_element_is_a_record_and_an_array_is_a_batch() {
        let text = "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- new -->\n<book>\n  <title>x</title>\n</book>\n";
        let batch = parse(text).expect("it is XML");
        assert_eq!((batch.records.len(), batch.batch), (1, false));
        assert_eq!(batch.records[0], [("title".into(), Cell::Text("x".into()))]);
        let batch = parse("<a type='array'> <b><c>1</c></b> <b/> </a>").expect("it is XML");
        assert_eq!((batch.records.len(), batch.batch), (2, true));
        assert!(batch.records[1].is_empty());
        assert_eq!(parse("<a type='array'/>").map(|batch| batch.records.len()), Ok(0));
        let odd = "<a type='array'><b><c>1</c></b><b>2</b></a>";
        assert!(parse(odd).is_err_and(|e| e.contains("element 2 is no object")));
        let batch = records_of_xml(odd.as_bytes(), Mode::Lenient).expect("it is XML");
        assert!(batch.records[1].is_empty());
    }

    #[test]
    fn what_is_no_record_is_refused_and_says_why() {
        let table = [
            ("", "cut off"),
            ("title=x", "outside"),
            ("{\"a\":1}", "outside"),
            ("<a><b>x</b>", "cut off"),
            ("<a><b>x</c></a>", "</b>"),
            ("<a></a><b></b>", "second element"),
            ("<a/>x", "outside"),
            ("<a", "not found before end of input"),
            ("<a>x</a>", "without elements"),
            ("<a type='null'/>", "without elements"),
            ("<a><b>x</b>y</a>", "text between the elements of 'a'"),
            ("<a><b type='integer'>1</b></a>", "'integer'"),
            ("<a><b type='number'>one</b></a>", "'one'"),
            ("<a><b type='number'/></a>", "''"),
            ("<a><b c=d>1</b></a>", "bad attribute"),
            ("<a><b type='null' type='null'/></a>", "bad attribute"),
            ("<a><1>x</1></a>", "'1' is no name"),
            ("<a><b>&unknown;</b></a>", "'&unknown;'"),
            ("<a><b>a & b</b></a>", "reference"),
            ("<a><b>&#0;</b></a>", "character reference"),
            ("<a><b>&#7;</b></a>", "U+0007"),
            ("<a><b>\u{7}</b></a>", "U+0007"),
            ("<!DOCTYPE a [<!ENTITY b 'bbbb'>]><a>&b;</a>", "document type"),
            ("<?xml version='1.0' encoding='latin1'?><a><b>x</b></a>", "latin1"),
        ];
        for (text, part) in table {
            let error = parse(text).expect_err(text);
            assert!(error.starts_with("1008 ") && error.contains(part), "{text}: {error}");
        }
        assert!(records_of_xml(b"<a>\xff</a>", Mode::Lenient).is_err());
    }

    #[test]
    fn what_grows_has_a_limit() {
        let nested = |levels: usize| format!("{}{}", "<a>".repeat(levels), "</a>".repeat(levels));
        assert!(parse(&nested(256)).is_ok());
        assert!(parse(&nested(257)).is_err_and(|e| e.contains("256 levels")));
        assert!(parse(&nested(200_000)).is_err());
        let text = format!("<r><m>x{}</m></r>", nested(10_000));
        assert_eq!(parse(&text).map(|batch| batch.records.len()), Ok(1));
        let attributes: String = (0..17).map(|number| format!(" a{number}=''")).collect();
        assert!(parse(&format!("<r{attributes}/>")).is_err_and(|e| e.contains("16 attributes")));
    }

    proptest! {
        #[test]
        fn text_is_the_same_after_xml(text in "[^\\x00-\\x1f\u{fffe}\u{ffff}]*", name in "[a-zé_][a-z0-9._é-]{0,5}") {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
            let batch = parse(&format!("<r><{name} type='string'>{escaped}</{name}></r>")).expect("it is XML");
            prop_assert_eq!(&batch.records[0], &[(name.into(), Cell::Text(text.into()))]);
        }

        #[test]
        fn nested_elements_are_json(body in "(<[ab]( type='(array|object|null|string)')?>|</[ab]>|[x\" ]|&amp;|<a/>){0,20}") {
            let Ok(batch) = parse(&format!("<r><m>{body}</m></r>")) else { return Ok(()) };
            if let Cell::Json(json) = &batch.records[0][0].1 {
                assert!(serde_json::from_str::<serde_json::Value>(json).is_ok(), "{json}");
            }
        }

        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100), text in "(<|>|/|a|!|\\?|\\[|CDATA|xml |--|'|=|&|;|#|x| |type){0,30}") {
            drop(records_of_xml(&bytes, Mode::Strict));
            drop(parse(&text));
        }
    }
}
