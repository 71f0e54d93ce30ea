//! What a compound is made for: the operation that it is counted as.

use howdah_wire::nfs4::{
    access, getattr, getfh, nverify, putfh, putpubfh, putrootfh, restorefh, savefh, sequence, verify,
};

/// The operation that a compound is made for, as far as it was carried out: the first that is neither there for another one nor a look
/// at what another one did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purpose(Option<(Weight, u32)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// It makes a session or a node the current one.
    Prepares,
    /// It looks at the current node.
    Looks,
    /// All others.
    Works,
}

impl Purpose {
    /// An operation is carried out.
    #[inline]
    pub fn note(&mut self, operation: u32) {
        let weight = weight(operation);
        if self.0.is_none_or(|(heaviest, _)| weight > heaviest) {
            self.0 = Some((weight, operation));
        }
    }

    /// The operation.
    pub fn operation(self) -> Option<u32> {
        self.0.map(|(_, operation)| operation)
    }
}

fn weight(operation: u32) -> Weight {
    match operation {
        sequence::OPERATION
        | putfh::OPERATION
        | putrootfh::OPERATION
        | putpubfh::OPERATION
        | savefh::OPERATION
        | restorefh::OPERATION
        | getfh::OPERATION => Weight::Prepares,
        getattr::OPERATION | access::OPERATION | verify::OPERATION | nverify::OPERATION => Weight::Looks,
        _ => Weight::Works,
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs4::{lookup, open, rename, write};

    use super::*;

    #[test]
    fn it_is_the_operation_that_the_others_are_there_for() {
        let of = |operations: &[u32]| {
            let mut purpose = Purpose::default();
            operations.iter().for_each(|operation| purpose.note(*operation));
            purpose.operation()
        };
        let (seq, put, get) = (sequence::OPERATION, putfh::OPERATION, getattr::OPERATION);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[seq]), Some(seq));
        assert_eq!(of(&[seq, put, get]), Some(get));
        assert_eq!(of(&[seq, put, access::OPERATION, get]), Some(access::OPERATION));
        assert_eq!(of(&[seq, put, write::OPERATION, get]), Some(write::OPERATION));
        assert_eq!(of(&[seq, put, lookup::OPERATION, getfh::OPERATION, get]), Some(lookup::OPERATION));
        assert_eq!(of(&[seq, put, get, open::OPERATION, access::OPERATION]), Some(open::OPERATION));
        assert_eq!(of(&[seq, put, savefh::OPERATION, put, rename::OPERATION]), Some(rename::OPERATION));
    }
}
