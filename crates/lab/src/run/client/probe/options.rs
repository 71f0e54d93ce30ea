//! The flags of a probe.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// Asked before each datagram; an error ends the probe.
pub type Check<'a> = &'a dyn Fn() -> Result<()>;

/// What one datagram carries at least: its number.
pub const LEAST: usize = 8;
/// What fits into one packet of an Ethernet.
const MOST: usize = 1472;

/// More than a cell has time for; the other end keeps a byte for each.
const MOST_COUNT: u32 = 100_000_000;
/// A probe that waits cannot be interrupted.
const LONGEST_INTERVAL: Duration = Duration::from_secs(10);

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeOptions {
    /// So many datagrams.
    pub count: u32,
    /// One after each such time.
    pub interval: Duration,
    /// Bytes in each.
    pub size: usize,
}

impl ProbeOptions {
    /// Of `--count N --interval TIME --size BYTES`.
    pub fn parse(words: &[String]) -> Result<Self> {
        let mut options = Self { count: 100, interval: Duration::from_millis(10), size: 64 };
        for pair in words.chunks(2) {
            let [flag, value] = pair else { bail!("{} without a value", pair[0]) };
            let wrong = || format!("{flag} {value}");
            match flag.as_str() {
                "--count" => options.count = value.parse().with_context(wrong)?,
                "--interval" => options.interval = time(value).with_context(wrong)?,
                "--size" => options.size = value.parse().with_context(wrong)?,
                _ => bail!("{flag}: a probe knows --count, --interval and --size"),
            }
        }
        ensure!((LEAST..=MOST).contains(&options.size), "--size of a probe is {LEAST} to {MOST}");
        ensure!((1..=MOST_COUNT).contains(&options.count), "--count of a probe is 1 to {MOST_COUNT}");
        ensure!(
            options.interval <= LONGEST_INTERVAL,
            "--interval of a probe is {LONGEST_INTERVAL:?} at most"
        );
        Ok(options)
    }

    /// The datagram of this number.
    pub fn datagram(&self, number: u32) -> Vec<u8> {
        let mut datagram = vec![0; self.size];
        datagram[..4].copy_from_slice(&number.to_be_bytes());
        datagram
    }
}

/// As in a plan: `100us`, `10ms`.
fn time(text: &str) -> Result<Duration> {
    let time: jiff::SignedDuration = text.parse().context("no time")?;
    Duration::try_from(time).context("no time that can be waited")
}

/// The number in a datagram.
pub fn number_of(datagram: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(datagram.get(..4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ProbeOptions> {
        ProbeOptions::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags() {
        let options = parse("--count 5 --interval 2ms --size 1472").expect("options");
        assert_eq!(options, ProbeOptions { count: 5, interval: Duration::from_millis(2), size: 1472 });
        assert_eq!(parse("").expect("the usual").count, 100);
        for wrong in [
            "--count",
            "--count x",
            "--size 9000",
            "--count 0",
            "--count 4294967295",
            "--interval 1h",
            "--time 3s",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(number_of(&options.datagram(77)), Some(77));
    }
}
