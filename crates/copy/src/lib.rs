//! Copies trees from any [`FileSystem`](howdah_vfs::FileSystem) to any other; knows no protocol.
//!
//! A pool of workers takes tasks from one stack: entries of a directory, the next part of a listing, blocks of a big
//! file. The stack is last in, first out, so the tree is walked once, depth first, and what is known of it at any
//! moment is bounded. A file is written beside its final name, committed, given its attributes and then renamed;
//! a journal beside it remembers what was committed, so that an interrupted copy goes on where it stopped.

mod at_once;
mod block;
mod block_flight;
mod buffers;
mod by_server;
mod content;
mod crew;
mod decide;
mod deletion;
mod directory;
mod engine;
mod error;
mod event;
mod extras;
mod file;
mod file_job;
mod finish;
mod item;
mod journal;
mod journal_file;
mod ledger;
mod links;
mod naming;
mod node;
mod options;
mod outbox;
mod ownership;
mod patterns;
mod ranges;
mod rate;
mod removal;
mod sequence;
mod server_refusals;
mod side;
mod stack;
mod stop_sign;
mod stream;
mod tally;
mod task;
mod tasks;
mod times;
mod transfer;
mod unlocked;
mod way;
mod width;
mod zeros;

pub use engine::{Copier, Outcome};
pub use error::{Cause, CopyError, LeftFiles, On};
pub use event::{Event, Observer};
pub use item::{Item, Target, meet};
pub use naming::{is_ours, source_id};
pub use options::{Compare, CopyOptions, Existing, Preserve, Sparse, Tuning};
pub use patterns::{Fate, Pattern, PatternError, Patterns};
pub use rate::Bucket;
pub use sequence::{SequenceError, read_in_order};
pub use side::{Side, mark_in};
pub use stop_sign::StopSign;
pub use stream::{StreamCopy, StreamEnd};
pub use tally::{Figures, Tally};
