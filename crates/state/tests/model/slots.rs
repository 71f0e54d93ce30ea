//! Slots: exactly once, and never stuck.

use std::time::Duration;

use howdah_random::Random;
use howdah_state::{
    ClientIdentity, NfsState, Principal, RecoveryRecords, SequenceAnswer, SequenceRequest, SessionAnswer,
    SlotGuard, StateBounds, StateError, StateSettings,
};

const STEPS: u64 = 100_000;
const SLOTS: u32 = 40;
const KEPT_MAX: usize = 600;

/// What a slot must be.
#[derive(Default)]
struct Naive {
    last: u32,
    digest: u64,
    running: Option<SlotGuard<()>>,
    reply: Option<Vec<u8>>,
}

#[test]
fn slots_never_skip_and_never_stay_taken() {
    let mut random = Random::new(11);
    let bounds = StateBounds { cached_bytes: KEPT_MAX, ..StateBounds::default() };
    let settings = StateSettings { bounds, ..StateSettings::new(1, 1) };
    let mut state = NfsState::<u8, ()>::new(settings, RecoveryRecords::default());
    let principal = Principal::default();
    let identity = ClientIdentity {
        owner: b"x",
        verifier: [0; 8],
        principal: &principal,
        peer: [192, 0, 2, 1].into(),
        network: [192, 0, 2, 1].into(),
        server: [192, 0, 2, 9].into(),
    };
    let exchanged = state.exchange_id(Duration::ZERO, identity, false).expect("EXCHANGE_ID");
    let created = state.create_session(
        Duration::ZERO,
        exchanged.client,
        exchanged.sequence,
        identity.caller(),
        SLOTS,
        (),
    );
    let Ok(SessionAnswer::Created(session)) = created else { panic!("{created:?}") };
    let mut slots: Vec<Naive> = (0..SLOTS).map(|_| Naive::default()).collect();
    for _ in 0..STEPS {
        let slot = random.below(u64::from(SLOTS) + 1) as u32;
        let Some(naive) = slots.get_mut(slot as usize) else {
            let request = SequenceRequest { sequence: 1, slot, highest_slot: slot, digest: 0 };
            assert_eq!(session.sequence(Duration::ZERO, request).err(), Some(StateError::BadSlot));
            continue;
        };
        if random.one_in(3)
            && let Some(guard) = naive.running.take()
        {
            naive.reply = finish(&mut random, guard, state.sessions().cached_bytes());
            continue;
        }
        let step = [1, 1, 1, 0, 0, 2, u32::MAX][random.index(7)];
        let (sequence, digest) = (naive.last.wrapping_add(step), random.below(2));
        let request = SequenceRequest { sequence, slot, highest_slot: slot + random.below(3) as u32, digest };
        let answer = session.sequence(Duration::ZERO, request);
        match (step, answer) {
            (1, Ok(SequenceAnswer::New(guard))) if naive.running.is_none() => {
                *naive = Naive { last: sequence, digest, running: Some(guard), reply: None };
            }
            (0, Ok(SequenceAnswer::Replay(reply))) => {
                assert!(
                    naive.running.is_none()
                        && naive.digest == digest
                        && naive.reply.as_deref() == Some(&*reply)
                );
            }
            (0, Ok(SequenceAnswer::Uncached)) => {
                assert!(
                    naive.running.is_none()
                        && naive.digest == digest
                        && naive.reply.is_none()
                        && naive.last > 0
                );
            }
            (0, Err(StateError::Delay)) => assert!(naive.running.is_some() && naive.digest == digest),
            (0, Err(StateError::SequenceFalseRetry)) => assert!(naive.digest != digest && naive.last > 0),
            (0, Err(StateError::SequenceMisordered)) => assert_eq!(naive.last, 0, "never used"),
            (1, Err(StateError::SequenceMisordered)) => assert!(naive.running.is_some()),
            (step, Err(StateError::SequenceMisordered)) => assert!(step > 1),
            (step, answer) => panic!("slot {slot}, {step} on: {answer:?}"),
        }
        let kept: usize = slots.iter().map(|slot| slot.reply.as_ref().map_or(0, Vec::len)).sum();
        assert!(
            kept == state.sessions().cached_bytes() && kept <= KEPT_MAX,
            "{kept} {}",
            state.sessions().cached_bytes()
        );
    }
}

/// Finishes a call, or lets its guard go. The reply, if it is kept.
fn finish(random: &mut Random, guard: SlotGuard<()>, kept: usize) -> Option<Vec<u8>> {
    if random.one_in(4) {
        drop(guard);
        return None;
    }
    let length = random.index(50);
    let reply = random.bytes(length);
    guard.finish(Some(&reply));
    (kept + reply.len() <= KEPT_MAX).then_some(reply)
}
