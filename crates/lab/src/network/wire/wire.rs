//! A wire that carries packets.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};
use howdah_link::PathSpec;
use howdah_net::Tun;
use parking_lot::Mutex;
use rustix::event::{EventfdFlags, eventfd};

use super::WireCounters;
use super::forwarder::Forwarder;
use super::line::Line;
use crate::network::WireSpec;

/// Carries packets until it is dropped.
#[derive(Debug)]
pub struct Wire {
    name: String,
    spec: WireSpec,
    lines: [Arc<Mutex<Line>>; 2],
    threads: Vec<JoinHandle<io::Result<()>>>,
    over: Arc<OwnedFd>,
}

impl Wire {
    /// Between these interfaces of its first and its second host.
    pub(in crate::network) fn start(name: &str, spec: &WireSpec, first: Tun, second: Tun) -> Result<Self> {
        let over = Arc::new(
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).context("making an eventfd")?,
        );
        let (there, back) = spec.path.build(spec.seed);
        let lines = [there, back].map(|path| Arc::new(Mutex::new(Line::new(path))));
        // What fails from here on ends the threads that have begun.
        let mut wire = Self { name: name.to_owned(), spec: spec.clone(), lines, threads: Vec::new(), over };
        wire.carry(0, first.try_clone()?, second.try_clone()?)?;
        wire.carry(1, second, first)?;
        Ok(wire)
    }

    fn carry(&mut self, direction: usize, from: Tun, to: Tun) -> Result<()> {
        let line = Arc::clone(&self.lines[direction]);
        let over = Arc::clone(&self.over);
        let forwarder = Forwarder { from, to, line, over, punctual: self.spec.punctual };
        let thread = thread::Builder::new().name(format!("{}-{direction}", self.name));
        self.threads.push(thread.spawn(move || forwarder.run()).context("starting a thread")?);
        Ok(())
    }

    /// What it is called, at both ends.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it was like when it was made.
    pub fn spec(&self) -> &WireSpec {
        &self.spec
    }

    /// Another path from here on. What is on its way is lost, and what the path did is counted anew.
    pub fn change(&self, path: &PathSpec, seed: u64) {
        let (there, back) = path.build(seed);
        for (line, path) in self.lines.iter().zip([there, back]) {
            line.lock().change(path);
        }
    }

    /// What it did so far.
    pub fn counters(&self) -> WireCounters {
        let [there, back] = &self.lines;
        WireCounters { there: there.lock().counters(), back: back.lock().counters() }
    }

    /// Whether it still carries packets in both directions: an interface that somebody removed ends it.
    pub fn is_alive(&self) -> bool {
        self.threads.iter().all(|thread| !thread.is_finished())
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // Eight bytes into a counter that is 0 always go.
        let _ = rustix::io::write(&self.over, &1u64.to_ne_bytes());
        for thread in self.threads.drain(..) {
            // How it ended says nothing that matters now.
            let _ = thread.join();
        }
    }
}
