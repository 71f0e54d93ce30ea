//! A compound as it goes into a call: SEQUENCE, and the operations behind it.

use howdah_wire::nfs4::{compound, sequence};
use howdah_wire::xdr::{Encode, Encoder};

use super::operation::Operation;
use crate::channel::{Class, ReplaySafety};

/// Operations to be carried out one after the other, until one is refused.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compound<'a> {
    /// The RFC's name of the operation that it is for.
    pub(super) name: &'static str,
    /// How long it may take.
    pub(super) class: Class,
    /// The operations, without SEQUENCE; a WRITE is the last of them.
    pub(super) operations: &'a [Operation<'a>],
    /// Those behind the data of a WRITE.
    pub(super) behind: &'a [Operation<'a>],
    /// Whether it goes out before the session is there for all calls.
    pub(super) is_upkeep: bool,
}

impl<'a> Compound<'a> {
    /// One that can be carried out twice.
    pub(super) fn new(name: &'static str, class: Class, operations: &'a [Operation<'a>]) -> Self {
        Self { name, class, operations, behind: &[], is_upkeep: false }
    }

    /// One that changes names or attributes.
    pub(super) fn change(name: &'static str, operations: &'a [Operation<'a>]) -> Self {
        Self::new(name, Class::Change, operations)
    }

    /// Whether it may run twice.
    pub(super) fn replay(&self) -> ReplaySafety {
        let opens = || self.operations.iter().any(|operation| matches!(operation, Operation::Open(_)));
        if self.class == Class::Change || opens() { ReplaySafety::OnceOnly } else { ReplaySafety::Idempotent }
    }
}

/// The arguments of a compound in a session, up to the data of a WRITE.
pub(super) struct InSession<'a> {
    pub(super) minor_version: u32,
    pub(super) compound: &'a Compound<'a>,
    /// Whether the server keeps the reply, so that a call that is sent again does not run again.
    pub(super) keep: bool,
}

impl Encode for InSession<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let Compound { operations, behind, .. } = self.compound;
        head(self.minor_version, 1 + operations.len() + behind.len()).encode(encoder);
        encoder.u32(sequence::OPERATION);
        // The session, the slot and its number are written when the call is sent.
        let keep = self.keep;
        sequence::Arguments { session: Default::default(), sequence: 0, slot: 0, highest_slot: 0, keep }
            .encode(encoder);
        operations.iter().for_each(|operation| operation.encode(encoder));
    }
}

/// The operations of a compound behind the data of a WRITE.
pub(super) struct Behind<'a>(pub(super) &'a [Operation<'a>]);

impl Encode for Behind<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.0.iter().for_each(|operation| operation.encode(encoder));
    }
}

/// The arguments of a compound with one operation, without a session.
pub(super) struct Alone<'a, A> {
    pub(super) minor_version: u32,
    pub(super) operation: u32,
    pub(super) arguments: &'a A,
}

impl<A: Encode> Encode for Alone<'_, A> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        head(self.minor_version, 1).encode(encoder);
        encoder.u32(self.operation);
        self.arguments.encode(encoder);
    }
}

fn head(minor_version: u32, operations: usize) -> compound::Head<'static> {
    compound::Head { tag: b"", minor_version, operations: operations as u32 }
}
