//! What holds whatever the samples say.

use std::time::Duration;

use howdah_tune::budget::{BUDGET_MIN, Budget, HostMemory, MemoryUse, Pressure};
use howdah_tune::host::Host;
use howdah_tune::sizes::{SEND_LEAST, SEND_MAX, UNSENT_MAX, UNSENT_MIN, WINDOW_MIN};
use howdah_tune::{PathState, Receiving, Sample, Sending, Settings, SizeChange, Tuner};
use proptest::prelude::*;

const WINDOW_LIMIT: u64 = 65_535 << 10;

fn settings(budget: u64) -> Settings {
    let host = Host {
        may_force: true,
        send_autotuned_most: 4 << 20,
        receive_autotuned_most: 32 << 20,
        send_unforced_most: 8 << 20,
        has_bbr: true,
    };
    let memory = HostMemory { total: 64 << 30, tcp: [4 << 30, 6 << 30, 8 << 30], group: None };
    Settings { budget: Budget::fixed(budget), ..Settings::automatic(host, memory) }
}

/// What happens to a tuner.
#[derive(Debug, Clone)]
enum Event {
    Open(u8),
    Close(u8),
    Sample { key: u8, sent: u64, received: u64, rtt: u64, window: u64, unread: u64 },
    Memory { sending: u64, unread: u64 },
}

fn event() -> impl Strategy<Value = Event> {
    let mega = 1u64 << 20;
    prop_oneof![
        1 => (0..8u8).prop_map(Event::Open),
        1 => (0..8u8).prop_map(Event::Close),
        10 => (0..8u8, 0..200 * mega, 0..200 * mega, 0..400u64, 0..WINDOW_LIMIT, 0..64 * mega).prop_map(
            |(key, sent, received, rtt, window, unread)| Event::Sample { key, sent, received, rtt, window, unread }
        ),
        2 => (0..600 * mega, 0..600 * mega).prop_map(|(sending, unread)| Event::Memory { sending, unread }),
    ]
}

proptest! {
    #[test]
    fn sizes_stay_within_their_bounds_and_promises_within_the_budget(
        budget in BUDGET_MIN..(1u64 << 30),
        events in prop::collection::vec(event(), 1..200),
    ) {
        let settings = settings(budget);
        let mut tuner = Tuner::new(settings.clone());
        let mut sums = [(0u64, 0u64); 8];
        let mut kernels_taken_back = false;
        for (second, event) in events.into_iter().enumerate() {
            let now = Duration::from_millis(second as u64 * 500);
            let changes: Vec<SizeChange> = match event {
                Event::Open(key) => tuner.on_open(key, false),
                Event::Close(key) => { tuner.on_close(now, key); Vec::new() }
                Event::Sample { key, sent, received, rtt, window, unread } => {
                    let sum = &mut sums[usize::from(key)];
                    *sum = (sum.0 + sent, sum.1 + received);
                    let rtt = Duration::from_millis(rtt);
                    tuner.on_sample(key, Sample {
                        at: now,
                        sending: Sending { sent: sum.0, ..Sending::default() },
                        receiving: Receiving {
                            received: sum.1, window: Some(window), window_limit: WINDOW_LIMIT, unread, ..Receiving::default()
                        },
                        path: PathState { rtt, min_rtt: rtt, ..PathState::default() },
                        ..Sample::default()
                    })
                }
                Event::Memory { sending, unread } => {
                    let used = MemoryUse { sending, unread, ..MemoryUse::default() };
                    let was_ours: Vec<u8> =
                        tuner.connections().filter(|(_, one)| one.promised() > 0).map(|(key, _)| *key).collect();
                    let orders = tuner.on_memory(now, &used);
                    kernels_taken_back |= orders
                        .iter()
                        .any(|(key, change)| matches!(change, SizeChange::Clamp(_)) && !was_ours.contains(key));
                    orders.into_iter().map(|(_, change)| change).collect()
                }
            };
            for change in changes {
                match change {
                    SizeChange::SendBuffer(size) => prop_assert!((SEND_LEAST..=SEND_MAX).contains(&size), "{size}"),
                    SizeChange::UnsentMark(size) => prop_assert!((UNSENT_MIN..=UNSENT_MAX).contains(&size), "{size}"),
                    SizeChange::Promise(size) => {
                        prop_assert!(size <= WINDOW_LIMIT, "{size}");
                        prop_assert_eq!(tuner.pressure(), Pressure::None, "a window grew though memory was short");
                    }
                    SizeChange::Clamp(size) => prop_assert!(size >= WINDOW_MIN, "{size}"),
                    SizeChange::ReceiveBuffer(size) => prop_assert!(size >= 2 * WINDOW_MIN, "{size}"),
                    SizeChange::Pace(_) => prop_assert!(false, "nobody said that bbr starts"),
                    SizeChange::Congestion(algorithm) => prop_assert!(false, "{:?}: nobody set it", algorithm),
                    SizeChange::RetransmissionUnbound => prop_assert!(false, "no path is so long"),
                }
            }
            let promised: u64 = tuner.connections().map(|(_, connection)| connection.promised()).sum();
            prop_assert_eq!(tuner.promised(), promised);
            // What the kernel promised is not ours to bound.
            prop_assert!(kernels_taken_back || promised <= settings.budget.for_receiving(), "{} of {}", promised, budget);
        }
    }
}

