//! Random clients, hosts, times, crashes and restarts against a naive specification.
//!
//! A failure prints its seed; `SEED=n cargo test -p howdah-state --test model` runs that one alone.

mod delegating;
mod delivery;
mod host;
mod locking;
mod machine;
mod naive;
mod opening;
mod recovery;
mod slots;
mod truth;
mod world;

use world::World;

/// Random steps in all.
const STEPS: u64 = 600_000;
const STEPS_OF_SEED: u64 = 2_000;

#[test]
fn random_runs_keep_the_promises() {
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().expect("a number")],
        Err(_) => (0..STEPS / STEPS_OF_SEED).collect(),
    };
    let mut seen = world::Seen::default();
    for seed in seeds.iter().copied() {
        // Printed when the test fails.
        #[allow(clippy::print_stdout)]
        {
            println!("SEED={seed}");
        }
        let mut world = World::new(seed);
        for _ in 0..STEPS_OF_SEED {
            world.step();
        }
        world.finish();
        seen.add(&world.seen);
    }
    if seeds.len() > 1 {
        seen.assert_all();
    }
}
