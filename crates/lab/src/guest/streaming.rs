//! One stream that writes or reads a file of a guest's mount, as people measure it: with dd.

use anyhow::{Context, Result, bail};

use super::mount::MOUNTED;
use super::session::Ran;

/// What a stream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Writes a file that is not there, and makes it durable, within the time.
    Write,
    /// Reads a file that is there, of which the client has nothing yet.
    Read,
}

/// One stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streaming {
    /// What it does.
    pub direction: Direction,
    /// The file's name in the export.
    pub file: String,
    /// Its bytes, whole records.
    pub bytes: u64,
    /// What dd moves at once.
    pub record: u64,
}

/// What a stream did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Streamed {
    /// Bytes that it moved.
    pub bytes: u64,
    /// What that took, by the host's clock.
    pub seconds: f64,
    /// Seconds of the guest's clock in one of the host's: 1, or the guest's clock went wrong.
    pub clock: f64,
}

impl Streaming {
    /// The script.
    pub fn script(&self) -> String {
        format!("LC_ALL=C {}\n", self.command().join(" "))
    }

    /// The command, as a person would type it.
    pub fn command(&self) -> Vec<String> {
        let Self { direction, file, bytes, record } = self;
        let count = bytes / record;
        let (from, to, how) = match direction {
            Direction::Write => ("/dev/zero".to_owned(), format!("{MOUNTED}/{file}"), Some("conv=fsync")),
            Direction::Read => (format!("{MOUNTED}/{file}"), "/dev/null".to_owned(), None),
        };
        let words = format!("dd if={from} of={to} bs={record} count={count} iflag=fullblock");
        words.split(' ').chain(how).map(str::to_owned).collect()
    }

    /// What dd said, by the host's clock: the guest's is only believed as far as it has agreed with it since it booted.
    pub fn read(&self, ran: &Ran) -> Result<Streamed> {
        let (bytes, guest_seconds) = said(&ran.output).context("reading what dd said")?;
        if bytes != self.bytes {
            bail!("dd moved {bytes} bytes, not {}", self.bytes);
        }
        Ok(Streamed { bytes, seconds: guest_seconds / ran.clock, clock: ran.clock })
    }
}

/// `524288000 bytes (524 MB, 500 MiB) copied, 4.5 s, 116 MB/s`.
fn said(output: &str) -> Option<(u64, f64)> {
    let line = output.lines().find(|line| line.contains(" copied, "))?;
    let bytes = line.split(' ').next()?.parse().ok()?;
    let (_, after) = line.split_once(" copied, ")?;
    let seconds = after.split(' ').next()?.parse().ok()?;
    Some((bytes, seconds))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::line::Ended;
    use super::*;

    const OUTPUT: &str = "500+0 records in\n500+0 records out\n\
                          524288000 bytes (524 MB, 500 MiB) copied, 4.5 s, 117 MB/s\n";

    fn streaming(direction: Direction) -> Streaming {
        Streaming { direction, file: "big".into(), bytes: 500 << 20, record: 1 << 20 }
    }

    fn ran(output: &str, clock: f64) -> Ran {
        let times = (Duration::from_secs(100), Duration::from_secs(105));
        let ended = Ended { number: 1, code: 0, clock: times };
        Ran { ended, host_time: Duration::from_secs(10), clock, output: output.into() }
    }

    #[test]
    fn the_commands() {
        assert_eq!(
            streaming(Direction::Write).script(),
            "LC_ALL=C dd if=/dev/zero of=/mnt/n/big bs=1048576 count=500 iflag=fullblock conv=fsync\n"
        );
        assert_eq!(
            streaming(Direction::Read).script(),
            "LC_ALL=C dd if=/mnt/n/big of=/dev/null bs=1048576 count=500 iflag=fullblock\n"
        );
    }

    #[test]
    fn a_guest_whose_clock_is_slow_is_corrected() {
        let streamed = streaming(Direction::Read).read(&ran(OUTPUT, 0.5)).expect("figures");
        assert_eq!((streamed.bytes, streamed.seconds, streamed.clock), (524_288_000, 9.0, 0.5));
    }

    #[test]
    fn less_than_was_asked_for_is_a_failure() {
        let short = OUTPUT.replace("524288000", "1048576");
        let error = streaming(Direction::Read).read(&ran(&short, 1.0)).expect_err("too little");
        assert_eq!(error.to_string(), "dd moved 1048576 bytes, not 524288000");
        assert!(streaming(Direction::Read).read(&ran("dd: error", 1.0)).is_err());
    }
}
