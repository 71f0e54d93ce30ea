//! The last operations of a run, for the message of a failure.

use std::collections::VecDeque;
use std::fmt::Debug;

/// As many as a person reads.
const KEPT: usize = 12;

/// The last operations and how many there were.
#[derive(Debug, Default)]
pub struct History {
    last: VecDeque<String>,
    count: u64,
}

impl History {
    /// Adds one.
    pub fn push(&mut self, operation: &impl Debug) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.count += 1;
        self.last.push_back(format!("{}:{operation:?}", self.count));
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The last ones, oldest first.
    pub fn tail(&self) -> String {
        self.last.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}
