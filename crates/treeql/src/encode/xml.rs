//! JSON documents rewritten as XML, to the byte as php-crud-api does (SPEC 18.20).

use crate::encode::double::write_double_text;
use crate::encode::scanner::{Malformed, Scanner, Token};

/// What a JSON value is, as the attribute `type` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Object,
    Array,
}

impl Kind {
    const ALL: [Kind; 6] = [Kind::Null, Kind::Boolean, Kind::Number, Kind::String, Kind::Object, Kind::Array];

    fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Boolean => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Object => "object",
            Kind::Array => "array",
        }
    }
}

/// Which values get an attribute `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XmlTypes(u8);

impl Default for XmlTypes {
    /// What cannot be told from its element alone: null and array.
    fn default() -> XmlTypes {
        XmlTypes(1 << Kind::Null as u8 | 1 << Kind::Array as u8)
    }
}

impl XmlTypes {
    /// Reads names separated by commas; `all` and nothing at all mean every type. The error is the name that is none.
    ///
    /// ```
    /// use treeql::encode::XmlTypes;
    ///
    /// assert_eq!(XmlTypes::parse("null,array"), Ok(XmlTypes::default()));
    /// assert_eq!(XmlTypes::parse("null,integer"), Err("integer"));
    /// ```
    pub fn parse(text: &str) -> Result<XmlTypes, &str> {
        let mut types = 0;
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            types |= match Kind::ALL.into_iter().find(|kind| kind.name() == name) {
                Some(kind) => 1 << kind as u8,
                None if name == "all" => u8::MAX,
                None => return Err(name),
            };
        }
        Ok(XmlTypes(if types == 0 { u8::MAX } else { types }))
    }

    fn has(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// Rewrites a JSON document as XML with the root element `root`, without declaration and without added white space.
///
/// ```
/// use treeql::encode::{XmlTypes, json_to_xml};
///
/// let xml = json_to_xml(br#"{"id":1,"tags":["a"],"icon":null}"#, XmlTypes::default()).unwrap();
/// let text = r#"<root><id>1</id><tags type="array"><item>a</item></tags><icon type="null"></icon></root>"#;
/// assert_eq!(xml, text.as_bytes());
/// ```
pub fn json_to_xml(document: &[u8], types: XmlTypes) -> Result<Vec<u8>, Malformed> {
    let text = std::str::from_utf8(document).map_err(|e| Malformed { at: e.valid_up_to() })?;
    let mut out = Vec::with_capacity(text.len() * 2);
    XmlWriter::new(types).piece(&mut Scanner::new(text), &mut out)?;
    Ok(out)
}

/// An element whose end is to come.
struct Open {
    /// Where its name begins among the names.
    name: usize,
    kind: Kind,
    /// Its start tag has no `>` yet.
    is_empty: bool,
}

/// Writes the tokens of a document as elements, one piece after the other.
pub struct XmlWriter {
    types: XmlTypes,
    open: Vec<Open>,
    /// The names of the open elements, one after the other.
    names: String,
    /// The name of the member that comes next.
    next: String,
}

impl XmlWriter {
    /// A writer before the root.
    pub fn new(types: XmlTypes) -> XmlWriter {
        XmlWriter { types, open: Vec::new(), names: String::new(), next: String::new() }
    }

    /// Writes what a piece of the document has.
    pub fn piece(&mut self, scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), Malformed> {
        while let Some(token) = scanner.token()? {
            self.write(token, out);
        }
        Ok(())
    }

    fn write(&mut self, token: Token<'_>, out: &mut Vec<u8>) {
        match token {
            Token::BeginObject => self.begin(Kind::Object, out),
            Token::BeginArray => self.begin(Kind::Array, out),
            Token::EndObject | Token::EndArray => self.end(out),
            Token::Name(name) => element_name(&mut self.next, &name),
            Token::String(text) => self.leaf(Kind::String, out, |out| escape(out, &text)),
            Token::Number(digits) => self.leaf(Kind::Number, out, |out| write_number(out, digits)),
            Token::Bool(truth) => self.leaf(Kind::Boolean, out, |out| out.extend_from_slice(word(truth))),
            Token::Null => self.leaf(Kind::Null, out, |_out| {}),
        }
    }

    fn begin(&mut self, kind: Kind, out: &mut Vec<u8>) {
        let name = self.start(kind, out);
        self.open.push(Open { name, kind, is_empty: true });
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let Some(element) = self.open.pop() else { return };
        // compat: without children `<x/>`, but a null and an empty string have two tags.
        if element.is_empty {
            out.extend_from_slice(b"/>");
            self.names.truncate(element.name);
            return;
        }
        self.close(element.name, out);
    }

    fn leaf(&mut self, kind: Kind, out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
        let name = self.start(kind, out);
        out.push(b'>');
        content(out);
        self.close(name, out);
    }

    /// Writes a start tag, all but its `>`, and returns where the name begins among the names.
    fn start(&mut self, kind: Kind, out: &mut Vec<u8>) -> usize {
        let name = match self.open.last_mut() {
            None => "root",
            Some(parent) => {
                if std::mem::replace(&mut parent.is_empty, false) {
                    out.push(b'>');
                }
                if parent.kind == Kind::Array { "item" } else { &self.next }
            }
        };
        let start = self.names.len();
        self.names.push_str(name);
        out.push(b'<');
        out.extend_from_slice(name.as_bytes());
        if self.types.has(kind) {
            out.extend_from_slice(b" type=\"");
            out.extend_from_slice(kind.name().as_bytes());
            out.push(b'"');
        }
        start
    }

    fn close(&mut self, name: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"</");
        out.extend_from_slice(&self.names.as_bytes()[name..]);
        out.push(b'>');
        self.names.truncate(name);
    }
}

