//! The decisions of a channel in virtual time: paths that lose and reorder, lanes that die, one or two at once, servers that close, callers
//! that give up.

mod stream;
mod world;

use std::collections::BTreeMap;
use std::time::Duration;

use howdah_link::Random;
use howdah_rpc::client::Class;
use howdah_rpc::client::core::{ChannelNotice, Failure, Patience};
use howdah_rpc::client::envelope::TicketNeed;
use howdah_rpc::client::lanes::LaneLimit;
use world::{Outcome, Slots, World};

const SECOND: Duration = Duration::from_secs(1);
const CLASSES: [Class; 4] = [Class::Attributes, Class::Change, Class::Read, Class::Write];

fn slots(count: u32) -> Slots {
    let (free, numbers, random) = ((0..count).collect(), BTreeMap::new(), Random::new(7));
    Slots { free, numbers, again: 20, random, is_closed: false }
}

/// A minute of calls, and of what goes wrong.
fn trouble(world: &mut World, lanes: usize) {
    for _ in 0..600 {
        for _ in 0..world.below(4) {
            let class = CLASSES[world.below(4) as usize];
            world.call(class);
        }
        let lane = world.below(lanes as u64) as usize;
        match world.below(60) {
            0 => world.kill(lane),
            1 => world.close(lane),
            // Two at once.
            2 => {
                world.kill(lane);
                world.kill((lane + 1) % lanes);
            }
            3 => {
                world.close(lane);
                world.close((lane + 1) % lanes);
            }
            4 => world.set_up(false),
            5..12 => world.set_up(true),
            12 => drop(world.unreachable.insert(lane)),
            13..20 => world.unreachable.clear(),
            20..24 => world.cancel(),
            24 => world.loss = world.below(200),
            _ => {}
        }
        world.run(SECOND / 10);
    }
    world.set_up(true);
    world.unreachable.clear();
    world.loss = 0;
}

#[test]
fn every_call_is_answered_once_the_server_is_back_whatever_was_lost_meanwhile() {
    for seed in 0..24 {
        let lanes = 1 + seed as usize % 4;
        let session = (seed % 3 == 0).then(|| slots(8));
        let mut world = World::new(seed, lanes, Patience::Hard, session);
        trouble(&mut world, lanes);
        world.run(300 * SECOND);
        let open = world.open();
        assert_eq!(open, 0, "seed {seed}: {open} calls are neither answered nor over");
        let is_over = |outcome: &Outcome| matches!(outcome, Outcome::Answered | Outcome::Cancelled);
        assert!(world.outcomes.values().all(is_over), "seed {seed}: {:?}", world.outcomes);
        world.assert_rest();
        assert!(!world.resent.is_empty(), "seed {seed}: nothing went wrong");
    }
}

#[test]
fn lanes_that_come_and_go_lose_no_call() {
    for seed in 0..8 {
        let mut world = World::growing(seed, 4);
        let limits = [LaneLimit::OurSendBuffer, LaneLimit::Requests, LaneLimit::Path];
        for second in 0..120 {
            let limit = limits[usize::try_from(second / 20 % 3).expect("below 3")];
            for _ in 0..10 {
                let class = CLASSES[world.below(4) as usize];
                world.call(class);
                world.core.on_look(limit, true, SECOND / 20, world.now);
                world.act();
                world.run(SECOND / 10);
            }
            match world.below(30) {
                0 => world.set_up(false),
                1..6 => world.set_up(true),
                _ => {}
            }
        }
        world.set_up(true);
        world.run(300 * SECOND);
        assert_eq!(world.open(), 0, "seed {seed}");
        world.assert_rest();
        let grew = |notice: &ChannelNotice| matches!(notice, ChannelNotice::Lanes { .. });
        assert!(
            world.notices.iter().filter(|notice| grew(notice)).count() > 1,
            "seed {seed}: {:?}",
            world.notices
        );
    }
}

#[test]
fn calls_of_a_soft_channel_end_in_time_and_give_their_places_back() {
    for seed in 0..12 {
        let mut world = World::new(seed, 2, Patience::Soft(5 * SECOND), Some(slots(8)));
        trouble(&mut world, 2);
        world.run(6 * SECOND);
        assert_eq!(world.open(), 0, "seed {seed}");
        let failed = world.outcomes.values().filter(|outcome| matches!(outcome, Outcome::Failed(_)));
        assert!(failed.clone().all(|outcome| *outcome == Outcome::Failed(Failure::TimedOut)), "seed {seed}");
        // Nothing of all that keeps the next one.
        let last = world.call(Class::Write);
        world.run(4 * SECOND);
        assert_eq!(world.outcomes.get(&last), Some(&Outcome::Answered), "seed {seed}");
    }
}

