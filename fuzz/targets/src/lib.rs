//! What the fuzzers do with their input: one module per fuzzer, each with a `run` that panics on a finding.
//!
//! They stand apart from the fuzzers themselves so that `cargo test` replays the corpora with any compiler.

#[macro_use]
mod stable;

pub mod admin_requests;
pub mod client_replies;
pub mod configurations;
pub mod datagram_peer;
pub mod frames;
pub mod gss_calls;
pub mod handles;
pub mod helper_messages;
pub mod journal_segments;
pub mod kernel_texts;
pub mod local_operations;
pub mod lock_messages;
pub mod mount_messages;
pub mod nfs3_messages;
pub mod nfs4_messages;
pub mod nfs_state;
pub mod portmap_messages;
pub mod quic_streams;
pub mod record_marking;
pub mod reply_cache;
pub mod rpc_headers;
mod seeds;
pub mod service_calls;
pub mod tls_probe;
pub mod tls_records;
mod tls_site;
pub mod tuner;
pub mod typed_texts;

pub use seeds::seeds;

/// A fuzzer.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its corpus.
    pub name: &'static str,
    /// Does with an input what it does.
    pub run: fn(&[u8]),
}

/// All fuzzers.
pub const TARGETS: &[Target] = &[
    Target { name: "admin_requests", run: admin_requests::run },
    Target { name: "client_replies", run: client_replies::run },
    Target { name: "configurations", run: configurations::run },
    Target { name: "datagram_peer", run: datagram_peer::run },
    Target { name: "frames", run: frames::run },
    Target { name: "gss_calls", run: gss_calls::run },
    Target { name: "handles", run: handles::run },
    Target { name: "helper_messages", run: helper_messages::run },
    Target { name: "journal_segments", run: journal_segments::run },
    Target { name: "kernel_texts", run: kernel_texts::run },
    Target { name: "local_operations", run: local_operations::run },
    Target { name: "lock_messages", run: lock_messages::run },
    Target { name: "mount_messages", run: mount_messages::run },
    Target { name: "nfs3_messages", run: nfs3_messages::run },
    Target { name: "nfs4_messages", run: nfs4_messages::run },
    Target { name: "nfs_state", run: nfs_state::run },
    Target { name: "portmap_messages", run: portmap_messages::run },
    Target { name: "quic_streams", run: quic_streams::run },
    Target { name: "record_marking", run: record_marking::run },
    Target { name: "reply_cache", run: reply_cache::run },
    Target { name: "rpc_headers", run: rpc_headers::run },
    Target { name: "service_calls", run: service_calls::run },
    Target { name: "tls_probe", run: tls_probe::run },
    Target { name: "tls_records", run: tls_records::run },
    Target { name: "tuner", run: tuner::run },
    Target { name: "typed_texts", run: typed_texts::run },
];
