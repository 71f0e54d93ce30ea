//! What can be set of metrics.

/// What a monitor gets beyond the usual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MetricsSettings {
    /// So many clients, those that moved most, have figures of their own.
    pub clients: usize,
}
