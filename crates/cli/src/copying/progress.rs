//! A thread that says how far a copy is.

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use howdah_copy::Tally;
use parking_lot::Mutex;

use super::totals::progress_line;
use crate::arguments::ShowProgress;
use crate::report;

/// How often the line on a terminal changes.
const GLANCE: Duration = Duration::from_millis(200);

/// How often a line is said elsewhere.
const LINE: Duration = Duration::from_secs(1);

/// Over how long the rate is measured.
const WINDOW: Duration = Duration::from_secs(5);

/// Says how far a copy is until it is dropped.
pub struct Watch {
    running: Option<(Sender<()>, JoinHandle<()>)>,
    screen: Screen,
}

/// The terminal, shared by the line of progress and by what is said beside it.
#[derive(Clone, Default)]
pub struct Screen {
    /// Whether a line of progress stands there.
    dirty: Arc<Mutex<bool>>,
}

impl Screen {
    /// Clears the line of progress, if there is one, and says something.
    pub fn say(&self, print: impl FnOnce()) {
        let mut dirty = self.dirty.lock();
        if std::mem::take(&mut *dirty) {
            report::status("", false);
        }
        print();
    }

    fn show(&self, line: &str, lines: bool) {
        let mut dirty = self.dirty.lock();
        report::status(line, lines);
        *dirty = !lines;
    }
}

impl Watch {
    /// Begins to watch if that is wanted.
    pub fn start(tally: Arc<Tally>, when: ShowProgress, screen: Screen) -> Self {
        let terminal = io::stderr().is_terminal();
        let wanted = when == ShowProgress::Always || (when == ShowProgress::Auto && terminal);
        let running = wanted.then(|| {
            let (sender, stop) = channel();
            let shown = screen.clone();
            let run = move || {
                let interval = if terminal { GLANCE } else { LINE };
                let mut rate = Rate::default();
                while stop.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                    let figures = tally.figures();
                    let now = rate.now(figures.copied_bytes + figures.verified_bytes);
                    shown.show(&fitting(progress_line(&figures, now), terminal), !terminal);
                }
            };
            (sender, thread::spawn(run))
        });
        Self { running, screen }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.running.take() {
            drop(sender);
            // It does nothing that can fail.
            let _ = thread.join();
        }
        self.screen.say(|| {});
    }
}

/// A line that is longer than the terminal would leave its beginning behind.
fn fitting(line: String, terminal: bool) -> String {
    let width = rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col));
    match terminal {
        true => line.chars().take(width.saturating_sub(1)).collect(),
        false => line,
    }
}

/// The rate of the last few seconds.
#[derive(Default)]
struct Rate {
    seen: VecDeque<(Instant, u64)>,
}

impl Rate {
    fn now(&mut self, bytes: u64) -> f64 {
        let now = Instant::now();
        self.seen.push_back((now, bytes));
        while self.seen.len() > 2 && now - self.seen[0].0 > WINDOW {
            self.seen.pop_front();
        }
        let (since, before) = self.seen[0];
        let seconds = (now - since).as_secs_f64();
        if seconds > 0.0 { bytes.saturating_sub(before) as f64 / seconds } else { 0.0 }
    }
}
