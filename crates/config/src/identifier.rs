//! The number of an export inside file handles: derived from its name and the place of its files, so that it needs no
//! bookkeeping and is the same after every restart and on every machine that serves the same.

use super::{ExportName, Source};

/// FNV-1a over name and place. Stable for ever: a different number makes every client's handles stale.
pub fn identifier(name: &ExportName, source: &Source) -> u32 {
    fnv(name.as_str().bytes().chain([0]).chain(source.place()))
}

/// The same for an export that several heads serve: of the cluster's name and the export's, since its files may have another path
/// on each head.
pub fn cluster_identifier(cluster: &str, name: &ExportName) -> u32 {
    fnv(b"cluster".iter().copied().chain([0]).chain(cluster.bytes()).chain([0]).chain(name.as_str().bytes()))
}

fn fnv(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_changes() {
        let name: ExportName = "/data".parse().expect("a good name");
        let number = |path: &str| identifier(&name, &Source::Directory(path.into()));
        assert_eq!(number("/srv/data"), 3_893_656_681);
        assert_ne!(number("/srv/data"), number("/srv/date"));
    }
}
