//! The conformance suite with servers that send as little as they may, or take little at a time: what they leave out is asked
//! for.

use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::conformance::{self, Subject};
use howdah_wire::nfs3::listing::{Budget, Writer};
use howdah_wire::nfs3::{self, Refused, Status, WeakCacheConsistency};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

use crate::middleman::{Exchange, Fate, Middleman};
use crate::served::{EXPORT, Served, serve_memory};

/// The suite, with what `judge` makes of each reply.
fn conforms(query: &str, judge: fn(&Exchange<'_>) -> Fate) {
    let served = serve_memory();
    let middleman = Middleman::before(served.address);
    middleman.judge(judge);
    let report = conformance::run(&|| subject(&served, &middleman, query));
    assert!(report.is_success(), "{report}");
}

fn subject(served: &Served, middleman: &Middleman, query: &str) -> Subject {
    let url = format!("nfs://{}{EXPORT}?{query}", middleman.address).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).expect("a mount");
    Subject::new(client, served.abilities.clone())
}

/// A reply without what may be left out, but for what a change says of the node before and after it.
fn terse(exchange: &Exchange<'_>) -> Fate {
    if exchange.program != nfs3::PROGRAM {
        return Fate::Pass;
    }
    let results = exchange.results;
    match exchange.procedure {
        nfs3::lookup::PROCEDURE => changed(results, |reply: &mut nfs3::lookup::Reply<'_>| {
            reply.iter_mut().for_each(|success| (success.attributes, success.directory) = (None, None));
        }),
        nfs3::access::PROCEDURE => changed(results, |reply: &mut nfs3::access::Reply| {
            reply.iter_mut().for_each(|success| success.attributes = None);
        }),
        nfs3::readlink::PROCEDURE => changed(results, |reply: &mut nfs3::readlink::Reply<'_>| {
            reply.iter_mut().for_each(|success| success.attributes = None);
        }),
        nfs3::read::PROCEDURE => changed(results, |reply: &mut nfs3::read::Reply<'_>| {
            reply.iter_mut().for_each(|success| success.attributes = None);
        }),
        nfs3::link::PROCEDURE => changed(results, |reply: &mut nfs3::link::Reply| {
            reply.iter_mut().for_each(|success| success.node = None);
        }),
        nfs3::create::PROCEDURE
        | nfs3::mkdir::PROCEDURE
        | nfs3::symlink::PROCEDURE
        | nfs3::mknod::PROCEDURE => changed(results, |reply: &mut Made<'_>| {
            reply.iter_mut().for_each(|success| (success.node, success.attributes) = (None, None));
        }),
        nfs3::readdirplus::PROCEDURE => terse_listing(results),
        _ => Fate::Pass,
    }
}

type Made<'a> = Result<nfs3::Made<'a>, Refused<WeakCacheConsistency>>;

fn changed<'a, R: Decode<'a> + Encode>(results: &'a [u8], change: impl FnOnce(&mut R)) -> Fate {
    let mut reply = R::decode(&mut Decoder::new(results)).expect("howdah's own reply");
    change(&mut reply);
    Fate::Replace(Encoder::to_vec(&reply))
}

/// Every third entry keeps its handle, every other entry its attributes.
fn terse_listing(results: &[u8]) -> Fate {
    let Ok(Ok(success)) = nfs3::readdirplus::Reply::decode(&mut Decoder::new(results)) else {
        return Fate::Pass;
    };
    let mut output = Vec::new();
    let budget = Budget { whole: usize::MAX, names: usize::MAX };
    let mut writer = Writer::new(&mut output, success.verifier, budget);
    for (index, entry) in success.entries.enumerate() {
        let node = entry.node.filter(|_| index % 3 == 0);
        let attributes = entry.attributes.filter(|_| index % 2 == 0);
        assert!(writer.add(&nfs3::readdirplus::Entry { node, attributes, ..entry }).is_continue());
    }
    writer.finish(None, success.end);
    Fate::Replace(output)
}

#[test]
fn a_server_that_tells_little_conforms() {
    conforms("", terse);
}

#[test]
fn a_server_without_readdirplus_conforms() {
    conforms("", |exchange| {
        if (exchange.program, exchange.procedure) != (nfs3::PROGRAM, nfs3::readdirplus::PROCEDURE) {
            return Fate::Pass;
        }
        let refused: nfs3::readdirplus::Reply<'_> =
            Err(Refused { status: Status::NotSupported, detail: None });
        Fate::Replace(Encoder::to_vec(&refused))
    });
}

#[test]
fn small_transfers_conform() {
    conforms("rsize=1024&wsize=1024&readdir-buffer=4096", |_| Fate::Pass);
}
