//! What of the table of troubles was reached.

use std::collections::BTreeSet;

use howdah_session::UpkeepAction;
use howdah_wire::nfs4::Status;

/// A row: what came, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// A status of SEQUENCE that the client was given.
    Sequence(u32),
    /// A status of CREATE_SESSION.
    Create(u32),
    /// A status of EXCHANGE_ID.
    Exchange(u32),
    /// A status of another upkeep call.
    Upkeep(u32),
    /// The rest of a compound ran before, and its reply is not kept.
    Uncached,
    /// A retry got the reply of the first run.
    Replayed,
    /// A late copy of a call came when its slot was further.
    Late,
    /// A reply that is none to its call.
    Foreign,
    /// A caller gave up, and its call was answered later.
    Abandoned,
    /// The server took slots back, or gave more.
    FewerSlots,
    MoreSlots,
    /// A flag rose.
    Flag(u32),
    /// An action was done.
    Exchanged,
    ExchangedAgain,
    NewIncarnation,
    Created,
    Added,
    Destroyed,
    Bound,
    Reclaimed,
    Completed,
    Checked,
    Repaired,
    Renewed,
}

/// The rows that were reached.
#[derive(Debug, Default)]
pub struct Reached(pub BTreeSet<Row>);

impl Reached {
    /// This one was.
    pub fn add(&mut self, row: Row) {
        self.0.insert(row);
    }

    /// An action succeeded.
    pub fn add_done(&mut self, action: UpkeepAction) {
        self.add(match action {
            UpkeepAction::ExchangeId { incarnation: 0 } => Row::Exchanged,
            UpkeepAction::ExchangeId { .. } => Row::NewIncarnation,
            UpkeepAction::CreateSession { .. } => Row::Created,
            UpkeepAction::AddSession { .. } => Row::Added,
            UpkeepAction::DestroySession(_) | UpkeepAction::DestroyClient(_) => Row::Destroyed,
            UpkeepAction::Bind(_) => Row::Bound,
            UpkeepAction::Reclaim => Row::Reclaimed,
            UpkeepAction::ReclaimComplete => Row::Completed,
            UpkeepAction::CheckStates => Row::Checked,
            UpkeepAction::RepairCallbacks => Row::Repaired,
            UpkeepAction::Renew => Row::Renewed,
        });
    }

    /// Every row that there is must be reached.
    pub fn assert_all(&self) {
        let of_sequence = [
            Status::DELAY,
            Status::BADSESSION,
            Status::DEADSESSION,
            Status::BADSLOT,
            Status::BAD_HIGH_SLOT,
            Status::CONN_NOT_BOUND_TO_SESSION,
            Status::SEQ_MISORDERED,
            Status::SEQ_FALSE_RETRY,
            Status::REQ_TOO_BIG,
            Status::REP_TOO_BIG,
            Status::REP_TOO_BIG_TO_CACHE,
            Status::TOO_MANY_OPS,
        ];
        let of_creation = [Status::DELAY, Status::STALE_CLIENTID, Status::SEQ_MISORDERED, Status::NOSPC];
        let flags = (0..11).map(|bit| 1 << bit).filter(|flag| super::server::FLAGS & flag != 0);
        let rows = of_sequence.map(|status| Row::Sequence(status.0)).into_iter();
        let rows = rows.chain(of_creation.map(|status| Row::Create(status.0)));
        let rows = rows.chain([Row::Exchange(Status::DELAY.0), Row::Upkeep(Status::COMPLETE_ALREADY.0)]);
        let rows = rows.chain(flags.map(Row::Flag)).chain([
            Row::Uncached,
            Row::Replayed,
            Row::Late,
            Row::Foreign,
            Row::Abandoned,
            Row::FewerSlots,
            Row::MoreSlots,
            Row::Exchanged,
            Row::ExchangedAgain,
            Row::NewIncarnation,
            Row::Created,
            Row::Added,
            Row::Destroyed,
            Row::Bound,
            Row::Reclaimed,
            Row::Completed,
            Row::Checked,
            Row::Repaired,
            Row::Renewed,
        ]);
        let missing: Vec<Row> = rows.filter(|row| !self.0.contains(row)).collect();
        assert!(missing.is_empty(), "not reached: {missing:?}");
    }
}
