//! The table of what is measured, and what is to be shown.

use super::floor::Job;
use super::load::Kind;

/// One row.
#[derive(Debug)]
pub struct Row {
    /// What is typed to choose it.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The calls.
    pub kind: Kind,
    /// How many of them are in flight, on one connection.
    pub in_flight: u32,
    /// Whether the load sends each call by itself; else all that it can send at once, as one that has much to do.
    pub alone: bool,
    /// What is counted.
    pub unit: Unit,
    /// What is shown of it.
    pub metric: Metric,
    /// What it should be.
    pub target: Target,
    /// The ways to do the job without a server; the best one counts.
    pub floors: &'static [Job],
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Calls.
    Call,
    /// Entries of a directory.
    Entry,
    /// Bytes of data.
    Byte,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Processor time of the server per unit.
    Processor,
    /// Time from call to reply.
    Latency,
}

/// What should be reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// Nothing is asked.
    None,
    /// At most so many nanoseconds of processor time per unit.
    Cost(f64),
    /// That, and at least so many units per second.
    CostAndRate(f64, f64),
    /// At most so many times what the best floor takes.
    Ratio(f64),
}

/// All rows.
pub const ROWS: [Row; 14] = [
    Row {
        name: "getattr",
        about: "GETATTR, 64 in flight",
        target: Target::CostAndRate(6_000.0, 150_000.0),
        floors: &[Job::Stat],
        ..calls(Kind::GetAttributes)
    },
    Row {
        name: "nfs4-getattr",
        about: "NFSv4.1: SEQUENCE, PUTFH, GETATTR, 64 in flight",
        floors: &[Job::Stat],
        ..calls(Kind::CompoundAttributes)
    },
    Row {
        name: "alone",
        about: "GETATTR, 64 in flight, each sent by itself",
        alone: true,
        target: Target::Cost(6_000.0),
        floors: &[Job::Stat],
        ..calls(Kind::GetAttributes)
    },
    Row {
        name: "latency",
        about: "GETATTR, one at a time",
        in_flight: 1,
        metric: Metric::Latency,
        floors: &[Job::Stat],
        ..calls(Kind::GetAttributes)
    },
    Row {
        name: "lookup",
        about: "LOOKUP, 64 in flight",
        target: Target::Cost(11_000.0),
        floors: &[Job::Lookup],
        ..calls(Kind::Lookup)
    },
    Row { name: "access", about: "ACCESS, 64 in flight", floors: &[Job::Stat], ..calls(Kind::Access) },
    Row {
        name: "create",
        about: "CREATE, 64 in flight",
        target: Target::Cost(22_000.0),
        floors: &[Job::Create],
        ..calls(Kind::Create)
    },
    Row { name: "remove", about: "REMOVE, 64 in flight", floors: &[Job::Remove], ..calls(Kind::Remove) },
    Row {
        name: "readdirplus",
        about: "READDIRPLUS, 64 KiB of 10,000 entries",
        in_flight: 1,
        unit: Unit::Entry,
        target: Target::Cost(2_300.0),
        floors: &[Job::List, Job::ListKnown],
        ..calls(Kind::List)
    },
    Row {
        name: "read-4k",
        about: "READ 4 KB anywhere, 64 in flight",
        target: Target::Cost(9_000.0),
        floors: &[Job::Pread],
        ..calls(Kind::ReadRandom)
    },
    Row {
        name: "write-4k",
        about: "WRITE 4 KB anywhere, 64 in flight",
        target: Target::Cost(9_000.0),
        floors: &[Job::Pwrite],
        ..calls(Kind::WriteRandom)
    },
    Row {
        name: "read-1m",
        about: "READ 1 MiB in order, 16 in flight",
        target: Target::Ratio(1.3),
        floors: &[Job::Sendfile],
        ..stream(Kind::ReadStream)
    },
    Row {
        name: "nfs4-read-1m",
        about: "NFSv4.1: SEQUENCE, PUTFH, READ of 1 MiB in order, 16 in flight",
        ..stream(Kind::CompoundRead)
    },
    Row {
        name: "write-1m",
        about: "WRITE 1 MiB in order, 16 in flight",
        target: Target::Ratio(1.15),
        floors: &[Job::ReceivePwrite, Job::ReceiveSplice],
        ..stream(Kind::WriteStream)
    },
];

/// The rows whose names start with one of these; all, if there are none.
pub fn choose(starts: &[String]) -> Vec<&'static Row> {
    ROWS.iter()
        .filter(|row| starts.is_empty() || starts.iter().any(|start| row.name.starts_with(start)))
        .collect()
}

/// A row of small calls.
const fn calls(kind: Kind) -> Row {
    Row {
        name: "",
        about: "",
        kind,
        in_flight: 64,
        alone: false,
        unit: Unit::Call,
        metric: Metric::Processor,
        target: Target::None,
        floors: &[],
    }
}

/// A row of bulk data.
const fn stream(kind: Kind) -> Row {
    Row { in_flight: 16, unit: Unit::Byte, ..calls(kind) }
}
