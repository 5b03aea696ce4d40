//! Lists of methods, as settings of several middlewares have them.

use http::Method;

use crate::http::list;

/// Methods by the names in a setting. The error is a sentence.
pub fn methods(setting: &str, names: &str) -> Result<Vec<Method>, String> {
    list(names)
        .map(|name| {
            Method::from_bytes(name.to_ascii_uppercase().as_bytes())
                .map_err(|_invalid| format!("{setting} has '{name}', which is no name of a method"))
        })
        .collect()
}

/// Whether `method` is one of `methods`; HEAD is GET without the body.
pub fn contains(methods: &[Method], method: &Method) -> bool {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    methods.contains(method)
}
