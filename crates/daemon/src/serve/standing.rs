//! What became of an export once it was opened.

/// What only a running server knows of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportStanding {
    /// Why it cannot be mounted now.
    pub gone: Option<String>,
    /// Why its clients get no delegations though the configuration leaves it to the server.
    pub undelegated: Option<String>,
}
