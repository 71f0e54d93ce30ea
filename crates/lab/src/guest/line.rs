//! What host and guest say to each other on the serial line, a line at a time. Pure.

use std::time::Duration;

/// What the guest says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// It has booted.
    Ready,
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
    /// What it took by the guest's clock.
    pub guest_time: Duration,
}

/// Reads a line of the guest's.
pub fn parse(line: &str) -> Said {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("ready") => Said::Ready,
        Some("ended") => parse_ended(words).map_or(Said::Other, Said::Ended),
        _ => Said::Other,
    }
}

fn parse_ended<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Ended> {
    let number = words.next()?.parse().ok()?;
    let code = words.next()?.parse().ok()?;
    let (began, ended) = (clock(words.next()?)?, clock(words.next()?)?);
    Some(Ended { number, code, guest_time: ended.saturating_sub(began) })
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
        assert_eq!(parse("ready\n"), Said::Ready);
        let ended = Ended { number: 3, code: 32, guest_time: Duration::from_millis(1_250) };
        assert_eq!(parse("ended 3 32 1795318800.900000000 1795318802.150000000\r\n"), Said::Ended(ended));
        for other in ["", "Halting.", "ended", "ended 3 x 1.0 2.0", "ended 3 0 1.5 2.5"] {
            assert_eq!(parse(other), Said::Other, "{other}");
        }
    }

    #[test]
    fn a_clock_that_was_set_back_took_no_time() {
        let Said::Ended(ended) = parse("ended 1 0 9.000000000 8.000000000") else { panic!("not read") };
        assert_eq!(ended.guest_time, Duration::ZERO);
    }
}
