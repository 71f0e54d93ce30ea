//! What NFS itself moves: a file that is there is read in order; where it is allowed, one of our own is written and read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use howdah_client::Remote;
use howdah_tune::flight::{Bounds, Flight};
use howdah_vfs::{Caller, ReadFile};
use howdah_workload::{
    Commit, FileSize, Place, Progress, Schedule, Stage, Workload, WorkloadPlan, WorkloadResult, carry_out,
};
use parking_lot::Mutex;

use super::file::ProbedFile;
use crate::facts::MovingFacts;

/// How long a thread that is one too many waits before it looks again.
const PAUSE: Duration = Duration::from_millis(5);
/// So many round trips, at least and at most so long.
const ROUND_TRIPS: u32 = 40;
const LEAST: Duration = Duration::from_secs(2);
const MOST: Duration = Duration::from_secs(6);
/// The part of that time in which it begins, and does not count.
const BEGINNING: f64 = 0.4;
/// What one call moves, at least and at most: servers take more, and a slow path holds some of those longer than a call is waited for.
const TRANSFERS: std::ops::RangeInclusive<u64> = 64 << 10..=1 << 20;
/// The fewest calls that are in flight are what the path carries in so many seconds, at most.
const IN_FLIGHT_SECONDS: f64 = 2.0;
/// A file that is shorter says nothing.
const SHORT: u64 = 256 << 10;
/// A file of our own holds what is moved in so many seconds, at least and at most so many bytes.
const SECONDS: f64 = 2.0;
const SIZES: std::ops::RangeInclusive<u64> = 4 << 20..=256 << 20;
const PAGE: u64 = 4096;

/// Reads a file from its start to its end, again and again. `rate`: what the path is known to carry, in bytes per second.
///
/// # Errors
/// It is too short, or it cannot be read.
pub fn reads(
    client: &dyn Remote,
    caller: &Caller,
    file: ProbedFile,
    round_trip: Duration,
    rate: Option<f64>,
) -> Result<MovingFacts> {
    if file.size < SHORT {
        bail!("the largest file found has {} bytes: too small to measure reads", file.size);
    }
    let lasts = lasts(round_trip);
    let (next, moved, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let transfer = transfer(client.sizes().read, rate).min(file.size);
    let (start, flight) = (Instant::now(), Mutex::new(Flight::new(Bounds::of_threads())));
    let pieces = file.size / transfer;
    let work = |number: usize| -> Result<()> {
        let mut buffer = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            if number >= flight.lock().in_flight_target() {
                thread::sleep(PAUSE);
                continue;
            }
            let started = flight.lock().on_start(start.elapsed(), transfer as usize);
            let offset = next.fetch_add(1, Ordering::Relaxed) % pieces * transfer;
            buffer.clear();
            let read =
                client.read(caller, ReadFile::new(&file.handle, offset, transfer as usize), &mut buffer);
            let length = read.context("reading a file")?.content.len();
            flight.lock().on_finish(start.elapsed(), started, length);
            moved.fetch_add(length as u64, Ordering::Relaxed);
        }
        Ok(())
    };
    let rate = thread::scope(|scope| {
        let work = &work;
        let most = Bounds::default().ceiling;
        let threads: Vec<_> = (0..most).map(|number| scope.spawn(move || work(number))).collect();
        thread::sleep(lasts.mul_f64(BEGINNING));
        let (begin, before) = (Instant::now(), moved.load(Ordering::Relaxed));
        thread::sleep(lasts.mul_f64(1.0 - BEGINNING));
        let bytes = moved.load(Ordering::Relaxed) - before;
        let rate = bytes as f64 / begin.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))?;
        Ok::<_, anyhow::Error>(rate)
    })?;
    Ok(with_limit(client, false, rate))
}

/// Writes a file of our own, and reads it; it is in a directory of its own, and both are removed. `rate`: what the path is
/// known to carry, in bytes per second.
///
/// # Errors
/// It is not allowed, or fails.
pub fn writes_and_reads(
    client: &dyn Remote,
    place: Place,
    round_trip: Duration,
    rate: Option<f64>,
    asked: &AtomicBool,
) -> Result<(MovingFacts, MovingFacts)> {
    let stage = Stage::set_up(place, true)?;
    let plan = |workload| own_file(workload, round_trip, rate, transfer(client.sizes().write, rate));
    let schedule = Schedule { warm_up: 0, runs: 1 };
    let both = || -> Result<(MovingFacts, MovingFacts)> {
        let written = carry_out(&plan(Workload::Write), schedule, &stage, &Progress::new(), asked)?;
        let written = with_limit(client, true, rate_of(&written));
        let read = carry_out(&plan(Workload::Read), schedule, &stage, &Progress::new(), asked)?;
        Ok((written, with_limit(client, false, rate_of(&read))))
    };
    let (moved, name) = (both(), stage.name().to_owned());
    stage.clear_up().with_context(|| format!("the directory {name} is left"))?;
    moved
}