#[test]
fn under_pressure_whoever_uses_least_of_its_promise_gives_back_first() {
    let mut tuner = Tuner::new(settings(1 << 30));
    let mut sample = Sample {
        receiving: Receiving { window: Some(22 << 20), window_limit: WINDOW_LIMIT, ..Receiving::default() },
        path: PathState {
            rtt: Duration::from_millis(100),
            min_rtt: Duration::from_millis(100),
            ..PathState::default()
        },
        ..Sample::default()
    };
    // Five connections fill their windows; only the last one goes on.
    for key in 0..5 {
        tuner.on_open(key, false);
        tuner.on_sample(key, sample.clone());
    }
    sample.at = Duration::from_secs(1);
    sample.receiving.received = 200 << 20;
    for key in 0..5 {
        let changes = tuner.on_sample(key, sample.clone());
        assert!(changes.contains(&SizeChange::Promise(44 << 20)), "{key}: {changes:?}");
    }
    for second in 2..200 {
        sample.at = Duration::from_secs(second);
        sample.receiving.received += 200 << 20;
        sample.receiving.window = Some(44 << 20);
        tuner.on_sample(4, sample.clone());
    }
    let used = MemoryUse { sending: 1 << 30, ..MemoryUse::default() };
    let orders: Vec<(i32, SizeChange)> = tuner
        .on_memory(sample.at, &used)
        .into_iter()
        .filter(|(_, change)| matches!(change, SizeChange::Clamp(_)))
        .collect();
    assert_eq!(orders.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(orders.iter().all(|(_, change)| *change == SizeChange::Clamp(22 << 20)), "{orders:?}");
}

#[test]
fn on_a_long_path_the_kernel_waits_as_long_as_by_itself_before_it_sends_again() {
    let mut tuner = Tuner::new(settings(1 << 30));
    let orders = |tuner: &mut Tuner<u8>, key, second, rtt| {
        let path = PathState { rtt: Duration::from_millis(rtt), ..PathState::default() };
        let changes =
            tuner.on_sample(key, Sample { at: Duration::from_secs(second), path, ..Sample::default() });
        changes.contains(&SizeChange::RetransmissionUnbound)
    };
    (0..2).for_each(|key| drop(tuner.on_open(key, false)));
    assert_eq!([0, 1, 2].map(|second| orders(&mut tuner, 0, second, 999)), [false; 3]);
    let long = [3, 4, 5, 6].map(|second| orders(&mut tuner, 0, second, if second == 5 { 20 } else { 3_000 }));
    assert_eq!(long, [true, false, false, false], "once");
}

#[test]
fn who_rests_and_goes_on_is_counted_once_where_nobody_looks_at_the_memory() {
    let mut tuner = Tuner::new(settings(1 << 30));
    (0..2).for_each(|key| drop(tuner.on_open(key, false)));
    let mut sample = Sample::default();
    let mut work = |tuner: &mut Tuner<u8>, second| {
        sample.at = Duration::from_secs(second);
        tuner.on_sample(0, sample.clone());
        sample.at += Duration::from_millis(100);
        sample.sending.sent += 100 << 20;
        tuner.on_sample(0, sample.clone());
        (tuner.busy(), tuner.get(0).map(|one| one.send_ceiling()))
    };
    let first = work(&mut tuner, 0);
    assert_eq!(first.0, 1);
    for turn in 1..10 {
        assert_eq!(work(&mut tuner, turn * 60), first, "after {turn} rests");
    }
    // One that has rested for long leaves nothing behind.
    tuner.on_close(Duration::from_secs(3600), 0);
    assert_eq!(tuner.busy(), 0);
}
