//! What a server serves, put together here and nowhere else: a further program is one more line.

use std::sync::Arc;

use crate::locks::RwLock;
use howdah_net::Token;
use howdah_rpc::server::{BufferPool, Record};
use howdah_wire::rpc::RecordMark;

use crate::back_channel::BackChannels;
use crate::dispatch::{Dispatcher, Whence, Work};
use crate::exports::{Exported, Exports};
use crate::gss::{Checked, GssDoor, SecuredCall, is_secured};
use crate::limits::RECORD_MAX;
use crate::mount::MountProtocol;
use crate::nfs3::{Nfs3Program, NfsAcl};
use crate::nfs4::Nfs4;
use crate::nlm::{Callbacks, Granting, Nlm, NoLocks};
use crate::nsm::{Notices, Nsm};
use crate::outgoing::PORTMAPPER;
use crate::portmap::{Listeners, portmap};
use crate::program::Program;
use crate::programs::{Programs, Served};
use crate::range_doubt::RangeDoubt;
use crate::rquota::RemoteQuotas;
use crate::states::{ClientNews, LockNews, StateOptions, States};
use crate::{Peer, Reply};

/// The programs, and what they share.
pub struct Service {
    /// Runs calls.
    pub(crate) dispatcher: Dispatcher,
    /// What is exported.
    exported: Arc<Exported>,
    /// Clients, sessions, opens and locks.
    pub(crate) states: Option<Arc<States>>,
    /// What calls NFSv4 clients over their own connections.
    pub(crate) back_channels: Option<Arc<BackChannels>>,
    /// What calls clients back for their locks.
    pub(crate) lock_calls: Option<LockCalls>,
    /// Whether ranges of files can be sent.
    pub(crate) ranges: Arc<RangeDoubt>,
    /// Where this server listens, as portmap and rpcbind tell.
    pub(crate) listeners: Arc<RwLock<Listeners>>,
}

/// What a service serves.
pub struct ServiceOptions {
    /// What its state begins with.
    pub states: StateOptions,
    /// Whether NFSv4 is served.
    pub nfs4: bool,
    /// Whether NFSv3 clients see and set POSIX ACLs.
    pub acls: bool,
    /// Whether NFSv3 clients can lock files.
    pub locks: bool,
    /// Whether clients may ask for quotas.
    pub quotas: bool,
    /// On which port clients' portmappers listen.
    pub client_portmapper: u16,
    /// Contexts of RPCSEC_GSS, if clients may have some.
    pub gss: Option<GssDoor>,
    /// More programs.
    pub more: Vec<Box<dyn Program>>,
}

/// What calls clients for the locks that they have, wait for, or had.
#[derive(Clone)]
pub(crate) struct LockCalls {
    /// Calls their lock managers.
    pub granting: Granting,
    /// Calls their status monitors.
    pub notices: Arc<Notices>,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            states: StateOptions::forgetful(),
            nfs4: true,
            acls: true,
            locks: true,
            quotas: false,
            client_portmapper: PORTMAPPER,
            gss: None,
            more: Vec::new(),
        }
    }
}

impl Service {
    /// A service of these exports, listening nowhere yet.
    pub fn new(exports: Exports) -> Self {
        Self::with_options(exports, ServiceOptions::default())
    }

    /// The same with the state that NFSv4 and locks begin with, `None` if they are not served, and with more programs.
    pub fn with(exports: Exports, states: Option<StateOptions>, more: Vec<Box<dyn Program>>) -> Self {
        let is_stateful = states.is_some();
        let states = states.unwrap_or_else(StateOptions::forgetful);
        let (nfs4, locks) = (is_stateful, is_stateful);
        Self::with_options(exports, ServiceOptions { states, nfs4, locks, more, ..ServiceOptions::default() })
    }

