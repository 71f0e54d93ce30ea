//! Files that are mapped into memory.

#![allow(unsafe_code)] // Mapping is.

mod support;

use std::fs::{self, File, OpenOptions};
use std::ptr;

use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
use support::Mount;

const SIZE: usize = 3 * 4096;

#[test]
fn a_mapped_file_is_written_by_msync_and_by_unmapping() {
    let Some(mount) = Mount::of_memory() else { return };
    fs::write(mount.at("file"), vec![b'.'; SIZE]).expect("written");
    let file = OpenOptions::new().read(true).write(true).open(mount.at("file")).expect("opened");
    // SAFETY: a new mapping, at a place that the kernel chooses.
    let map = unsafe {
        let how = ProtFlags::READ | ProtFlags::WRITE;
        mmap(ptr::null_mut(), SIZE, how, MapFlags::SHARED, &file, 0).expect("mapped")
    };
    let at = |offset: usize| map.cast::<u8>().wrapping_add(offset);
    // SAFETY: within the mapping, which is there until it is unmapped below, and which nothing else here refers to.
    unsafe {
        assert_eq!(*at(5), b'.');
        *at(5) = b'a';
        msync(map, SIZE, MsyncFlags::SYNC).expect("written");
    }
    assert_eq!(read_past_cache(&mount)[5], b'a');
    // SAFETY: as above; the mapping is not used after it is unmapped.
    unsafe {
        *at(SIZE - 1) = b'z';
        munmap(map, SIZE).expect("unmapped");
    }
    drop(file);
    let content = fs::read(mount.at("file")).expect("read");
    assert_eq!((content[5], content[SIZE - 1], content.len()), (b'a', b'z', SIZE));
}

/// What the file system has, by a file opened anew whose pages are not the kernel's.
fn read_past_cache(mount: &Mount) -> Vec<u8> {
    use std::os::unix::fs::{FileExt, OpenOptionsExt};
    let file: File =
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(mount.at("file")).expect("opened");
    let mut content = vec![0; SIZE];
    file.read_exact_at(&mut content, 0).expect("read");
    content
}
