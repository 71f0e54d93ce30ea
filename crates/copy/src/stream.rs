//! Copies of what can be read once and tells no length: a pipe, a terminal, a device.

use std::io::{ErrorKind, Read};
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
    /// Reads to the end, and gives the copy its name then. Says whether that was done, and not stopped before.
    ///
    /// # Errors
    /// The step that failed. Nothing is left of the copy.
    pub fn run(&self, input: &mut dyn Read) -> Result<bool, CopyError> {
        self.copy(input).map_err(|trouble| {
            count(&self.tally.errors);
            let path = if trouble.on == On::Source { &self.path } else { &self.target_path };
            trouble.of(path.clone())
        })
    }

    fn copy(&self, input: &mut dyn Read) -> Step<bool> {
        self.refuse_special()?;
        let partial_name = naming::partial(&self.name, self.id);
        let new = NewAttributes::with_mode(0o600);
        let partial =
            self.destination.create_afresh(&self.directory, &partial_name, new).at_destination("write")?;
        let copied = self.fill(&partial, input).and_then(|is_whole| {
            if is_whole {
                let mode = NewAttributes::with_mode(self.mode);
                self.destination.set(&partial.handle, &mode).at_destination("set the attributes of")?;
                let renamed = self.destination.rename(&self.directory, &partial_name, &self.name);
                renamed.at_destination("rename the partial file to")?;
            }
            Ok(is_whole)
        });
        match copied {
            Ok(true) => count(&self.tally.files),
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

    /// Writes all that comes; says whether that is all there was.
    fn fill(&self, partial: &Node, input: &mut dyn Read) -> Step<bool> {
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
        let is_whole = read?;
        if is_whole && self.sync && stability == Stability::Unstable {
            self.destination.commit(&partial.handle).at_destination("commit")?;
        }
        Ok(is_whole)
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
    ) -> Step<bool> {
        let (mut at, start) = (0, Instant::now());
        let mut bucket = self.rate.map(Bucket::new);
        loop {
            let mut block = vec![0; BLOCK];
            let length = self.read_block(input, &mut block)?;
            if self.stop.is_set() || failed.lock().is_some() {
                return Ok(false);
            }
            if length == 0 {
                return Ok(true);
            }
            if let Some(bucket) = &mut bucket {
                let wait = bucket.take(length as u64, start.elapsed());
                thread::sleep(wait.min(Duration::from_secs(1)));
            }
            block.truncate(length);
            if sender.send((at, Bytes::from(block))).is_err() {
                return Ok(false);
            }
            at += length as u64;
        }
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
                Err(_) => return Err(Trouble::source("read", Cause::Refused(FsError::Io))),
            }
        }
        Ok(length)
    }
}
