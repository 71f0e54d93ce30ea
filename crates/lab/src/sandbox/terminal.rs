//! The terminal that somebody started us from: a shell inside takes it, and we take it back.

use std::io::stdin;

use nix::sys::signal::{SigSet, Signal};
use rustix::process::{Pid, getpgrp};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

/// Who had the terminal.
#[derive(Debug)]
pub struct Terminal {
    /// Our group of processes, if it was the one in the foreground.
    ours: Option<Pid>,
}

impl Terminal {
    /// Looks who has it.
    pub fn look() -> Self {
        let ours = tcgetpgrp(stdin()).ok().filter(|group| *group == getpgrp());
        Self { ours }
    }

    /// Takes it back, after the process that had it is gone: nobody may write on some terminals but those in the foreground.
    pub fn take_back(&self) {
        let Some(group) = self.ours else { return };
        // Who takes it from the background is stopped by this signal, unless it is blocked.
        let stopped: SigSet = [Signal::SIGTTOU].into_iter().collect();
        if stopped.thread_block().is_ok() {
            let _ = tcsetpgrp(stdin(), group);
            let _ = stopped.thread_unblock();
        }
    }
}
