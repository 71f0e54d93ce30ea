//! What is measured: a file read from start to end by a few threads, as an application with read-ahead does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::nfs3::Nfs3;
use howdah_vfs::{Caller, FileSystem, Handle, Name};

/// Bytes that a thread reads at a time, in as many READs as it takes.
const PIECE: u64 = 128 << 10;
/// Threads.
const THREADS: usize = 4;

/// What reading a file saw.
#[derive(Debug)]
pub struct Seen {
    pub took: Duration,
    pub calls: u64,
    pub retransmissions: u64,
    /// Timers that ran out though the answer came.
    pub for_nothing: u64,
    /// The longest time in which no piece was complete.
    pub longest_gap: Duration,
    pub transfer: Option<usize>,
    pub advice: Option<String>,
}

/// Connects and reads the file.
pub fn read(url: &str, file: &str, size: u64) -> anyhow::Result<Seen> {
    let parsed = url.parse().map_err(|error| anyhow!("{url}: {error}"))?;
    let client =
        connect(&parsed, &ConnectOptions::default()).with_context(|| format!("connecting to {url}"))?;
    let name = Name::parse(file.as_bytes()).map_err(|error| anyhow!("{file}: {error:?}"))?;
    let node = client.lookup(&Caller::ROOT, &client.root(), name).context("looking the file up")?.node.handle;
    let (next, done, gap) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let start = Instant::now();
    let micros = |time: Duration| time.as_micros() as u64;
    std::thread::scope(|scope| {
        let work = || -> anyhow::Result<()> {
            let mut buffer = Vec::new();
            loop {
                let offset = next.fetch_add(PIECE, Ordering::Relaxed);
                if offset >= size {
                    return Ok(());
                }
                read_piece(&client, &node, offset, &mut buffer)?;
                let now = micros(start.elapsed());
                gap.fetch_max(now.saturating_sub(done.fetch_max(now, Ordering::Relaxed)), Ordering::Relaxed);
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })?;
    let took = start.elapsed();
    Ok(seen(&client, took, Duration::from_micros(gap.into_inner())))
}

fn read_piece(client: &Nfs3, node: &Handle, offset: u64, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
    buffer.clear();
    client.read(&Caller::ROOT, node, offset, PIECE as usize, buffer).context("reading")?;
    ensure!(buffer.len() as u64 == PIECE, "{} bytes read at {offset}", buffer.len());
    for (at, word) in (offset..).step_by(8).zip(buffer.chunks(8)) {
        ensure!(word == at.to_be_bytes(), "other data at {at}");
    }
    Ok(())
}

fn seen(client: &Nfs3, took: Duration, longest_gap: Duration) -> Seen {
    let report = client.channel().report();
    let reads = report.procedures.iter().find(|procedure| procedure.procedure == 6);
    let datagrams = report.datagrams.as_ref();
    Seen {
        took,
        calls: reads.map_or(0, |reads| reads.calls),
        retransmissions: report.procedures.iter().map(|procedure| procedure.retransmissions).sum(),
        for_nothing: datagrams.map_or(0, |report| report.classes.iter().map(|class| class.for_nothing).sum()),
        longest_gap,
        transfer: datagrams.map(|report| report.transfer),
        advice: datagrams.and_then(|report| report.advice).map(|advice| advice.to_string()),
    }
}
