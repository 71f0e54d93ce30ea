//! What a doctor asks of another: one line of text.

/// What every request begins with: a name, and a version.
const NAME: &str = "howdah-doctor 1";
/// The longest line.
pub const LINE_MOST: usize = 64;
/// The longest that anything is sent.
pub const SECONDS_MOST: u64 = 10;

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Send the facts of your host.
    Facts,
    /// Send for so many seconds, as fast as it goes.
    Send(u64),
    /// Take what comes, and throw it away.
    Take,
    /// Bounce datagrams, as long as this connection lasts.
    Bounce,
}

impl Request {
    /// Its line.
    pub fn line(self) -> String {
        match self {
            Self::Facts => format!("{NAME} facts\n"),
            Self::Send(seconds) => format!("{NAME} send {seconds}\n"),
            Self::Take => format!("{NAME} take\n"),
            Self::Bounce => format!("{NAME} bounce\n"),
        }
    }

    /// From its line, without the end of line.
    pub fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.strip_prefix(NAME)?.split_whitespace().collect();
        match words[..] {
            ["facts"] => Some(Self::Facts),
            ["take"] => Some(Self::Take),
            ["bounce"] => Some(Self::Bounce),
            ["send", seconds] => {
                let seconds = seconds.parse().ok()?;
                (1..=SECONDS_MOST).contains(&seconds).then_some(Self::Send(seconds))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_being_written_and_nothing_else_is_one() {
        for request in [Request::Facts, Request::Send(3), Request::Take, Request::Bounce] {
            let line = request.line();
            assert!(line.len() <= LINE_MOST);
            assert_eq!(Request::parse(line.trim_end()), Some(request));
        }
        for line in [
            "",
            "GET / HTTP/1.1",
            "howdah-doctor 2 take",
            "howdah-doctor 1 send 11",
            "howdah-doctor 1 send 0",
        ] {
            assert_eq!(Request::parse(line), None, "{line}");
        }
    }
}
