//! Portmap version 2 and rpcbind versions 3 and 4, answered for this server alone: what it serves is known from its own
//! tables, so nothing can be registered here, and nothing is ever passed on to another program.

mod broadcast;
mod dump;
mod getaddr;
mod getaddrlist;
mod getport;
mod gettime;
mod places;
mod set;
mod transport_address;

#[cfg(test)]
mod tests;

pub use places::places;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use howdah_wire::portmap as version2;
use howdah_wire::rpcbind::{self, Network};
use parking_lot::{RwLock, RwLockReadGuard};

use crate::Transport;
use crate::program::{Pace, Procedure, Program, Row, Run, Tabled};
use places::Wanted;

/// Where a server listens.
pub type Listeners = Vec<(Transport, SocketAddr)>;

/// The state behind the procedures.
pub struct Portmap {
    listeners: Arc<RwLock<Listeners>>,
    /// Every program and version that is served.
    served: Vec<(u32, u32)>,
}

impl Portmap {
    /// Tells where these programs are served beside itself.
    pub fn new(listeners: Arc<RwLock<Listeners>>, programs: &[Box<dyn Program>]) -> Self {
        let own = Self::VERSIONS.iter().map(|(version, _)| (version2::PROGRAM, *version));
        let mut served = Vec::new();
        for program in programs {
            served.extend(program.versions().iter().map(|(version, _)| (program.number(), *version)));
        }
        served.extend(own);
        Self { listeners, served }
    }

    /// The port on which a client that reached this server at `asked` reaches a program over this network.
    fn port(&self, program: u32, wanted: Wanted, network: Network, asked: IpAddr) -> Option<u16> {
        let fits = |&(number, version): &(u32, u32)| {
            number == program && (wanted == Wanted::Any || wanted == Wanted::Version(version))
        };
        let is_served = self.served.iter().any(fits);
        is_served.then(|| places::port(&self.listeners(), program, network, asked)).flatten()
    }

    fn listeners(&self) -> RwLockReadGuard<'_, Listeners> {
        self.listeners.read()
    }
}

impl Tabled for Portmap {
    const NUMBER: u32 = version2::PROGRAM;
    const NAME: &'static str = "portmapper";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[
        (version2::VERSION, VERSION_2),
        (rpcbind::VERSION_3, VERSION_4.split_at(9).0),
        (rpcbind::VERSION_4, VERSION_4),
    ];
}

const VERSION_2: &[Row<Portmap>] = &[
    row("NULL", |_, _, _| Ok(())),
    row("SET", set::set_port),
    row("UNSET", set::unset_port),
    row("GETPORT", getport::run),
    row("DUMP", dump::ports),
    row("CALLIT", broadcast::run),
];

/// The first nine are version 3's too. GETSTAT, the last of version 4, is left out: nothing is counted here.
const VERSION_4: &[Row<Portmap>] = &[
    row("NULL", |_, _, _| Ok(())),
    row("SET", set::set),
    row("UNSET", set::unset),
    row("GETADDR", getaddr::of_any_version),
    row("DUMP", dump::addresses),
    row("BCAST", broadcast::run),
    row("GETTIME", gettime::run),
    row("UADDR2TADDR", transport_address::from_universal),
    row("TADDR2UADDR", transport_address::to_universal),
    row("GETVERSADDR", getaddr::of_version),
    row("INDIRECT", broadcast::run),
    row("GETADDRLIST", getaddrlist::run),
];

const fn row(name: &'static str, run: Run<Portmap>) -> Row<Portmap> {
    Row { procedure: Procedure::plain(name, Pace::Quick), run }
}
