//! What the log says of calls: a line for each at level `debug`, and a warning when an export has no room left. Knows no protocol.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::locks::Mutex;

use crate::counts::{Outcome, error_name};
use crate::programs::Listed;

/// Statuses of NFSv3 and NFSv4 alike (RFC 1813 2.6, RFC 8881 15.1.4): NOSPC and DQUOT.
const FULL: [(u32, &str, &str); 2] = [
    (28, "no space left on device", "free some space, or make the file system larger (df names it)"),
    (69, "disk quota exceeded", "raise the quota of the user or group (quota, repquota)"),
];

/// A full export is warned of again after this time.
const AGAIN: Duration = Duration::from_secs(60);

/// The log of calls.
pub struct CallLog {
    procedures: Arc<[Listed]>,
    full: Mutex<HashMap<(u16, u32), Warned>>,
}

/// When an export was last warned of, and calls that were refused since then.
struct Warned {
    at: Instant,
    since: u64,
}

/// A call that ended.
pub struct Ended {
    /// Its procedure's or operation's place among all.
    pub procedure: u16,
    /// Who made it.
    pub client: SocketAddr,
    /// How it ended; `None`: it is not answered.
    pub outcome: Option<Outcome>,
    /// How long it took.
    pub took: Duration,
    /// The place of its export.
    pub export: u16,
}

impl CallLog {
    /// That names these procedures.
    pub fn new(procedures: Arc<[Listed]>) -> Self {
        Self { procedures, full: Mutex::default() }
    }

    /// Whether calls are logged, or this one is worth a warning.
    #[inline]
    pub fn wants(&self, outcome: Option<Outcome>) -> bool {
        tracing::enabled!(tracing::Level::DEBUG) || full(outcome).is_some()
    }

    /// Logs a call. `name_of`: the name of an export by its place.
    #[cold]
    pub fn log(&self, ended: &Ended, name_of: impl Fn(u16) -> String) {
        let export = (ended.export != 0).then(|| name_of(ended.export));
        let listed = self.procedures.get(usize::from(ended.procedure));
        let name = listed.map_or("unknown", |listed| listed.procedure.name);
        let program = listed.map_or(String::new(), |listed| format!("{} {}", listed.program, listed.version));
        tracing::debug!(
            client = %ended.client,
            %program,
            procedure = name,
            export = export.as_deref().unwrap_or("-"),
            status = status(ended.outcome),
            took = ?ended.took,
            "call"
        );
        if let Some((number, what, advice)) = full(ended.outcome)
            && let Some(refused) = self.is_due(ended.export, number, Instant::now())
        {
            let export = export.as_deref().unwrap_or("(unknown)");
            tracing::warn!(export, procedure = name, refused, "clients cannot write: {what}; {advice}");
        }
    }

    /// Calls refused since the last warning with this one, if it is time to warn.
    fn is_due(&self, export: u16, number: u32, now: Instant) -> Option<u64> {
        let mut full = self.full.lock();
        let Some(warned) = full.get_mut(&(export, number)) else {
            full.insert((export, number), Warned { at: now, since: 0 });
            return Some(1);
        };
        warned.since += 1;
        if now.saturating_duration_since(warned.at) < AGAIN {
            return None;
        }
        warned.at = now;
        Some(std::mem::take(&mut warned.since))
    }
}

/// What is full, if that is why a call failed.
fn full(outcome: Option<Outcome>) -> Option<(u32, &'static str, &'static str)> {
    let Some(Outcome::Status(status)) = outcome else { return None };
    FULL.into_iter().find(|(number, ..)| *number == status)
}

