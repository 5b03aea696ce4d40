//! Cookies: reading them, and the line that sets one.

use http::{HeaderMap, HeaderValue, header};

/// The values of all cookies called `name`, in the order sent. Whoever controls a sibling host can add one, so a value
/// is only worth what can be verified about it.
pub fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(move |(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// A cookie for the whole site that other sites cannot send along, except by a link.
pub struct Cookie<'a> {
    /// A token of RFC 9110.
    pub name: &'a str,
    /// Letters, digits, `-`, `_` and `.`.
    pub value: &'a str,
    /// Whether it is for encrypted connections only.
    pub is_secure: bool,
    /// Whether scripts cannot read it.
    pub is_http_only: bool,
    /// Whether the browser throws it away at once.
    pub is_expired: bool,
}

impl Cookie<'_> {
    /// Whether a cookie can be called `name`.
    pub fn is_name(name: &str) -> bool {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !name.is_empty() && name.bytes().all(is_part)
    }

    /// The value of the `Set-Cookie` header.
    pub fn header(&self) -> HeaderValue {
        let mut text = format!("{}={}; Path=/", self.name, self.value);
        if self.is_expired {
            text.push_str("; Max-Age=0");
        }
        if self.is_secure {
            text.push_str("; Secure");
        }
        if self.is_http_only {
            text.push_str("; HttpOnly");
        }
        text.push_str("; SameSite=Lax");
        HeaderValue::from_str(&text).expect("names are checked at the start, values are of our making")
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header};

    use crate::http::cookie::{Cookie, cookies};

    #[test]
    fn all_cookies_of_a_name_are_found() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; b=2;a=x=y"));
        headers.append(header::COOKIE, HeaderValue::from_static("aa=3; a; a="));
        assert_eq!(cookies(&headers, "a").collect::<Vec<_>>(), ["1", "x=y", ""]);
        assert_eq!(cookies(&headers, "c").count(), 0);
    }

    #[test]
    fn a_name_is_a_token() {
        assert!(Cookie::is_name("__Host-a"));
        for name in ["", "a b", "a=b", "a;b", "ä", "a\r\nb"] {
            assert!(!Cookie::is_name(name), "{name}");
        }
    }

    #[test]
    fn attributes_are_written() {
        let cookie = Cookie { name: "a", value: "b", is_secure: true, is_http_only: true, is_expired: false };
        assert_eq!(cookie.header(), "a=b; Path=/; Secure; HttpOnly; SameSite=Lax");
        let cookie = Cookie { value: "", is_secure: false, is_http_only: false, is_expired: true, ..cookie };
        assert_eq!(cookie.header(), "a=; Path=/; Max-Age=0; SameSite=Lax");
    }
}
