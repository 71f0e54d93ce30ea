//! What an NFSv4 server grants, and what of that is too little.

use howdah_units as units;

use crate::facts::ServerSessionFacts;
use crate::{Figure, Finding, Remedy};

/// The most sessions of our client: it makes further ones while it uses all slots.
const SESSIONS: u32 = 16;
/// Fewer slots than this in each limit small calls over a long path.
const SLOTS: u32 = 16;
/// A reply to a change takes up to this many bytes: what a server does not keep, it runs again.
const KEPT: u64 = 1_200;
/// A shorter lease is easily lost when a path fails, in seconds.
const LEASE: f64 = 30.0;
/// The round trip of a long path, in seconds.
const FAR: f64 = 0.1;

/// What is granted, a sentence each.
pub fn figures(session: &ServerSessionFacts) -> Vec<Figure> {
    let yes = |says: bool| if says { "yes" } else { "no" };
    let unknown = |says: Option<bool>| says.map_or("unknown: there is no file to ask about", yes);
    let whole = |bytes: u64| units::power_of_two(bytes);
    let mut figures = vec![
        Figure::told("version", format!("NFSv4.{}", session.minor_version)),
        Figure::told("calls at the same time (slots)", session.slots.to_string()),
        Figure::told("operations in a call", session.operations.to_string()),
        Figure::told(
            "longest call and reply",
            format!("{} and {}", whole(session.request_bytes), whole(session.reply_bytes)),
        ),
        Figure::told("reply kept for a repeated call", format!("{} at most", whole(session.kept_bytes))),
        Figure::told("lease", units::seconds(session.lease_seconds)),
        Figure::told("connections in the session", connections(session)),
        Figure::told("calls by the server", yes(session.calls_back)),
        Figure::told("delegations of directories", yes(session.delegates_directories)),
        Figure::told("reads without OPEN", unknown(session.reads_without_open)),
    ];
    if session.minor_version >= 2 {
        figures.push(Figure::told("extended attributes", yes(session.has_xattrs)));
        figures.push(Figure::told("holes (SEEK)", unknown(session.has_seek)));
    }
    figures
}

fn connections(session: &ServerSessionFacts) -> String {
    match session.has_one_connection {
        true => "1 (the server refuses the session over others)".to_owned(),
        false => session.connections.to_string(),
    }
}

/// What is too little to work well. All of it is worth knowing; whether it limits shows by the rates.
pub fn findings(session: &ServerSessionFacts) -> Vec<Finding> {
    let advice =
        |what: &str, why: &str| Remedy::Advice { what: what.to_owned(), why: why.to_owned(), undo: None };
    let mut findings = Vec::new();
    if session.slots < SLOTS {
        let rate = f64::from(session.slots * SESSIONS) / FAR;
        let says = format!(
            "the server takes {} calls at the same time in a session: at most {rate:.0} small calls a second over a path of {}",
            session.slots,
            units::seconds(FAR)
        );
        findings.push(Finding::note(says).mended_by(advice(
            "use version=3, or raise the server's slots (Linux 6.14 and later raise them on demand)",
            "NFSv3 does not limit calls in flight",
        )));
    }
    if session.kept_bytes < KEPT {
        findings.push(Finding::note(format!(
            "the server keeps replies of {} at most: a change that is sent again after a lost connection may run twice",
            units::power_of_two(session.kept_bytes)
        )));
    }
    if session.lease_seconds < LEASE {
        findings.push(Finding::note(format!(
            "the lease is {}: an outage of that length loses the client's opens and locks",
            units::seconds(session.lease_seconds)
        )));
    }
    if session.has_one_connection {
        let says =
            "the server takes the session over one connection only: a long or lossy path is filled less well";
        findings.push(Finding::note(says).mended_by(advice(
            "use version=3 for large files over a long path, or ask the server's maker about session trunking",
            "with NFSv3 the client opens as many connections as the path needs",
        )));
    }
    if session.minor_version < 2 {
        findings.push(Finding::note(
            "the server speaks NFSv4.1: there are no extended attributes, holes, clones and copies on the server",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generous() -> ServerSessionFacts {
        ServerSessionFacts {
            minor_version: 2,
            slots: 1024,
            operations: 64,
            request_bytes: 1 << 20,
            reply_bytes: 1 << 20,
            kept_bytes: 8192,
            lease_seconds: 90.0,
            connections: 2,
            has_one_connection: false,
            reads_without_open: Some(true),
            calls_back: true,
            delegates_directories: false,
            has_xattrs: true,
            has_seek: None,
        }
    }

    #[test]
    fn what_is_too_little_is_one_sentence_each() {
        assert_eq!(findings(&generous()), []);
        for (session, says) in [
            (ServerSessionFacts { slots: 3, ..generous() }, "at most 480 small calls a second"),
            (ServerSessionFacts { kept_bytes: 640, ..generous() }, "may run twice"),
            (ServerSessionFacts { lease_seconds: 10.0, ..generous() }, "opens and locks"),
            (ServerSessionFacts { has_one_connection: true, ..generous() }, "one connection only"),
            (ServerSessionFacts { minor_version: 1, ..generous() }, "NFSv4.1"),
        ] {
            let found = findings(&session);
            assert!(found.len() == 1 && found[0].says.contains(says) && !found[0].is_fault, "{found:?}");
        }
    }

    #[test]
    fn what_a_version_cannot_have_is_not_shown() {
        let names = |session: &ServerSessionFacts| figures(session).len();
        assert_eq!(names(&generous()), names(&ServerSessionFacts { minor_version: 1, ..generous() }) + 2);
    }
}
