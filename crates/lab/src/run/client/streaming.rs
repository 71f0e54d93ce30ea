//! One stream that writes or reads a file of a mount, as people measure it: with dd.

use anyhow::{Context, Result, ensure};

use super::on_mount::RanOnMount;

/// What a stream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamDirection {
    /// Writes a file that is not there, and makes it durable, within the time.
    Write,
    /// Reads an existing file that the client has not cached.
    Read,
}

/// One stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streaming {
    /// What it does.
    pub direction: StreamDirection,
    /// The file's name in the export.
    pub file: String,
    /// Its bytes, whole records.
    pub bytes: u64,
    /// What dd moves at once.
    pub record: u64,
}

impl Streaming {
    /// The command, as a person would type it, of a file below the directory `mounted`.
    pub fn command(&self, mounted: &str) -> Vec<String> {
        let Self { direction, file, bytes, record } = self;
        let count = bytes / record;
        let (from, to, how) = match direction {
            StreamDirection::Write => {
                ("/dev/zero".to_owned(), format!("{mounted}/{file}"), Some("conv=fsync"))
            }
            StreamDirection::Read => (format!("{mounted}/{file}"), "/dev/null".to_owned(), None),
        };
        let words = format!("env LC_ALL=C dd if={from} of={to} bs={record} count={count} iflag=fullblock");
        words.split(' ').chain(how).map(str::to_owned).collect()
    }

    /// Bytes, and the seconds that dd says it took, by the host's clock: a guest's is only believed as far as it has agreed with it.
    pub fn measured(&self, ended: &RanOnMount) -> Result<(u64, f64)> {
        let (bytes, seconds) = said(&ended.output).context("reading what dd said")?;
        ensure!(bytes == self.bytes, "dd moved {bytes} bytes, not {}", self.bytes);
        Ok((bytes, seconds / ended.clock))
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
    use super::*;

    const OUTPUT: &str = "500+0 records in\n500+0 records out\n\
                          524288000 bytes (524 MB, 500 MiB) copied, 4.5 s, 117 MB/s\n";

    fn streaming(direction: StreamDirection) -> Streaming {
        Streaming { direction, file: "big".into(), bytes: 500 << 20, record: 1 << 20 }
    }

    fn ended(output: &str, clock: f64) -> RanOnMount {
        RanOnMount { output: output.to_owned(), seconds: 10.0, clock }
    }

    #[test]
    fn the_commands() {
        let command_line = |direction| streaming(direction).command("/mnt/n").join(" ");
        assert_eq!(
            command_line(StreamDirection::Write),
            "env LC_ALL=C dd if=/dev/zero of=/mnt/n/big bs=1048576 count=500 iflag=fullblock conv=fsync"
        );
        assert_eq!(
            command_line(StreamDirection::Read),
            "env LC_ALL=C dd if=/mnt/n/big of=/dev/null bs=1048576 count=500 iflag=fullblock"
        );
    }

    #[test]
    fn a_guest_whose_clock_is_slow_is_corrected() {
        let measured = streaming(StreamDirection::Read).measured(&ended(OUTPUT, 0.5)).expect("figures");
        assert_eq!(measured, (524_288_000, 9.0));
    }

    #[test]
    fn less_than_was_asked_for_is_a_failure() {
        let short = OUTPUT.replace("524288000", "1048576");
        let error = streaming(StreamDirection::Read).measured(&ended(&short, 1.0)).expect_err("too little");
        assert_eq!(error.to_string(), "dd moved 1048576 bytes, not 524288000");
        assert!(streaming(StreamDirection::Read).measured(&ended("dd: error", 1.0)).is_err());
    }
}
