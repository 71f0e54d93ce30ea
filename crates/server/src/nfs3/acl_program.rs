//! NFSACL as a program that is served: what its handlers share.

use super::Nfs3Program;

/// The state behind the procedures: nodes are those of NFSv3.
pub struct NfsAcl {
    pub(super) nfs3: Nfs3Program,
}

impl NfsAcl {
    /// Serves the nodes that this serves.
    pub fn new(nfs3: Nfs3Program) -> Self {
        Self { nfs3 }
    }
}
