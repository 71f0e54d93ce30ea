//! What the admin interface answers about.

use std::sync::Arc;

use crate::locks::Mutex;

use super::head_watch::HeadWatch;
use super::history::ConnectionHistory;
use super::metrics::MetricsSettings;
use super::space::Space;
use crate::shared::Shared;
use crate::tuning::Knobs;

/// What is asked about.
pub struct Asked {
    /// The state behind all workers.
    pub shared: Arc<Shared>,
    /// What may be set.
    pub knobs: Arc<Knobs>,
    /// Where the time of connections went.
    pub history: Mutex<ConnectionHistory>,
    /// What monitors get beyond the usual.
    pub metrics: MetricsSettings,
    /// How full exports are.
    pub space: Arc<Space>,
    /// What was seen of the heads of the cluster.
    pub heads: Arc<HeadWatch>,
}