    /// The same as it is chosen.
    pub fn with_options(exports: Exports, options: ServiceOptions) -> Self {
        let ServiceOptions { states, nfs4, acls, locks, quotas, client_portmapper, gss, more } = options;
        let exported = Arc::new(Exported::new(exports));
        let states =
            (nfs4 || locks).then(|| Arc::new(States::new(states).with_host_locks(Arc::clone(&exported))));
        let (ranges, listeners) = (Arc::<RangeDoubt>::default(), Arc::<RwLock<Listeners>>::default());
        let nfs3 = || Nfs3Program::new(Arc::clone(&exported), Arc::clone(&ranges), states.clone());
        let mut programs: Vec<Box<dyn Program>> = vec![Box::new(nfs3())];
        if acls {
            programs.push(Box::new(NfsAcl::new(nfs3())));
        }
        let back_channels = states.as_ref().filter(|_| nfs4).map(|states| {
            let back = Arc::new(BackChannels::new(Arc::clone(states), Arc::clone(&exported)));
            states.set_client_news(&(Arc::clone(&back) as Arc<dyn ClientNews>));
            let (exported, ranges) = (Arc::clone(&exported), Arc::clone(&ranges));
            programs.push(Box::new(Nfs4::new(exported, ranges, Arc::clone(states), Arc::clone(&back))));
            back
        });
        programs.push(Box::new(MountProtocol::new(Arc::clone(&exported))));
        let lock_calls = states.as_ref().filter(|_| locks).map(|states| {
            let calls = Arc::new(Callbacks::new(client_portmapper));
            states.set_lock_news(Arc::clone(&calls) as Arc<dyn LockNews>);
            let nlm = Nlm::new(Arc::clone(&exported), Arc::clone(states), Arc::clone(&calls));
            programs.push(Box::new(nlm));
            programs.push(Box::new(Nsm::new(Arc::clone(states))));
            LockCalls {
                granting: Granting::new(calls, Arc::clone(states), Arc::clone(&exported)),
                notices: Arc::new(Notices::new(states.host_number(), client_portmapper)),
            }
        });
        if lock_calls.is_none() {
            programs.push(Box::new(NoLocks));
        }
        if quotas {
            programs.push(Box::new(RemoteQuotas::new(Arc::clone(&exported))));
        }
        programs.extend(more);
        programs.push(Box::new(portmap(Arc::clone(&listeners), &programs)));
        let mut dispatcher = Dispatcher::new(Programs::new(programs));
        dispatcher.gss = gss.map(Arc::new);
        dispatcher.counts.admit(&exported.now());
        Self { dispatcher, exported, states, back_channels, lock_calls, ranges, listeners }
    }

    /// Whether a reply that came over a connection may be one to a call of ours.
    pub(crate) fn takes_answer(&self, line: Token, reply: &[u8]) -> bool {
        self.back_channels.as_ref().is_some_and(|back| back.answer(line, reply))
    }

    /// A connection is gone.
    pub(crate) fn lost(&self, line: Token) {
        if let Some(back) = &self.back_channels {
            back.gone(line);
        }
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

    /// What names connections of QUIC, the same after a restart as handles are.
    pub(crate) fn quic_secret(&self) -> [u8; 32] {
        self.exports().key().secret_for(b"connections of QUIC")
    }

    /// Replaces the exports; calls that run keep the old ones.
    pub fn set_exports(&self, exports: Exports) {
        self.dispatcher.counts.admit(&exports);
        self.exported.replace(exports);
    }

    /// Answers one message as a worker does, without a socket: for tests and fuzzers. `None`: there is no answer.
    pub fn answer(&self, peer: &Peer, message: &[u8]) -> Option<Vec<u8>> {
        let reply = match self.dispatcher.gss.as_ref().filter(|_| is_secured(message)) {
            Some(door) => self.answer_secured(door, peer, message)?,
            None => self.answer_read(peer, message, None)?,
        };
        Some(reply.finish().in_memory()?.split_off(RecordMark::SIZE))
    }

    fn answer_read(&self, peer: &Peer, message: &[u8], secured: Option<&SecuredCall>) -> Option<Reply> {
        let mut reply = Reply::with_buffer(Vec::new());
        match self.dispatcher.read(message, secured, peer.transport) {
            Work::NoCall | Work::Reply => return None,
            Work::Refuse(header) | Work::AskTls(header) => match secured {
                Some(secured) => GssDoor::answer_bare(secured, &header, &mut reply),
                None => reply.start(&header),
            },
            Work::Run(job) => {
                reply = self.dispatcher.run_whole(&job, &Whence::datagram(peer, &|_| false))?;
            }
        }
        Some(reply)
    }

    fn answer_secured(&self, door: &GssDoor, peer: &Peer, message: &[u8]) -> Option<Reply> {
        let mut reply = Reply::with_buffer(Vec::new());
        match door.check(message) {
            Checked::Other => return self.answer_read(peer, message, None),
            Checked::Repeated => return None,
            Checked::Refused(header) => reply.start(&header),
            Checked::Ended(secured, header) => GssDoor::answer_bare(&secured, &header, &mut reply),
            Checked::Begin => door.establish(message, peer, &self.exports().map_of_principals(), &mut reply),
            Checked::Call(mut secured) => {
                match door.open(&mut secured, message, &mut BufferPool::new(RECORD_MAX)) {
                    Ok(clear) => {
                        let message = clear.as_ref().map_or(message, Record::bytes);
                        return self.answer_read(peer, message, Some(&secured));
                    }
                    Err(header) => GssDoor::answer_bare(&secured, &header, &mut reply),
                }
            }
        }
        Some(reply)
    }
}

/// Every program and version that a server serves; `quotas`: whether clients may ask for quotas.
pub fn served(quotas: bool) -> Vec<Served> {
    let options = ServiceOptions { quotas, ..ServiceOptions::default() };
    Service::with_options(Exports::default(), options).dispatcher.programs.served().collect()
}

/// All procedures that a server serves.
#[cfg(test)]
pub fn procedures() -> Arc<[crate::programs::Listed]> {
    Service::new(Exports::default()).dispatcher.programs.procedures()
}
