//! What contexts are made by.

use std::sync::Arc;

use howdah_wire::rpc::GssService;

use super::tickets::TicketSource;

/// What contexts are made by.
#[derive(Debug, Clone)]
pub struct ContextPlan {
    /// The program, and its version, that they are for.
    pub program: (u32, u32),
    /// How arguments and results are protected.
    pub service: GssService,
    /// The service of the server: `nfs@HOST`.
    pub target: String,
    /// Who has tickets.
    pub tickets: Arc<dyn TicketSource>,
    /// Whose contexts are used for all callers; without one, each caller's own.
    pub user: Option<u32>,
}
