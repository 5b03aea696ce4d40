//! Bytes as callers spell them: base64 in the standard or the URL-safe alphabet, padded or not.

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine};

/// With or without padding; the bits that are left over are not looked at.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The same text in the standard alphabet, without white space.
pub fn standard_base64(text: &str) -> String {
    let characters = text.chars().filter(|character| !character.is_ascii_whitespace());
    characters
        .map(|character| match character {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect()
}

/// The bytes that a text spells.
pub fn decode_base64(text: &str) -> Result<Vec<u8>, DecodeError> {
    BASE64.decode(standard_base64(text).trim_end_matches('='))
}

#[cfg(test)]
mod tests {
    use crate::request::base64::decode_base64;

    #[test]
    fn both_alphabets_and_lines_are_read_and_padding_may_be_missing() {
        for text in ["+/8=", "-_8", "+/8", "+/\n8=\n"] {
            assert_eq!(decode_base64(text).as_deref(), Ok(&[0xfb, 0xff][..]), "{text}");
        }
        assert!(decode_base64("a").is_err() && decode_base64("ä").is_err());
    }
}
