//! Shows how far a measurement is, from a thread of its own.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use howdah_workload::Progress;

use crate::arguments::ProgressWhen;
use crate::report;

/// How often it is shown: often enough to seem alive.
const INTERVAL: Duration = Duration::from_millis(250);

/// A thread that shows progress until this is dropped.
pub struct Watch {
    end: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Watch {
    /// Watches, if that is wanted here.
    pub fn start(progress: Arc<Progress>, when: ProgressWhen) -> Self {
        let lines = when == ProgressWhen::Always;
        let wanted = match when {
            ProgressWhen::Auto => std::io::stderr().is_terminal(),
            ProgressWhen::Always => true,
            ProgressWhen::Never => false,
        };
        if !wanted {
            return Self { end: None };
        }
        let (sender, ended) = channel::<()>();
        let show = move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if let Some(snapshot) = progress.look() {
                    report::status(&report::progress(&snapshot), lines);
                }
            }
            if !lines {
                report::status("", false);
            }
        };
        // Who cannot have a thread does without.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(show);
        Self { end: thread.ok().map(|thread| (sender, thread)) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.end.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}
