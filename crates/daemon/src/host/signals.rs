//! Signals as messages.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGHUP: read the configuration again.
    Reload,
    /// SIGTERM or SIGINT: end, after what is in flight.
    Stop,
}

/// Signals that are caught, and wait to be read.
pub struct CaughtSignals(Signals);

/// Catches the signals from now on. Starts no thread: what is given up after that, every thread shall lack.
/// A second one to stop ends the process at once, whatever it waits for, be it before anybody reads them.
pub fn catch_signals() -> Result<CaughtSignals> {
    let is_asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first one is no second.
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&is_asked)).context("catching signals")?;
    }
    // A write past the limit of a file's size (ulimit -f) is refused with EFBIG, and does not end the process.
    flag::register(SIGXFSZ, Arc::default()).context("catching signals")?;
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&is_asked)).context("catching signals")?;
    }
    Signals::new([SIGHUP, SIGINT, SIGTERM]).map(CaughtSignals).context("catching signals")
}

/// Catches the signals, and reads them.
pub fn signals() -> Result<Receiver<Signal>> {
    read_signals(catch_signals()?)
}

/// Those that came and those to come.
pub fn read_signals(caught: CaughtSignals) -> Result<Receiver<Signal>> {
    let CaughtSignals(mut signals) = caught;
    let (sender, receiver) = channel();
    let run = move || {
        for signal in signals.forever() {
            let message = if signal == SIGHUP { Signal::Reload } else { Signal::Stop };
            if sender.send(message).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(run)
        .context("starting the thread for signals")?;
    Ok(receiver)
}
