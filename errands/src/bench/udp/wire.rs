//! One direction of a line: packets are read at one end, pass a path of `howdah-link`, and are written at the other.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use howdah_link::loss::{Independent, Loss};
use howdah_link::{Delay, DropTail, Element, FRAME_OVERHEAD, Packet, Path, Rate};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The buffer of a switch's port, in bytes.
const BUFFER: usize = 256 << 10;
/// The longest sleep: then it is looked whether to end.
const TICK: Duration = Duration::from_millis(50);

/// What a line is like, each way.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub bits_per_second: u64,
    pub delay: Duration,
    /// Of each packet, and so of each fragment.
    pub loss: f64,
    pub seed: u64,
}

impl Line {
    fn path(&self, direction: u64) -> Path<Vec<u8>> {
        Path::new()
            .then(Rate::new(self.bits_per_second, DropTail::bytes(BUFFER)))
            .then(Loss::new(Independent::new(self.loss, self.seed + direction)))
            .then(Delay::new(self.delay))
    }

    /// Carries packets until it is over.
    pub fn carry(&self, direction: u64, from: &File, to: &File, over: &AtomicBool) -> anyhow::Result<()> {
        let mut path = self.path(direction);
        let (mut buffer, mut spare) = (vec![0; 64 << 10], Vec::new());
        while !over.load(Ordering::Relaxed) {
            deliver(&mut path, to, &mut spare)?;
            let now = Instant::now();
            let most = path.next_event().map_or(TICK, |at| at.saturating_duration_since(now).min(TICK));
            wait(from, most)?;
            take(&mut path, from, &mut buffer, &mut spare)?;
        }
        Ok(())
    }
}

fn deliver(path: &mut Path<Vec<u8>>, mut to: &File, spare: &mut Vec<Vec<u8>>) -> anyhow::Result<()> {
    while let Some((_, packet)) = path.poll(Instant::now()) {
        match to.write(&packet.body) {
            Ok(_) => {}
            // The host does not take it: lost, as on any interface.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::InvalidInput) => {}
            Err(error) => return Err(error).context("delivering a packet"),
        }
        spare.push(packet.body);
    }
    Ok(())
}

fn take(
    path: &mut Path<Vec<u8>>,
    mut from: &File,
    buffer: &mut [u8],
    spare: &mut Vec<Vec<u8>>,
) -> anyhow::Result<()> {
    loop {
        match from.read(buffer) {
            Ok(length) => {
                let mut body = spare.pop().unwrap_or_default();
                body.clear();
                body.extend_from_slice(&buffer[..length]);
                path.push(Instant::now(), Packet::whole(length + FRAME_OVERHEAD, body));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error).context("taking a packet"),
        }
    }
}

fn wait(from: &File, most: Duration) -> anyhow::Result<()> {
    let most = Timespec::try_from(most).context("a time")?;
    match poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&most)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error).context("waiting for packets"),
    }
}
