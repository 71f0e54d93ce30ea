//! A record of clients as a line of text.

use std::fmt::Write as _;
use std::net::IpAddr;

use howdah_state::{DurableRecord, Principal};

/// A record as a line of the file.
pub fn line(record: &DurableRecord) -> String {
    match record {
        DurableRecord::Start { epoch } => format!("start {epoch}\n"),
        DurableRecord::AddClient { owner, principal, server } => {
            format!("client {} {}{}\n", Hex(owner), Hex(&principal.0), At(*server))
        }
        DurableRecord::TakeClient { owner, principal, server } => {
            format!("taken-client {} {}{}\n", Hex(owner), Hex(&principal.0), At(*server))
        }
        DurableRecord::TakeHost { host } => format!("taken-host {}\n", Hex(host)),
        DurableRecord::RemoveClient { owner, principal, .. } => {
            format!("no-client {} {}\n", Hex(owner), Hex(&principal.0))
        }
        DurableRecord::AddHost { host } => format!("host {}\n", Hex(host)),
        DurableRecord::RemoveHost { host } => format!("no-host {}\n", Hex(host)),
        DurableRecord::EndGrace => "end-grace\n".to_owned(),
    }
}

/// The record of a line, without its end.
pub fn parse(line: &str) -> Option<DurableRecord> {
    let (mut words, server) = match line.split_once(" at ") {
        Some((words, server)) => (words.split(' '), Some(server.parse().ok()?)),
        None => (line.split(' '), None),
    };
    let kind = words.next()?;
    let mut bytes = || words.next().and_then(from_hex);
    Some(match kind {
        "start" => DurableRecord::Start { epoch: line.strip_prefix("start ")?.parse().ok()? },
        "client" => DurableRecord::AddClient { owner: bytes()?, principal: Principal(bytes()?), server },
        "taken-client" => {
            DurableRecord::TakeClient { owner: bytes()?, principal: Principal(bytes()?), server }
        }
        "taken-host" => DurableRecord::TakeHost { host: bytes()? },
        "no-client" => {
            let (owner, principal) = (bytes()?, Principal(bytes()?));
            DurableRecord::RemoveClient { owner, principal, by_itself: false }
        }
        "host" => DurableRecord::AddHost { host: bytes()? },
        "no-host" => DurableRecord::RemoveHost { host: bytes()? },
        "end-grace" => DurableRecord::EndGrace,
        _ => return None,
    })
}

/// The address that a client calls, if it is known, behind what else the line says.
struct At(Option<IpAddr>);

impl std::fmt::Display for At {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |server| write!(formatter, " at {server}"))
    }
}

/// Bytes as two digits each; a dash for none.
struct Hex<'b>(&'b [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return formatter.write_char('-');
        }
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

fn from_hex(text: &str) -> Option<Box<[u8]>> {
    if text == "-" {
        return Some(Box::default());
    }
    let digit = |at: usize| char::from(text.as_bytes()[at]).to_digit(16);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len() / 2).map(|at| Some((digit(2 * at)? << 4 | digit(2 * at + 1)?) as u8)).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// One of each kind but one.
    pub fn records() -> [DurableRecord; 8] {
        let server = Some([192, 0, 2, 1].into());
        let principal = Principal(Box::new([1, 0, 0, 0, 7]));
        [
            DurableRecord::Start { epoch: 3 },
            DurableRecord::AddClient {
                owner: b"one".as_slice().into(),
                principal: principal.clone(),
                server: None,
            },
            DurableRecord::AddClient { owner: Box::default(), principal: principal.clone(), server },
            DurableRecord::RemoveClient {
                owner: b"one".as_slice().into(),
                principal: principal.clone(),
                by_itself: false,
            },
            DurableRecord::AddHost { host: b"\xff host".as_slice().into() },
            DurableRecord::TakeClient { owner: Box::new([8]), principal, server },
            DurableRecord::TakeHost { host: Box::new([9]) },
            DurableRecord::EndGrace,
        ]
    }

    #[test]
    fn a_line_tells_all_of_a_record() {
        for record in records().into_iter().chain([DurableRecord::RemoveHost { host: Box::new([0]) }]) {
            let line = line(&record);
            assert_eq!(parse(line.trim_end()), Some(record));
        }
        for wrong in ["", "start", "start x", "client 6", "client zz 00", "client 00 00 at x", "other 00"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