#[test]
fn two_lanes_that_die_at_once_leave_their_calls_to_the_third() {
    let mut world = World::new(1, 3, Patience::Hard, None);
    world.run(SECOND);
    let calls: Vec<u32> = (0..30).map(|_| world.call(Class::Attributes)).collect();
    world.run(SECOND / 100);
    world.unreachable.extend([0, 1]);
    world.close(0);
    world.close(1);
    world.run(SECOND);
    assert!(calls.iter().all(|call| world.outcomes.get(call) == Some(&Outcome::Answered)));
    assert!(!world.resent.is_empty());
}

#[test]
fn a_lane_that_is_dead_and_silent_is_given_up_while_others_deliver() {
    let mut world = World::new(2, 2, Patience::Hard, None);
    world.run(SECOND);
    world.unreachable.insert(0);
    world.kill(0);
    let calls: Vec<u32> = (0..20).map(|_| world.call(Class::Attributes)).collect();
    for _ in 0..60 {
        world.call(Class::Attributes);
        world.run(SECOND / 4);
    }
    assert!(calls.iter().all(|call| world.outcomes.get(call) == Some(&Outcome::Answered)));
    let gone =
        |notice: &ChannelNotice| matches!(notice, ChannelNotice::Stuck(0) | ChannelNotice::PathLost(0));
    assert!(world.notices.iter().any(gone), "{:?}", world.notices);
}

#[test]
fn a_relay_is_refused_what_may_be_made_again_and_waits_for_what_may_have_run() {
    let mut world = World::new(3, 1, Patience::WhileHeard(4 * SECOND), None);
    world.run(SECOND);
    let sent = world.call(Class::Change);
    // It is sent, and the server goes away before it answers.
    world.run(SECOND / 100);
    world.set_up(false);
    let look = world.call(Class::Lookup);
    world.run(6 * SECOND);
    assert_eq!(world.outcomes.get(&look), Some(&Outcome::Failed(Failure::Away)));
    assert_eq!(world.outcomes.get(&sent), None, "it may have run");
    let late = world.call(Class::Change);
    assert_eq!(world.outcomes.get(&late), Some(&Outcome::Failed(Failure::Away)), "it is not sent");
    world.set_up(true);
    world.run(5 * SECOND);
    assert_eq!(world.outcomes.get(&sent), Some(&Outcome::Answered));
    assert!(world.notices.contains(&ChannelNotice::Responding(Some(0))), "{:?}", world.notices);
}

#[test]
fn a_call_whose_caller_gave_up_holds_its_ticket_until_the_server_answers() {
    let mut world = World::new(4, 1, Patience::Soft(5 * SECOND), Some(slots(1)));
    let free = |world: &mut World| world.core.with_session(|its: &mut Slots, _| its.free.len(), world.now);
    world.run(SECOND);
    let first = world.call(Class::Change);
    world.run(SECOND / 100);
    world.set_up(false);
    world.run(6 * SECOND);
    assert_eq!(world.outcomes.get(&first), Some(&Outcome::Failed(Failure::TimedOut)));
    assert_eq!((world.core.in_flight(), free(&mut world)), ((0, 0), Some(0)));
    let second = world.call(Class::Change);
    world.set_up(true);
    world.run(4 * SECOND);
    assert!(world.resent.contains(&first), "the server is asked again, for nobody");
    assert_eq!(world.outcomes.get(&second), Some(&Outcome::Answered));
    assert_eq!(free(&mut world), Some(1));
}

#[test]
fn calls_for_the_upkeep_of_the_session_go_in_front_while_others_wait() {
    let closed = Slots { is_closed: true, ..slots(1) };
    let mut world = World::new(5, 1, Patience::Hard, Some(closed));
    world.run(SECOND);
    let usual = world.call(Class::Lookup);
    let calls = [TicketNeed::Upkeep, TicketNeed::Upkeep, TicketNeed::None]
        .map(|need| world.call_with(Class::Attributes, need));
    world.run(10 * SECOND);
    assert!(calls.iter().all(|call| world.outcomes.get(call) == Some(&Outcome::Answered)));
    assert_eq!(world.outcomes.get(&usual), None);
    assert!(world.core.glance(0).waits_for_slot);
    world.core.with_session(|slots: &mut Slots, _| slots.is_closed = false, world.now);
    world.run(4 * SECOND);
    assert_eq!(world.outcomes.get(&usual), Some(&Outcome::Answered));
    assert!(!world.core.glance(0).waits_for_slot);
    world.assert_rest();
}
