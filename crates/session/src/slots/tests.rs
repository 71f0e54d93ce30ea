//! Slots between answers of all kinds.

use howdah_wire::nfs4::compound::{ReplyPlace, ResultHead};
use howdah_wire::nfs4::{SessionId, sequence};
use howdah_wire::xdr::{Encode, Encoder};

use super::*;

const SESSION: [u8; 16] = [5; 16];

/// The results of a compound whose SEQUENCE ended so, with a server that takes that many slots and wants that many used.
fn results(ticket: &CallTicket, status: Status, (taken, wanted): (u32, u32)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    let place = ReplyPlace::begin(&mut encoder, b"");
    ResultHead { operation: sequence::OPERATION, status }.encode(&mut encoder);
    if status == Status::OK {
        let (session, sequence, slot) = (SessionId(ticket.session), ticket.number, ticket.slot);
        let (highest_slot, target_highest_slot) = (taken - 1, wanted - 1);
        sequence::Success { session, sequence, slot, highest_slot, target_highest_slot, flags: 0 }
            .encode(&mut encoder);
    }
    place.finish(&mut encoder, status, 1);
    bytes
}

fn answer(
    table: &mut SlotTable,
    ticket: &CallTicket,
    status: Status,
    counts: (u32, u32),
    sent: u64,
) -> Released {
    table.release(ticket, CallEnd::Ran(&results(ticket, status, counts)), sent_at(sent))
}

/// Once.
fn sent_at(seconds: u64) -> CallSends {
    CallSends { count: 1, last: Duration::from_secs(seconds) }
}

fn places(tickets: &[CallTicket]) -> Vec<(u32, u32, u32)> {
    tickets.iter().map(|ticket| (ticket.slot, ticket.number, ticket.highest_slot)).collect()
}

#[test]
fn the_lowest_free_slot_is_taken_and_its_number_follows_the_answer() {
    let mut table = SlotTable::new(SESSION, 100);
    let tickets: Vec<_> = (0..70).map(|_| table.take(false)).collect();
    assert_eq!(places(&tickets)[69], (69, 1, 69));
    answer(&mut table, &tickets[3], Status::OK, (100, 100), 0);
    answer(&mut table, &tickets[66], Status::OK, (100, 100), 0);
    assert_eq!(
        places(&[table.take(false), table.take(false), table.take(false)]),
        [(3, 2, 69), (66, 2, 69), (70, 1, 70)]
    );
}

#[test]
fn a_number_advances_only_if_the_server_has_used_it() {
    let advances = [(Status::OK, 2), (Status::RETRY_UNCACHED_REP, 2), (Status::SEQ_FALSE_RETRY, 2)];
    let stays = [Status::REQ_TOO_BIG, Status::TOO_MANY_OPS, Status::BADSESSION];
    for (status, next) in advances.into_iter().chain(stays.map(|status| (status, 1))) {
        let mut table = SlotTable::new(SESSION, 1);
        let ticket = table.take(false);
        assert_eq!(table.free(), None);
        assert_eq!(answer(&mut table, &ticket, status, (1, 1), 0).release, AfterCall::Over);
        assert_eq!(places(&[table.take(false)]), [(0, next, 0)], "{status}");
    }
    let mut table = SlotTable::new(SESSION, 1);
    let ticket = table.take(false);
    table.release(&ticket, CallEnd::NotRun, sent_at(0));
    assert_eq!(places(&[table.take(false)]), [(0, 1, 0)]);
}

#[test]
fn a_call_that_runs_already_keeps_its_slot_and_is_sent_again_ever_more_rarely() {
    let mut table = SlotTable::new(SESSION, 2);
    let ticket = table.take(false);
    let mut delays = Vec::new();
    for _ in 0..8 {
        let AfterCall::SendAgain(delay) = answer(&mut table, &ticket, Status::DELAY, (2, 2), 0).release
        else {
            panic!("it is over")
        };
        delays.push(delay.as_millis());
    }
    let bound = answer(&mut table, &ticket, Status::CONN_NOT_BOUND_TO_SESSION, (2, 2), 0);
    assert_eq!(
        (bound.release, bound.trouble),
        (AfterCall::SendAgain(AGAIN_LONGEST), Some(SlotTrouble::NotBound))
    );
    assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    assert_eq!(table.take(false).slot, 1);
    answer(&mut table, &ticket, Status::OK, (2, 2), 0);
    let ticket = table.take(false);
    assert_eq!(places(&[ticket]), [(0, 2, 1)]);
    let again = answer(&mut table, &ticket, Status::DELAY, (2, 2), 0).release;
    assert_eq!(again, AfterCall::SendAgain(AGAIN_FIRST));
}

#[test]
fn slots_whose_number_is_in_doubt_are_not_used_any_more() {
    let mut table = SlotTable::new(SESSION, 4);
    let tickets: Vec<_> = (0..3).map(|_| table.take(false)).collect();
    let misordered = answer(&mut table, &tickets[0], Status::SEQ_MISORDERED, (4, 4), 0);
    assert_eq!(misordered.trouble, Some(SlotTrouble::Misordered));
    let foreign = table.release(&tickets[1], CallEnd::Ran(b"what"), sent_at(0));
    assert_eq!(foreign.trouble, Some(SlotTrouble::Foreign));
    let lost = table.release(&tickets[2], CallEnd::Unknown, sent_at(0));
    assert_eq!(lost.trouble, Some(SlotTrouble::Lost));
    assert_eq!((table.spoilt(), table.free(), table.is_idle()), (3, Some(3), true));
    assert!(!table.is_useless());
    table.on_recall(2);
    assert!(table.is_useless(), "the one that is left may not be used");
}

