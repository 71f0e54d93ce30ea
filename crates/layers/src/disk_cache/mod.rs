//! A cache on a disk of this host, which outlives the process: data of files under the content that they had when it was read.

mod cache;
mod chain;
mod database;
mod directory;
mod index;
mod layer;
mod node;
mod options;
mod pieces;
mod queue;
mod reading;
mod report;
mod secret;
mod seen;
mod shared;
mod small;
mod storage;
mod tag;
mod writer;

pub use cache::DiskCache;
pub use directory::{CacheDirectory, this_host};
pub use options::DiskCacheOptions;
pub use report::{DiskCacheReport, DiskCacheState};
pub use secret::NodeKey;
pub use storage::{CacheStorage, DiskSpace, IndexChange, SmallData};
