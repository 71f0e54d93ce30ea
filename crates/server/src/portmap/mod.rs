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
mod state;

#[cfg(test)]
mod tests;

pub use places::{Place, places};
pub use state::{Listeners, Portmap};

use std::sync::Arc;

use crate::locks::RwLock;
use howdah_wire::portmap as version2;
use howdah_wire::rpcbind;

use crate::outline::ReplyPace;
use crate::program::{Procedure, Program, Refusal, Row, Run, Tabled};
use crate::programs::Served;
use crate::{Reply, Request};

/// Answers where these programs are served beside itself.
pub fn portmap(listeners: Arc<RwLock<Listeners>>, programs: &[Box<dyn Program>]) -> Portmap {
    let own = Portmap::VERSIONS.iter().map(|(version, _)| Served {
        program: version2::PROGRAM,
        version: *version,
        takes_datagrams: true,
    });
    Portmap::new(listeners, programs.iter().flat_map(|program| Served::by(&**program)).chain(own).collect())
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

/// The first nine are version 3's too. GETSTAT, the last of version 4, is left out, and so are those that no client calls.
const VERSION_4: &[Row<Portmap>] = &[
    row("NULL", |_, _, _| Ok(())),
    row("SET", set::set),
    row("UNSET", set::unset),
    row("GETADDR", getaddr::of_any_version),
    row("DUMP", dump::addresses),
    row("BCAST", broadcast::run),
    row("GETTIME", gettime::run),
    row("UADDR2TADDR", not_served),
    row("TADDR2UADDR", not_served),
    row("GETVERSADDR", getaddr::of_version),
    row("INDIRECT", broadcast::run),
    row("GETADDRLIST", getaddrlist::run),
];

const fn row(name: &'static str, run: Run<Portmap>) -> Row<Portmap> {
    Row { procedure: Procedure::plain(name, ReplyPace::Quick), run }
}

fn not_served(_: &Portmap, _: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    Err(Refusal::Unavailable)
}
