//! The server of 2003 that ratcheted timers down: 99 calls of 100 are answered in 0.1 ms, one after 300 ms.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::nfs3::Nfs3;
use howdah_vfs::layer::Delayed;
use howdah_vfs::{Caller, FileSystem};

/// How long a call takes that is answered from memory, and one that is not.
const QUICK: Duration = Duration::from_micros(100);
const SLOW: Duration = Duration::from_millis(300);
/// One call of so many is slow.
const ONE_IN: u64 = 100;
/// After so long timers should know.
pub const SETTLED: Duration = Duration::from_secs(10);
/// Threads that call.
const THREADS: usize = 4;

/// The same files, served so.
pub fn around(fs: Arc<dyn FileSystem>) -> Arc<dyn FileSystem> {
    let calls = AtomicU64::new(0);
    let sleep = move |_| {
        let is_slow = calls.fetch_add(1, Ordering::Relaxed) % ONE_IN == ONE_IN - 1;
        std::thread::sleep(if is_slow { SLOW } else { QUICK });
    };
    Arc::new(Delayed::around(fs, QUICK, Arc::new(sleep)))
}

/// Calls, retransmissions and those for nothing, before timers know and after.
pub struct Seen {
    pub before: [u64; 3],
    pub after: [u64; 3],
}

/// GETATTRs for so long.
pub fn call(url: &str, time: Duration) -> anyhow::Result<Seen> {
    let parsed = url.parse().map_err(|error| anyhow!("{url}: {error}"))?;
    let client =
        connect(&parsed, &ConnectOptions::default()).with_context(|| format!("connecting to {url}"))?;
    work(&client, SETTLED)?;
    let before = counts(&client);
    work(&client, time)?;
    let all = counts(&client);
    Ok(Seen { before, after: [all[0] - before[0], all[1] - before[1], all[2] - before[2]] })
}

fn work(client: &Nfs3, time: Duration) -> anyhow::Result<()> {
    let (root, until) = (client.root(), Instant::now() + time);
    std::thread::scope(|scope| {
        let work = || -> anyhow::Result<()> {
            while Instant::now() < until {
                client.attributes(&Caller::ROOT, &root).context("GETATTR")?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })
}

fn counts(client: &Nfs3) -> [u64; 3] {
    let report = client.channel().report();
    let classes = report.datagrams.map(|report| report.classes).unwrap_or_default();
    let sum = |of: fn(&howdah_client::channel::ClassReport) -> u64| classes.iter().map(of).sum();
    [sum(|class| class.calls), sum(|class| class.retransmissions), sum(|class| class.for_nothing)]
}
