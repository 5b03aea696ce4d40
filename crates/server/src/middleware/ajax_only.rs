//! ajaxOnly: writes need a header that pages of other sites cannot send.

use http::{HeaderMap, HeaderName, Method};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::error::{Code, Error};

use crate::http::header_name;
use crate::middleware::method::{contains, methods};

/// Settings of ajaxOnly.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Methods that do not need the header, separated by commas. HEAD counts as GET.
    pub exclude_methods: String,
    /// The header.
    pub header_name: String,
    /// The value that it must have.
    pub header_value: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            exclude_methods: "OPTIONS,GET".to_owned(),
            header_name: "X-Requested-With".to_owned(),
            header_value: "XMLHttpRequest".to_owned(),
        }
    }
}

/// The check, ready to use.
pub struct AjaxOnly {
    excluded: Vec<Method>,
    header: HeaderName,
    value: String,
}

impl AjaxOnly {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options) -> Result<AjaxOnly, String> {
        Ok(AjaxOnly {
            excluded: methods("ajaxOnly.excludeMethods", &options.exclude_methods)?,
            header: header_name("ajaxOnly.headerName", &options.header_name)?,
            value: options.header_value.clone(),
        })
    }

    /// Refuses a request without the header: 1018 with the method.
    pub fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), Error> {
        let is_ajax =
            || headers.get(&self.header).is_some_and(|value| value.as_bytes() == self.value.as_bytes());
        if contains(&self.excluded, method) || is_ajax() {
            return Ok(());
        }
        Err(Error::new(Code::OnlyAjaxAllowed, method.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, Method};
    use treeql::error::{Code, Error};

    use crate::middleware::ajax_only::{AjaxOnly, Options};

    #[test]
    fn a_write_needs_the_header() {
        let check = AjaxOnly::compile(&Options::default()).unwrap();
        let mut headers = HeaderMap::new();
        for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
            assert_eq!(check.check(&method, &headers), Ok(()));
        }
        for value in [None, Some("xmlhttprequest"), Some("")] {
            if let Some(value) = value {
                headers.insert("x-requested-with", HeaderValue::from_static(value));
            }
            for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
                let refused = Error::new(Code::OnlyAjaxAllowed, method.as_str());
                assert_eq!(check.check(&method, &headers), Err(refused));
            }
        }
        headers.insert("x-requested-with", HeaderValue::from_static("XMLHttpRequest"));
        assert_eq!(check.check(&Method::POST, &headers), Ok(()));
    }

    #[test]
    fn a_wrong_setting_is_a_sentence() {
        let error = |options: Options| AjaxOnly::compile(&options).err().unwrap();
        let method = Options { exclude_methods: "GET,P OST".into(), ..Options::default() };
        assert_eq!(error(method), "ajaxOnly.excludeMethods has 'P OST', which is no name of a method");
        let header = Options { header_name: String::new(), ..Options::default() };
        assert_eq!(error(header), "ajaxOnly.headerName is '', which is no name of a header");
    }
}
