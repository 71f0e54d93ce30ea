//! The duplicate-request cache against a model that does the same with plain lists.

#![allow(clippy::disallowed_methods)] // Some instant is needed to start from.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use howdah_rpc::reply_cache::{Begin, Call as Asked, CallKey, Checksum, Limits, ReplyCache, Slot};
use howdah_wire::rpc::{CallHeader, Credentials};
use proptest::prelude::*;

const LIMITS: Limits = Limits { entries: 6, bytes: 40, age: Duration::from_secs(10), reply: 12 };

fn key(client: u8, xid: u32) -> CallKey {
    let header =
        CallHeader { xid, program: 100_003, version: 3, procedure: 12, credentials: Credentials::None };
    Checksum::new([0; 16]).key(IpAddr::from([192, 0, 2, client]), &header, None, b"arguments")
}

/// A call from the one origin there is.
fn begin(cache: &mut ReplyCache, key: CallKey, now: Instant) -> Begin<'_> {
    cache.begin(Asked { key, origin: 1, order: 1, subjects: [0; 2], has_changed: false }, now, |_| true)
}

/// A call that is remembered; `answered` with its reply, or running.
#[derive(Debug, Clone, PartialEq)]
struct Call {
    client: u8,
    xid: u32,
    answered: Option<(Instant, Vec<u8>)>,
}

/// Calls in the order in which they were answered; those that run stand anywhere.
#[derive(Debug, Default)]
struct Model {
    calls: Vec<Call>,
}

#[derive(Debug, PartialEq)]
enum Begun {
    New,
    InProgress,
    Replay(Vec<u8>),
}

impl Model {
    fn bytes(&self, client: Option<u8>) -> usize {
        let mine = |call: &&Call| client.is_none_or(|client| client == call.client);
        self.calls
            .iter()
            .filter(mine)
            .filter_map(|call| call.answered.as_ref())
            .map(|(_, reply)| reply.len())
            .sum()
    }

    fn clients_with(&self, client: u8) -> usize {
        self.calls.iter().map(|call| call.client).chain([client]).collect::<BTreeSet<_>>().len()
    }

    fn forget_old(&mut self, now: Instant) {
        self.calls
            .retain(|call| call.answered.as_ref().is_none_or(|(at, _)| now.duration_since(*at) < LIMITS.age));
    }

    fn forget_one(&mut self, client: u8, own: bool) -> bool {
        let answered = |of: Option<u8>| {
            let wanted =
                |call: &Call| call.answered.is_some() && of.is_none_or(|client| client == call.client);
            self.calls.iter().position(wanted)
        };
        let victim = if own { answered(Some(client)).or(answered(None)) } else { answered(None) };
        victim.inspect(|&at| drop(self.calls.remove(at))).is_some()
    }

    /// The answer, and whether the call is remembered.
    fn begin(&mut self, client: u8, xid: u32, now: Instant) -> (Begun, bool) {
        self.forget_old(now);
        if let Some(call) = self.calls.iter().find(|call| (call.client, call.xid) == (client, xid)) {
            let begun =
                call.answered.as_ref().map_or(Begun::InProgress, |(_, reply)| Begun::Replay(reply.clone()));
            return (begun, true);
        }
        while self.calls.len() >= LIMITS.entries {
            let mine = self.calls.iter().filter(|call| call.client == client).count();
            if !self.forget_one(client, mine >= LIMITS.entries / self.clients_with(client)) {
                return (Begun::New, false);
            }
        }
        self.calls.push(Call { client, xid, answered: None });
        (Begun::New, true)
    }

    fn take_running(&mut self, client: u8, xid: u32) -> Call {
        let at = self.calls.iter().position(|call| (call.client, call.xid) == (client, xid));
        self.calls.remove(at.expect("a call that runs is never forgotten"))
    }

