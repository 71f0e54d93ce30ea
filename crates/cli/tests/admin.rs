//! `howdah why`, `get`, `set`, `clients`, `stat` and `top`, asked of the real program while it serves.

#![allow(clippy::print_stdout)]

#[path = "running/server.rs"]
mod server;
#[path = "running/tty.rs"]
mod tty;

#[path = "admin/asking.rs"]
mod asking;
#[path = "admin/browser.rs"]
mod browser;
#[path = "admin/clients.rs"]
mod clients;
#[path = "admin/knobs.rs"]
mod knobs;
#[path = "admin/page.rs"]
mod page;
#[path = "admin/phone.rs"]
mod phone;
#[path = "admin/reach.rs"]
mod reach;
#[path = "admin/stat.rs"]
mod stat;
#[path = "admin/top.rs"]
mod top;
#[path = "admin/why.rs"]
mod why;
