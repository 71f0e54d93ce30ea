//! Which mechanism a client's first token is for (RFC 2743 3.1): looked at before any library sees the token.

/// The object identifier of Kerberos 5, 1.2.840.113554.1.2.2, without tag and length (RFC 1964 1).
pub const MECHANISM: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02];
/// That of SPNEGO, 1.3.6.1.5.5.2.
const SPNEGO: [u8; 6] = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x02];

/// `[APPLICATION 0]`, around all of the token.
const FRAME: u8 = 0x60;
/// An object identifier.
const IDENTIFIER: u8 = 0x06;
/// `TOK_ID` of an AP-REQ.
const AP_REQUEST: [u8; 2] = [0x01, 0x00];

/// What a first token turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialToken {
    /// A request of Kerberos 5, the only one that is handed on.
    Kerberos,
    /// SPNEGO, by which a client offers a choice of mechanisms. RPCSEC_GSS knows no such choice.
    Negotiation,
    /// Another mechanism.
    OtherMechanism,
    /// No token, or one that is cut short or too long.
    Malformed,
}

impl InitialToken {
    /// Looks at the frame of a token, and at nothing behind it.
    pub fn of(token: &[u8]) -> Self {
        let Some(framed) = content(FRAME, token).filter(|(_, behind)| behind.is_empty()) else {
            return Self::Malformed;
        };
        match content(IDENTIFIER, framed.0) {
            Some((identifier, inner)) if identifier == MECHANISM => {
                if inner.starts_with(&AP_REQUEST) {
                    Self::Kerberos
                } else {
                    Self::Malformed
                }
            }
            Some((identifier, _)) if identifier == SPNEGO => Self::Negotiation,
            Some(_) => Self::OtherMechanism,
            None => Self::Malformed,
        }
    }
}

/// What is in an element of DER with this tag at the start of `bytes`, and what is behind it.
fn content(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[first, length], rest) = bytes.split_first_chunk()?;
    if first != tag {
        return None;
    }
    if length < 0x80 {
        return rest.split_at_checked(length.into());
    }
    // A long length: so many bytes hold it. None is the indefinite form, which DER does not have.
    let count = usize::from(length & 0x7f);
    if !(1..=3).contains(&count) {
        return None;
    }
    let (length, rest) = rest.split_at_checked(count)?;
    let length = length.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(identifier: &[u8], inner: &[u8]) -> Vec<u8> {
        let body = [&[IDENTIFIER, identifier.len() as u8], identifier, inner].concat();
        let length = (body.len() as u16).to_be_bytes();
        [&[FRAME, 0x82, length[0], length[1]][..], &body].concat()
    }

    #[test]
    fn only_kerberos_is_taken_for_kerberos() {
        let request = framed(&MECHANISM, &[1, 0, 0x6e, 0x82]);
        assert_eq!(InitialToken::of(&request), InitialToken::Kerberos);
        assert_eq!(InitialToken::of(&framed(&MECHANISM, &[2, 0])), InitialToken::Malformed);
        assert_eq!(InitialToken::of(&framed(&SPNEGO, &[0xa0, 3])), InitialToken::Negotiation);
        assert_eq!(InitialToken::of(&framed(&[0x2a, 1], &[1, 0])), InitialToken::OtherMechanism);
        for end in 0..request.len() {
            assert_eq!(InitialToken::of(&request[..end]), InitialToken::Malformed, "cut at {end}");
        }
        for hostile in [
            &b""[..],
            b"NTLMSSP\0",
            &[FRAME, 0x80, 0, 0],
            &[FRAME, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[FRAME, 0xff],
        ] {
            assert_eq!(InitialToken::of(hostile), InitialToken::Malformed, "{hostile:x?}");
        }
        assert_eq!(InitialToken::of(&[&request[..], &[0]].concat()), InitialToken::Malformed);
    }
}
