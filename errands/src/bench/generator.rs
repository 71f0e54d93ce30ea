//! Drives one connection: keeps so many calls in flight, checks every reply, and measures between a start and an end.
//!
//! It does as little as it can per call, lest it be what limits: calls come ready encoded, all that can be sent is
//! sent in one go, and of a reply only its beginning is looked at.

use std::io::{IoSlice, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail, ensure};

use rustix::net::{AddressFamily, SocketType};

use super::congestion;
use super::load::{Load, check_success};
use input::Input;
use xtask::clock::{ProcessClock, thread_now};

mod input;

/// A reply that takes longer will never come.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most calls in flight: the low byte of an xid is the place in flight.
const MOST_IN_FLIGHT: u32 = 256;

/// Calls made by all loads of this process, counted from a number that differs from process to process: an xid that
/// came again would be taken for a call sent twice, and answered from memory.
static CALLS_MADE: LazyLock<AtomicU32> = LazyLock::new(|| {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    AtomicU32::new((now.as_micros() / 64) as u32)
});

/// How to drive.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Calls in flight.
    pub in_flight: u32,
    /// Whether each call is sent by itself, and not all that can be sent at once.
    pub alone: bool,
    /// How long before measuring starts.
    pub warm: Duration,
    /// How long is measured.
    pub measure: Duration,
    /// Whether the kernel throws away what is not looked at.
    pub discard: bool,
}

impl Shape {
    /// For a load that ends by its number of calls.
    pub fn of_calls(in_flight: u32) -> Self {
        Self { in_flight, alone: false, warm: Duration::ZERO, measure: Duration::MAX, discard: false }
    }
}

/// What was measured.
#[derive(Debug, Clone, Default)]
pub struct Slice {
    /// Calls answered.
    pub calls: u64,
    /// Units of the load: calls, entries or bytes.
    pub units: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Processor time of the server or the floor.
    pub subject: Duration,
    /// Processor time of this thread.
    pub load: Duration,
    /// How long each call took, if one is in flight at a time.
    pub latencies: Vec<Duration>,
}

/// Connects as every load does; says the congestion control too.
pub fn connect(address: SocketAddr) -> anyhow::Result<(TcpStream, String)> {
    let step = || format!("connecting to {address}");
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket(family, SocketType::STREAM, None).with_context(step)?;
    let congestion = congestion::choose(&socket);
    rustix::net::connect(&socket, &address).with_context(step)?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok((stream, congestion))
}

/// Drives the load over the connection to its end.
pub fn drive(
    stream: &TcpStream,
    load: &mut dyn Load,
    shape: Shape,
    clock: ProcessClock,
) -> anyhow::Result<Slice> {
    ensure!(shape.in_flight <= MOST_IN_FLIGHT, "at most {MOST_IN_FLIGHT} calls can be in flight");
    let mut driver = Driver {
        stream,
        load,
        free: (0..shape.in_flight).rev().collect(),
        expected: vec![None; MOST_IN_FLIGHT as usize],
        output: Vec::new(),
        calls: 0,
        units: 0,
    };
    driver.run(shape, clock)
}

struct Driver<'a> {
    stream: &'a TcpStream,
    load: &'a mut dyn Load,
    /// Places in flight that are free.
    free: Vec<u32>,
    /// The xid that each place waits for.
    expected: Vec<Option<u32>>,
    output: Vec<u8>,
    calls: u64,
    units: u64,
}

/// How things stood at a moment.
struct Mark {
    at: Instant,
    subject: Duration,
    load: Duration,
    calls: u64,
    units: u64,
}

impl Driver<'_> {
    fn run(&mut self, shape: Shape, clock: ProcessClock) -> anyhow::Result<Slice> {
        let mut input = Input::new(self.load.looks_at(), shape.discard);
        let warm_calls = self.load.count().map_or(u64::MAX, |count| count / 20);
        let started = Instant::now();
        let (mut start, mut end) = (None, None);
        let mut latencies = Vec::new();
        let mut more = true;
        loop {
            let sent_at = Instant::now();
            if more {
                more = self.send(shape.alone)?;
            }
            if self.free.len() == shape.in_flight as usize {
                break;
            }
            self.receive(&mut input)?;
            let now = Instant::now();
            match &start {
                None if now - started >= shape.warm || self.calls >= warm_calls => {
                    start = Some(self.mark(clock)?)
                }
                Some(mark) if end.is_none() => {
                    if shape.in_flight == 1 {
                        latencies.push(now - sent_at);
                    }
                    if self.load.count().is_none() && now - mark.at >= shape.measure {
                        end = Some(self.mark(clock)?);
                        more = false;
                    }
                }
                _ => {}
            }
        }
        input.pass_over(self.stream)?;
        let start = start.context("the load ended before it was warm")?;
        let end = end.map_or_else(|| self.mark(clock), Ok)?;
        self.load.finish().context("after the last reply")?;
        Ok(Slice {
            calls: end.calls - start.calls,
            units: end.units - start.units,
            elapsed: end.at - start.at,
            subject: end.subject - start.subject,
            load: end.load - start.load,
            latencies,
        })
    }

    fn mark(&self, clock: ProcessClock) -> anyhow::Result<Mark> {
        let (subject, load) = (clock.now()?, thread_now()?);
        Ok(Mark { at: Instant::now(), subject, load, calls: self.calls, units: self.units })
    }

    /// Fills all free places; says whether the load has more calls.
    fn send(&mut self, alone: bool) -> anyhow::Result<bool> {
        let mut more = true;
        while let Some(slot) = self.free.pop() {
            let xid = CALLS_MADE.fetch_add(1, Ordering::Relaxed) << 8 | slot;
            if !self.load.call(slot as usize, xid, &mut self.output) {
                self.free.push(slot);
                more = false;
                break;
            }
            self.expected[slot as usize] = Some(xid);
            let bulk = self.load.bulk();
            if alone || !bulk.is_empty() {
                send_both(self.stream, &self.output, bulk).context("sending a call")?;
                self.output.clear();
            }
        }
        (&mut &*self.stream).write_all(&self.output).context("sending calls")?;
        self.output.clear();
        Ok(more)
    }

    /// Takes what has arrived, at least something.
    fn receive(&mut self, input: &mut Input) -> anyhow::Result<()> {
        input.fill(self.stream)?;
        while let Some(reply) = input.next_reply()? {
            let xid = u32::from_be_bytes([reply.head[0], reply.head[1], reply.head[2], reply.head[3]]);
            let slot = xid & (MOST_IN_FLIGHT - 1);
            if self.expected[slot as usize].take() != Some(xid) {
                bail!("a reply with xid {xid:#x}, for which no call is in flight");
            }
            check_success(reply.head)?;
            self.units += self.load.reply(slot as usize, reply.head, reply.length)?;
            self.calls += 1;
            self.free.push(slot);
        }
        Ok(())
    }
}

/// Sends two buffers as one.
fn send_both(mut stream: &TcpStream, mut first: &[u8], mut second: &[u8]) -> std::io::Result<()> {
    while !first.is_empty() {
        let sent = stream.write_vectored(&[IoSlice::new(first), IoSlice::new(second)])?;
        let of_first = sent.min(first.len());
        first = &first[of_first..];
        second = &second[sent - of_first..];
    }
    stream.write_all(second)
}
