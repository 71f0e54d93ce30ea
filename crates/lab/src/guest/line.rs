//! What host and guest say to each other on the serial line, a line at a time. Pure.

use std::time::Duration;

/// What the guest says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// It has booted, and its clock shows this.
    Ready(Duration),
    /// A script has ended.
    Ended(Ended),
    /// Something that is none of ours, such as the kernel's last words.
    Other,
}

/// How a script ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// Its number.
    pub number: u32,
    /// Its exit code.
    pub code: i32,
    /// The guest's clock when it began, and when it ended.
    pub clock: (Duration, Duration),
}

impl Ended {
    /// What it took by the guest's clock.
    pub fn guest_time(&self) -> Duration {
        let (began, ended) = self.clock;
        ended.saturating_sub(began)
    }
}

/// Reads a line of the guest's.
pub fn parse(line: &str) -> Said {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("ready") => words.next().and_then(clock).map_or(Said::Other, Said::Ready),
        Some("ended") => parse_ended(words).map_or(Said::Other, Said::Ended),
        _ => Said::Other,
    }
}

fn parse_ended<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Ended> {
    let number = words.next()?.parse().ok()?;
    let code = words.next()?.parse().ok()?;
    let clock = (clock(words.next()?)?, clock(words.next()?)?);
    Some(Ended { number, code, clock })
}

/// `SECONDS.NANOSECONDS`, as date(1) says it with `+%s.%N`.
fn clock(word: &str) -> Option<Duration> {
    let (seconds, nanoseconds) = word.split_once('.')?;
    (nanoseconds.len() == 9).then_some(())?;
    Some(Duration::new(seconds.parse().ok()?, nanoseconds.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_guest_says() {
        assert_eq!(parse("ready 5.000000001\n"), Said::Ready(Duration::new(5, 1)));
        let Said::Ended(ended) = parse("ended 3 32 1795318800.900000000 1795318802.150000000\r\n") else {
            panic!("not read")
        };
        assert_eq!((ended.number, ended.code), (3, 32));
        assert_eq!(ended.guest_time(), Duration::from_millis(1_250));
        for other in ["", "ready", "Halting.", "ended", "ended 3 x 1.0 2.0", "ended 3 0 1.5 2.5"] {
            assert_eq!(parse(other), Said::Other, "{other}");
        }
    }

    #[test]
    fn a_clock_that_was_set_back_took_no_time() {
        let Said::Ended(ended) = parse("ended 1 0 9.000000000 8.000000000") else { panic!("not read") };
        assert_eq!(ended.guest_time(), Duration::ZERO);
    }
}
