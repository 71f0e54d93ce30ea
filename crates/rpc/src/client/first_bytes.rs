//! What a stream begins with that is not RPC, for people.

use std::fmt;

/// How many bytes are kept: enough for the version of a banner.
const KEPT: usize = 24;

/// The first bytes of a stream, as far as they came and up to the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstBytes {
    bytes: [u8; KEPT],
    length: usize,
}

impl FirstBytes {
    /// Of a stream that begins with these bytes.
    pub fn of(stream: &[u8]) -> Self {
        let line = stream.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
        let length = line.len().min(KEPT);
        let mut bytes = [0; KEPT];
        bytes[..length].copy_from_slice(&line[..length]);
        Self { bytes, length }
    }

    /// Whether they are a record of TLS (RFC 8446 5.1): its type, and a version 3.x.
    fn are_tls(&self) -> bool {
        matches!(self.bytes, [20..=23, 3, 0..=4, ..])
    }
}

impl fmt::Display for FirstBytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{}\"", self.bytes[..self.length].escape_ascii())?;
        if self.are_tls() { formatter.write_str(", as of TLS") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_shown_up_to_the_end_of_a_line() {
        for (stream, shown) in [
            (&b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n"[..], "\"HTTP/1.1 400 Bad Request\""),
            (b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n", "\"SSH-2.0-OpenSSH_9.2p1 De\""),
            (b"\x15\x03\x01\x00\x02\x02\x46", "\"\\x15\\x03\\x01\\x00\\x02\\x02F\", as of TLS"),
            (b"", "\"\""),
        ] {
            assert_eq!(FirstBytes::of(stream).to_string(), shown);
        }
    }
}
