//! The floors: each does the job of a row with as few system calls as can be, in a process of its own on the server's
//! core, and answers the very load that the server gets. Arguments are taken from where they must stand, replies are
//! canned and of the usual size: what remains is what the kernel takes.

mod batch;
mod bulk;
mod change;
mod child;
mod handle;
mod job;
mod list;
mod query;
mod record;
mod service;
mod small;

pub use child::Floor;
pub use job::Job;
pub use service::run;
