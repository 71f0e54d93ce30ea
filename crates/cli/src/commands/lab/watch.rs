//! Shows how far a run is: on a terminal a line that is written over while a cell runs, else a line for each cell.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use howdah_lab::plan::Plan;
use howdah_lab::record::{Outcome, Row, main_figure, shown};
use howdah_lab::run::{RunObserver, Upcoming};

use crate::report;

/// How often the line is written over.
const INTERVAL: Duration = Duration::from_secs(1);

/// Watches a run.
pub struct Watch {
    figure: Option<String>,
    on_terminal: bool,
    what: String,
    number: String,
    ticking: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Watch {
    /// Of a plan; its main figure is shown of each cell.
    pub fn new(plan: &Plan) -> Self {
        let (figure, on_terminal) = (main_figure(plan), std::io::stderr().is_terminal());
        Self { figure, on_terminal, what: String::new(), number: String::new(), ticking: None }
    }

    fn end_line(&mut self) {
        if let Some((sender, thread)) = self.ticking.take() {
            drop(sender);
            let _ = thread.join();
            report::status("", false);
        }
    }
}

impl RunObserver for Watch {
    fn begins(&mut self, upcoming: &Upcoming<'_>) {
        let Upcoming { job, number, of, left } = upcoming;
        let levels: Vec<&str> = job.cell.factors.values().map(String::as_str).collect();
        self.number = format!("[{number}/{of}]");
        self.what = format!("cell {}, {}", job.cell.number, levels.join(", "));
        if !self.on_terminal {
            return;
        }
        let (text, left) = (format!("{} {}", self.number, self.what), *left);
        let (sender, ended) = channel::<()>();
        let tick = move || {
            let began = Instant::now();
            loop {
                let passed = began.elapsed();
                let left = left.map_or(String::new(), |left| {
                    format!(", about {} left", clock(left.saturating_sub(passed)))
                });
                report::status(&format!("{text}: {}{left}", clock(passed)), false);
                if ended.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(tick);
        self.ticking = thread.ok().map(|thread| (sender, thread));
    }

    fn ended(&mut self, row: &Row) {
        self.end_line();
        let said = match &row.outcome {
            Outcome::Failed(why) => format!("FAILED, {why}"),
            Outcome::Ok => self
                .figure
                .as_ref()
                .and_then(|name| row.figures.get(name))
                .or_else(|| row.figures.get("total.throughput"))
                .map_or("done".to_owned(), |figure| shown(figure.value, &figure.unit)),
        };
        let busy = row
            .disturbed()
            .map_or(String::new(), |load| format!("; other programs took {} of the CPUs", load.percent()));
        report::status(&format!("{} {}: {said} ({:.1} s){busy}", self.number, self.what, row.seconds), true);
    }
}

/// Watches a run, and shows nothing.
pub struct Unwatched;

impl RunObserver for Unwatched {
    fn begins(&mut self, _: &Upcoming<'_>) {}
    fn ended(&mut self, _: &Row) {}
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end_line();
    }
}

fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}
