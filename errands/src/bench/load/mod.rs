//! The calls of the rows: what is sent, and what must come back.

mod call;
mod change;
mod compound;
mod contract;
mod counted;
mod data;
mod kind;
pub mod place;
mod query;
mod scene;
mod walk;

pub use call::{check_success, encode, nfs, nfs_before, set_xid};
pub use contract::Load;
pub use counted::Counted;
pub use data::{LARGE, SMALL};
pub use kind::Kind;
pub use scene::Scene;
