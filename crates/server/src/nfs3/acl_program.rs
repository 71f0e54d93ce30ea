//! NFSACL as a program that is served: what its handlers share.

use super::Nfs3;

/// The state behind the procedures: nodes are those of NFSv3.
pub struct NfsAcl {
    pub(super) nfs3: Nfs3,
}

impl NfsAcl {
    /// Serves the nodes that this serves.
    pub fn new(nfs3: Nfs3) -> Self {
        Self { nfs3 }
    }
}
