//! Paths below URLs, as they can be typed again.

use std::borrow::Cow;

/// What a path below a URL begins with.
const SCHEME: &[u8] = b"nfs://";

/// A path in messages. Below `nfs://HOST`, names have escapes where a URL needs them; local paths and `HOST:/PATH` need none.
pub fn spelled(path: &[u8]) -> Cow<'_, [u8]> {
    let Some(rest) = path.strip_prefix(SCHEME) else { return Cow::Borrowed(path) };
    let names = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
    let is_text = std::str::from_utf8(path).is_ok();
    let needs_escape = |byte: u8| byte <= b' ' || b"%?\x7f".contains(&byte) || (byte >= 0x80 && !is_text);
    let mut spelled = [SCHEME, &rest[..names]].concat();
    for &byte in &rest[names..] {
        match needs_escape(byte) {
            true => spelled.extend(format!("%{byte:02X}").bytes()),
            false => spelled.push(byte),
        }
    }
    Cow::Owned(spelled)
}

#[cfg(test)]
mod tests {
    use howdah_client::url::NfsUrl;

    use super::*;

    #[test]
    fn what_is_shown_of_a_url_can_be_typed_again() {
        for (path, shown) in [
            (&b"nfs://host/100%/a?b#c/sp ace"[..], "nfs://host/100%25/a%3Fb#c/sp%20ace"),
            (b"nfs://[fd00::1]:2050/x\xff", "nfs://[fd00::1]:2050/x%FF"),
            ("nfs://host/h\u{f6}he".as_bytes(), "nfs://host/h\u{f6}he"),
            (b"nfs://host", "nfs://host"),
            (b"host:/100%", "host:/100%"),
            (b"/local/100%", "/local/100%"),
        ] {
            let spelled = spelled(path);
            assert_eq!(String::from_utf8_lossy(&spelled), shown);
            let Some(names) = path.strip_prefix(b"nfs://host") else { continue };
            let url: NfsUrl = shown.parse().expect("a URL");
            assert_eq!(url.path_bytes(), if names.is_empty() { &b"/"[..] } else { names });
        }
    }
}
