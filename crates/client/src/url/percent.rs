//! Percent-encoding (RFC 3986 2.1): any byte may be in a name on a server, not every one in a URL.

use super::UrlError;

/// The bytes of a text with its escapes undone.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, UrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let value = after.get(..2).and_then(byte_of).ok_or_else(|| UrlError::Escape(text.to_owned()))?;
        bytes.push(value);
        rest = &after[2..];
    }
    Ok(bytes)
}

/// Appends the bytes of one part of a path, escaping what would mean something else in a URL.
pub(super) fn encode(bytes: &[u8], text: &mut String) {
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~!$'()*+,;=:@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// One part of a path, or the value of an option, as it stands in a URL.
pub fn encoded(part: &str) -> String {
    let mut text = String::new();
    encode(part.as_bytes(), &mut text);
    text
}

fn byte_of(digits: &[u8]) -> Option<u8> {
    // `from_str_radix` would take a sign too.
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let every: Vec<u8> = (0..=255).collect();
        let mut text = String::new();
        encode(&every, &mut text);
        assert_eq!(decode(&text), Ok(every));
        assert_eq!(encoded("../é?"), "..%2F%C3%A9%3F");
        for bad in ["%", "a%1", "%g0", "%+1", "100%"] {
            assert_eq!(decode(bad), Err(UrlError::Escape(bad.to_owned())));
        }
    }
}
