//! Files that are mapped into memory.

#![allow(unsafe_code)] // Mapping is.

mod support;

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::process::Command;
use std::ptr;

use howdah_needs::{Lack, skipped};
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
use support::Mount;

const SIZE: usize = 3 * 4096;

/// The file that a process maps; set in the environment of the process that does.
const MAPPED: &str = "HOWDAH_TEST_MAPPED";

#[test]
fn a_mapped_file_is_written_by_msync_and_by_unmapping() {
    if let Some(path) = std::env::var_os(MAPPED) {
        return map_and_write(Path::new(&path), 0);
    }
    map_in_a_child("a_mapped_file_is_written_by_msync_and_by_unmapping");
}

#[test]
fn a_file_that_is_open_past_the_caches_can_be_mapped() {
    if let Some(path) = std::env::var_os(MAPPED) {
        return map_and_write(Path::new(&path), libc::O_DIRECT);
    }
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < (6, 6) {
        skipped(Lack::Kernel, "before Linux 6.6 such a file cannot be mapped to be written");
        return;
    }
    map_in_a_child("a_file_that_is_open_past_the_caches_can_be_mapped");
}

fn map_in_a_child(test: &str) {
    let Some(mount) = Mount::of_memory() else { return };
    let path = mount.at("file");
    fs::write(&path, vec![b'.'; SIZE]).expect("written");
    // Another process maps it: a page fault holds the memory of its process, in which the mount's threads need some, too.
    let mut child = Command::new(std::env::current_exe().expect("own path"));
    child.args(["--exact", test]).env(MAPPED, &path);
    assert!(child.status().expect("it runs").success());
    let content = fs::read(&path).expect("read");
    assert_eq!((content[5], content[SIZE - 1], content.len()), (b'a', b'z', SIZE));
}

fn map_and_write(path: &Path, flags: i32) {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(flags).open(path).expect("opened");
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
    assert_eq!(read_past_cache(path)[5], b'a');
    // SAFETY: as above; the mapping is not used after it is unmapped.
    unsafe {
        *at(SIZE - 1) = b'z';
        munmap(map, SIZE).expect("unmapped");
    }
}

/// What the file system has, by a file opened anew whose pages are not the kernel's.
fn read_past_cache(path: &Path) -> Vec<u8> {
    use std::os::unix::fs::{FileExt, OpenOptionsExt};
    let file: File = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path).expect("opened");
    let mut content = vec![0; SIZE];
    file.read_exact_at(&mut content, 0).expect("read");
    content
}
