//! `howdah why`, `get` and `set`, asked of the real program while it serves.

#![allow(clippy::print_stdout)]

#[path = "running/server.rs"]
mod server;

#[path = "admin/asking.rs"]
mod asking;
#[path = "admin/knobs.rs"]
mod knobs;
#[path = "admin/page.rs"]
mod page;
#[path = "admin/reach.rs"]
mod reach;
#[path = "admin/stat.rs"]
mod stat;
#[path = "admin/why.rs"]
mod why;
