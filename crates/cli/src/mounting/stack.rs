//! The layers of a mount, around the client: the one place that composes them.

use std::sync::Arc;
use std::time::Instant;

use howdah_client::nfs3::Nfs3;
use howdah_layers::{
    AttributeCache, AttributeCacheOptions, ReadAhead, ReadAheadOptions, WriteBehind, WriteBehindOptions,
};
use howdah_mount::Consistency;
use howdah_vfs::{Attributes, Caller, Change, FileSystem, Handle, Result};

use super::options::Believed;

/// What is mounted, and what opening and closing a file mean to it.
pub struct Stack {
    pub file_system: Arc<dyn FileSystem>,
    pub consistency: Arc<dyn Consistency>,
}

/// Attributes remembered, files read ahead, writes gathered.
pub fn stack(client: Arc<Nfs3>, believed: &Believed) -> Stack {
    let start = Instant::now();
    let options = AttributeCacheOptions {
        file_min: believed.file_min,
        directory_min: believed.directory_min,
        max: believed.file_max.max(believed.directory_max),
        ..AttributeCacheOptions::default()
    };
    let cache = Arc::new(AttributeCache::around(client, options, Arc::new(move || start.elapsed())));
    let ahead = ReadAhead::around(Arc::clone(&cache) as _, ReadAheadOptions::default());
    let behind = Arc::new(WriteBehind::around(Arc::new(ahead), WriteBehindOptions::default()));
    let consistency = Arc::new(CloseToOpen { cache, behind: Arc::clone(&behind) });
    Stack { file_system: behind, consistency }
}

/// Opening a file asks the server, closing it waits for what was written behind.
struct CloseToOpen {
    cache: Arc<AttributeCache>,
    behind: Arc<WriteBehind>,
}

impl Consistency for CloseToOpen {
    fn opened(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        // What is not written yet is written first: the server's attributes would know nothing of it.
        FileSystem::attributes(&*self.behind, caller, node)?;
        self.cache.revalidate(caller, node)
    }

    fn closed(&self, caller: &Caller, node: &Handle) -> Result<[u8; 8]> {
        let mut change = Change::default();
        Ok(FileSystem::commit(&*self.behind, caller, node, 0, 0, &mut change)?.verifier)
    }
}
