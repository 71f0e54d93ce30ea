//! The procedures as a client sees them: encoded calls through the table, over the file system in memory.

mod acls;
mod certificates;
mod client;
mod durability;
mod exports;
mod flavors;
mod handles;
mod listings;
mod named_clients;
mod names;
mod procedures;
mod read_only;
mod repetition;