/// The same in a directory of this host: bytes per second written and read.
///
/// # Errors
/// As above.
pub fn directory(place: Place, asked: &AtomicBool) -> Result<(f64, f64)> {
    let stage = Stage::set_up(place, true)?;
    let plan = |workload| own_file(workload, Duration::ZERO, None, 1 << 20);
    let schedule = Schedule { warm_up: 0, runs: 1 };
    let both = || -> Result<(f64, f64)> {
        let written = carry_out(&plan(Workload::Write), schedule, &stage, &Progress::new(), asked)?;
        let read = carry_out(&plan(Workload::Read), schedule, &stage, &Progress::new(), asked)?;
        Ok((rate_of(&written), rate_of(&read)))
    };
    let (moved, name) = (both(), stage.name().to_owned());
    stage.clear_up().with_context(|| format!("the directory {name} is left"))?;
    moved
}

fn own_file(workload: Workload, round_trip: Duration, rate: Option<f64>, transfer: u64) -> WorkloadPlan {
    let size = rate.map_or(*SIZES.end(), |rate| (rate * SECONDS) as u64).clamp(*SIZES.start(), *SIZES.end());
    let usual = WorkloadPlan::usual(workload, 1);
    WorkloadPlan {
        file_size: FileSize::exactly(size),
        record_bytes: transfer,
        transfer_bytes: transfer,
        in_flight: None,
        commit: Commit::Inside,
        time: Some(lasts(round_trip)),
        ramp: Some(lasts(round_trip).mul_f64(BEGINNING)),
        ..usual
    }
}

/// Bytes of one call, of those that the server takes, on a path that carries so many a second: whole pages.
fn transfer(taken: u32, rate: Option<f64>) -> u64 {
    let least = Bounds::default().floor as u64;
    let in_time = rate.map_or(u64::MAX, |rate| (rate * IN_FLIGHT_SECONDS) as u64 / least);
    let most = in_time.clamp(*TRANSFERS.start(), *TRANSFERS.end());
    (u64::from(taken).min(most) / PAGE * PAGE).max(PAGE)
}

fn lasts(round_trip: Duration) -> Duration {
    (round_trip * ROUND_TRIPS).clamp(LEAST, MOST)
}

fn rate_of(result: &WorkloadResult) -> f64 {
    result.phases.first().and_then(|phase| phase.bytes_per_second.as_ref()).map_or(0.0, |rate| rate.median)
}

/// With what the client says limited it.
fn with_limit(client: &dyn Remote, writes: bool, rate: f64) -> MovingFacts {
    let report = client.channel().report();
    let limit = report.limits.iter().find(|limit| limit.writes == writes);
    MovingFacts {
        bytes_per_second: rate,
        limit: limit.map(|limit| word(&format!("{:?}", limit.limit))),
        sentence: limit.map(ToString::to_string),
    }
}

/// `TheirSendBuffer` as `their-send-buffer`.
fn word(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_small() {
        assert_eq!(word("TheirSendBuffer"), "their-send-buffer");
        assert_eq!(word("Server"), "server");
    }

    #[test]
    fn what_is_in_flight_passes_in_time() {
        // NFS-Ganesha takes 4 MiB; at 6 Mb/s two of those are 11 s.
        assert_eq!(transfer(4 << 20, Some(0.77e6)), 765_952);
        assert_eq!(transfer(4 << 20, None), 1 << 20);
        assert_eq!((transfer(1 << 20, Some(1e3)), transfer(32 << 10, Some(1e3))), (64 << 10, 32 << 10));
        assert_eq!(transfer(512, None), 4096);
    }

    #[test]
    fn a_file_of_our_own_is_as_long_as_the_path_is_fast() {
        let size = |rate| own_file(Workload::Write, Duration::ZERO, rate, 1 << 20).file_size.largest_bytes;
        assert_eq!((size(None), size(Some(10e6)), size(Some(1.0))), (256 << 20, 20_000_000, 4 << 20));
        assert!(own_file(Workload::Read, Duration::from_millis(100), Some(10e6), 65_536).check().is_ok());
    }
}
