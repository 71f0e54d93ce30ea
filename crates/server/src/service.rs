//! What all calls share: the exports, who has mounted what, and what is reachable where.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use howdah_vfs::Content;
use howdah_wire::rpc::RecordMark;
use howdah_wire::xdr::Encoder;
use parking_lot::{Mutex, RwLock};

use crate::capture::Recorder;
use crate::counts::Ledger;
use crate::dispatch::{self, Whence, Work};
use crate::exports::Exports;
use crate::limits::RANGE_DOUBT;
use crate::mount::Mounts;
use crate::nfs3::Makers;
use crate::programs::PROGRAMS;
use crate::reply_cache::SharedReplyCache;
use crate::{Peer, Transport};

/// The state behind every program.
pub struct Service {
    exports: RwLock<Arc<Exports>>,
    /// What was asked, and how long it took.
    pub(crate) counts: Ledger,
    /// The record of calls that somebody asked for.
    pub(crate) capture: Recorder,
    /// Who has mounted what, as MOUNT's DUMP tells.
    pub mounts: Mounts,
    /// Who made files exclusively.
    pub makers: Makers,
    /// The replies of calls that may not run twice.
    pub replies: SharedReplyCache,
    /// Where this server listens, as portmap and rpcbind tell.
    pub listeners: RwLock<Vec<(Transport, SocketAddr)>>,
    /// Handles refused because we never gave them out.
    pub forged_handles: AtomicU64,
    /// Until when READs are copied into their replies.
    ranges_doubted: Mutex<Option<Instant>>,
}

impl Service {
    /// A service of these exports, listening nowhere yet.
    pub fn new(exports: Exports) -> Self {
        let counts = Ledger::new(PROGRAMS);
        counts.admit(&exports);
        Self {
            counts,
            capture: Recorder::default(),
            exports: RwLock::new(Arc::new(exports)),
            mounts: Mounts::default(),
            makers: Makers::default(),
            replies: SharedReplyCache::default(),
            listeners: RwLock::default(),
            forged_handles: AtomicU64::new(0),
            ranges_doubted: Mutex::new(None),
        }
    }

    /// The exports as they are now: a call keeps one view of them from start to end.
    pub fn exports(&self) -> Arc<Exports> {
        Arc::clone(&self.exports.read())
    }

    /// Replaces the exports; calls that run keep the old ones.
    pub fn set_exports(&self, exports: Exports) {
        self.counts.admit(&exports);
        *self.exports.write() = Arc::new(exports);
    }

    /// Sending a range of a file failed after its reply had begun, and its connection with it: the file system cannot
    /// send ranges, or its storage is broken. The client will ask again on another connection, where only a READ that
    /// is copied can be refused with a status.
    pub fn doubt_ranges(&self) {
        *self.ranges_doubted.lock() = Some(Instant::now() + RANGE_DOUBT);
    }

    /// Whether READs are copied into their replies for now.
    pub fn doubts_ranges(&self) -> bool {
        self.ranges_doubted.lock().is_some_and(|until| Instant::now() < until)
    }

    /// Answers one message as a worker does, without a socket: for tests and fuzzers. `None`: there is no answer.
    pub fn answer(&self, peer: &Peer, message: &[u8]) -> Option<Vec<u8>> {
        let reply = match dispatch::read(PROGRAMS, message) {
            Work::NoCall => return None,
            Work::Refuse(header) => return Some(Encoder::to_vec(&header)),
            Work::Run(job) => job.run(self, &Whence::datagram(peer, &|_| false), None, Vec::new())?,
        };
        let (mut bytes, content) = reply.finish();
        if let Some(Content::Bytes(content)) = &content {
            bytes.extend_from_slice(content);
            Encoder::new(&mut bytes).pad(content.len());
        }
        Some(bytes.split_off(RecordMark::SIZE))
    }
}
