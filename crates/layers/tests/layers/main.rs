//! Layers around file systems, each alone and over each other.

mod attribute_cache;
mod attribute_cache_alone;
mod attribute_cache_chains;
mod attribute_cache_order;
mod behind;
mod cached;
mod cached_ranges;
mod disk;
mod disk_cache;
mod disk_cache_faults;
mod disk_cache_random;
mod layers;
mod list_ahead;
mod litmus;
mod names_behind;
mod names_behind_journal;
mod names_behind_litmus;
mod names_behind_order;
mod names_behind_stranger;
mod power_cuts;
mod read_ahead;
#[path = "../../../store/tests/simulated_disk/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod simulated_disk;
mod write_behind;
mod write_behind_absence;
mod write_behind_answers;
mod write_behind_attributes;
mod write_behind_losses;
mod write_behind_order;
mod write_behind_refused;
mod write_behind_waiting;
