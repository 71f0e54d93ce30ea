//! The lines of the file, and what is counted of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write, stdout};

use anyhow::{Context, Result};
use howdah_capture::{Call, End, Header, Why};
use howdah_server::capture::State;
use serde::Serialize;

/// Where a record goes.
pub enum RecordOutput {
    /// Standard output.
    Standard,
    /// A file, which may hold something else until the record begins.
    File(File),
}

impl RecordOutput {
    /// Makes it ready for the record: empty.
    pub fn begin(self) -> std::io::Result<Box<dyn Write>> {
        match self {
            Self::Standard => Ok(Box::new(stdout().lock())),
            Self::File(file) => {
                if file.metadata()?.is_file() {
                    file.set_len(0)?;
                }
                Ok(Box::new(BufWriter::new(file)))
            }
        }
    }
}

/// Writes lines.
pub struct Lines {
    output: Box<dyn Write>,
    /// What errors call it.
    name: String,
    bytes_most: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Calls written.
    pub calls: u64,
    /// Calls by procedure.
    pub procedures: BTreeMap<String, u64>,
    /// Bytes that they read.
    pub bytes_read: u64,
    /// Bytes that they wrote.
    pub bytes_written: u64,
}

impl Lines {
    /// Into this file, up to so many bytes.
    pub fn new(output: Box<dyn Write>, name: String, bytes_most: u64) -> Self {
        let procedures = BTreeMap::new();
        Self { output, name, bytes_most, bytes: 0, calls: 0, procedures, bytes_read: 0, bytes_written: 0 }
    }

    /// The first line.
    pub fn header(&mut self, header: &Header) -> Result<()> {
        self.line(header)
    }

    /// A call.
    pub fn call(&mut self, call: &Call) -> Result<()> {
        self.line(call)?;
        self.calls += 1;
        *self.procedures.entry(call.procedure.to_string()).or_default() += 1;
        match &*call.procedure {
            "READ" => self.bytes_read += call.done.unwrap_or_default(),
            "WRITE" => self.bytes_written += call.done.unwrap_or_default(),
            _ => {}
        }
        Ok(())
    }

    /// The last line.
    pub fn end(mut self, why: Why, state: &State) -> Result<Self> {
        let State { seconds, dropped, left_out, .. } = *state;
        self.line(&End { end: why, seconds, calls: self.calls, dropped, left_out })?;
        self.output.flush().with_context(|| format!("writing {}", self.name))?;
        Ok(self)
    }

    /// Whether there is no room for more.
    pub fn is_full(&self) -> bool {
        self.bytes >= self.bytes_most
    }

    fn line(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec(line).context("as JSON")?;
        text.push(b'\n');
        self.output.write_all(&text).with_context(|| format!("writing {}", self.name))?;
        self.bytes += text.len() as u64;
        Ok(())
    }
}