fn status(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        None => "no reply",
        Some(Outcome::Well) => "OK",
        Some(Outcome::Replayed) => "replayed",
        Some(outcome) => outcome.error().map_or("OK", error_name),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_wire::mount::{DirectoryPath, PROGRAM, VERSION_3, mnt};
    use howdah_wire::rpc::{AuthSys, CallHeader, Credentials};
    use howdah_wire::xdr::{Encode, Encoder};
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;
    use crate::Transport;
    use crate::calling::peer;
    use crate::counts::{Moment, Timing};
    use crate::dispatch::{Whence, Work};
    use crate::exports::{ClientRule, Export, Exports};
    use crate::service::Service;

    /// Lines of the log of calls up to a level: their fields, one after the other.
    #[derive(Clone)]
    struct Lines(Level, Arc<Mutex<Vec<String>>>);

    impl Subscriber for Lines {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= self.0 && metadata.target() == module_path!().trim_end_matches("::tests")
        }

        fn event(&self, event: &Event<'_>) {
            let mut fields = Fields::default();
            event.record(&mut fields);
            self.1.lock().push(fields.0);
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[derive(Default)]
    struct Fields(String);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            self.0 += &format!("{field}={value:?} ");
        }
    }

    /// What the log says at a level of a call that mounts this path.
    fn said(level: Level, path: &str) -> Vec<String> {
        let export = Export::new("/data", 1, Arc::new(MemoryFileSystem::new()), vec![ClientRule::default()]);
        let service = Service::new(Exports::new(vec![export], [1; 16]).expect("exports"));
        let dispatcher = &service.dispatcher;
        let credentials = Credentials::Sys(AuthSys::new(b"client", 1000, 1000, &[]));
        let (program, version, procedure) = (PROGRAM, VERSION_3, 1);
        let mut message = Encoder::to_vec(&CallHeader { xid: 7, program, version, procedure, credentials });
        mnt::Arguments { path: DirectoryPath(path.as_bytes()) }.encode(&mut Encoder::new(&mut message));
        let client = peer("192.0.2.9:701", "192.0.2.1:2049", Transport::Tcp);
        let Work::Run(job) = dispatcher.read(&message, None, Transport::Tcp) else { panic!("a call") };
        let timing = Timing { arrived: Moment::now(), received: 100, is_first: false };
        let lines = Lines(level, Arc::default());
        let reply = tracing::subscriber::with_default(lines.clone(), || {
            let (mut clerk, from) = (dispatcher.counts.clerk(), Whence::datagram(&client, &|_| false));
            dispatcher.carry_out(&mut clerk, &job, &from, &timing, None, Vec::new())
        });
        assert!(reply.is_some());
        let said = lines.1.lock();
        said.clone()
    }

    #[test]
    fn at_level_debug_each_call_has_a_line() {
        for (path, status) in [("/data", "OK"), ("/absent", "NOENT")] {
            let said = said(Level::DEBUG, path);
            let [line] = &said[..] else { panic!("one line: {said:?}") };
            for part in ["message=call", "client=192.0.2.9:701", "procedure=\"MNT\"", "took="] {
                assert!(line.contains(part), "{part} in {line}");
            }
            assert!(line.contains(&format!("status={status:?}")), "{line}");
        }
        assert!(said(Level::INFO, "/data").is_empty(), "not unless it is asked for");
    }

    #[test]
    fn each_full_export_is_warned_of_once_a_minute_with_the_number_of_calls() {
        let log = CallLog::new(Arc::new([]));
        let start = Instant::now();
        let due = |export, number, seconds| log.is_due(export, number, start + Duration::from_secs(seconds));
        assert_eq!(due(1, 28, 0), Some(1));
        assert_eq!((due(1, 28, 1), due(1, 28, 59)), (None, None));
        assert_eq!((due(2, 28, 59), due(1, 69, 59)), (Some(1), Some(1)), "others count apart");
        assert_eq!(due(1, 28, 61), Some(3));
        assert_eq!(due(1, 28, 62), None);
    }

    #[test]
    fn only_what_is_full_is_worth_a_warning() {
        let warned = |status| full(Some(Outcome::of_status(status))).is_some();
        assert!(warned(28) && warned(69));
        for status in [0, 2, 5, 13, 27, 70, 10_008] {
            assert!(!warned(status), "{status}");
        }
        assert!(full(None).is_none() && full(Some(Outcome::System)).is_none());
    }
}
