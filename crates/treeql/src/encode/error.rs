//! Errors as JSON: `{"code":N,"message":"…"}`, with details where there are any (SPEC 5).

use crate::encode::json::write_string;
use crate::error::Error;

/// Appends an error document.
pub fn write_error(out: &mut Vec<u8>, error: &Error) {
    out.extend_from_slice(b"{\"code\":");
    out.extend_from_slice(itoa::Buffer::new().format(error.code.number()).as_bytes());
    out.extend_from_slice(b",\"message\":");
    write_string(out, &error.message());
    if !error.details.is_empty() {
        out.extend_from_slice(b",\"details\":");
        for (index, (about, sentence)) in error.details.iter().enumerate() {
            out.push(if index == 0 { b'{' } else { b',' });
            write_string(out, about);
            out.push(b':');
            write_string(out, sentence);
        }
        out.push(b'}');
    }
    out.push(b'}');
}
