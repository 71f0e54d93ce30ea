//! A pulse: a client that writes one block after the other with FILE_SYNC and never stops, so that it is seen when a server answers,
//! what, how long it takes, and when it is back; every block that was answered for is there in the end.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use howdah_client::connect::own_caller;
use howdah_net::Namespace;
use howdah_vfs::{Change, Create, CreateFile, Data, FileSystem, Name, NewAttributes, Stability, WriteFile};

use super::scene::Scene;

/// A block.
const BLOCK: usize = 4096;
/// Between two blocks: often enough to see when something changes.
const PAUSE: Duration = Duration::from_millis(10);
/// The file that it writes.
pub const FILE: &str = "pulse";

/// What was seen.
#[derive(Default)]
struct Seen {
    /// Blocks that were answered for.
    written: Vec<usize>,
    refusals: BTreeSet<String>,
    longest: Duration,
    last: Option<Instant>,
}

/// The client, at work.
pub struct Pulse {
    seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
    rests: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

fn block(number: usize) -> Vec<u8> {
    (number as u64 + 1).to_le_bytes().repeat(BLOCK / 8)
}

impl Pulse {
    /// Starts with this mount, on that host.
    pub fn start(fs: Arc<dyn FileSystem>, host: &Namespace) -> Result<Self> {
        let (caller, change) = (own_caller(), &mut Change::default());
        let how = Create::Unchecked(NewAttributes { size: Some(0), ..NewAttributes::with_mode(0o600) });
        let name = Name::parse(FILE.as_bytes()).context("a name")?;
        let file = fs
            .create(&caller, CreateFile::new(&fs.root(), name, &how), change)
            .context("making a file")?
            .handle;
        let seen = Arc::<Mutex<Seen>>::default();
        let [stop, rests] = [(); 2].map(|()| Arc::<AtomicBool>::default());
        let (shared, stops, resting, host) =
            (Arc::clone(&seen), Arc::clone(&stop), Arc::clone(&rests), host.clone());
        let thread = thread::spawn(move || {
            if let Err(error) = host.enter() {
                lock(&shared).refusals.insert(format!("entering a host: {error}"));
                return;
            }
            let mut number = 0;
            while !stops.load(Ordering::Relaxed) {
                if resting.load(Ordering::Relaxed) {
                    thread::sleep(PAUSE);
                    continue;
                }
                let (bytes, began) = (block(number), Instant::now());
                let (at, change) = ((number * BLOCK) as u64, &mut Change::default());
                let outcome = fs.write(
                    &caller,
                    WriteFile::new(&file, at, Data::Bytes(&bytes), Stability::FileSync),
                    change,
                );
                let mut seen = lock(&shared);
                seen.longest = seen.longest.max(began.elapsed());
                match outcome {
                    Ok(written) if written.count == BLOCK => {
                        seen.written.push(number);
                        seen.last = Some(Instant::now());
                        number += 1;
                    }
                    Ok(_) => {}
                    Err(error) => drop(seen.refusals.insert(error.to_string())),
                }
                drop(seen);
                thread::sleep(PAUSE);
            }
        });
        Ok(Self { seen, stop, rests, thread: Some(thread) })
    }

    /// Writes nothing until this is dropped.
    pub fn rest(&self) -> Rest<'_> {
        self.rests.store(true, Ordering::Relaxed);
        Rest(&self.rests)
    }

    /// Blocks that were answered for so far.
    pub fn count(&self) -> usize {
        lock(&self.seen).written.len()
    }

    /// Waits for another block, and says how long that took; an error if none comes.
    pub fn next(&self, patience: Duration) -> Result<Duration> {
        let (began, before) = (Instant::now(), self.count());
        while self.count() == before {
            ensure!(began.elapsed() < patience, "no block was written for {patience:?}");
            thread::sleep(PAUSE / 10);
        }
        Ok(began.elapsed())
    }

    /// The refusals, and the longest that an answer took, since this was asked last.
    pub fn take(&self) -> (Vec<String>, Duration) {
        let mut seen = lock(&self.seen);
        (std::mem::take(&mut seen.refusals).into_iter().collect(), std::mem::take(&mut seen.longest))
    }

    /// Ends, and compares every block that was answered for with what the disk has of the file.
    pub fn end(mut self, scene: &Scene) -> Result<usize> {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let file = scene.server.export().join(FILE);
        scene.forget(&file)?;
        let bytes = std::fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
        let written = &lock(&self.seen).written;
        let is_there =
            |number: &usize| bytes.get(number * BLOCK..(number + 1) * BLOCK) == Some(&block(*number)[..]);
        let lost: Vec<usize> = written.iter().copied().filter(|number| !is_there(number)).collect();
        if let Some(&first) = lost.first() {
            let (lost, written) = (lost.len(), written.len());
            let there = bytes.get(first * BLOCK..).unwrap_or_default();
            let same =
                there.iter().zip(block(first)).take_while(|(there, written)| **there == *written).count();
            let other = there.get(same);
            bail!(
                "{lost} of {written} blocks that were answered for are not there; of number {first} {same} bytes are as written, then comes {other:?}"
            );
        }
        Ok(written.len())
    }
}

/// A pulse that rests.
pub struct Rest<'p>(&'p AtomicBool);

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        // A caller that gives up does not wait for an answer, and leaves nobody at work for the next.
        self.stop.store(true, Ordering::Relaxed);
    }
}
