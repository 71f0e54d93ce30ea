//! One capture: begun, read out, ended.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow};
use howdah_capture::{Call, End, Header, Names, VERSION, Why};
use howdah_daemon::host::{Signal, signals};
use howdah_server::admin;
use howdah_server::capture::{CAPTURE_ANSWER_MAX, State};
use serde_json::json;

use super::recording::CaptureRecording;
use super::writing::{Lines, RecordOutput};
use crate::admin::{AskedServer, Refused};
use crate::arguments::CaptureArguments;
use crate::report;

/// How often calls are asked for: the server keeps thousands meanwhile.
const INTERVAL: Duration = Duration::from_millis(40);
/// Where it is done.
const PATH: &str = "/v1/capture";

/// Records until a limit is reached, or somebody ends it.
pub fn capture(
    server: &AskedServer,
    arguments: &CaptureArguments,
    output: RecordOutput,
    shows: bool,
) -> Result<CaptureRecording> {
    let signals = signals()?;
    let names = if arguments.names { Names::Clear } else { Names::Hashed };
    let order = json!({ "run": true, "seconds": arguments.time.as_secs_f64(), "calls": arguments.calls, "names": names });
    let begun = server.put::<State>(PATH, &order)?;
    let begun = begun.map_err(|why| refused(server, &why))?;
    let output = output.begin().with_context(|| format!("writing {}", arguments.file));
    let output = output.inspect_err(|_| {
        end(server, begun.capture);
    })?;
    // All work that starts after this is recorded.
    let most = arguments.time.as_secs_f64();
    report::complain(&format!(
        "howdah: recording the calls to {}, for {most} s at most; Ctrl-C stops it",
        server.name()
    ));
    let header = Header {
        howdah_capture: VERSION,
        howdah: env!("CARGO_PKG_VERSION").to_owned(),
        started: jiff::Timestamp::now().to_string(),
        names,
        seconds_most: arguments.time.as_secs_f64(),
        calls_most: arguments.calls,
        bytes_most: arguments.size,
    };
    let lines = Lines::new(output, arguments.file.clone(), arguments.size);
    let mut session = Session { server, lines, shows, capture: begun.capture, last: 0 };
    let read = session.lines.header(&header).and_then(|()| session.read_out(&signals));
    // Whatever happened: a server that still runs is not left with a capture that nobody reads.
    let ended = end(server, begun.capture);
    if shows {
        report::status("", false);
    }
    let (why, state) = read?;
    let state = ended.unwrap_or(state);
    let Lines { bytes, procedures, bytes_read, bytes_written, calls, .. } = session.lines.end(why, &state)?;
    let State { seconds, dropped, left_out, .. } = state;
    let end = End { end: why, seconds, calls, dropped, left_out };
    let (server, file) = (server.name(), arguments.file.clone());
    Ok(CaptureRecording { server, file, bytes, end, procedures, bytes_read, bytes_written })
}

struct Session<'a> {
    server: &'a AskedServer,
    lines: Lines,
    shows: bool,
    /// Its number at the server.
    capture: u64,
    /// The number of the last call that is here.
    last: u64,
}

impl Session<'_> {
    /// Reads calls until it is over; why, and how the capture stood.
    fn read_out(&mut self, signals: &Receiver<Signal>) -> Result<(Why, State)> {
        let mut stood = None;
        loop {
            let admin::Captured { state, last, calls } = match (self.ask(), stood) {
                (Ok(Ok(captured)), _) => captured,
                // After a long stop of this process the server has ended the capture.
                (Ok(Err(_)), Some(state)) => return Ok((Why::Abandoned, state)),
                // It was there when it began.
                (Err(_), Some(state)) => return Ok((Why::Server, state)),
                (Ok(Err(why)), None) => return Err(refused(self.server, &why)),
                (Err(error), None) => return Err(error),
            };
            stood = Some(state);
            self.write(&calls, last)?;
            if self.shows {
                report::status(&report::capturing(&state, self.lines.bytes), false);
            }
            match state.ended {
                Some(why) if calls.is_empty() => return Ok((why, state)),
                _ if self.lines.is_full() => return Ok((Why::Bytes, state)),
                _ => {}
            }
            // What waits already is asked for at once; a signal is heard all the same.
            let more_waits = calls.len() >= CAPTURE_ANSWER_MAX || state.ended.is_some();
            match signals.recv_timeout(if more_waits { Duration::ZERO } else { INTERVAL }) {
                Err(RecvTimeoutError::Timeout) | Ok(Signal::Reload) => {}
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return self.stop(),
            }
        }
    }

    /// Somebody ends it: what came so far is read.
    fn stop(&mut self) -> Result<(Why, State)> {
        end(self.server, self.capture);
        loop {
            let answer = self.ask()?.map_err(|why| refused(self.server, &why))?;
            let admin::Captured { state, last, calls } = answer;
            self.write(&calls, last)?;
            if calls.is_empty() || self.lines.is_full() {
                return Ok((Why::Asked, state));
            }
        }
    }

    /// Asks for what came since.
    fn ask(&self) -> Result<Result<admin::Captured, Refused>> {
        self.server.look(&format!("{PATH}?capture={}&after={}", self.capture, self.last))
    }

    /// Writes calls, `last` being the number of the last of them, as far as there is room.
    fn write(&mut self, calls: &[Call], last: u64) -> Result<()> {
        for call in calls {
            if self.lines.is_full() {
                break;
            }
            self.lines.call(call)?;
        }
        self.last = last;
        Ok(())
    }
}

/// Ends the one with that number, and no other; how it stood.
fn end(server: &AskedServer, capture: u64) -> Option<State> {
    server.put::<State>(PATH, &json!({ "run": false, "capture": capture })).ok()?.ok()
}

/// What the server says against it.
fn refused(server: &AskedServer, refused: &Refused) -> Error {
    anyhow!("asking {}: {}; {}", server.name(), refused.error, refused.hint)
}
