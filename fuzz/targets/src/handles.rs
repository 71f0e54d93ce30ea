//! Handles as clients send them: what opens is what was sealed, and one changed byte closes it.
//!
//! A fuzzer watches the comparison of checksums from inside and so finds the right one for any handle, which nobody
//! outside can; what it then opens must still be sealed the same way again.

use std::sync::Arc;

use howdah_server::exports::{Export, Exports};
use howdah_vfs::Handle;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs3::FileHandle;

/// Opens any bytes; seals them, opens that, and changes one byte of it.
pub fn run(input: &[u8]) {
    let export = Export::new("/", 7, Arc::new(MemoryFileSystem::new()), Vec::new());
    let exports = Exports::new(vec![export], *b"a key, not a toy").expect("one export");
    let export = exports.find(7).expect("it is there");
    if let Some((7, handle)) = exports.open(FileHandle(input)).filter(|(_, handle)| is_exportable(handle)) {
        assert_eq!(exports.seal(export, &handle).as_wire().0, input);
    }
    let Some((change, inner)) = input.split_first() else { return };
    let Ok(handle) = Handle::new(inner) else { return };
    let sealed = exports.seal(export, &handle);
    if !is_exportable(&handle) {
        assert!(sealed.as_wire().0.is_empty(), "no envelope is long enough");
        return;
    }
    assert_eq!(exports.open(sealed.as_wire()), Some((7, handle)));
    let mut forged = sealed.as_wire().0.to_vec();
    let at = usize::from(*change) % forged.len();
    forged[at] ^= (change >> 3) | 1;
    assert_eq!(exports.open(FileHandle(&forged)), None, "byte {at} of {sealed:?}");
}

fn is_exportable(handle: &Handle) -> bool {
    handle.as_bytes().len() <= Handle::EXPORTABLE_MAX
}
