//! Copies of what can be read once and has no known length: a pipe, a terminal, a device.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use howdah_vfs::{Data, FsError, Handle, NewAttributes, Node, Stability};
use parking_lot::Mutex;

use super::decide::may_be_replaced;
use super::error::{Cause, CopyError, Doing, On, Step, Trouble};
use super::tally::{Tally, add, count};
use super::{Bucket, Side, StopSign, naming};

/// Bytes of one write.
const BLOCK: usize = 1 << 20;

/// Writes in flight where a destination takes several of one file. What is read once cannot be sent again, so that each is durable
/// before it is answered.
const IN_FLIGHT: usize = 16;

/// How a copy of a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamEnd {
    /// Whether it was copied to its end, and not stopped before.
    pub is_whole: bool,
    /// For how long it waited because the rate was bounded.
    pub held_back: Duration,
}

/// A stream and where it goes.
pub struct StreamCopy {
    /// Where to.
    pub destination: Side,
    /// The directory.
    pub directory: Handle,
    /// The name in it.
    pub name: Vec<u8>,
    /// How the source's path is shown to people.
    pub path: Vec<u8>,
    /// How the path of the copy is shown to people.
    pub target_path: Vec<u8>,
    /// Distinguishes copies from different sources: see [`super::source_id`].
    pub id: u64,
    /// The mode of the copy.
    pub mode: u32,
    /// Most bytes per second.
    pub rate: Option<u64>,
    /// Whether the data is durable before the copy gets its name.
    pub sync: bool,
    /// What stops it.
    pub stop: StopSign,
    /// What it counts.
    pub tally: Arc<Tally>,
}

impl StreamCopy {
    /// Reads to the end, and gives the copy its name then.
    ///
    /// # Errors
    /// The step that failed. Nothing is left of the copy.
    pub fn run(&self, input: &mut dyn Read) -> Result<StreamEnd, CopyError> {
        self.copy(input).map_err(|trouble| self.failed(trouble))
    }

    /// Counts it as copied if it can be. Reads nothing.
    ///
    /// # Errors
    /// What is in its way.
    pub fn dry_run(&self) -> Result<(), CopyError> {
        self.refuse_special().map_err(|trouble| self.failed(trouble))?;
        count(&self.tally.files);
        Ok(())
    }

    /// Counts what is there as kept. Reads nothing.
    pub fn keep(&self) {
        count(&self.tally.kept);
    }

    fn failed(&self, trouble: Trouble) -> CopyError {
        count(&self.tally.errors);
        let path = if trouble.on == On::Source { &self.path } else { &self.target_path };
        trouble.of(path.clone())
    }

    fn copy(&self, input: &mut dyn Read) -> Step<StreamEnd> {
        self.refuse_special()?;
        let partial_name = naming::partial(&self.name, self.id);
        let new = NewAttributes::with_mode(0o600);
        let partial =
            self.destination.create_afresh(&self.directory, &partial_name, new).at_destination("write")?;
        let copied = self.fill(&partial, input).and_then(|end| {
            if end.is_whole {
                let mode = NewAttributes::with_mode(self.mode);
                self.destination.set(&partial.handle, &mode).at_destination("set the attributes of")?;
                let renamed = self.destination.rename(&self.directory, &partial_name, &self.name);
                renamed.at_destination("rename the partial file to")?;
            }
            Ok(end)
        });
        match copied {
            Ok(StreamEnd { is_whole: true, .. }) => count(&self.tally.files),
            // A stream cannot be resumed.
            _ => _ = self.destination.remove(&self.directory, &partial_name),
        }
        copied
    }

    fn refuse_special(&self) -> Step<()> {
        let there = self.destination.find(&self.directory, &self.name).at_destination("look up")?;
        match there.map(|there| there.attributes.kind) {
            Some(kind) if !may_be_replaced(kind) => {
                Err(Trouble::destination("replace", Cause::InTheWay(kind)))
            }
            _ => Ok(()),
        }
    }

    /// Writes all that comes.
    fn fill(&self, partial: &Node, input: &mut dyn Read) -> Step<StreamEnd> {
        let limits = self.destination.file_system.limits(&self.destination.caller, &partial.handle);
        let is_parallel = limits.is_ok_and(|limits| limits.parallel_writes);
        let (jobs, stability) = match is_parallel {
            true if self.sync => (IN_FLIGHT, Stability::FileSync),
            true => (IN_FLIGHT, Stability::Unstable),
            false => (1, Stability::Unstable),
        };
        let (sender, receiver) = sync_channel::<(u64, Bytes)>(jobs);
        let (receiver, failed) = (Mutex::new(receiver), Mutex::new(None));
        let read = thread::scope(|scope| {
            for number in 0..jobs {
                let write = || self.write_all(partial, stability, &receiver, &failed);
                let builder = thread::Builder::new().name(format!("stream-{number}"));
                if builder.spawn_scoped(scope, write).is_err() && number == 0 {
                    return Err(Trouble::destination("write", Cause::Refused(FsError::Io)));
                }
            }
            self.read_all(input, sender, &failed)
        });
        if let Some(refused) = failed.into_inner() {
            return Err(refused).at_destination("write");
        }
        let end = read?;
        if end.is_whole && self.sync && stability == Stability::Unstable {
            self.destination.commit(&partial.handle).at_destination("commit")?;
        }
        Ok(end)
    }

