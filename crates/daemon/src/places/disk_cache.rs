//! A cache on disk before a server: which directory it is in, how large it may be, and how it is reported.

use std::sync::Arc;

use howdah_client::url::NfsUrl;
use howdah_config::DiskCacheSettings;
use howdah_layers::{
    CacheDirectory, CacheStorage, Cached, CachingOptions, DiskCacheOptions, DiskCacheReport, DiskCacheState,
};
use howdah_units::size;
use howdah_vfs::FileSystem;
use serde::{Deserialize, Serialize};

/// The port of NFS where the URL names none.
const NFS_PORT: u16 = 2049;

/// A cache on disk that was asked for, and whether it could be had.
#[derive(Debug, Clone)]
pub struct DiskCacheUse {
    settings: DiskCacheSettings,
    refused: Option<String>,
}

/// A cache on disk, as `howdah mounts` reports it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskCacheStatus {
    /// Its directory.
    pub cache_dir: String,
    /// `on`, `loading`, `full`, `hangs`, `fails`, or `unused`.
    pub cache_state: String,
    /// Why it is unused.
    pub cache_problem: Option<String>,
    /// Bytes that it takes on the disk, and how many it may.
    pub cache_bytes: u64,
    /// See `cache_bytes`.
    pub cache_bytes_max: u64,
    /// Reads that it answered, and reads that the server answered.
    pub cache_hits: u64,
    /// See `cache_hits`.
    pub cache_misses: u64,
}

/// A server with caches, and with one on disk if that is asked for. Where that cannot be had, the log says why, and the others are used.
pub fn cached_at(
    url: &NfsUrl,
    client: Arc<dyn FileSystem>,
    options: CachingOptions,
    settings: Option<&DiskCacheSettings>,
) -> (Arc<Cached>, Option<DiskCacheUse>) {
    let Some(settings) = settings else { return (Arc::new(Cached::around(client, options)), None) };
    let settings = settings.clone();
    match CacheDirectory::open(&settings.directory) {
        Ok(storage) => {
            let storage: Arc<dyn CacheStorage> = Arc::new(storage);
            let disk = DiskCacheOptions::new(settings.size, identity(url));
            let cached = Cached::on_disk(client, options, (storage, disk));
            (Arc::new(cached), Some(DiskCacheUse { settings, refused: None }))
        }
        Err(error) => {
            tracing::warn!("continuing without the cache in {}: {error}", settings.directory.display());
            let refused = Some(error.to_string());
            (Arc::new(Cached::around(client, options)), Some(DiskCacheUse { settings, refused }))
        }
    }
}

/// What a server exports, whatever options it is mounted with.
fn identity(url: &NfsUrl) -> String {
    let (server, export) = exported(url);
    server + &export
}

/// A server and one of its exports, whatever options it is mounted with.
pub fn exported(url: &NfsUrl) -> (String, String) {
    let port = url.options.nfs_port.or(url.port).unwrap_or(NFS_PORT);
    (format!("{}:{port}", url.host), String::from_utf8_lossy(&url.path_bytes()).into_owned())
}

impl DiskCacheUse {
    /// How it is now.
    pub fn status(&self, report: Option<&DiskCacheReport>) -> DiskCacheStatus {
        let word = report.map_or("unused", |report| match report.state {
            DiskCacheState::Loading => "loading",
            DiskCacheState::On => "on",
            DiskCacheState::Full => "full",
            DiskCacheState::Hangs => "hangs",
            DiskCacheState::Fails => "fails",
        });
        DiskCacheStatus {
            cache_dir: self.settings.directory.display().to_string(),
            cache_state: word.to_owned(),
            cache_problem: self.refused.clone(),
            cache_bytes: report.map_or(0, |report| report.bytes),
            cache_bytes_max: self.settings.size,
            cache_hits: report.map_or(0, |report| report.hits),
            cache_misses: report.map_or(0, |report| report.misses),
        }
    }
}

impl DiskCacheStatus {
    /// In a line for a person.
    pub fn text(&self) -> String {
        let Self { cache_dir, cache_bytes, cache_bytes_max, cache_hits, cache_misses, .. } = self;
        let unused = |why: &str| format!("cache in {cache_dir} not used: {why}");
        let note = match self.cache_state.as_str() {
            "unused" => return unused(self.cache_problem.as_deref().unwrap_or("it could not be opened")),
            "hangs" => return unused("its disk does not answer (mount again once it does)"),
            "fails" => return unused("its disk fails (the log has the error)"),
            "loading" => ", its index is being read",
            "full" => ", nothing is added because the disk is full",
            _ => "",
        };
        let reads = match cache_hits + cache_misses {
            0 => String::new(),
            all => format!(", {:.0} % of reads from it", 100.0 * *cache_hits as f64 / all as f64),
        };
        format!("cache in {cache_dir}: {} of {}{reads}{note}", size(*cache_bytes), size(*cache_bytes_max))
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;

    #[test]
    fn a_cache_that_another_process_uses_is_done_without_and_reported() {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = DiskCacheSettings { directory: directory.path().to_owned(), size: 20 << 30 };
        let url: NfsUrl = "nfs://host/export".parse().expect("a URL");
        let open = || {
            let memory = Arc::new(MemoryFileSystem::new());
            cached_at(&url, memory, CachingOptions::default(), Some(&settings))
        };
        let status = |(cached, used): &(Arc<Cached>, Option<DiskCacheUse>)| {
            used.as_ref().expect("asked for").status(cached.report().disk.as_ref())
        };
        let first = open();
        let second = status(&open());
        assert_ne!(status(&first).cache_state, "unused");
        assert_eq!(second.cache_state, "unused");
        assert!(second.text().ends_with("not used: another mount or relay uses it"), "{}", second.text());
        let on = DiskCacheStatus {
            cache_state: "on".to_owned(),
            cache_hits: 3,
            cache_misses: 1,
            ..status(&first)
        };
        assert!(on.text().ends_with(": 0 B of 21.5 GB, 75 % of reads from it"), "{}", on.text());
    }

    #[test]
    fn one_export_is_the_same_with_any_options() {
        let of = |url: &str| identity(&url.parse().expect("a URL"));
        assert_eq!(of("nfs://host/a/b?rsize=65536"), "host:2049/a/b");
        assert_eq!(of("nfs://host:2050/a?uid=5"), "host:2050/a");
        assert_ne!(of("nfs://host/a?nfsport=2050"), of("nfs://host/a"));
    }
}
