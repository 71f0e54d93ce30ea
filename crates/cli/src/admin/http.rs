//! One question of HTTP over a Unix socket, and its answer.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use howdah_net::connect_local;

/// How long a server may take to say anything: longer than it lets a question take.
const PATIENCE: Duration = Duration::from_secs(15);
/// The longest answer: ten thousand connections are described in some of these.
const ANSWER_MAX: u64 = 256 << 20;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status, 200 if all is well.
    pub status: u16,
    /// What comes with it.
    pub body: Vec<u8>,
}

/// Asks; `body` is JSON.
pub fn ask(socket: &Path, method: &str, path: &str, body: &[u8]) -> io::Result<Answer> {
    let mut stream = connect_local(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut question = format!(
        // Version 1.0: the answer comes in one piece, and then the connection ends.
        "{method} {path} HTTP/1.0\r\nHost: howdah\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    question.extend_from_slice(body);
    stream.write_all(&question)?;
    let mut bytes = Vec::new();
    stream.take(ANSWER_MAX).read_to_end(&mut bytes).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
        _ => error,
    })?;
    parse(&bytes).ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "the answer is not HTTP"))
}

/// Status line, headers, empty line, body (RFC 9112 2.1).
fn parse(bytes: &[u8]) -> Option<Answer> {
    const END: &[u8] = b"\r\n\r\n";
    let end = bytes.windows(END.len()).position(|window| window == END)?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()?;
    let body = &bytes[end + END.len()..];
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = length.map_or(Some(body.len()), |(_, value)| value.trim().parse().ok())?;
    // Fewer bytes than were announced: it was cut off.
    Some(Answer { status, body: body.get(..length)?.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_torn_ones_are_not_believed() {
        let whole =
            b"HTTP/1.0 404 Not Found\r\ncontent-type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(parse(whole), Some(Answer { status: 404, body: b"{}".to_vec() }));
        for end in 0..whole.len() {
            assert_eq!(parse(&whole[..end]), None, "{end}");
        }
        assert_eq!(parse(b"HTTP/1.1 200 OK\r\n\r\n{}").map(|answer| answer.body), Some(b"{}".to_vec()));
        for wrong in ["", "SSH-2.0\r\n\r\n", "HTTP/1.0 abc\r\n\r\n", "HTTP/1.0\r\n\r\n"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
