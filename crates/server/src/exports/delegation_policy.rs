//! Whether clients of an export are given delegations.

/// Whether NFSv4 clients are given delegations of files and directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DelegationPolicy {
    /// No.
    #[default]
    Never,
    /// Where changes by programs of this host are noticed, so that they call a delegation back as changes of clients do.
    WhereNoticed,
    /// Always: what changes past this server is noticed as far as it can be, and the administrator answers for the rest. After a restart,
    /// changes by others than NFSv4 clients wait for those that had delegations.
    Always,
}

impl DelegationPolicy {
    /// Whether any are given.
    pub(crate) fn gives(self) -> bool {
        self != Self::Never
    }
}
