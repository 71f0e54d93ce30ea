//! What a server serves, put together here and nowhere else: a further program is one more line.

use std::sync::Arc;

use howdah_wire::rpc::RecordMark;
use howdah_wire::xdr::Encoder;
use parking_lot::RwLock;

use crate::Peer;
use crate::dispatch::{Dispatcher, Whence, Work};
use crate::exports::{Exported, Exports};
use crate::mount::MountProtocol;
use crate::nfs3::Nfs3;
use crate::nfs4::Nfs4;
use crate::nlm::NoLocks;
use crate::portmap::{Listeners, portmap};
use crate::program::Program;
use crate::programs::{Programs, Served};
use crate::range_doubt::RangeDoubt;
use crate::states::{StateOptions, States};

/// The programs, and what they share.
pub struct Service {
    /// Runs calls.
    pub(crate) dispatcher: Dispatcher,
    /// What is exported.
    exported: Arc<Exported>,
    /// Clients, sessions, opens and locks of NFSv4.
    pub(crate) states: Option<Arc<States>>,
    /// Whether ranges of files can be sent.
    pub(crate) ranges: Arc<RangeDoubt>,
    /// Where this server listens, as portmap and rpcbind tell.
    pub(crate) listeners: Arc<RwLock<Listeners>>,
}

impl Service {
    /// A service of these exports, listening nowhere yet.
    pub fn new(exports: Exports) -> Self {
        Self::with(exports, Some(StateOptions::forgetful()), Vec::new())
    }

    /// The same with the state that NFSv4 begins with, `None` if it is not served, and with more programs.
    pub fn with(exports: Exports, nfs4: Option<StateOptions>, more: Vec<Box<dyn Program>>) -> Self {
        let exported = Arc::new(Exported::new(exports));
        let states = nfs4.map(|options| Arc::new(States::new(options)));
        let (ranges, listeners) = (Arc::<RangeDoubt>::default(), Arc::<RwLock<Listeners>>::default());
        let mut programs: Vec<Box<dyn Program>> =
            vec![Box::new(Nfs3::new(Arc::clone(&exported), Arc::clone(&ranges)))];
        if let Some(states) = &states {
            let (exported, ranges) = (Arc::clone(&exported), Arc::clone(&ranges));
            programs.push(Box::new(Nfs4::new(exported, ranges, Arc::clone(states))));
        }
        programs.push(Box::new(MountProtocol::new(Arc::clone(&exported))));
        programs.push(Box::new(NoLocks));
        programs.extend(more);
        programs.push(Box::new(portmap(Arc::clone(&listeners), &programs)));
        let dispatcher = Dispatcher::new(Programs::new(programs));
        dispatcher.counts.admit(&exported.now());
        Self { dispatcher, exported, states, ranges, listeners }
    }

    /// The exports as they are now.
    pub fn exports(&self) -> Arc<Exports> {
        self.exported.now()
    }

    /// Whether calls of any export usually wait for another host.
    #[inline]
    pub(crate) fn any_waits(&self) -> bool {
        self.exported.any_waits()
    }

    /// Replaces the exports; calls that run keep the old ones.
    pub fn set_exports(&self, exports: Exports) {
        self.dispatcher.counts.admit(&exports);
        self.exported.replace(exports);
    }

    /// Answers one message as a worker does, without a socket: for tests and fuzzers. `None`: there is no answer.
    pub fn answer(&self, peer: &Peer, message: &[u8]) -> Option<Vec<u8>> {
        let reply = match self.dispatcher.read(message, peer.transport) {
            Work::NoCall => return None,
            Work::Refuse(header) => return Some(Encoder::to_vec(&header)),
            Work::Run(job) => {
                self.dispatcher.run(&job, &Whence::datagram(peer, &|_| false), None, Vec::new())?
            }
        };
        Some(reply.finish().in_memory()?.split_off(RecordMark::SIZE))
    }
}

/// Every program and version that a server serves.
pub fn served() -> Vec<Served> {
    Service::new(Exports::default()).dispatcher.programs.served().collect()
}

/// All procedures that a server serves.
#[cfg(test)]
pub fn procedures() -> Arc<[crate::programs::Listed]> {
    Service::new(Exports::default()).dispatcher.programs.procedures()
}
