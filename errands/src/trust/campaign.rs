//! What a campaign is, what it gets, and what it comes back with.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use howdah_lab::sandbox::LabSandbox;

/// One question to the whole of howdah, asked many times.
pub struct Campaign {
    /// What to call it on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Does it.
    pub run: fn(&Context) -> Result<Verdict>,
}

/// What every campaign gets.
pub struct Context<'s> {
    /// Where everything happens; it has networks too.
    pub sandbox: &'s LabSandbox,
    /// The howdah that is tried.
    pub binary: PathBuf,
    /// A directory for its files, which goes with the sandbox.
    pub directory: PathBuf,
    /// Of every choice.
    pub seed: u64,
    /// How often, if that was said.
    pub times: Option<u64>,
    /// Few times.
    pub quick: bool,
    /// How long, of the campaign that has no times, if that was said.
    pub minutes: Option<f64>,
    /// Where results are to stay, if they are.
    pub results: Option<PathBuf>,
}

impl Context<'_> {
    /// How often: what was said, or one of these.
    pub fn times(&self, full: u64, quick: u64) -> u64 {
        self.times.unwrap_or(if self.quick { quick } else { full })
    }
}

/// What a campaign found.
#[derive(Debug, Default)]
pub struct Verdict {
    /// What was done and seen, in a line; empty if nothing was done.
    pub figures: String,
    /// Each promise that was broken.
    pub broken: Vec<String>,
    /// Parts that could not be done here, and why.
    pub skipped: Vec<String>,
    /// A table for a person.
    pub table: Vec<String>,
}

impl Verdict {
    /// Nothing of it could be done here.
    pub fn skipped(why: String) -> Self {
        Self { skipped: vec![why], ..Self::default() }
    }
}

/// How often progress is reported.
const TELL: Duration = Duration::from_secs(5);

/// Reports how far a campaign is, now and then.
pub struct Progress {
    began: Instant,
    printed: Instant,
}

impl Progress {
    /// Nothing was done yet.
    pub fn begin() -> Self {
        Self { began: Instant::now(), printed: Instant::now() }
    }

    /// How far it is, if it is time to say so.
    pub fn tell(&mut self, how_far: impl FnOnce() -> String) {
        if self.printed.elapsed() >= TELL {
            println!("   {:4.0} s  {}", self.began.elapsed().as_secs_f64(), how_far());
            self.printed = Instant::now();
        }
    }

    /// How long it has taken.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}