#[test]
fn the_server_says_how_many_slots_there_are() {
    let mut table = SlotTable::new(SESSION, 2);
    let tickets = [table.take(false), table.take(false)];
    assert_eq!(table.free(), None);
    // More than the session began with, and of those not all.
    answer(&mut table, &tickets[0], Status::OK, (8, 4), 2);
    let tickets: Vec<_> = (0..3).map(|_| table.take(false)).collect();
    assert_eq!((places(&tickets), table.free()), (vec![(0, 2, 1), (2, 1, 2), (3, 1, 3)], None));
    // What came with the answer to an earlier call is old.
    answer(&mut table, &tickets[1], Status::OK, (2, 1), 1);
    assert_eq!((table.usable(), table.free()), (4, Some(2)));
    // Fewer: slots beyond them keep their numbers, also one that was in use meanwhile.
    answer(&mut table, &tickets[0], Status::OK, (2, 2), 3);
    assert_eq!((table.usable(), table.free()), (2, Some(0)));
    answer(&mut table, &tickets[2], Status::OK, (2, 2), 3);
    let ticket = table.take(false);
    answer(&mut table, &ticket, Status::OK, (8, 8), 4);
    let tickets: Vec<_> = (0..3).map(|_| table.take(false)).collect();
    assert_eq!(places(&tickets), [(0, 4, 1), (2, 2, 2), (3, 2, 3)]);
    // A server that forgot a number gets the first one, once.
    let forgotten = answer(&mut table, &tickets[1], Status::SEQ_MISORDERED, (8, 8), 5);
    assert_eq!((forgotten.trouble, forgotten.release), (None, AfterCall::Over));
    let ticket = table.take(false);
    assert_eq!(places(&[ticket]), [(2, 1, 3)]);
    let misordered = answer(&mut table, &ticket, Status::SEQ_MISORDERED, (8, 8), 5);
    assert_eq!(misordered.trouble, Some(SlotTrouble::Misordered));
}

#[test]
fn a_slot_that_the_server_does_not_take_is_not_used_until_it_says_so() {
    let mut table = SlotTable::new(SESSION, 4);
    let tickets: Vec<_> = (0..4).map(|_| table.take(false)).collect();
    let refused = answer(&mut table, &tickets[2], Status::BADSLOT, (4, 4), 0);
    assert_eq!((refused.trouble, table.usable()), (Some(SlotTrouble::BadSlot), 2));
    answer(&mut table, &tickets[0], Status::OK, (3, 3), 0);
    assert_eq!(places(&[table.take(false), table.take(false)]), [(0, 2, 3), (2, 1, 3)]);
}

#[test]
fn a_recall_takes_slots_back_and_an_old_session_changes_nothing() {
    let mut table = SlotTable::new(SESSION, 4);
    table.on_recall(0);
    assert_eq!(table.usable(), 1);
    let old = CallTicket { session: [9; 16], ..table.take(false) };
    let released = answer(&mut table, &old, Status::BADSESSION, (4, 4), 0);
    assert_eq!((released.trouble, table.free()), (None, None));
    assert!(!table.is_idle());
    let released = answer(&mut table, &old, Status::DELAY, (4, 4), 0);
    assert_eq!(released.release, AfterCall::SendAgain(AGAIN_LONGEST), "it runs in the old one");
}

#[test]
fn a_refusal_of_what_was_sent_before_leaves_the_number_in_doubt() {
    let refused = |status| {
        let mut table = SlotTable::new(SESSION, 2);
        let ticket = table.take(false);
        let sends = CallSends { count: 2, last: Duration::ZERO };
        let trouble = table.release(&ticket, CallEnd::Ran(&results(&ticket, status, (2, 2))), sends).trouble;
        (trouble, table.free())
    };
    assert_eq!(refused(Status::REQ_TOO_BIG), (Some(SlotTrouble::Lost), Some(1)));
    assert_eq!(refused(Status::BAD_HIGH_SLOT), (Some(SlotTrouble::Lost), Some(1)));
    assert_eq!(refused(Status::RETRY_UNCACHED_REP), (None, Some(0)));
    let mut table = SlotTable::new(SESSION, 2);
    let ticket = table.take(false);
    table.release(&ticket, CallEnd::NotRun, CallSends { count: 2, last: Duration::ZERO });
    assert_eq!(table.free(), Some(1));
}

#[test]
fn a_call_for_the_upkeep_does_not_wait_for_connections_to_be_bound() {
    let mut table = SlotTable::new(SESSION, 2);
    let ticket = table.take(true);
    let refused = answer(&mut table, &ticket, Status::CONN_NOT_BOUND_TO_SESSION, (2, 2), 0);
    assert_eq!((refused.release, refused.trouble), (AfterCall::Over, Some(SlotTrouble::NotBound)));
    assert_eq!(table.free(), Some(0));
}
