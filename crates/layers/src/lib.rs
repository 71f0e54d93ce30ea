//! Layers that make a far file system feel near: around any [`FileSystem`](howdah_vfs::FileSystem), one decoration each.

mod attribute_cache;
mod cached;
mod disk_cache;
pub mod file;
mod generations;
mod list_ahead;
mod names_behind;
mod outcome;
mod read_ahead;
mod write_behind;

pub use attribute_cache::{
    AloneWatch, AttributeCache, AttributeCacheOptions, AttributeCacheReport, LookupCache,
};
pub use cached::{Cached, CachedReport, CachingOptions};
pub use disk_cache::{
    CacheDirectory, CacheStorage, DiskCache, DiskCacheOptions, DiskCacheReport, DiskCacheState, DiskSpace,
    IndexChange, NodeKey, SmallData, this_host,
};
pub use list_ahead::{ListAhead, ListAheadReport};
pub use names_behind::{BehindOptions, BehindReport, NamesBehind, RefusedLater, Settle};
pub use read_ahead::{ReadAhead, ReadAheadOptions, ReadAheadReport};
pub use write_behind::{WriteBehind, WriteBehindOptions, WriteBehindReport};