fn word(truth: bool) -> &'static [u8] {
    if truth { b"true" } else { b"false" }
}

/// compat: of a name a-z, 0-9, `-`, `_` and `.` are kept, so that capitals and umlauts are lost (SPEC 18.20).
///
/// Where the reference then fails, because nothing is left or the rest begins like no name, an underscore goes before.
fn element_name(out: &mut String, name: &str) {
    out.clear();
    out.extend(name.chars().filter(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.')));
    if !out.starts_with(|first: char| first.is_ascii_lowercase() || first == '_') {
        out.insert(0, '_');
    }
}

/// compat: whole numbers of 64 bits as they are, all others as the double that PHP makes of them.
fn write_number(out: &mut Vec<u8>, digits: &str) {
    match (digits.parse::<i64>(), digits.parse::<f64>()) {
        (Ok(_), _) if digits != "-0" => out.extend_from_slice(digits.as_bytes()),
        (_, Ok(number)) => write_double_text(out, number),
        (_, Err(_no_double)) => out.extend_from_slice(digits.as_bytes()),
    }
}

/// Characters that XML cannot have, not even escaped, become U+FFFD, so that the document can always be read.
fn escape(out: &mut Vec<u8>, text: &str) {
    const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
    let bytes = text.as_bytes();
    let mut start = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let (escaped, width): (&[u8], usize) = match byte {
            b'&' => (b"&amp;", 1),
            b'<' => (b"&lt;", 1),
            b'>' => (b"&gt;", 1),
            b'\r' => (b"&#13;", 1),
            b'\t' | b'\n' => continue,
            0..0x20 => (REPLACEMENT, 1),
            // U+FFFE and U+FFFF.
            0xef if matches!(bytes[index..], [_, 0xbf, 0xbe | 0xbf, ..]) => (REPLACEMENT, 3),
            _ => continue,
        };
        out.extend_from_slice(&bytes[start..index]);
        out.extend_from_slice(escaped);
        start = index + width;
    }
    out.extend_from_slice(&bytes[start..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::{prop_assert, proptest};

    use crate::encode::xml::{XmlTypes, json_to_xml};

    #[track_caller]
    fn check(types: &str, table: &[(&str, &str)]) {
        let types = XmlTypes::parse(types).expect("they are types");
        for (json, xml) in table {
            let written = json_to_xml(json.as_bytes(), types).expect("it is JSON");
            assert_eq!(String::from_utf8(written).expect("it is UTF-8"), *xml, "{json}");
        }
    }

    #[test]
    fn what_an_element_does_not_tell_has_a_type() {
        check(
            "null,array",
            &[
                ("5", "<root>5</root>"),
                ("null", r#"<root type="null"></root>"#),
                (r#""""#, "<root></root>"),
                ("[]", r#"<root type="array"/>"#),
                ("{}", "<root/>"),
                ("[3,4]", r#"<root type="array"><item>3</item><item>4</item></root>"#),
                (
                    r#"{"records":[{"id":7,"done":true,"tags":[]},[]],"results":2}"#,
                    concat!(
                        r#"<root><records type="array"><item><id>7</id><done>true</done><tags type="array"/></item>"#,
                        r#"<item type="array"/></records><results>2</results></root>"#
                    ),
                ),
                (
                    r#"{"owner":{"nick":null,"home":""},"extra":{}}"#,
                    r#"<root><owner><nick type="null"></nick><home></home></owner><extra/></root>"#,
                ),
            ],
        );
    }

    #[test]
    fn all_types_may_be_said() {
        let json = r#"{"n":1.5,"s":"x","t":false,"z":null,"o":{},"a":[0]}"#;
        let xml = concat!(
            r#"<root type="object"><n type="number">1.5</n><s type="string">x</s><t type="boolean">false</t>"#,
            r#"<z type="null"></z><o type="object"/><a type="array"><item type="number">0</item></a></root>"#
        );
        check("all", &[(json, xml)]);
        check("", &[(json, xml)]);
        check("string", &[(r#"["a",[]]"#, r#"<root><item type="string">a</item><item/></root>"#)]);
    }

    #[test]
    fn names_keep_what_is_legal() {
        let table = [
            ("plain_name-1.x", "plain_name-1.x"),
            ("Total Größe", "otalre"),
            ("ÄÖÜ", "_"),
            ("", "_"),
            ("2nd", "_2nd"),
            ("-a", "_-a"),
            ("_id", "_id"),
        ];
        for (name, element) in table {
            let xml = format!("<root><{element}>1</{element}></root>");
            check("null", &[(&format!("{{\"{name}\":1}}"), &xml)]);
        }
    }

    #[test]
    fn numbers_and_text_are_as_in_php() {
        let table = [
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "9.2233720368548E+18"),
            ("-0", "-0"),
            ("1.0", "1"),
            ("0.30000000000000004", "0.3"),
            ("1e2", "100"),
            (r#""a < b && c > d\r\n\t\"'""#, "a &lt; b &amp;&amp; c &gt; d&#13;\n\t\"'"),
            (r#""\u0000x\u001f\uffff\uffee\u007f""#, "\u{fffd}x\u{fffd}\u{fffd}\u{ffee}\u{7f}"),
            (r#""ç 日本 🎈\/""#, "ç 日本 🎈/"),
        ];
        for (json, text) in table {
            check("null", &[(json, &format!("<root>{text}</root>"))]);
        }
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        for text in ["", "{", "[1}", "<root/>"] {
            assert!(json_to_xml(text.as_bytes(), XmlTypes::default()).is_err(), "{text}");
        }
        assert_eq!(json_to_xml(b"[\"\xff\"]", XmlTypes::default()).map_err(|e| e.at), Err(2));
    }

    #[test]
    fn depth_takes_no_stack() {
        let json = "[".repeat(500_000) + &"]".repeat(500_000);
        assert!(json_to_xml(json.as_bytes(), XmlTypes::default()).is_ok());
    }

    proptest! {
        #[test]
        fn text_that_xml_can_have_is_read_back(text: String, name: String) {
            let json = serde_json::json!({ name: text.as_str() }).to_string();
            let xml = json_to_xml(json.as_bytes(), XmlTypes::default()).expect("it is JSON");
            let xml = String::from_utf8(xml).expect("it is UTF-8");
            let inside = xml.strip_prefix("<root>").and_then(|xml| xml.strip_suffix("</root>")).expect("it has a root");
            let (_, inside) = inside.split_once('>').expect("it has a start tag");
            let (inside, _) = inside.rsplit_once("</").expect("it has an end tag");
            let read = inside.replace("&lt;", "<").replace("&gt;", ">").replace("&#13;", "\r").replace("&amp;", "&");
            let kept = |c: char| if c < ' ' && !"\t\r\n".contains(c) || "\u{fffe}\u{ffff}".contains(c) { '\u{fffd}' } else { c };
            prop_assert!(read.chars().eq(text.chars().map(kept)), "{xml}");
        }

        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            drop(json_to_xml(&bytes, XmlTypes::default()));
        }
    }
}