    fn write_all(
        &self,
        partial: &Node,
        stability: Stability,
        receiver: &Mutex<Receiver<(u64, Bytes)>>,
        failed: &Mutex<Option<FsError>>,
    ) {
        loop {
            let next = receiver.lock().recv();
            let Ok((at, bytes)) = next else { return };
            // After a failure the rest is taken and dropped, so that the reader is not left waiting.
            if failed.lock().is_some() {
                continue;
            }
            let rest = |done| Data::Shared(bytes.slice(done..));
            let written =
                self.destination.write(&partial.handle, (at, bytes.len()), rest, stability, |_, _| {});
            match written {
                Ok(()) => add(&self.tally.copied_bytes, bytes.len() as u64),
                Err(refused) => _ = failed.lock().get_or_insert(refused),
            }
        }
    }

    fn read_all(
        &self,
        input: &mut dyn Read,
        sender: SyncSender<(u64, Bytes)>,
        failed: &Mutex<Option<FsError>>,
    ) -> Step<StreamEnd> {
        let (mut at, start) = (0, Instant::now());
        let mut bucket = self.rate.map(Bucket::new);
        let size = self.rate.map_or(BLOCK, |rate| Bucket::smooth_block(rate, BLOCK));
        let is_whole = loop {
            let mut block = vec![0; size];
            let length = self.read_block(input, &mut block)?;
            if self.stop.is_set() || failed.lock().is_some() {
                break false;
            }
            if length == 0 {
                break true;
            }
            let wait = bucket.as_mut().map(|bucket| bucket.take(length as u64, start.elapsed()));
            block.truncate(length);
            if !self.stop.wait(wait.unwrap_or_default()) || sender.send((at, Bytes::from(block))).is_err() {
                break false;
            }
            at += length as u64;
        };
        Ok(StreamEnd { is_whole, held_back: bucket.map_or(Duration::ZERO, |bucket| bucket.held()) })
    }

    /// As much as there is room for, or up to the end.
    fn read_block(&self, input: &mut dyn Read, block: &mut [u8]) -> Step<usize> {
        let mut length = 0;
        while length < block.len() && !self.stop.is_set() {
            match input.read(&mut block[length..]) {
                Ok(0) => break,
                Ok(count) => length += count,
                // Nothing came yet, or a signal did.
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::TimedOut) => {}
                Err(error) => return Err(Trouble::source("read", Cause::Refused(refusal(&error)))),
            }
        }
        Ok(length)
    }
}

/// What a failed read means, as far as that helps.
fn refusal(error: &io::Error) -> FsError {
    match error.kind() {
        ErrorKind::IsADirectory => FsError::IsDirectory,
        ErrorKind::PermissionDenied => FsError::AccessDenied,
        ErrorKind::StaleNetworkFileHandle => FsError::Stale,
        _ => FsError::Io,
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Caller, FileSystem};

    use super::*;

    fn to_memory(rate: Option<u64>) -> StreamCopy {
        let memory = Arc::new(MemoryFileSystem::new());
        StreamCopy {
            directory: memory.root(),
            destination: Side::new(memory, Caller::ROOT),
            name: b"copy".to_vec(),
            path: b"-".to_vec(),
            target_path: b"copy".to_vec(),
            id: 7,
            mode: 0o644,
            rate,
            sync: true,
            stop: StopSign::default(),
            tally: Arc::default(),
        }
    }

    /// Gives so many bytes, and notes the largest read.
    struct Noting {
        left: usize,
        largest: usize,
    }

    impl Read for Noting {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.largest = self.largest.max(buffer.len());
            let count = buffer.len().min(self.left);
            self.left -= count;
            Ok(count)
        }
    }

    #[test]
    fn a_rate_below_a_block_in_a_second_is_kept_and_told() {
        let (copy, mut input) = (to_memory(Some(64 << 10)), Noting { left: 80 << 10, largest: 0 });
        let start = Instant::now();
        let end = copy.run(&mut input).expect("copied");
        // 80 KiB at 64 KiB/s, but for what may be caught up.
        assert!(start.elapsed() >= Duration::from_millis(1190), "{:?}", start.elapsed());
        assert!(end.is_whole && end.held_back >= Duration::from_secs(1), "{end:?}");
        assert!(input.largest <= 64 << 10, "{} bytes at once are not smooth", input.largest);
    }

    #[test]
    fn a_stream_that_is_held_back_is_stopped() {
        let copy = to_memory(Some(1));
        let end = thread::scope(|scope| {
            let running = scope.spawn(|| copy.run(&mut Noting { left: 1 << 20, largest: 0 }));
            copy.stop.set();
            running.join().expect("it ends")
        });
        assert!(!end.expect("stopped").is_whole);
    }

    #[test]
    fn why_a_stream_cannot_be_read_is_told() {
        struct Directory;
        impl Read for Directory {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(ErrorKind::IsADirectory.into())
            }
        }
        let error = to_memory(None).run(&mut Directory).expect_err("it is no stream");
        assert_eq!(error.to_string(), "cannot read -: is a directory");
    }
}
