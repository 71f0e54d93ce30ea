//! A captured file, read and checked.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use howdah_capture::{Call, End, Header, VERSION};

/// The longest line: a call has some 300 bytes, a header less.
const LINE_MOST: u64 = 64 << 10;
/// Times beyond are no times of a capture, in seconds: it lasts a day at most.
const TIME_MOST: f64 = 1e6;

/// A record of calls, in the order in which they came.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The file's name, as typed.
    pub name: String,
    /// Its first line.
    pub header: Header,
    /// Its calls.
    pub calls: Vec<Call>,
    /// Its last line; none if its writer was killed.
    pub end: Option<End>,
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is no capture, is of a later version, holds no call, or a line makes no sense.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("reading {name}"))?;
        Self::from_lines(&name, BufReader::new(file))
    }

    /// The same of whatever has lines.
    pub(super) fn from_lines(name: &str, mut input: impl BufRead) -> Result<Self> {
        let mut line = String::new();
        next(&mut input, &mut line).with_context(|| format!("reading {name}"))?;
        let header: Header = serde_json::from_str(&line).with_context(|| {
            format!("reading {name}: its first line is not that of a capture; howdah capture writes them")
        })?;
        ensure!(
            header.howdah_capture == VERSION,
            "reading {name}: version {} of the format, and this howdah knows version {VERSION}",
            header.howdah_capture
        );
        let (mut calls, mut end) = (Vec::<Call>::new(), None);
        for number in 2.. {
            if !next(&mut input, &mut line).with_context(|| format!("reading {name}, line {number}"))? {
                break;
            }
            match (parsed(&line), line.ends_with('\n')) {
                (Ok(Line::Call(call)), _) => {
                    let is_time = |seconds| (0.0..=TIME_MOST).contains(&seconds);
                    let sane = is_time(call.at) && is_time(call.took);
                    ensure!(
                        sane,
                        "reading {name}, line {number}: at {} for {} s is no time",
                        call.at,
                        call.took
                    );
                    calls.push(*call);
                }
                (Ok(Line::End(last)), _) => end = Some(last),
                // Half a line, as somebody leaves it who is killed.
                (Err(_), false) => break,
                (Err(error), true) => bail!("reading {name}, line {number}: {error}"),
            }
        }
        ensure!(!calls.is_empty(), "reading {name}: it contains no call");
        calls.sort_by(|one, other| one.at.total_cmp(&other.at));
        Ok(Self { name: name.to_owned(), header, calls, end })
    }

    /// How long it lasted, in seconds: to the last call's reply.
    pub fn seconds(&self) -> f64 {
        let first = self.calls.first().map_or(0.0, |call| call.at);
        self.calls.iter().map(|call| call.at + call.took - first).fold(0.0, f64::max)
    }

    /// The most calls that the server had at one moment.
    pub fn most_at_once(&self) -> usize {
        let begun = self.calls.iter().map(|call| (call.at, 1));
        let ended = self.calls.iter().map(|call| (call.at + call.took, -1));
        let mut changes: Vec<(f64, i64)> = begun.chain(ended).collect();
        // Of one moment, what ends goes before what begins.
        changes.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let mut now = 0;
        let at_once = changes.iter().map(|(_, change)| {
            now += change;
            now
        });
        usize::try_from(at_once.max().unwrap_or_default()).unwrap_or_default()
    }
}

enum Line {
    Call(Box<Call>),
    End(End),
}

fn parsed(line: &str) -> serde_json::Result<Line> {
    if line.starts_with("{\"end\"") {
        return serde_json::from_str(line).map(Line::End);
    }
    serde_json::from_str(line).map(|call| Line::Call(Box::new(call)))
}

/// The next line, with its end; whether there is one.
fn next(input: &mut impl BufRead, line: &mut String) -> Result<bool> {
    line.clear();
    let read = input.by_ref().take(LINE_MOST).read_line(line)?;
    ensure!(line.ends_with('\n') || (read as u64) < LINE_MOST, "a line of more than {LINE_MOST} bytes");
    Ok(read > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"howdah_capture":1,"howdah":"0.1.0","started":"2026-11-22T00:00:00Z","names":"hashed","seconds_most":60.0,"calls_most":10,"bytes_most":1000}"#;

    fn read(lines: &str) -> Result<Recording> {
        Recording::from_lines("x", lines.as_bytes())
    }

    #[test]
    fn calls_come_in_the_order_of_their_times() {
        let calls = r#"{"at":2.0,"took":0.5,"procedure":"GETATTR","node":"b"}
{"at":1.0,"took":1.5,"procedure":"GETATTR","node":"a","a_field_of_later":1}
{"at":3.0,"took":0.1,"procedure":"NULL"}"#;
        let end = r#"{"end":"asked","seconds":3.0,"calls":3,"dropped":2,"left_out":1}"#;
        let recording = read(&format!("{HEADER}\n{calls}\n{end}\n")).expect("read");
        let nodes: Vec<_> = recording.calls.iter().map(|call| call.node.as_deref()).collect();
        assert_eq!(nodes, [Some("a"), Some("b"), None]);
        assert_eq!(recording.most_at_once(), 2);
        assert!((recording.seconds() - 2.1).abs() < 1e-9);
        assert_eq!(recording.end.expect("there").dropped, 2);
    }

    #[test]
    fn what_is_cut_off_is_played_as_far_as_it_goes_and_what_is_wrong_is_named() {
        let cut = read(&format!("{HEADER}\n{{\"at\":1.0,\"procedure\":\"NULL\"}}\n{{\"at\":2.0,\"proc"));
        let cut = cut.expect("a part");
        assert!(cut.calls.len() == 1 && cut.end.is_none());
        for (lines, wanted) in [
            ("{}\n".to_owned(), "first line"),
            (format!("{}\n", HEADER.replace(":1,", ":2,")), "version 2"),
            (format!("{HEADER}\n"), "no call"),
            (format!("{HEADER}\n{{\"at\":\"x\"}}\n"), "line 2"),
            (format!("{HEADER}\n{{\"at\":1.0,\"took\":1e300,\"procedure\":\"NULL\"}}\n"), "no time"),
            (format!("{HEADER}\n{{\"at\":-1.0,\"procedure\":\"NULL\"}}\n"), "no time"),
        ] {
            let why = format!("{:#}", read(&lines).expect_err("wrong"));
            assert!(why.contains(wanted), "{why}");
        }
    }
}
