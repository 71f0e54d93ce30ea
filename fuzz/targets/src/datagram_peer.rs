//! A client's calls over UDP: replies that come late, twice, never or to nobody, in any order, while time passes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use arbitrary::{Arbitrary, Unstructured};
use howdah_rpc::client::datagram::{NewCall, Output, Peer, ReceivedReply, Returned, Settings};
use howdah_rpc::client::{Class, ReplaySafety};

/// The most events of one input.
const EVENTS_MAX: usize = 1_000;
/// One look at what is to be done ends after so many answers: each call is sent, given back or probed for once.
const OUTPUTS_MAX: usize = 10_000;

#[derive(Debug, Arbitrary)]
enum Event {
    Start { class: u8, once: bool, sends: u16, receives: u16, expires: Option<u16> },
    Reply { which: u16 },
    Stray { xid: u32 },
    Cancel { which: u16 },
    Pass { milliseconds: u16 },
    PassToNext,
}

/// What the caller knows.
struct Caller {
    peer: Peer<u32>,
    /// Calls that are open, and how often each was sent.
    open: BTreeMap<u32, u32>,
    now: Instant,
    next: u32,
}

/// The first bytes are the settings, the rest what happens.
pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let Ok((path_mtu, calls, room, first)) = input.arbitrary::<(u16, u8, u32, Option<u16>)>() else { return };
    let settings = Settings {
        path_mtu: usize::from(path_mtu),
        first_transfer: first.map(usize::from),
        most_calls: usize::from(calls.max(1)),
        receive_room: room as usize,
        ..Settings::default()
    };
    let now = Instant::now();
    let mut caller = Caller { peer: Peer::new(&settings, now), open: BTreeMap::new(), now, next: 0 };
    for event in input.arbitrary_iter::<Event>().into_iter().flatten().map_while(Result::ok).take(EVENTS_MAX)
    {
        caller.happen(event);
        caller.poll();
        assert_eq!(caller.peer.len(), caller.open.len(), "every call is open, answered or given back");
        assert!(caller.peer.calls_in_flight() <= caller.open.len());
        let _ = (caller.peer.report(caller.now), caller.peer.advice());
    }
    assert_eq!(caller.peer.take_all().len(), caller.open.len());
}

impl Caller {
    fn happen(&mut self, event: Event) {
        match event {
            Event::Start { class, once, sends, receives, expires } => {
                self.start(class, once, (sends, receives), expires)
            }
            Event::Reply { which } => {
                let Some((&xid, &sent)) = self.nth(which) else { return };
                match self.peer.received(self.now, xid) {
                    ReceivedReply::Answer { call, sends } => {
                        assert_eq!((call, sends), (xid, sent));
                        self.open.remove(&xid);
                    }
                    // Nobody answers what was never sent.
                    ReceivedReply::Unknown => assert_eq!(sent, 0),
                    ReceivedReply::Late => panic!("call {xid} is open"),
                }
            }
            Event::Stray { xid } if !self.open.contains_key(&xid) => {
                assert!(!matches!(self.peer.received(self.now, xid), ReceivedReply::Answer { .. }));
            }
            Event::Cancel { which } => {
                let Some((&xid, _)) = self.nth(which) else { return };
                assert_eq!(self.peer.cancel(xid), Some(xid));
                self.open.remove(&xid);
            }
            Event::Pass { milliseconds } => self.now += Duration::from_millis(u64::from(milliseconds)),
            Event::PassToNext => {
                self.now = self.peer.next_event().map_or(self.now, |next| next.max(self.now))
            }
            Event::Stray { .. } => {}
        }
    }

    fn nth(&self, which: u16) -> Option<(&u32, &u32)> {
        self.open.iter().nth(usize::from(which) % self.open.len().max(1))
    }

    fn start(&mut self, class: u8, once: bool, (sends, receives): (u16, u16), expires: Option<u16>) {
        let class = Class::ALL[usize::from(class) % Class::COUNT];
        let transfer = class.is_bulk().then(|| usize::from(receives).min(self.peer.transfer_size()));
        self.next += 1;
        self.open.insert(self.next, 0);
        self.peer.start(
            self.now,
            NewCall {
                xid: self.next,
                class,
                replay: if once { ReplaySafety::OnceOnly } else { ReplaySafety::Idempotent },
                sends: usize::from(sends),
                receives: usize::from(receives),
                transfer,
                expires: expires.map(|after| self.now + Duration::from_millis(u64::from(after))),
                call: self.next,
            },
        );
    }

    /// Does all that is to be done now.
    fn poll(&mut self) {
        for _ in 0..OUTPUTS_MAX {
            match self.peer.poll(self.now) {
                None => return,
                Some(Output::Send { xid, sends, call }) => {
                    assert_eq!(*call, xid);
                    let sent = self.open.get_mut(&xid).expect("only open calls are sent");
                    *sent += 1;
                    assert_eq!(sends, *sent, "each sending is counted");
                }
                Some(Output::Returned { call, why }) => {
                    assert!(self.open.remove(&call).is_some(), "given back once");
                    if let Returned::TooLarge { transfer } = why {
                        assert!(transfer > 0);
                    }
                }
                // Not made: a peer must do without, too.
                Some(Output::Probe) => {}
            }
        }
        panic!("it never rests");
    }
}
