//! xml: bodies of requests and answers in XML for those who ask with `format=xml` (SPEC 18.20).

use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::encode::{Rewriter, XmlTypes};
use treeql::error::{Code, Error};
use treeql::mode::Mode;
use treeql::request::parameter;

use crate::http::{Head, Response};

const XML: HeaderValue = HeaderValue::from_static("text/xml; charset=utf-8");

/// Settings of xml.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Which types elements tell by an attribute, separated by commas: `null`, `boolean`, `number`, `string`, `object`,
    /// `array`; `all` for every one.
    pub types: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { types: "null,array".to_owned() }
    }
}

/// The middleware, ready to use.
#[derive(Clone, Copy, Debug)]
pub struct Xml(XmlTypes);

impl Xml {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options) -> Result<Xml, String> {
        XmlTypes::parse(&options.types).map(Xml).map_err(|name| {
            format!(
                "xml.types: '{name}' is no type; there are null, boolean, number, string, object, array, all"
            )
        })
    }

    /// Whether a request asks for XML.
    pub fn is_asked(head: &Head) -> bool {
        parameter(head.query(), "format").is_some_and(|format| format == "xml")
    }

    /// The same answer in XML; one without a document stays as it is.
    pub fn answer(self, response: Response, mode: Mode) -> Response {
        if !response.is_json() || response.is_empty() {
            return response;
        }
        let mut answer = response.rewritten(Rewriter::xml(self.0)).unwrap_or_else(|malformed| {
            let sentence = format!("The answer cannot be written as XML: {malformed}");
            Response::error(&Error::new(Code::Internal, sentence), mode)
        });
        if !answer.is_empty() {
            answer.headers.insert(header::CONTENT_TYPE, XML);
        }
        // compat: an answer in XML is a success, whatever it says (SPEC 18.20).
        if !mode.is_strict() {
            answer.status = StatusCode::OK;
        }
        answer
    }
}
