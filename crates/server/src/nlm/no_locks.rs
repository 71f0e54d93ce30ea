//! NLM version 4, without locks: every lock is refused at once as ENOLCK. It is served where this host has a lock manager or a
//! status monitor of its own.
//!
//! A Linux client that was mounted without `nolock` asks the portmapper for NLM at its first lock. If NLM is not there,
//! it asks again every 3 seconds, and the application hangs, even with LOCK_NB.

use howdah_wire::nlm::{Cookie, PROGRAM as NUMBER, Status, VERSION_4 as NUMBER_4, lock, share};
use howdah_wire::xdr::Decode;

use crate::outline::ReplyPace;
use crate::program::{Procedure, Refusal, Row, Run, Tabled};
use crate::{Reply, Request};

/// A lock manager that has no locks to give.
pub struct NoLocks;

impl Tabled for NoLocks {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "nlockmgr";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(NUMBER_4, VERSION_4)];
}

const VERSION_4: &[Row<NoLocks>] = &[
    row("NULL", nothing),
    row("TEST", no_locks),
    row("LOCK", no_locks),
    row("CANCEL", no_locks),
    row("UNLOCK", no_locks),
    row("GRANTED", not_served),
    row("TEST_MSG", not_served),
    row("LOCK_MSG", not_served),
    row("CANCEL_MSG", not_served),
    row("UNLOCK_MSG", not_served),
    row("GRANTED_MSG", not_served),
    row("TEST_RES", not_served),
    row("LOCK_RES", not_served),
    row("CANCEL_RES", not_served),
    row("UNLOCK_RES", not_served),
    row("GRANTED_RES", not_served),
    row("16", not_served),
    row("17", not_served),
    row("18", not_served),
    row("19", not_served),
    row("SHARE", no_shares),
    row("UNSHARE", no_shares),
    row("NM_LOCK", no_locks),
    row("FREE_ALL", nothing),
];

/// Answers TEST, LOCK, CANCEL, UNLOCK and NM_LOCK: their arguments all start with the cookie.
fn no_locks(_: &NoLocks, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let cookie = Cookie::decode(&mut request.arguments)?;
    reply.write(&lock::Reply { cookie, status: Status::NoLocks });
    Ok(())
}

/// Answers SHARE and UNSHARE.
fn no_shares(_: &NoLocks, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let cookie = Cookie::decode(&mut request.arguments)?;
    reply.write(&share::Reply { cookie, status: Status::NoLocks, sequence: 0 });
    Ok(())
}

fn nothing(_: &NoLocks, _: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    Ok(())
}

/// A client that wants its answer in a call of ours would wait for it for ever.
fn not_served(_: &NoLocks, _: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    Err(Refusal::Unavailable)
}

const fn row(name: &'static str, run: Run<NoLocks>) -> Row<NoLocks> {
    Row { procedure: Procedure::plain(name, ReplyPace::Quick), run }
}
