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
    screen: ProgressScreen,
}

/// The terminal, shared by the line of progress and by other output.
#[derive(Clone, Default)]
pub struct ProgressScreen(Arc<Mutex<Shown>>);

#[derive(Default)]
struct Shown {
    /// Whether the terminal shows a line of progress.
    dirty: bool,
    /// The file that was completed last.
    file: String,
}

impl ProgressScreen {
    /// Clears the line of progress, if there is one, and prints something.
    pub fn say(&self, print: impl FnOnce()) {
        let mut shown = self.0.lock();
        if std::mem::take(&mut shown.dirty) {
            report::status("", false);
        }
        print();
    }

    /// A file is complete: the line of progress names it when it changes next. Small files come faster than anybody reads.
    pub fn completed(&self, path: &[u8]) {
        let mut shown = self.0.lock();
        shown.file.clear();
        shown.file.push_str(&String::from_utf8_lossy(path));
    }

    /// Shows the line of progress: with the name of a file where there is room, in so many columns.
    fn show(&self, line: &str, columns: Option<usize>) {
        let mut shown = self.0.lock();
        let line = columns.map_or_else(|| line.to_owned(), |columns| fitting(line, &shown.file, columns));
        report::status(&line, columns.is_none());
        shown.dirty = columns.is_some();
    }
}

impl Watch {
    /// Begins to watch if that is wanted.
    pub fn start(tally: Arc<Tally>, when: ShowProgress, screen: ProgressScreen) -> Self {
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
                    shown.show(&progress_line(&figures, now), terminal.then(columns));
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

/// How wide the terminal is. Those that do not know, such as serial consoles, say 0.
fn columns() -> usize {
    let known = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if known == 0 { USUAL_COLUMNS } else { known }
}

const USUAL_COLUMNS: usize = 80;
/// A name in fewer columns says nothing.
const NAME_COLUMNS: usize = 8;

/// The line, and the end of a file's name where there is room for it. A longer line would leave its beginning behind.
fn fitting(line: &str, file: &str, columns: usize) -> String {
    let room = columns.saturating_sub(1);
    let mut fitting: String = line.chars().take(room).collect();
    let left = room.saturating_sub(fitting.chars().count() + 2);
    let length = file.chars().count();
    if length > 0 && left >= NAME_COLUMNS.min(length) {
        // A control character in a name must not move the cursor.
        let name = file.chars().map(|letter| if letter.is_control() { '?' } else { letter });
        fitting.push_str("  ");
        match length <= left {
            true => fitting.extend(name),
            false => fitting.extend(std::iter::once('…').chain(name.skip(length - left + 1))),
        }
    }
    fitting
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_and_names_the_file_where_there_is_room() {
        let line = "10 % of 1.0 GB";
        assert_eq!(fitting(line, "", 80), line);
        assert_eq!(fitting(line, "dir/file", 80), "10 % of 1.0 GB  dir/file");
        assert_eq!(fitting(line, "a/long/directory/file", 30), "10 % of 1.0 GB  …rectory/file");
        assert_eq!(fitting(line, "dir/file.txt", 20), line, "no room for a name");
        assert_eq!(fitting(line, "a\r\x1b[2J", 80), "10 % of 1.0 GB  a??[2J");
        for columns in 0..60 {
            let fitted = fitting(line, "directory/ä file", columns);
            assert!(fitted.chars().count() <= columns.saturating_sub(1), "{columns}: {fitted}");
        }
    }
}