    fn finish(&mut self, client: u8, xid: u32, reply: &[u8], now: Instant) {
        self.forget_old(now);
        let mut call = self.take_running(client, xid);
        if reply.len() > LIMITS.reply {
            return;
        }
        // While it is made room for, the call itself still counts its client among those that share.
        while self.bytes(None) + reply.len() > LIMITS.bytes {
            let fair = LIMITS.bytes / self.clients_with(client);
            let own = self.bytes(Some(client)) + reply.len() > fair;
            if !self.forget_one(client, own) {
                return;
            }
        }
        call.answered = Some((now, reply.to_vec()));
        self.calls.push(call);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Begin { client: u8, xid: u32 },
    Finish { which: prop::sample::Index, reply: Vec<u8> },
    Abandon { which: prop::sample::Index },
    Wait { seconds: u64 },
}

fn a_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..3u8, 0..8u32).prop_map(|(client, xid)| Step::Begin { client, xid }),
        5 => (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..16))
            .prop_map(|(which, reply)| Step::Finish { which, reply }),
        1 => any::<prop::sample::Index>().prop_map(|which| Step::Abandon { which }),
        1 => (0..6u64).prop_map(|seconds| Step::Wait { seconds }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn the_cache_does_as_the_model(steps in prop::collection::vec(a_step(), 0..80)) {
        let (mut cache, mut model) = (ReplyCache::new(LIMITS), Model::default());
        let mut now = Instant::now();
        let mut running: Vec<(u8, u32, Slot, bool)> = Vec::new();
        for step in steps {
            match step {
                Step::Begin { client, xid } => {
                    let (expected, remembered) = model.begin(client, xid, now);
                    let begun = match begin(&mut cache, key(client, xid), now) {
                        Begin::New(slot) => {
                            running.push((client, xid, slot, remembered));
                            Begun::New
                        }
                        Begin::InProgress => Begun::InProgress,
                        Begin::Replay(reply) => Begun::Replay(reply.to_vec()),
                    };
                    prop_assert_eq!(begun, expected);
                }
                Step::Finish { which, reply } if !running.is_empty() => {
                    let (client, xid, slot, remembered) = running.swap_remove(which.index(running.len()));
                    cache.finish(slot, &reply, now);
                    if remembered {
                        model.finish(client, xid, &reply, now);
                    } else {
                        model.forget_old(now);
                    }
                }
                Step::Abandon { which } if !running.is_empty() => {
                    let (client, xid, slot, remembered) = running.swap_remove(which.index(running.len()));
                    cache.abandon(slot);
                    if remembered {
                        model.take_running(client, xid);
                    }
                }
                Step::Finish { .. } | Step::Abandon { .. } => {}
                Step::Wait { seconds } => now += Duration::from_secs(seconds),
            }
            prop_assert_eq!(cache.len(), model.calls.len());
            prop_assert_eq!(cache.bytes(), model.bytes(None));
            prop_assert!(cache.len() <= LIMITS.entries && cache.bytes() <= LIMITS.bytes);
        }
    }
}

/// Begins a call that must be new, and answers it.
fn answer(cache: &mut ReplyCache, key: CallKey, reply: &[u8], now: Instant) {
    let Begin::New(slot) = begin(cache, key, now) else { panic!("{key:?} is not new") };
    cache.finish(slot, reply, now);
}

#[test]
fn a_repeated_call_is_dropped_while_it_runs_and_answered_afterwards() {
    let (mut cache, now) = (ReplyCache::new(Limits::default()), Instant::now());
    let Begin::New(slot) = begin(&mut cache, key(1, 7), now) else { panic!("the first call is new") };
    assert!(matches!(begin(&mut cache, key(1, 7), now), Begin::InProgress));
    assert!(matches!(begin(&mut cache, key(2, 7), now), Begin::New(_)), "another client, another call");
    cache.finish(slot, b"removed", now);
    assert!(matches!(begin(&mut cache, key(1, 7), now), Begin::Replay(b"removed")));
}

#[test]
fn an_abandoned_call_runs_again() {
    let (mut cache, now) = (ReplyCache::new(Limits::default()), Instant::now());
    let Begin::New(slot) = begin(&mut cache, key(1, 7), now) else { panic!("the first call is new") };
    cache.abandon(slot);
    assert!(cache.is_empty());
    assert!(matches!(begin(&mut cache, key(1, 7), now), Begin::New(_)));
}

