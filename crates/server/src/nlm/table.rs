//! Which procedure of NLM is which: the one place that knows all handlers.

use howdah_wire::nfs3::HANDLE_MAX;
use howdah_wire::nlm::{
    self, Cookie, PROGRAM as NUMBER, VERSION_4 as NUMBER_4, cancel as wire_cancel, lock as wire_lock,
    test as wire_test, unlock as wire_unlock,
};
use howdah_wire::xdr::{Decode, Decoder};

use super::context::NlmContext;
use super::{Nlm, cancel, free_all, lock, share, test, unlock, unshare};
use crate::outline::{Outline, ReplyPace};
use crate::program::{Procedure, ReadOutline, Refusal, Row, Run, Tabled};
use crate::{Reply, Request};

impl Tabled for Nlm {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "nlockmgr";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(NUMBER_4, VERSION_4)];
}

/// Answers a call: the bytes of its result.
type Answer = fn(&Nlm, &mut Request<'_, '_>) -> Result<Vec<u8>, Refusal>;

/// No reply is kept for retries, as in Linux's lockd. A kept reply would say to a host that begins again with the same xids
/// that it has a lock which another host has by now. The price: a LOCK by UDP that arrives again after its UNLOCK locks again,
/// until its host unlocks or restarts.
const VERSION_4: &[Row<Nlm>] = &[
    row("NULL", ReplyPace::Quick, no_file, |_, _, _| Ok(())),
    row("TEST", ReplyPace::Quick, of_test, |nlm, request, reply| now(nlm, request, reply, test::answer)),
    // A lock is granted when the record of its host is durable; to let one go may grant another.
    row("LOCK", ReplyPace::Slow, of_lock, |nlm, request, reply| now(nlm, request, reply, lock::answer)),
    row("CANCEL", ReplyPace::Slow, of_lock, |nlm, request, reply| now(nlm, request, reply, cancel::answer)),
    row("UNLOCK", ReplyPace::Slow, of_unlock, |nlm, request, reply| now(nlm, request, reply, unlock::answer)),
    row("GRANTED", ReplyPace::Quick, no_file, for_clients),
    row("TEST_MSG", ReplyPace::Quick, of_test, |nlm, request, _| {
        later(nlm, request, wire_test::RESULT, test::answer)
    }),
    row("LOCK_MSG", ReplyPace::Slow, of_lock, |nlm, request, _| {
        later(nlm, request, wire_lock::RESULT, lock::answer)
    }),
    row("CANCEL_MSG", ReplyPace::Slow, of_lock, |nlm, request, _| {
        later(nlm, request, wire_cancel::RESULT, cancel::answer)
    }),
    row("UNLOCK_MSG", ReplyPace::Slow, of_unlock, |nlm, request, _| {
        later(nlm, request, wire_unlock::RESULT, unlock::answer)
    }),
    row("GRANTED_MSG", ReplyPace::Quick, no_file, for_clients),
    row("TEST_RES", ReplyPace::Quick, no_file, for_clients),
    row("LOCK_RES", ReplyPace::Quick, no_file, for_clients),
    row("CANCEL_RES", ReplyPace::Quick, no_file, for_clients),
    row("UNLOCK_RES", ReplyPace::Quick, no_file, for_clients),
    // Clients are called with GRANTED, not with GRANTED_MSG.
    row("GRANTED_RES", ReplyPace::Quick, no_file, for_clients),
    row("16", ReplyPace::Quick, no_file, for_clients),
    row("17", ReplyPace::Quick, no_file, for_clients),
    row("18", ReplyPace::Quick, no_file, for_clients),
    row("19", ReplyPace::Quick, no_file, for_clients),
    row("SHARE", ReplyPace::Slow, of_unlock, |nlm, request, reply| now(nlm, request, reply, share::answer)),
    row("UNSHARE", ReplyPace::Quick, of_unlock, |nlm, request, reply| {
        now(nlm, request, reply, unshare::answer)
    }),
    // A lock of a client that no monitor watches. Nothing is known of it but that.
    row("NM_LOCK", ReplyPace::Slow, of_lock, |nlm, request, reply| now(nlm, request, reply, lock::answer)),
    row("FREE_ALL", ReplyPace::Slow, no_file, |nlm, request, _| free_all::run(nlm, request)),
];

