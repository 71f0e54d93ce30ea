//! Who is shown every look at a connection, with the verdict on it: for experiments.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use howdah_tune::{Judgement, Sample};

/// A look at a connection.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// The client's end.
    pub client: SocketAddr,
    /// How much the socket may hold unsent; 0: as much as its buffer.
    pub unsent_mark: u64,
    /// What was seen.
    pub sample: &'a Sample,
    /// The verdicts on the time since the look before; none on the first one.
    pub judgement: Option<&'a Judgement>,
}

/// Is shown them, on the thread that sizes connections: it should not take long.
#[derive(Clone)]
pub struct Watcher(Arc<dyn Fn(&Look<'_>) + Send + Sync>);

impl Watcher {
    /// Shows them to this.
    pub fn new(show: impl Fn(&Look<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }

    /// Shows one.
    pub(super) fn show(&self, look: &Look<'_>) {
        (self.0)(look);
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Watcher")
    }
}
