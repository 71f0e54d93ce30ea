//! NFS to a server, by our own client.

use serde::{Deserialize, Serialize};

use super::ServerSessionFacts;

/// A transfer size that is smaller costs calls; 1 MiB is what servers take of late.
const SMALL_TRANSFER: u64 = 256 << 10;

/// What the client saw.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NfsFacts {
    /// Bytes of a READ.
    pub read_size: u64,
    /// Bytes of a WRITE.
    pub write_size: u64,
    /// TLS, if it protects the calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<ServerTlsFacts>,
    /// What the server grants, with NFSv4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<ServerSessionFacts>,
    /// A file that was there, read in order.
    pub reads: Option<MovingFacts>,
    /// A file of our own, written in order, where the user allows it.
    pub writes: Option<MovingFacts>,
    /// Whether that was low at first, and measured once more: the better of both stands.
    pub measured_twice: bool,
    /// What could not be found out, and why.
    pub could_not: Vec<String>,
}

impl NfsFacts {
    /// Whether calls carry so little that their number counts.
    pub fn has_small_transfers(&self) -> bool {
        (1..SMALL_TRANSFER).contains(&self.read_size.min(self.write_size))
    }

    /// It was measured once more.
    pub fn once_more(&mut self, again: Self) {
        let better = |one: Option<MovingFacts>, other: Option<MovingFacts>| {
            one.into_iter()
                .chain(other)
                .max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))
        };
        self.measured_twice = true;
        self.reads = better(self.reads.take(), again.reads);
        self.writes = better(self.writes.take(), again.writes);
    }
}

/// TLS to a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerTlsFacts {
    /// The cipher suite.
    pub suite: String,
    /// Where records are made: `user space`.
    pub records: String,
    /// The name in the server's certificate.
    pub certificate: String,
    /// For how many seconds it is still valid.
    pub seconds_left: u64,
    /// The client's own certificate, if it has one.
    pub own: Option<OwnCertificateFacts>,
}

/// The certificate by which a client proves who it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnCertificateFacts {
    /// The name in it.
    pub name: String,
    /// For how many seconds it is still valid.
    pub seconds_left: u64,
}

/// Bytes that NFS moved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MovingFacts {
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// What the client says limited it, in one word.
    pub limit: Option<String>,
    /// The same as a sentence with figures.
    pub sentence: Option<String>,
}
