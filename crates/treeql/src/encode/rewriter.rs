//! Rewriter: a JSON document rewritten while it arrives, so that no answer has to be kept whole.

use memchr::{memchr, memchr2, memrchr};

use crate::encode::json_columns::{Expander, JsonColumns};
use crate::encode::scanner::{Malformed, Place, Scanner};
use crate::encode::xml::{XmlTypes, XmlWriter};

/// Rewrites a document that comes in pieces, cut anywhere.
///
/// What it keeps between two pieces is the end of the last one from the last comma, colon, brace or bracket on, a string
/// or a number that is not whole yet, and the names of the elements that are open.
///
/// ```
/// use treeql::encode::{Rewriter, XmlTypes};
///
/// let mut rewriter = Rewriter::xml(XmlTypes::default());
/// let mut out = Vec::new();
/// rewriter.push(br#"{"records":[{"id":1,"na"#, false, &mut out).unwrap();
/// rewriter.push(br#"me":"x"}]}"#, true, &mut out).unwrap();
/// assert_eq!(out, br#"<root><records type="array"><item><id>1</id><name>x</name></item></records></root>"#);
/// ```
pub struct Rewriter {
    kind: Kind,
    place: Place,
    rest: Vec<u8>,
}

enum Kind {
    Xml(XmlWriter),
    Expand(Expander),
}

impl Rewriter {
    /// JSON to XML (SPEC 18.20).
    pub fn xml(types: XmlTypes) -> Rewriter {
        Rewriter::new(Kind::Xml(XmlWriter::new(types)))
    }

    /// Strings that hold JSON to what they hold (SPEC 18.23). With `in_lists` the named members of the records of lists
    /// and of the properties of features are reached, too.
    pub fn expand(columns: JsonColumns, in_lists: bool) -> Rewriter {
        Rewriter::new(Kind::Expand(Expander::new(columns, in_lists)))
    }

    fn new(kind: Kind) -> Rewriter {
        Rewriter { kind, place: Place::default(), rest: Vec::new() }
    }

    /// Takes the next piece and appends what it makes of it.
    pub fn push(&mut self, piece: &[u8], is_last: bool, out: &mut Vec<u8>) -> Result<(), Malformed> {
        self.rest.extend_from_slice(piece);
        let end = if is_last { self.rest.len() } else { whole_tokens(&self.rest) };
        let bytes = &self.rest[..end];
        let text = std::str::from_utf8(bytes).map_err(|e| Malformed { at: e.valid_up_to() })?;
        let mut scanner = Scanner::resume(text, std::mem::take(&mut self.place), is_last);
        match &mut self.kind {
            Kind::Xml(writer) => writer.piece(&mut scanner, out)?,
            Kind::Expand(expander) => expander.piece(&mut scanner, text, out)?,
        }
        self.place = scanner.place();
        self.rest.drain(..end);
        Ok(())
    }
}

/// Where the last token that is surely whole ends: after a comma, colon, brace or bracket outside of strings. The bytes
/// begin outside of strings.
fn whole_tokens(bytes: &[u8]) -> usize {
    let (mut at, mut whole) = (0, 0);
    loop {
        let outside = &bytes[at..];
        let quote = memchr(b'"', outside);
        let outside = &outside[..quote.unwrap_or(outside.len())];
        let mark =
            [b',', b':', b'{', b'}', b'[', b']'].iter().filter_map(|mark| memrchr(*mark, outside)).max();
        whole = mark.map_or(whole, |mark| at + mark + 1);
        let Some(quote) = quote else { return whole };
        at += quote + 1;
        loop {
            let Some(found) = memchr2(b'"', b'\\', &bytes[at..]) else { return whole };
            at += found + 1;
            if bytes[at - 1] == b'"' {
                break;
            }
            at = (at + 1).min(bytes.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert_eq, proptest};
    use serde_json::Value as Json;

    use crate::encode::json_columns::JsonColumns;
    use crate::encode::rewriter::Rewriter;
    use crate::encode::xml::XmlTypes;

    fn rewritten(mut rewriter: Rewriter, pieces: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            rewriter.push(piece, index + 1 == pieces.len(), &mut out).expect("it is JSON");
        }
        out
    }

    proptest! {
        #[test]
        fn where_a_document_is_cut_does_not_matter(
            texts in proptest::collection::vec("[\\[{]?[\"\\\\\\[\\]{}:,a0é🦀]{0,6}", 1..5),
            number: f64,
            cuts in proptest::collection::vec(0..100usize, 0..8),
        ) {
            let record = serde_json::json!({ "b": &texts, "a": texts[0], "n": number, "z": null, "ok": true });
            let document = serde_json::json!({ "records": [record, {}, []], "results": 3 }).to_string();
            let document = document.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut * document.len() / 100).collect();
            cuts.sort_unstable();
            let starts = std::iter::once(0).chain(cuts.iter().copied());
            let ends = cuts.iter().copied().chain([document.len()]);
            let pieces: Vec<&[u8]> = starts.zip(ends).map(|(start, end)| &document[start..end]).collect();
            let named = || JsonColumns::parse("a");
            let makers: [&dyn Fn() -> Rewriter; 3] = [
                &|| Rewriter::xml(XmlTypes::default()),
                &|| Rewriter::expand(JsonColumns::All, false),
                &|| Rewriter::expand(named(), true),
            ];
            for make in makers {
                prop_assert_eq!(rewritten(make(), &pieces), rewritten(make(), &[document]));
            }
        }
    }

    #[test]
    fn little_is_kept_between_pieces() {
        let mut rewriter = Rewriter::xml(XmlTypes::default());
        let mut out = Vec::new();
        rewriter.push(b"[", false, &mut out).expect("it is JSON");
        for _ in 0..1000 {
            rewriter.push(br#"{"a":"x,y"},"#, false, &mut out).expect("it is JSON");
            assert!(rewriter.rest.is_empty());
        }
    }

    #[test]
    fn members_of_lists_are_reached_if_that_is_wanted() {
        let named = || JsonColumns::parse("a");
        let table = [
            (r#"{"records":[{"a":"[1]","b":"[2]"}]}"#, r#"{"records":[{"a":[1],"b":"[2]"}]}"#),
            (
                r#"{"features":[{"id":"[0]","properties":{"a":"[1]"}}]}"#,
                r#"{"features":[{"id":"[0]","properties":{"a":[1]}}]}"#,
            ),
            // A column of that name that was not named.
            (r#"{"records":"[1]","a":"[1]"}"#, r#"{"records":"[1]","a":[1]}"#),
        ];
        for (document, expected) in table {
            let out = rewritten(Rewriter::expand(named(), true), &[document.as_bytes()]);
            assert_eq!(String::from_utf8(out).expect("it is UTF-8"), expected);
            let as_it_is = rewritten(Rewriter::expand(named(), false), &[document.as_bytes()]);
            assert!(serde_json::from_slice::<Json>(&as_it_is).is_ok());
        }
    }
}
