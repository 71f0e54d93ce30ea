//! What all programs share: the server's address, the files, the ledger, the runs of the server, and counters.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::ledger::Ledger;
use super::runs::Runs;
use super::session::Session;
use crate::trust::crew::Crew;

/// What all programs share.
pub struct Shared {
    /// They stop when it says so.
    pub crew: Arc<Crew>,
    /// The server's lease.
    pub lease: Duration,
    /// The files.
    pub names: Vec<String>,
    /// Registers of each file.
    pub registers: usize,
    /// What happened.
    pub count: Counters,
    address: IpAddr,
    ledger: Mutex<Ledger>,
    runs: Mutex<Runs>,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What happened.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($name: AtomicU64,)*
        }

        impl Counters {
            $($(#[$doc])*
            pub fn $name(&self) -> u64 {
                self.$name.fetch_add(1, Ordering::Relaxed)
            })*

            /// All of them.
            pub fn figures(&self) -> String {
                [$(format!("{} {}", self.$name.load(Ordering::Relaxed), stringify!($name))),*].join(", ")
            }
        }
    };
}

counters! {
    /// Locks that were denied because others had them.
    denials,
    /// Locks that were reclaimed after a restart.
    reclaims,
    /// Reclaims that were refused, as they had to be or could be.
    refusals,
    /// Locks that were gone when they were used after a silence.
    losses,
    /// Programs that ended without a word.
    crashes,
    /// Programs that said nothing for about a lease.
    silences,
}

impl Shared {
    /// Of a server that has just started.
    pub fn new(
        crew: &Arc<Crew>,
        address: IpAddr,
        lease: Duration,
        names: Vec<String>,
        registers: usize,
    ) -> Self {
        Self {
            crew: Arc::clone(crew),
            lease,
            names,
            registers,
            count: Counters::default(),
            address,
            ledger: Mutex::default(),
            runs: Mutex::new(Runs::begin(lease)),
        }
    }

    /// What was promised.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the server ran.
    pub fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client of this name and start.
    pub fn session(&self, owner: String, start: u64) -> Session {
        Session::new(&self.crew, self.address, owner, start.to_be_bytes())
    }

    /// Does nothing for so long, or until the campaign ends.
    pub fn rest(&self, time: Duration) {
        self.crew.rest(time);
    }
}
