//! The procedures of NSM.

use howdah_wire::nsm::{
    MonitoringResult, PROGRAM as NUMBER, VERSION as NUMBER_1, mon, stat, unmon, unmon_all,
};
use howdah_wire::xdr::Decode;

use super::{Nsm, notify};
use crate::outline::ReplyPace;
use crate::program::{Procedure, Refusal, Row, Run, Tabled};
use crate::{Reply, Request};

impl Tabled for Nsm {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "status";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(NUMBER_1, VERSION_1)];
}

const VERSION_1: &[Row<Nsm>] = &[
    row("NULL", |_, _, _| Ok(())),
    row("STAT", stat),
    row("MON", mon),
    row("UNMON", unmon),
    row("UNMON_ALL", unmon_all),
    // It is for tests of a monitor: nothing here believes that this host restarted.
    row("SIMU_CRASH", |_, _, _| Ok(())),
    Row { procedure: Procedure::plain("NOTIFY", ReplyPace::Slow), run: notify::run },
];

const fn row(name: &'static str, run: Run<Nsm>) -> Row<Nsm> {
    Row { procedure: Procedure::plain(name, ReplyPace::Quick), run }
}

/// Answers STAT: no host can be monitored here for another program.
fn stat(nsm: &Nsm, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    stat::Arguments::decode(&mut request.arguments)?;
    reply.write(&stat::Reply { result: MonitoringResult::Failure, state: nsm.states.host_number() });
    Ok(())
}

/// Answers MON: the same.
fn mon(nsm: &Nsm, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    mon::Arguments::decode(&mut request.arguments)?;
    reply.write(&mon::Reply { result: MonitoringResult::Failure, state: nsm.states.host_number() });
    Ok(())
}

/// Answers UNMON: nothing was monitored.
fn unmon(nsm: &Nsm, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    unmon::Arguments::decode(&mut request.arguments)?;
    reply.write(&unmon::Reply { state: nsm.states.host_number() });
    Ok(())
}

/// Answers UNMON_ALL: the same.
fn unmon_all(nsm: &Nsm, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    unmon_all::Arguments::decode(&mut request.arguments)?;
    reply.write(&unmon_all::Reply { state: nsm.states.host_number() });
    Ok(())
}
