//! compress(): answers for those who accept gzip or zstd (RFC 9110, 12.5.3).

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use treeql::error::{Code, Error};
use treeql::mode::Mode;

use crate::http::body::Body;
use crate::http::coding::Coding;
use crate::http::message::Response;

/// Answers of fewer bytes are sent as they are: they fit into one packet.
const BYTES_MIN: usize = 1024;

/// Compresses the body of an answer if the request accepts that and it is not tiny. What might have been compressed
/// says so, so that a cache keeps both apart.
pub fn compress(request: &HeaderMap, response: &mut Response) {
    if matches!(&response.body, Body::Whole(bytes) if bytes.len() < BYTES_MIN) {
        return;
    }
    Response::vary(&mut response.headers, "Accept-Encoding");
    let accepted = request.get(header::ACCEPT_ENCODING).and_then(|value| accepted(value.to_str().ok()?));
    let Some(coding) = accepted.filter(|_| !response.headers.contains_key(header::CONTENT_ENCODING)) else {
        return;
    };
    let body = std::mem::replace(&mut response.body, Body::Whole(Bytes::new()));
    match body.coded(coding) {
        Ok(coded) => {
            response.body = coded;
            response.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        Err(error) => {
            let sentence = format!("The answer cannot be compressed: {error}");
            *response = Response::error(&Error::new(Code::Internal, sentence), Mode::Strict);
        }
    }
}

/// The coding with the highest quality; of equal ones zstd, which costs less.
fn accepted(header: &str) -> Option<Coding> {
    let (mut gzip, mut zstd, mut any) = (None, None, None);
    for part in header.split(',') {
        let mut pieces = part.split(';');
        let name = pieces.next().unwrap_or_default().trim();
        let quality = pieces.find_map(|piece| piece.trim().strip_prefix("q=")?.parse::<f32>().ok());
        let quality = Some(quality.unwrap_or(1.0));
        match name {
            _ if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => gzip = quality,
            _ if name.eq_ignore_ascii_case("zstd") => zstd = quality,
            "*" => any = quality,
            _ => {}
        }
    }
    let (gzip, zstd) = (gzip.or(any).unwrap_or(0.0), zstd.or(any).unwrap_or(0.0));
    match (zstd > 0.0 && zstd >= gzip, gzip > 0.0) {
        (true, _) => Some(Coding::Zstd),
        (false, true) => Some(Coding::Gzip),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::http::coding::Coding;
    use crate::http::compress::accepted;

    #[test]
    fn the_best_quality_wins_and_zstd_of_equal_ones() {
        for (header, coding) in [
            ("", None),
            ("identity", None),
            ("br, deflate", None),
            ("gzip, deflate, br", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("GZIP;q=1.0, zstd;q=0.5", Some(Coding::Gzip)),
            ("gzip;q=0, zstd;q=0", None),
            ("*", Some(Coding::Zstd)),
            ("zstd;q=0, *;q=0.5", Some(Coding::Gzip)),
        ] {
            assert_eq!(accepted(header), coding, "{header}");
        }
    }
}
