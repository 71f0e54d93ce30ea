//! The mount that means no harm: it reads a file over and over, and asks for attributes meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::{Caller, Handle, Name, ReadFile};

/// What is read at once.
const PIECE: usize = 1 << 20;
/// How long between two questions.
const APART: Duration = Duration::from_millis(2);

/// A mount, and a file of it.
pub struct Mount {
    client: Arc<dyn Remote>,
    file: Handle,
    size: u64,
}

/// How it was served.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    /// Bytes per second that were read.
    pub rate: f64,
    /// What 99 of 100 questions took at most.
    pub p99: Duration,
}

impl Mount {
    /// Of a file of that size.
    pub fn new(url: &str, file: &str, size: u64) -> anyhow::Result<Self> {
        let url = url.parse().map_err(|error| anyhow!("{url}: {error}"))?;
        let client = connect(&url, &ConnectOptions::default()).context("mounting")?;
        let name = Name::parse(file.as_bytes()).map_err(|error| anyhow!("{error:?}"))?;
        let file = client.lookup(&Caller::ROOT, &client.root(), name)?.node.handle;
        Ok(Self { client, file, size })
    }

    /// Reads and asks for so long.
    pub fn use_for(&self, time: Duration) -> anyhow::Result<Served> {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| self.read(time));
            let asking = scope.spawn(|| self.ask(&over));
            let rate = reading.join().map_err(|_| anyhow!("the reader panicked"));
            over.store(true, Ordering::SeqCst);
            let mut took = asking.join().map_err(|_| anyhow!("the asker panicked"))??;
            took.sort();
            let p99 = *took.get(took.len() * 99 / 100).context("nothing was asked")?;
            Ok(Served { rate: rate??, p99 })
        })
    }

    fn read(&self, time: Duration) -> anyhow::Result<f64> {
        let (start, mut offset, mut sum) = (Instant::now(), 0, 0);
        let mut buffer = Vec::with_capacity(PIECE);
        while start.elapsed() < time {
            buffer.clear();
            self.client
                .read(&Caller::ROOT, ReadFile::new(&self.file, offset, PIECE), &mut buffer)
                .context("reading")?;
            sum += PIECE as u64;
            offset = (offset + PIECE as u64) % self.size;
        }
        Ok(sum as f64 / start.elapsed().as_secs_f64())
    }

    fn ask(&self, over: &AtomicBool) -> anyhow::Result<Vec<Duration>> {
        let mut took = Vec::new();
        while !over.load(Ordering::SeqCst) {
            let start = Instant::now();
            self.client.attributes(&Caller::ROOT, &self.file).context("asking for attributes")?;
            took.push(start.elapsed());
            std::thread::sleep(APART);
        }
        Ok(took)
    }
}
