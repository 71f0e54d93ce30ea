//! What a capture says on the screen.

use std::fmt::Write;

use howdah_capture::Why;
use howdah_server::capture::State;
use howdah_units::size;

use crate::capture::CaptureRecording;

/// How far it is, on one line.
pub fn capturing(state: &State, bytes: u64) -> String {
    let State { seconds, seconds_most, taken, dropped, .. } = state;
    let lost = if *dropped > 0 { format!(", {dropped} dropped") } else { String::new() };
    format!("{seconds:.0} of {seconds_most:.0} s, {taken} calls, {}{lost}; Ctrl-C stops it", size(bytes))
}

/// What was recorded, and what can be done with it.
pub fn captured(recording: &CaptureRecording) -> String {
    let CaptureRecording { server, file, bytes, end, procedures, bytes_read, bytes_written } = recording;
    let mut text = format!("{server}\n");
    let _ = writeln!(
        text,
        "{} calls in {:.1} s, {} read and {} written; {}",
        end.calls,
        end.seconds,
        size(*bytes_read),
        size(*bytes_written),
        because(end.end)
    );
    let mut by_calls: Vec<_> = procedures.iter().collect();
    by_calls.sort_by_key(|(_, calls)| std::cmp::Reverse(**calls));
    let listed: Vec<String> = by_calls.iter().map(|(name, calls)| format!("{name} {calls}")).collect();
    if !listed.is_empty() {
        let _ = writeln!(text, "  {}", listed.join(", "));
    }
    if end.dropped > 0 {
        let _ = writeln!(
            text,
            "dropped: {} calls arrived faster than they were read; the record has gaps",
            end.dropped
        );
    }
    if end.left_out > 0 {
        let _ = writeln!(
            text,
            "left out: {} calls of programs other than NFS, or retransmissions answered from the reply cache",
            end.left_out
        );
    }
    if end.calls == 0 {
        let _ = writeln!(text, "no calls: nothing to replay");
    } else if file != "-" {
        let _ = writeln!(
            text,
            "{file}: {}; replay it: howdah bench nfs://HOST/EXPORT --replay {file}",
            size(*bytes)
        );
    }
    text
}

fn because(why: Why) -> &'static str {
    match why {
        Why::Time => "stopped at the time limit (--time)",
        Why::Calls => "stopped at the limit of calls (--calls)",
        Why::Bytes => "stopped at the size limit of the file (--size)",
        Why::Asked => "stopped on request",
        Why::Abandoned => "stopped because the calls were not read for too long",
        Why::Server => "stopped because the server does not answer any more",
    }
}