const fn row(name: &'static str, pace: ReplyPace, outline: ReadOutline, run: Run<Nlm>) -> Row<Nlm> {
    Row { procedure: Procedure { outline, ..Procedure::plain(name, pace) }, run }
}

/// Answers at once.
fn now(nlm: &Nlm, request: &mut Request<'_, '_>, reply: &mut Reply, answer: Answer) -> Result<(), Refusal> {
    let answer = answer(nlm, request)?;
    reply.bytes_mut().extend_from_slice(&answer);
    Ok(())
}

/// Answers by a call of the client's lock manager.
fn later(nlm: &Nlm, request: &mut Request<'_, '_>, procedure: u32, answer: Answer) -> Result<(), Refusal> {
    // Nothing is sent to a client that no export admits. Its address may be forged.
    if !NlmContext::new(nlm, request)?.is_admitted() {
        return Ok(());
    }
    let answer = answer(nlm, request)?;
    nlm.callbacks.answer(request.peer, procedure, answer);
    Ok(())
}

/// Only clients are called so.
fn for_clients(_: &Nlm, _: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    Err(Refusal::Unavailable)
}

fn no_file(_: &mut Outline<'_>, _: Decoder<'_>) {}

fn of_test<'m>(outline: &mut Outline<'m>, arguments: Decoder<'m>) {
    outline.node = file_behind(arguments, 1);
}

fn of_lock<'m>(outline: &mut Outline<'m>, arguments: Decoder<'m>) {
    outline.node = file_behind(arguments, 2);
}

/// A share begins with the host and the file, too.
fn of_unlock<'m>(outline: &mut Outline<'m>, arguments: Decoder<'m>) {
    outline.node = file_behind(arguments, 0);
}

/// The handle of the file, behind the cookie, so many words, and the host's name.
fn file_behind(mut arguments: Decoder<'_>, words: usize) -> Option<&[u8]> {
    Cookie::decode(&mut arguments).ok()?;
    (0..words).try_for_each(|_| arguments.u32("word").map(drop)).ok()?;
    nlm::CallerName::decode(&mut arguments).ok()?;
    arguments.opaque(HANDLE_MAX as u32, "handle").ok()
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs3::FileHandle;
    use howdah_wire::nlm::{CallerName, Lock, LockOwner};
    use howdah_wire::xdr::Encoder;

    use super::*;

    fn file(read: ReadOutline, arguments: &[u8]) -> Option<&[u8]> {
        let mut outline = Outline::of(ReplyPace::Quick);
        read(&mut outline, Decoder::new(arguments));
        outline.node
    }

    #[test]
    fn the_file_of_a_call_is_found_before_it_runs() {
        let lock = Lock {
            caller: CallerName(b"client"),
            file: FileHandle(b"the handle"),
            owner: LockOwner(b"owner"),
            process: 7,
            offset: 0,
            length: 0,
        };
        let cookie = Cookie(b"12345");
        let test = Encoder::to_vec(&wire_test::Arguments { cookie, exclusive: true, lock });
        assert_eq!(file(of_test, &test), Some(&b"the handle"[..]));
        let cancel = wire_cancel::Arguments { cookie, block: true, exclusive: true, lock };
        assert_eq!(file(of_lock, &Encoder::to_vec(&cancel)), Some(&b"the handle"[..]));
        let unlock = Encoder::to_vec(&wire_unlock::Arguments { cookie, lock });
        assert_eq!(file(of_unlock, &unlock), Some(&b"the handle"[..]));
        assert_eq!(file(of_unlock, &unlock[..8]), None);
    }
}
