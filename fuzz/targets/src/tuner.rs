//! Any samples of any connections, against what sizes must keep to whatever they are computed from.

use std::time::Duration;

use arbitrary::{Arbitrary, Unstructured};
use howdah_tune::budget::{BUDGET_MIN, Budget, HostMemory, MemoryUse};
use howdah_tune::host::Host;
use howdah_tune::sizes::{SEND_LEAST, SEND_MAX, UNSENT_MAX, UNSENT_MIN, WINDOW_MIN};
use howdah_tune::{Gauges, PathState, Receiving, Sample, Sending, Settings, SizeChange, Tuner};

/// The most events of one input.
const EVENTS_MAX: usize = 500;

/// What happens to a tuner.
#[derive(Debug, Arbitrary)]
enum Event {
    Open {
        key: u8,
        is_local: bool,
    },
    Inherited {
        key: u8,
        buffer: u64,
        unsent_mark: u64,
    },
    Close {
        key: u8,
    },
    Sample {
        key: u8,
        later: u32,
        sums: [u64; 6],
        now: [u64; 10],
        times: [u32; 8],
        reported: [bool; 4],
        load: u16,
    },
    Memory {
        sending: u64,
        unread: u64,
        all: u64,
    },
}

/// The first bytes say what host it is, the rest what happens.
pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let Ok((budget, may_force, has_bbr)) = input.arbitrary::<(u64, bool, bool)>() else { return };
    let host = Host {
        may_force,
        send_autotuned_most: 4 << 20,
        receive_autotuned_most: 32 << 20,
        send_unforced_most: 8 << 20,
        has_bbr,
    };
    let memory = HostMemory { total: 64 << 30, tcp: [4 << 30, 6 << 30, 8 << 30], group: None };
    let budget = Budget::fixed(budget.clamp(BUDGET_MIN, 1 << 40));
    let mut tuner = Tuner::new(Settings { budget, ..Settings::automatic(host, memory) });
    let mut now = Duration::ZERO;
    for event in input.arbitrary_iter::<Event>().into_iter().flatten().map_while(Result::ok).take(EVENTS_MAX)
    {
        let changes = happen(&mut tuner, event, &mut now);
        changes.iter().for_each(check);
        let promised: u64 = tuner.connections().map(|(_, connection)| connection.promised()).sum();
        assert_eq!(tuner.promised(), promised, "the sum is that of the connections");
        let _ = (tuner.first_window(), tuner.pressure());
    }
}

fn happen(tuner: &mut Tuner<u8>, event: Event, now: &mut Duration) -> Vec<SizeChange> {
    match event {
        Event::Open { key, is_local } => tuner.on_open(key, is_local),
        Event::Inherited { key, buffer, unsent_mark } => tuner.on_inherited(key, buffer, unsent_mark),
        Event::Close { key } => {
            drop(tuner.on_close(*now, key));
            Vec::new()
        }
        Event::Sample { key, later, sums, now: gauges, times, reported, load } => {
            *now += Duration::from_micros(u64::from(later));
            tuner.on_sample(key, sample(*now, sums, gauges, times, reported, load))
        }
        Event::Memory { sending, unread, all } => {
            let used = MemoryUse { sending, unread: unread.min(all), ..MemoryUse::default() };
            tuner.on_memory(*now, &used).into_iter().map(|(_, change)| change).collect()
        }
    }
}

/// The kernel's sums may stand still, jump and run backwards; all that is sure is that they are numbers, and that what it
/// reports of a socket as it is now has 32 bits (`struct tcp_info`, `SO_MEMINFO`), unless it is counted in segments.
fn sample(
    at: Duration,
    [sent, retransmitted, spurious, reorderings, received, segments]: [u64; 6],
    gauges: [u64; 10],
    times: [u32; 8],
    reported: [bool; 4],
    load: u16,
) -> Sample {
    let time = |index: usize| Duration::from_micros(u64::from(times[index]));
    let [_, _, congestion_window, _, starting, ..] = gauges;
    let [flight, unsent, _, peer_window, _, queued, unread, window, limit, segment] =
        gauges.map(|gauge| gauge & u64::from(u32::MAX));
    let sending = Sending {
        sent,
        retransmitted,
        spurious,
        reorderings,
        flight,
        unsent,
        congestion_window,
        peer_window: reported[0].then_some(peer_window),
        starting: reported[1].then_some(starting),
        queued,
        buffer: queued,
        limited_by_peer: time(0),
        limited_by_buffer: time(1),
    };
    let receiving = Receiving {
        received,
        out_of_order: reported[2].then_some(segments / 2),
        segments,
        segment,
        unread,
        queued: unread,
        buffer: window,
        window: reported[3].then_some(window),
        window_limit: limit,
    };
    let path = PathState { rtt: time(2), min_rtt: time(3), segment };
    let part = f64::from(load) / f64::from(u16::MAX);
    let gauges = Gauges {
        calls: sent,
        executing: time(4),
        mid_call: time(5),
        silent: time(6),
        held_up: time(7),
        refused_to_read: time(0),
        capped: time(6),
        replies_waiting: unsent,
        outstanding: u32::from(load),
        threads_wanting: part * 64.0,
        processors_busy: part,
        processors_own: reported[3].then_some(part / 2.0),
        in_cipher: time(4),
        delay: time(1),
    };
    Sample { at, sending, receiving, path, gauges }
}

fn check(change: &SizeChange) {
    match *change {
        // 0: the kernel's own.
        SizeChange::SendBuffer(size) => {
            assert!(size == 0 || (SEND_LEAST..=SEND_MAX).contains(&size), "send buffer {size}");
        }
        SizeChange::UnsentMark(size) => {
            assert!(size == 0 || (UNSENT_MIN..=UNSENT_MAX).contains(&size), "mark {size}");
        }
        SizeChange::Clamp(size) => assert!(size >= WINDOW_MIN, "clamp {size}"),
        SizeChange::ReceiveBuffer(size) => assert!(size >= 2 * WINDOW_MIN, "receive buffer {size}"),
        SizeChange::Promise(_)
        | SizeChange::Pace(_)
        | SizeChange::Congestion(_)
        | SizeChange::RetransmissionUnbound => {}
    }
}
