//! What runs for as long as it is wanted: a server of a configuration ([`serve`]) and the process behind a mount ([`mounts`]); with
//! what both need of their host ([`host`]) and how files are named, here and on other servers ([`places`]).

pub mod host;
pub mod mounts;
pub mod places;
pub mod screen;
pub mod serve;
