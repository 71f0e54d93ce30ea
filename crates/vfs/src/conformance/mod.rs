//! The suite that judges any [`FileSystem`](crate::FileSystem): over memory, over a disk, over the wire.
//!
//! [`run`] runs all cases on subjects that a function makes, one for each case; [`cases`] gives them singly, so that
//! a test harness can make a test of each. A case returns what is wrong instead of panicking. Where POSIX systems
//! legitimately differ a case accepts each of their answers, and no more.
//!
//! [`operations`] judges in another way: random lists of calls, run on the model and on the subject alike.

mod actor;
mod bench;
mod case;
mod cases;
mod expect;
mod groups;
pub mod operations;
mod report;
mod subject;
mod suite;
mod topics;
mod verdict;

pub use case::{Case, CaseNeed, Outcome};
pub use report::{Report, run};
pub use subject::{Abilities, ActsAs, Subject};
pub use suite::cases;
