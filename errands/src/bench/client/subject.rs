//! What is measured: our client, as its users use it: threads that make blocking calls on a `FileSystem`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use bytes::Bytes;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::nfs3::Nfs3;
use howdah_vfs::{Caller, Change, Data, FileSystem, Handle, Name, Stability};

use super::super::export::user;
use super::super::load::LARGE;
use super::{Direction, Moved};
use xtask::clock::ProcessClock;

/// The client, connected, and the file.
pub struct Subject {
    client: Arc<Nfs3>,
    node: Handle,
    size: u64,
}

impl Subject {
    /// Mounts the export and finds the file.
    pub fn mount(address: SocketAddr, export: &str, file: &str, size: u64) -> anyhow::Result<Self> {
        let url = format!("nfs://{address}/{}", export.trim_start_matches('/'));
        let client =
            connect(&url.parse().map_err(|error| anyhow!("{url}: {error}"))?, &ConnectOptions::default())
                .with_context(|| format!("connecting to {url}"))?;
        let name = Name::parse(file.as_bytes()).map_err(|error| anyhow!("{file}: {error:?}"))?;
        let found = client.lookup(&caller(), &client.root(), name).context("looking the file up")?;
        Ok(Self { client, node: found.node.handle, size })
    }

    /// Moves the file's data, from start to end and again, for so long, in so many threads.
    pub fn run(&self, direction: Direction, threads: u32, time: Duration) -> anyhow::Result<Moved> {
        let clock = ProcessClock::of(std::process::id())?;
        let (pieces, over) = (AtomicU64::new(0), AtomicBool::new(false));
        let (start, began) = (Instant::now(), clock.now()?);
        let outcome = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..threads).map(|_| scope.spawn(|| self.work(direction, &pieces, &over))).collect();
            std::thread::sleep(time);
            over.store(true, Ordering::Relaxed);
            threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?).sum()
        });
        let bytes: anyhow::Result<u64> = outcome;
        Ok(Moved { bytes: bytes?, processor: clock.now()? - began, elapsed: start.elapsed() })
    }

    fn work(&self, direction: Direction, pieces: &AtomicU64, over: &AtomicBool) -> anyhow::Result<u64> {
        let (mut buffer, data) = (Vec::new(), Bytes::from(vec![0x64; LARGE as usize]));
        let mut bytes = 0;
        while !over.load(Ordering::Relaxed) {
            let offset = pieces.fetch_add(1, Ordering::Relaxed) * u64::from(LARGE) % self.size;
            match direction {
                Direction::Read => self.read(offset, &mut buffer)?,
                Direction::Write => self.write(offset, &data)?,
            }
            bytes += u64::from(LARGE);
        }
        Ok(bytes)
    }

    fn read(&self, offset: u64, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
        buffer.clear();
        let step = || format!("reading at {offset}");
        let read =
            self.client.read(&caller(), &self.node, offset, LARGE as usize, buffer).with_context(step)?;
        ensure!(read.content.len() == LARGE as usize, "{}: only {} bytes came", step(), read.content.len());
        let stamp = buffer.first_chunk().map(|bytes| u64::from_be_bytes(*bytes));
        ensure!(stamp == Some(offset), "{}: what came bears another stamp", step());
        Ok(())
    }

    fn write(&self, offset: u64, data: &Bytes) -> anyhow::Result<()> {
        let (mut change, step) = (Change::default(), || format!("writing at {offset}"));
        let data = Data::Shared(data.clone());
        let written =
            self.client.write(&caller(), &self.node, offset, data, Stability::Unstable, &mut change);
        let count = written.with_context(step)?.count;
        ensure!(count == LARGE as usize, "{}: only {count} bytes were taken", step());
        Ok(())
    }
}

fn caller() -> Caller {
    Caller::new(user(), user())
}
