//! The caches of a mount, around the client.

use std::sync::Arc;

use howdah_client::Remote;
use howdah_layers::{AttributeCacheOptions, Cached, CachingOptions};

use super::options::Believed;
use crate::places::expected;

/// Attributes remembered, files read ahead, writes gathered.
pub fn stack(client: Arc<dyn Remote>, believed: &Believed) -> Arc<Cached> {
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
        expected: expected(&*client),
        ..CachingOptions::default()
    };
    Arc::new(Cached::around(client, options))
}
