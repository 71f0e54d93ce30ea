//! Random histories of a client against the tables of the server, with calls that are lost, doubled, late and reordered, slots and
//! sessions that the server loses, restarts, and leases that expire.
//!
//! A failure prints its seed; `SEED=n cargo test -p howdah-session --test model` runs that one alone.

mod message;
mod rows;
mod server;
mod world;

use std::time::Duration;

use howdah_rpc::client::core::Patience;
use howdah_session::SessionStanding;
use rows::Reached;
use server::SESSIONS;
use world::World;

const SEEDS: u64 = 60;
/// Steps with troubles, of 10 ms each,
const STEPS: u32 = 15_000;
/// and then without.
const CALM: u32 = 15_000;

fn run(seed: u64) -> Reached {
    let patience =
        if seed.is_multiple_of(2) { Patience::Hard } else { Patience::Soft(Duration::from_secs(5)) };
    let mut world = World::new(seed, patience);
    // Without faults of the server nothing but connections and restarts is in the way.
    world.server.faults = [0, 400, 100][seed as usize % 3];
    world.server.compares = !seed.is_multiple_of(5);
    for _ in 0..STEPS {
        world.trouble();
        world.step();
    }
    let done = world.done;
    world.server.calm_down();
    for step in 0..CALM {
        world.is_quiet = step > CALM / 2;
        world.step();
    }
    assert!(world.done > done + 100, "{} calls when all is well: {}", world.done - done, world.sight());
    let (calls, is_idle, standing) = world.rest();
    assert_eq!((calls, is_idle, standing), (0, Some(true), SessionStanding::Ready));
    // Whatever happened before, a client that needs more slots has as many sessions as the server grants.
    world.crowd();
    assert_eq!(world.server.sessions(), SESSIONS, "{}", world.sight());
    world.server.reached
}

#[test]
fn random_histories_end_well() {
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().expect("a number")],
        Err(_) => (0..SEEDS).collect(),
    };
    let mut reached = Reached::default();
    for seed in seeds.iter().copied() {
        // Printed when the test fails.
        #[allow(clippy::print_stdout)]
        {
            println!("SEED={seed}");
        }
        reached.0.extend(run(seed).0);
    }
    if seeds.len() > 1 {
        reached.assert_all();
    }
}
