//! What was played, procedure by procedure.

use std::collections::BTreeMap;
use std::time::Duration;

use howdah_capture::Call;
use howdah_vfs::FsError;

use super::call::Outcome;
use crate::measure::Latencies;

/// Of one procedure.
#[derive(Default)]
pub(super) struct OfProcedure {
    pub(super) calls: u64,
    pub(super) bytes: u64,
    /// They ended otherwise than in the record.
    pub(super) otherwise: u64,
    pub(super) skipped: u64,
    pub(super) latencies: Latencies,
}

/// Of all of them.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) procedures: BTreeMap<String, OfProcedure>,
    /// How long after their time calls began.
    pub(super) late: Latencies,
    /// The first call that ended otherwise.
    pub(super) first_otherwise: Option<String>,
}

impl Tally {
    /// A call ended.
    pub(super) fn count(&mut self, call: &Call, outcome: Outcome, took: Duration) {
        let of = self.procedures.entry(call.procedure.to_string()).or_default();
        if outcome == Outcome::Skipped {
            of.skipped += 1;
            return;
        }
        of.calls += 1;
        of.latencies.record(took);
        if let Outcome::Done(bytes) = outcome {
            of.bytes += bytes;
        }
        if let Some(how) = otherwise(call, outcome) {
            of.otherwise += 1;
            self.first_otherwise.get_or_insert(how);
        }
    }

    /// Both together.
    pub(super) fn add(&mut self, other: Self) {
        for (name, more) in other.procedures {
            let of = self.procedures.entry(name).or_default();
            of.calls += more.calls;
            of.bytes += more.bytes;
            of.otherwise += more.otherwise;
            of.skipped += more.skipped;
            of.latencies.add(&more.latencies);
        }
        self.late.add(&other.late);
        if self.first_otherwise.is_none() {
            self.first_otherwise = other.first_otherwise;
        }
    }
}

/// How a call ended otherwise than in the record, if it did.
fn otherwise(call: &Call, outcome: Outcome) -> Option<String> {
    let (reported, seen) = (
        call.error.as_deref(),
        match outcome {
            Outcome::Refused(error) => Some(status(error)),
            _ => None,
        },
    );
    if reported != seen {
        let word = |status: Option<&str>| status.unwrap_or("OK").to_owned();
        return Some(format!(
            "{} at {:.3} s: {}, {} in the record",
            call.procedure,
            call.at,
            word(seen),
            word(reported)
        ));
    }
    let (Outcome::Done(bytes), Some(done)) = (outcome, call.done) else { return None };
    (bytes != done)
        .then(|| format!("{} at {:.3} s: {bytes} bytes, {done} in the record", call.procedure, call.at))
}

/// The status of RFC 1813 that means this, without `NFS3ERR_`.
fn status(error: FsError) -> &'static str {
    match error {
        FsError::BadHandle => "BADHANDLE",
        FsError::NotSynchronised => "NOT_SYNC",
        FsError::BadCookie => "BAD_COOKIE",
        FsError::NotSupported => "NOTSUPP",
        FsError::TooSmall => "TOOSMALL",
        FsError::ServerFault => "SERVERFAULT",
        FsError::BadType => "BADTYPE",
        FsError::Delay => "JUKEBOX",
        other => other.errno_name().strip_prefix('E').unwrap_or("OTHER"),
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs3::Status;

    use super::*;

    #[test]
    fn each_status_of_the_record_is_known() {
        let names: Vec<&str> = FsError::ALL.iter().map(|error| status(*error)).collect();
        for known in Status::ALL {
            let name = known.rfc_name().trim_start_matches("NFS3ERR_");
            // A file system has no other path to name (REMOTE).
            assert!(names.contains(&name) || name == "REMOTE", "{name}");
        }
    }

    #[test]
    fn what_ends_otherwise_is_told() {
        let read = |error: Option<&'static str>| Call {
            procedure: "READ".into(),
            error: error.map(Into::into),
            done: Some(10),
            ..Call::default()
        };
        assert_eq!(otherwise(&read(None), Outcome::Done(10)), None);
        assert!(otherwise(&read(None), Outcome::Done(9)).is_some_and(|how| how.contains("9 bytes")));
        assert!(
            otherwise(&read(None), Outcome::Refused(FsError::Stale)).is_some_and(|how| how.contains("STALE"))
        );
        assert_eq!(otherwise(&read(Some("STALE")), Outcome::Refused(FsError::Stale)), None);
    }
}
