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

pub use places::{places, versions};

use howdah_wire::portmap as version2;
use howdah_wire::rpcbind;

use crate::program::{Pace, Procedure, Program, Refusal, Repetition, no_subjects};
use crate::service::Service;
use crate::{Reply, Request};

/// The program.
pub const PROGRAM: Program = Program {
    number: version2::PROGRAM,
    name: "portmapper",
    versions: &[
        (version2::VERSION, VERSION_2),
        (rpcbind::VERSION_3, VERSION_4.split_at(9).0),
        (rpcbind::VERSION_4, VERSION_4),
    ],
};

const VERSION_2: &[Procedure] = &[
    row("NULL", |_, _, _| Ok(())),
    row("SET", set::set_port),
    row("UNSET", set::unset_port),
    row("GETPORT", getport::run),
    row("DUMP", dump::ports),
    row("CALLIT", broadcast::run),
];

/// The first nine are version 3's too. GETSTAT, the last of version 4, is left out: nothing is counted here.
const VERSION_4: &[Procedure] = &[
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

type Run = fn(&Service, &mut Request<'_, '_>, &mut Reply) -> Result<(), Refusal>;

const fn row(name: &'static str, run: Run) -> Procedure {
    Procedure {
        name,
        pace: Pace::Quick,
        repetition: Repetition::Runs,
        subjects: no_subjects,
        names_node: false,
        status: false,
        bulk: None,
        run,
    }
}
