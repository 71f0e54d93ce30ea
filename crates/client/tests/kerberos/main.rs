//! The client with Kerberos: howdah's own server behind a gatekeeper who checks each call, and tickets made up here.

mod contexts;
mod files;
mod gatekeeper;
#[path = "../served/mod.rs"]
mod served;
