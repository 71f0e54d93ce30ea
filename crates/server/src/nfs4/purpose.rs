//! What a compound is made for: the operation that it is counted as.

use howdah_wire::nfs4::OperationRole;

/// The operation that a compound is made for, as far as it was carried out: the first that is neither there for another one nor a look
/// at what another one did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purpose(Option<(OperationRole, u32)>);

impl Purpose {
    /// An operation is carried out.
    #[inline]
    pub fn note(&mut self, operation: u32) {
        let role = OperationRole::of(operation);
        if self.0.is_none_or(|(greatest, _)| role > greatest) {
            self.0 = Some((role, operation));
        }
    }

    /// The operation.
    pub fn operation(self) -> Option<u32> {
        self.0.map(|(_, operation)| operation)
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs4::{
        access, get_dir_delegation, getattr, getfh, lookup, lookupp, nverify, open, putfh, readdir, remove,
        rename, savefh, sequence, write,
    };

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
        // As our own client removes a name, looks at a directory, and lists it.
        let removed = [seq, put, get, lookup::OPERATION, nverify::OPERATION, put, remove::OPERATION];
        assert_eq!(of(&removed), Some(remove::OPERATION));
        assert_eq!(of(&[seq, put, get_dir_delegation::OPERATION, get]), Some(get));
        let listed =
            [seq, put, get_dir_delegation::OPERATION, get, lookupp::OPERATION, put, readdir::OPERATION];
        assert_eq!(of(&listed), Some(readdir::OPERATION));
        assert_eq!(of(&[seq, put, savefh::OPERATION, put, rename::OPERATION]), Some(rename::OPERATION));
    }
}
