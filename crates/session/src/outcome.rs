//! What a reply says of SEQUENCE.

use howdah_rpc::client::envelope::CallTicket;
use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::{SessionId, Status, sequence};
use howdah_wire::xdr::{Decode, DecodeError, Decoder};

/// What a server says of its session in a SEQUENCE that went well (RFC 8881 18.46.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceWord {
    /// The highest slot that it takes.
    pub highest_slot: u32,
    /// The highest slot that it wants to be used.
    pub target: u32,
    /// What the client should know: the `SEQ4_STATUS_*` flags.
    pub flags: u32,
}

/// How SEQUENCE ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceOutcome {
    /// It went well. With [`Status::RETRY_UNCACHED_REP`] after it the rest ran before, and that reply is not kept.
    Went(SequenceWord),
    /// It was refused.
    Refused(Status),
    /// The compound was refused before its first operation.
    NotReached(Status),
    /// The reply is not one to this call.
    Foreign,
}

impl SequenceOutcome {
    /// From the results of a compound that was sent with this ticket.
    pub fn parse(results: &[u8], ticket: &CallTicket) -> Self {
        Self::decode(&mut Decoder::new(results), ticket).unwrap_or(Self::Foreign)
    }

    fn decode(decoder: &mut Decoder<'_>, ticket: &CallTicket) -> Result<Self, DecodeError> {
        let head = ReplyHead::decode(decoder)?;
        if head.results == 0 {
            return Ok(match head.status {
                Status::OK => Self::Foreign,
                // Some servers leave out the result of SEQUENCE.
                status @ (Status::BADSESSION
                | Status::DEADSESSION
                | Status::RETRY_UNCACHED_REP
                | Status::SEQ_FALSE_RETRY) => Self::Refused(status),
                status => Self::NotReached(status),
            });
        }
        let first = ResultHead::decode(decoder)?;
        if first.operation != sequence::OPERATION {
            return Ok(Self::Foreign);
        }
        if first.status != Status::OK {
            return Ok(Self::Refused(first.status));
        }
        // The session ended while the compound ran.
        if head.status == Status::DEADSESSION {
            return Ok(Self::Refused(head.status));
        }
        let its = sequence::Success::decode(decoder)?;
        let is_for_it = its.session == SessionId(ticket.session)
            && (its.slot, its.sequence) == (ticket.slot, ticket.number);
        let word = SequenceWord {
            highest_slot: its.highest_slot,
            target: its.target_highest_slot,
            flags: its.flags,
        };
        Ok(if is_for_it { Self::Went(word) } else { Self::Foreign })
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs4::compound::ReplyPlace;
    use howdah_wire::xdr::{Encode, Encoder};

    use super::*;

    const TICKET: CallTicket = CallTicket { session: [1; 16], slot: 2, number: 3, highest_slot: 2 };

    fn reply(status: Status, results: u32, write: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        let place = ReplyPlace::begin(&mut encoder, b"tag");
        write(&mut encoder);
        place.finish(&mut encoder, status, results);
        bytes
    }

    fn success(slot: u32) -> sequence::Success {
        let (session, sequence) = (SessionId([1; 16]), 3);
        sequence::Success { session, sequence, slot, highest_slot: 9, target_highest_slot: 8, flags: 4 }
    }

    fn of_sequence(status: Status, slot: u32) -> Vec<u8> {
        reply(status, 1, |encoder| {
            ResultHead { operation: sequence::OPERATION, status }.encode(encoder);
            if status == Status::OK {
                success(slot).encode(encoder);
            }
        })
    }

    #[test]
    fn a_reply_says_what_became_of_its_slot() {
        let parse = |bytes: &[u8]| SequenceOutcome::parse(bytes, &TICKET);
        let word = SequenceWord { highest_slot: 9, target: 8, flags: 4 };
        assert_eq!(parse(&of_sequence(Status::OK, 2)), SequenceOutcome::Went(word));
        assert_eq!(parse(&of_sequence(Status::OK, 1)), SequenceOutcome::Foreign, "another slot");
        let dead = reply(Status::DEADSESSION, 2, |encoder| {
            ResultHead { operation: sequence::OPERATION, status: Status::OK }.encode(encoder);
            success(2).encode(encoder);
            ResultHead { operation: 22, status: Status::DEADSESSION }.encode(encoder);
        });
        assert_eq!(parse(&dead), SequenceOutcome::Refused(Status::DEADSESSION));
        let delay = of_sequence(Status::DELAY, 2);
        assert_eq!(parse(&delay), SequenceOutcome::Refused(Status::DELAY));
        let refused = reply(Status::MINOR_VERS_MISMATCH, 0, |_| {});
        assert_eq!(parse(&refused), SequenceOutcome::NotReached(Status::MINOR_VERS_MISMATCH));
        assert_eq!(parse(&refused[..3]), SequenceOutcome::Foreign);
        let short = reply(Status::RETRY_UNCACHED_REP, 0, |_| {});
        assert_eq!(parse(&short), SequenceOutcome::Refused(Status::RETRY_UNCACHED_REP));
        let other = reply(Status::NOENT, 1, |encoder| {
            ResultHead { operation: 3, status: Status::NOENT }.encode(encoder);
        });
        assert_eq!(parse(&other), SequenceOutcome::Foreign);
    }
}
