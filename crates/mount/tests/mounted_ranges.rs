//! Ranges of files and extended attributes of a mounted file system, as programs use them.

mod support;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::time::Duration;

use howdah_vfs::layer::{Call, Metered};
use howdah_vfs::memory::MemoryFileSystem;
use rustix::fs::{
    FallocateFlags, SeekFrom, XattrFlags, copy_file_range, fallocate, getxattr, listxattr, removexattr, seek,
    setxattr,
};
use rustix::io::Errno;
use support::{Bare, Mount};

/// A page of the kernel, and of the file system in memory.
const PAGE: usize = 4096;

fn open(mount: &Mount, name: &str) -> File {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(mount.at(name))
        .expect("opened")
}

#[test]
fn the_server_copies_and_what_was_written_before_is_copied() {
    let server = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(|| Duration::ZERO)));
    let Some(mount) = Mount::of_cached(Arc::clone(&server) as _) else { return };
    let (source, target) = (open(&mount, "source"), open(&mount, "target"));
    source.write_all_at(&[7; 3 * PAGE], 0).expect("written");
    target.write_all_at(&[1; PAGE], 0).expect("written");
    // So that the kernel has pages of it.
    target.read_exact_at(&mut [0; PAGE], 0).expect("read");
    let (reads, mut from, mut to) = (server.snapshot().of(Call::Read).count, 0, 100);
    let copied = copy_file_range(&source, Some(&mut from), &target, Some(&mut to), 3 * PAGE);
    assert_eq!(copied, Ok(3 * PAGE));
    let calls = server.snapshot();
    assert_eq!((calls.of(Call::CopyRange).count, calls.of(Call::Read).count), (1, reads));
    let expected = [&[1; 100][..], &[7; 3 * PAGE]].concat();
    assert!(fs::read(mount.at("target")).expect("read") == expected);
    drop((source, target));
    mount.unmount();
}

#[test]
fn holes_are_found_and_made() {
    let Some(mount) = Mount::of_cached(Arc::new(MemoryFileSystem::new())) else { return };
    let (file, page) = (open(&mount, "file"), PAGE as u64);
    file.write_all_at(&[7; 4 * PAGE], 4 * page).expect("written");
    assert_eq!(seek(&file, SeekFrom::Data(0)), Ok(4 * page));
    assert_eq!(seek(&file, SeekFrom::Hole(5 * page)), Ok(8 * page));
    fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 5 * page, page)
        .expect("punched");
    assert_eq!(seek(&file, SeekFrom::Hole(4 * page)), Ok(5 * page));
    let mut data = [1; 4 * PAGE];
    file.read_exact_at(&mut data, 4 * page).expect("read");
    assert!(data[PAGE..2 * PAGE].iter().all(|byte| *byte == 0) && data[2 * PAGE] == 7);
    fallocate(&file, FallocateFlags::empty(), 6 * page, 4 * page).expect("reserved");
    let after = file.metadata().expect("there");
    assert_eq!((after.len(), after.blocks() * 512), (10 * page, 5 * page));
    assert_eq!(seek(&file, SeekFrom::Data(10 * page)), Err(Errno::NXIO));
    assert_eq!(fallocate(&file, FallocateFlags::ZERO_RANGE, 0, page), Err(Errno::OPNOTSUPP));
    drop(file);
    mount.unmount();
}

#[test]
fn users_have_extended_attributes() {
    let Some(mount) = Mount::of_cached(Arc::new(MemoryFileSystem::new())) else { return };
    let file = mount.at("file");
    fs::write(&file, "data").expect("written");
    let before = fs::metadata(&file).expect("there");
    setxattr(&file, "user.one", b"1", XattrFlags::CREATE).expect("set");
    setxattr(&file, "user.two", b"", XattrFlags::empty()).expect("set");
    assert_eq!(setxattr(&file, "user.one", b"2", XattrFlags::CREATE), Err(Errno::EXIST));
    assert_eq!(setxattr(&file, "user.no", b"2", XattrFlags::REPLACE), Err(Errno::NODATA));
    assert_eq!(setxattr(&file, "trusted.one", b"2", XattrFlags::empty()), Err(Errno::OPNOTSUPP));
    let after = fs::metadata(&file).expect("there");
    assert!((after.ctime(), after.ctime_nsec()) > (before.ctime(), before.ctime_nsec()));
    let mut value = [0; 9];
    assert_eq!(getxattr(&file, "user.one", &mut value), Ok(1));
    assert_eq!(value[0], b'1');
    assert_eq!(getxattr(&file, "user.no", &mut value), Err(Errno::NODATA));
    let mut names = [0u8; 99];
    let length = listxattr(&file, &mut names).expect("listed");
    let mut names: Vec<&[u8]> = names[..length].split_inclusive(|byte| *byte == 0).collect();
    names.sort_unstable();
    assert_eq!(names, [b"user.one\0", b"user.two\0"]);
    assert_eq!(listxattr(&file, &mut [0u8; 9][..]), Err(Errno::RANGE));
    removexattr(&file, "user.one").expect("removed");
    assert_eq!(removexattr(&file, "user.one"), Err(Errno::NODATA));
    mount.unmount();
}

/// As a mount of NFSv3: what the file system does not have costs no call.
#[test]
fn what_a_file_system_does_not_have_is_refused_at_once() {
    let server = Arc::new(Metered::around(Arc::new(Bare::default()), Arc::new(|| Duration::ZERO)));
    let Some(mount) = Mount::of(Arc::clone(&server) as _) else { return };
    let file = open(&mount, "file");
    file.write_all_at(b"data", 0).expect("written");
    let calls = || Call::ALL.iter().map(|call| server.snapshot().of(*call).count).sum::<u64>();
    let before = calls();
    assert_eq!(setxattr(mount.at("file"), "user.one", b"1", XattrFlags::empty()), Err(Errno::OPNOTSUPP));
    let names = [Call::Lookup, Call::Attributes, Call::Access].map(|call| server.snapshot().of(call).count);
    assert!(calls() - before <= names.iter().sum(), "only the name was looked up");
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    assert_eq!(fallocate(&file, flags, 0, 1), Err(Errno::OPNOTSUPP));
    assert_eq!(seek(&file, SeekFrom::Hole(0)), Ok(4), "by the kernel");
    let target = open(&mount, "target");
    assert_eq!(copy_file_range(&file, Some(&mut 0), &target, None, 4), Ok(4), "by reading and writing");
    drop((file, target));
    mount.unmount();
}
