//! Waits for a child: passes signals on to it, and reaps all others.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::process::{Command, ExitCode};

use anyhow::{Context, Error, Result, anyhow};
use howdah_net::with_no_signal_blocked;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// What is passed on.
const PASSED_ON: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGUSR1, Signal::SIGUSR2];

/// How the kernel says that a signal comes from itself (`SI_KERNEL` of signal(7)).
const FROM_THE_KERNEL: i32 = 0x80;

/// What a shell adds to the number of the signal by which a command ended.
const ENDED_BY_SIGNAL: i32 = 128;

/// Signals wait for it from when it is made: threads of this process that are started later let them wait as well.
#[derive(Debug)]
pub struct Guardian {
    signals: SignalFd,
}

impl Guardian {
    /// From now on.
    pub fn new() -> Result<Self> {
        let mut set: SigSet = PASSED_ON.into_iter().collect();
        set.add(Signal::SIGCHLD);
        let mut mask = set;
        // Some terminals stop a process by this signal when it writes from the background, where a shell leaves us.
        mask.add(Signal::SIGTTOU);
        mask.thread_set_mask().context("blocking signals")?;
        Ok(Self { signals: SignalFd::new(&set).context("waiting for signals")? })
    }

    /// Runs a command, and gives its code as [`Guardian::wait_for`] does.
    pub fn run(&self, command: &mut Command) -> Result<ExitCode> {
        // No thread of ours may take a signal, not even for as long as it starts somebody: it would be the end of us.
        let child = with_no_signal_blocked(command).spawn();
        self.wait_for(child.map_err(|error| not_started(command.get_program(), &error))?.id())
    }

    /// Until the child ends; gives its code, or 128 and the number of the signal that ended it, as shells do.
    pub fn wait_for(&self, child: u32) -> Result<ExitCode> {
        let child = Pid::from_raw(child as i32);
        loop {
            if let Some(code) = reap(child)? {
                return Ok(ExitCode::from(code));
            }
            let Some(signal) = self.signals.read_signal().context("waiting for signals")? else { continue };
            // The terminal's own signals went to the child as well.
            if signal.ssi_signo != Signal::SIGCHLD as u32 && signal.ssi_code != FROM_THE_KERNEL {
                let signal = Signal::try_from(signal.ssi_signo as i32).context("an unknown signal")?;
                // It may have ended just now.
                let _ = kill(child, signal);
            }
        }
    }
}

/// Reaps processes that have ended. The code of that child, if it has.
fn reap(child: Pid) -> Result<Option<u8>> {
    let mut code = None;
    loop {
        let (who, how) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(who, code)) => (who, code),
            Ok(WaitStatus::Signaled(who, signal, _)) => (who, ENDED_BY_SIGNAL + signal as i32),
            Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::ECHILD) => return Ok(code),
            Ok(_) => continue,
            Err(error) => return Err(error).context("waiting for a process"),
        };
        if who == child {
            code = Some(how as u8);
        }
    }
}

/// Why a program did not start, and what to do.
fn not_started(program: &OsStr, error: &io::Error) -> Error {
    let name = program.display();
    match error.kind() {
        ErrorKind::NotFound if program == "ping" => anyhow!(
            "starting ping: it is not installed; its package is iputils-ping (Debian, Ubuntu) or iputils"
        ),
        ErrorKind::NotFound => {
            anyhow!("starting {name}: there is no such program; install it, or check its path")
        }
        _ => anyhow!("starting {name}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_installed_says_what_to_install() {
        let said =
            |program: &str, kind: ErrorKind| not_started(OsStr::new(program), &kind.into()).to_string();
        assert!(said("ping", ErrorKind::NotFound).contains("iputils-ping"));
        assert!(said("iperf3", ErrorKind::NotFound).starts_with("starting iperf3: there is no such program"));
        assert!(said("ping", ErrorKind::PermissionDenied).contains("permission denied"));
    }
}
