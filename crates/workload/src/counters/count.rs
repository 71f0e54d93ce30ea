//! How often a procedure was called.

use serde::Serialize;

use super::names::{procedure_name, program_name};

/// A counter of calls: a client's channel, in the shape that the laboratory needs.
pub trait CallCounters: Send + Sync {
    /// All counts so far, each procedure once. They only grow.
    fn counts(&self) -> Vec<ProcedureCount>;
}

/// The counts of one procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcedureCount {
    /// The program's number.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure's number.
    pub procedure: u32,
    /// Calls made, each once however often it was sent.
    pub calls: u64,
    /// Sent again: for want of an answer, or because the connection was lost.
    pub retransmissions: u64,
    /// Calls that came to no answer, or to one that was no success of RPC.
    pub errors: u64,
}

impl ProcedureCount {
    fn key(&self) -> (u32, u32, u32) {
        (self.program, self.version, self.procedure)
    }
}

// In JSON the program and the procedure have their names: numbers would have to be looked up.
impl Serialize for ProcedureCount {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line {
            program: String,
            version: u32,
            procedure: String,
            calls: u64,
            retransmissions: u64,
            errors: u64,
        }
        Line {
            program: program_name(self.program),
            version: self.version,
            procedure: procedure_name(self.program, self.version, self.procedure),
            calls: self.calls,
            retransmissions: self.retransmissions,
            errors: self.errors,
        }
        .serialize(serializer)
    }
}

/// What came since an earlier look; procedures without any call are left out.
pub fn since(now: &[ProcedureCount], earlier: &[ProcedureCount]) -> Vec<ProcedureCount> {
    let before = |count: &ProcedureCount| earlier.iter().find(|other| other.key() == count.key());
    let grown = now.iter().map(|count| match before(count) {
        None => *count,
        Some(before) => ProcedureCount {
            calls: count.calls.saturating_sub(before.calls),
            retransmissions: count.retransmissions.saturating_sub(before.retransmissions),
            errors: count.errors.saturating_sub(before.errors),
            ..*count
        },
    });
    let mut grown: Vec<_> = grown.filter(|count| count.calls + count.retransmissions > 0).collect();
    grown.sort_unstable_by_key(ProcedureCount::key);
    grown
}

/// The counts of several looks, procedure by procedure.
pub fn totals(looks: impl IntoIterator<Item = Vec<ProcedureCount>>) -> Vec<ProcedureCount> {
    let mut totals: Vec<ProcedureCount> = Vec::new();
    for count in looks.into_iter().flatten() {
        match totals.iter_mut().find(|total| total.key() == count.key()) {
            None => totals.push(count),
            Some(total) => {
                total.calls += count.calls;
                total.retransmissions += count.retransmissions;
                total.errors += count.errors;
            }
        }
    }
    totals.sort_unstable_by_key(ProcedureCount::key);
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(procedure: u32, calls: u64, retransmissions: u64) -> ProcedureCount {
        ProcedureCount { program: 100_003, version: 3, procedure, calls, retransmissions, errors: 0 }
    }

    #[test]
    fn only_what_came_since() {
        let grown =
            since(&[count(6, 9, 3), count(7, 2, 0), count(1, 5, 0)], &[count(6, 4, 1), count(1, 5, 0)]);
        assert_eq!(grown, [count(6, 5, 2), count(7, 2, 0)]);
        assert_eq!(totals([grown.clone(), grown]), [count(6, 10, 4), count(7, 4, 0)]);
    }
}
