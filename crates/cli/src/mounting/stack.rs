//! The caches of a mount, around the client, and what opening and closing a file mean to them.

use std::sync::Arc;

use howdah_client::nfs3::Nfs3;
use howdah_layers::{AttributeCacheOptions, Cached, CachingOptions};
use howdah_mount::{Closed, Consistency};
use howdah_vfs::{Attributes, Caller, Change, FileSystem, Handle, ReadOutcome, Result};

use super::options::Believed;
use crate::places::expected;

/// What is mounted, and what opening and closing a file mean to it.
pub struct Stack {
    pub file_system: Arc<Cached>,
    pub consistency: Arc<dyn Consistency>,
}

/// Attributes remembered, files read ahead, writes gathered.
pub fn stack(client: Arc<Nfs3>, believed: &Believed) -> Stack {
    let attributes = AttributeCacheOptions {
        file_min: believed.file_min,
        file_max: believed.file_max,
        directory_min: believed.directory_min,
        directory_max: believed.directory_max,
        lookups: believed.lookups,
        absence: believed.absence,
        ..AttributeCacheOptions::default()
    };
    let sizes = client.sizes();
    let options = CachingOptions {
        attributes,
        read_size: sizes.read as usize,
        write_size: sizes.write as usize,
        expected: expected(&client),
        ..CachingOptions::default()
    };
    let cached = Arc::new(Cached::around(client, options));
    let consistency = Arc::new(CloseToOpen(Arc::clone(&cached)));
    Stack { file_system: cached, consistency }
}

/// Opening a file asks the server, closing it waits for what was written behind.
struct CloseToOpen(Arc<Cached>);

impl Consistency for CloseToOpen {
    fn opened(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.0.opened(caller, node)
    }

    fn closed(&self, caller: &Caller, node: &Handle) -> Result<Closed> {
        let mut change = Change::default();
        let verifier = self.0.commit(caller, node, 0, 0, &mut change)?.verifier;
        Ok(Closed { verifier, after: change.after })
    }

    fn sent(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.0.sent(caller, node)
    }

    fn read_now(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        count: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        self.0.read_now(caller, node, offset, count, buffer)
    }
}