#[test]
fn a_reply_grows_old_and_is_forgotten() {
    let (mut cache, now) = (ReplyCache::new(LIMITS), Instant::now());
    answer(&mut cache, key(1, 7), b"removed", now);
    let just_before = now + LIMITS.age - Duration::from_nanos(1);
    assert!(matches!(begin(&mut cache, key(1, 7), just_before), Begin::Replay(_)));
    assert!(matches!(begin(&mut cache, key(1, 7), now + LIMITS.age), Begin::New(_)));
}

#[test]
fn one_client_cannot_push_another_out() {
    let (mut cache, now) = (ReplyCache::new(LIMITS), Instant::now());
    for xid in 0..100 {
        answer(&mut cache, key(1, xid), b"flood", now);
    }
    for xid in 0..3 {
        answer(&mut cache, key(2, xid), b"mine", now);
    }
    for xid in 100..10_000 {
        answer(&mut cache, key(1, xid), b"flood", now);
    }
    for xid in 0..3 {
        assert!(matches!(begin(&mut cache, key(2, xid), now), Begin::Replay(b"mine")), "call {xid}");
    }
}

#[test]
fn calls_beyond_the_room_run_unremembered() {
    let (mut cache, now) = (ReplyCache::new(LIMITS), Instant::now());
    let run = |cache: &mut ReplyCache, xid| match begin(cache, key(1, xid), now) {
        Begin::New(slot) => slot,
        other => panic!("call {xid}: {other:?}"),
    };
    let running: Vec<Slot> = (0..6).map(|xid| run(&mut cache, xid)).collect();
    let unremembered = run(&mut cache, 6);
    cache.finish(unremembered, b"done", now);
    assert_eq!(cache.len(), running.len());
    begin_again(&mut cache, now);
    running.into_iter().for_each(|slot| cache.abandon(slot));
    assert!(cache.is_empty());
}

/// A call that was not remembered is new when repeated.
fn begin_again(cache: &mut ReplyCache, now: Instant) {
    let Begin::New(slot) = begin(cache, key(1, 6), now) else { panic!("call 6 was not remembered") };
    cache.abandon(slot);
}

#[test]
fn a_reply_longer_than_any_is_not_kept() {
    let (mut cache, now) = (ReplyCache::new(Limits::default()), Instant::now());
    let longest = Limits::default().reply;
    answer(&mut cache, key(1, 1), &vec![0; longest], now);
    assert!(matches!(begin(&mut cache, key(1, 1), now), Begin::Replay(_)));
    answer(&mut cache, key(1, 2), &vec![0; longest + 1], now);
    assert!(matches!(begin(&mut cache, key(1, 2), now), Begin::New(_)), "it runs again");
}

#[test]
fn replies_are_kept_within_their_bytes() {
    let (mut cache, now) = (ReplyCache::new(LIMITS), Instant::now());
    for xid in 0..4 {
        answer(&mut cache, key(1, xid), &[0; 10], now);
    }
    assert_eq!(cache.bytes(), LIMITS.bytes, "as much as there may be");
    answer(&mut cache, key(1, 4), b"x", now);
    assert!(cache.bytes() <= LIMITS.bytes);
    assert!(matches!(begin(&mut cache, key(1, 0), now), Begin::New(_)), "the oldest is forgotten");
}

#[test]
fn an_answer_that_is_not_meant_for_a_call_is_forgotten_and_the_call_runs() {
    let (mut cache, now) = (ReplyCache::new(Limits::default()), Instant::now());
    answer(&mut cache, key(1, 7), b"made", now);
    let again = Asked { key: key(1, 7), origin: 2, order: 2, subjects: [0; 2], has_changed: false };
    let mut seen = None;
    let begun = cache.begin(again, now, |earlier| {
        seen = Some(*earlier);
        false
    });
    let Begin::New(slot) = begun else { panic!("it is new") };
    assert_eq!(seen.map(|earlier| (earlier.origin, earlier.order)), Some((1, 1)));
    cache.finish(slot, b"made again", now);
    assert!(matches!(cache.begin(again, now, |earlier| earlier.origin == 2), Begin::Replay(b"made again")));
    assert_eq!((cache.len(), cache.bytes()), (1, 10));
}
