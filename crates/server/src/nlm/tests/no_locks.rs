//! What a client sees where no locks are served.

use howdah_wire::nlm::{Cookie, PROGRAM, Status, VERSION_4, lock, share};
use howdah_wire::rpc::Accepted;

use crate::calling::{call, peer};
use crate::result_of;
use crate::service::Service;
use crate::{Peer, Transport};

const COOKIE: Cookie<'_> = Cookie(b"call 7");

fn client() -> Peer {
    peer("192.0.2.9:1001", "192.0.2.1:2049", Transport::Tcp)
}

#[test]
fn a_lock_is_refused_at_once() {
    let service = Service::with(Default::default(), None, Vec::new());
    // TEST, LOCK, CANCEL, UNLOCK, NM_LOCK.
    for procedure in [1, lock::PROCEDURE, 3, 4, 22] {
        let what = (PROGRAM, VERSION_4, procedure);
        let reply = result_of!(lock::Reply<'_>, &service, &client(), what, &COOKIE);
        assert_eq!(reply, lock::Reply { cookie: COOKIE, status: Status::NoLocks }, "{procedure}");
    }
    for procedure in [share::PROCEDURE, 21] {
        let what = (PROGRAM, VERSION_4, procedure);
        let reply = result_of!(share::Reply<'_>, &service, &client(), what, &COOKIE);
        assert_eq!((reply.cookie, reply.status), (COOKIE, Status::NoLocks), "{procedure}");
    }
}

#[test]
fn what_would_be_answered_by_a_call_back_is_unavailable() {
    let service = Service::with(Default::default(), None, Vec::new());
    for procedure in (5..20).chain([24]) {
        let what = (PROGRAM, VERSION_4, procedure);
        let (header, _) = call(&service, &client(), what, &COOKIE).expect("a reply");
        assert_eq!(header.outcome, Ok(Accepted::ProcedureUnavailable), "{procedure}");
    }
}
