//! Reads of the disk that nobody waits for longer than is worth it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;

use bytes::Bytes;
use howdah_threads::{AtEnd, Threads};

use super::node::DataPlace;
use super::pieces::CachedPiece;
use super::shared::{DiskShared, WantedPieces};

/// Threads that read.
const THREADS_MAX: usize = 16;
/// Reads that run or wait for a thread; of more, the server is asked.
const READS_MAX: usize = 256;

/// The threads.
pub struct DiskReads {
    shared: Arc<DiskShared>,
    threads: Threads,
}

/// What came of a read.
pub enum FetchedPieces {
    /// The pieces, which are what was put there.
    Here(Bytes),
    /// The disk takes too long.
    Late,
    /// They are not what was put there, or cannot be read.
    Damaged,
}

/// A read that is under way.
struct UnderWay {
    shared: Arc<DiskShared>,
    number: u64,
}

impl DiskReads {
    pub fn new(shared: Arc<DiskShared>) -> Self {
        Self { shared, threads: Threads::new("disk-cache-read", THREADS_MAX, AtEnd::DropJobs) }
    }

    /// Reads pieces and checks them.
    pub fn fetch(&self, wanted: WantedPieces) -> FetchedPieces {
        let Some(under_way) = UnderWay::begin(&self.shared) else { return FetchedPieces::Late };
        let (sender, receiver) = sync_channel(1);
        self.threads.run(move || {
            let read = read_checked(&under_way.shared, &wanted);
            drop(under_way);
            // Nobody waits any more if it was late.
            let _ = sender.send(read);
        });
        match receiver.recv_timeout(self.shared.options.patience) {
            Ok(Ok(bytes)) => FetchedPieces::Here(bytes),
            Ok(Err(error)) => {
                tracing::debug!(%error, "reading the cache on disk");
                self.shared.damaged.fetch_add(1, Ordering::Relaxed);
                FetchedPieces::Damaged
            }
            Err(_) => {
                self.shared.late.fetch_add(1, Ordering::Relaxed);
                self.shared.look_for_hang(&mut self.shared.state.lock());
                FetchedPieces::Late
            }
        }
    }
}

fn read_checked(shared: &DiskShared, wanted: &WantedPieces) -> io::Result<Bytes> {
    let WantedPieces { key, place, pieces } = wanted;
    let length = pieces.iter().map(CachedPiece::len).sum();
    let offset = pieces.first().map_or(0, CachedPiece::offset);
    let bytes = match place {
        DataPlace::Index => shared.storage.read_small(key)?,
        DataPlace::File => {
            let mut buffer = Vec::with_capacity(length);
            shared.storage.read(key, offset, length, &mut buffer)?;
            buffer
        }
    };
    let mut rest = &bytes[..];
    for piece in pieces {
        let (one, after) = rest.split_at_checked(piece.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        if shared.secret.sum(key, piece.index, one) != piece.sum {
            return Err(io::Error::other("a checksum does not match"));
        }
        rest = after;
    }
    Ok(bytes.into())
}

impl UnderWay {
    fn begin(shared: &Arc<DiskShared>) -> Option<Self> {
        let mut state = shared.state.lock();
        if state.reads.len() >= READS_MAX {
            shared.look_for_hang(&mut state);
            return None;
        }
        let number = state.next_read;
        state.next_read += 1;
        state.reads.insert(number, shared.now());
        Some(Self { shared: Arc::clone(shared), number })
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.shared.state.lock().reads.remove(&self.number);
    }
}
