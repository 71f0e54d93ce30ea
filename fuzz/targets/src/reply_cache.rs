//! The duplicate-request cache: what it answers is what was answered, and what it keeps is within its limits.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use arbitrary::{Arbitrary, Unstructured};
use howdah_rpc::reply_cache::{Begin, Call, CallKey, Checksum, Limits, ReplyCache, Slot};
use howdah_wire::rpc::{CallHeader, Credentials};

const LIMITS: Limits = Limits { entries: 12, bytes: 300, age: Duration::from_secs(10), reply: 60 };
/// The most events of one input.
const EVENTS_MAX: usize = 2_000;

#[derive(Debug, Arbitrary)]
enum Event {
    Begin { client: u8, xid: u8, procedure: bool },
    Finish { which: u8, length: u8, fill: u8 },
    Abandon { which: u8 },
    Pass { milliseconds: u16 },
}

/// Every event is an input's next bytes.
pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let (mut cache, mut now) = (ReplyCache::new(LIMITS), Instant::now());
    let mut running: Vec<(CallKey, Slot)> = Vec::new();
    // A call that ran while there was no room for it runs again beside itself: the first that is remembered holds.
    let mut answered: HashMap<CallKey, Vec<(Instant, Vec<u8>)>> = HashMap::new();
    for event in input.arbitrary_iter::<Event>().into_iter().flatten().map_while(Result::ok).take(EVENTS_MAX)
    {
        match event {
            Event::Begin { client, xid, procedure } => {
                let key = key(client % 5, xid % 32, procedure);
                match cache.begin(
                    Call { key, origin: 1, order: 1, subjects: [0; 2], has_changed: false },
                    now,
                    |_| true,
                ) {
                    Begin::New(slot) => running.push((key, slot)),
                    Begin::InProgress => {
                        assert!(running.iter().any(|(other, _)| *other == key), "somebody runs it")
                    }
                    Begin::Replay(reply) => {
                        let is_it = |(at, kept): &(Instant, Vec<u8>)| {
                            reply == kept && now.duration_since(*at) < LIMITS.age
                        };
                        let given = answered.get(&key).expect("it was answered");
                        assert!(
                            given.iter().any(is_it),
                            "as once, and not too long ago: {reply:?}, {given:?}"
                        );
                    }
                }
            }
            Event::Finish { which, length, fill } if !running.is_empty() => {
                let (key, slot) = running.swap_remove(usize::from(which) % running.len());
                let reply = vec![fill; usize::from(length)];
                cache.finish(slot, &reply, now);
                answered.entry(key).or_default().push((now, reply));
            }
            Event::Abandon { which } if !running.is_empty() => {
                cache.abandon(running.swap_remove(usize::from(which) % running.len()).1);
            }
            Event::Pass { milliseconds } => now += Duration::from_millis(u64::from(milliseconds)),
            Event::Finish { .. } | Event::Abandon { .. } => {}
        }
        assert!(
            cache.len() <= LIMITS.entries && cache.bytes() <= LIMITS.bytes,
            "{} {}",
            cache.len(),
            cache.bytes()
        );
    }
}

fn key(client: u8, xid: u8, procedure: bool) -> CallKey {
    let credentials = Credentials::None;
    let procedure = 12 + u32::from(procedure);
    let header = CallHeader { xid: u32::from(xid), program: 100_003, version: 3, procedure, credentials };
    Checksum::new([0; 16]).key(IpAddr::from([192, 0, 2, client]), &header, None, b"arguments")
}
