//! What a path carries to any NFS server: calls for nothing (NULL) with ballast behind their header, which servers skip.
//! Nothing is stored, and the answers are short.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use howdah_net::{ConnectSettings, Connection};
use howdah_wire::nfs3::{self, null};
use howdah_wire::rpc::{CallHeader, Credentials, RecordMark};
use howdah_wire::xdr::{Encode, Encoder};

use super::flood::{Flood, lasts};
use crate::facts::RateFacts;

/// Bytes of ballast: a record that every server takes.
const BALLAST: usize = 32 << 10;
/// A connection that carries nothing for so long carries nothing.
const SILENCE: Duration = Duration::from_secs(5);

/// What the path carries there.
///
/// # Errors
/// Nobody listens, or the connection breaks.
pub fn rate_there(server: SocketAddr, round_trip: Duration) -> io::Result<Option<RateFacts>> {
    let settings = ConnectSettings {
        timeout: SILENCE,
        silence: SILENCE,
        reserved_port: true,
        from: None,
        tick: Duration::from_millis(10),
        window: None,
    };
    let connection = Connection::open(server, &settings)?;
    Flood::of(call()).measure(&connection, lasts(round_trip), "calls for nothing")
}

/// A call of NULL with ballast, and the mark before it.
fn call() -> Vec<u8> {
    let mut bytes = vec![0; RecordMark::SIZE];
    let header = CallHeader {
        xid: std::process::id(),
        program: nfs3::PROGRAM,
        version: nfs3::VERSION,
        procedure: null::PROCEDURE,
        credentials: Credentials::None,
    };
    header.encode(&mut Encoder::new(&mut bytes));
    bytes.resize(bytes.len() + BALLAST, 0);
    let length = (bytes.len() - RecordMark::SIZE) as u32;
    bytes[..RecordMark::SIZE].copy_from_slice(&RecordMark { length, last: true }.to_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_one_whole_record() {
        let call = call();
        let mark = RecordMark::from_bytes(call[..4].try_into().expect("four"));
        assert!(mark.last && mark.length as usize == call.len() - 4 && call.len() > BALLAST);
    }
}
