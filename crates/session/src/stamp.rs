//! SEQUENCE in an encoded compound: where it is, and how a ticket gets into it.

use howdah_rpc::client::envelope::{CallTicket, TicketNeed, TicketStamp};

/// From the start of the arguments to those of SEQUENCE: the length of the tag, which is empty, the minor version, the number of
/// operations, and the number of the first one.
const AT: usize = 16;

/// Fills in SEQUENCE of a compound without a tag, whose first operation it is.
pub const SEQUENCE_STAMP: TicketStamp = TicketStamp { write: stamp, need: TicketNeed::Usual };

/// The same of a compound for the upkeep of the session: it is sent in front of others, and while they wait for the session.
pub const UPKEEP_STAMP: TicketStamp = TicketStamp { write: stamp, need: TicketNeed::Upkeep };

/// Writes all of SEQUENCE but whether the reply is to be kept, which the compound says itself.
fn stamp(ticket: &CallTicket, arguments: &mut [u8]) {
    let sequence = &mut arguments[AT..][..28];
    sequence[..16].copy_from_slice(&ticket.session);
    let words = [ticket.number, ticket.slot, ticket.highest_slot];
    for (place, word) in sequence[16..].chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs4::{SessionId, compound, sequence};
    use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

    use super::*;

    #[test]
    fn a_ticket_is_written_into_an_empty_sequence() {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        compound::Head { tag: b"", minor_version: 1, operations: 1 }.encode(&mut encoder);
        encoder.u32(sequence::OPERATION);
        let empty = sequence::Arguments {
            session: SessionId([0; 16]),
            sequence: 0,
            slot: 0,
            highest_slot: 0,
            keep: true,
        };
        empty.encode(&mut encoder);
        stamp(&CallTicket { session: [7; 16], slot: 3, number: 9, highest_slot: 5 }, &mut bytes);
        let mut decoder = Decoder::new(&bytes[AT..]);
        let written = sequence::Arguments::decode(&mut decoder);
        let expected = sequence::Arguments {
            session: SessionId([7; 16]),
            sequence: 9,
            slot: 3,
            highest_slot: 5,
            keep: true,
        };
        assert_eq!(written, Ok(expected));
    }
}
