//! A part of a file as memory: the one place here that needs `unsafe`.

use std::fs::File;
use std::io;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};

/// Mappings begin at a multiple of this.
pub const PAGE: usize = 4096;

/// Copies `length` bytes at `offset` out of a mapping of the file. The range must lie inside the file.
pub fn read(file: &File, offset: usize, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    with_mapping(file, offset, length, |mapped| bytes.copy_from_slice(mapped))?;
    Ok(bytes)
}

/// Copies bytes into a mapping of the file at `offset`, and has them written. The range must lie inside the file.
pub fn write(file: &File, offset: usize, bytes: &[u8]) -> io::Result<()> {
    with_mapping(file, offset, bytes.len(), |mapped| mapped.copy_from_slice(bytes))
}

fn with_mapping(file: &File, offset: usize, length: usize, work: impl FnOnce(&mut [u8])) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    let start = offset / PAGE * PAGE;
    let inside = offset - start;
    let whole = inside + length;
    // SAFETY: a fresh mapping at an address of the kernel's choice aliases nothing of ours.
    let address = unsafe {
        mmap(null_mut(), whole, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, start as u64)?
    };
    // SAFETY: the mapping holds `whole` readable and writable bytes until munmap below. Its file is this run's alone
    // and is not cut meanwhile (one thread does everything), so no access faults and no other reference exists.
    let mapped = unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>().add(inside), length) };
    work(mapped);
    // SAFETY: the range is the mapping made above, and `mapped` is not used after this.
    unsafe {
        let synced = msync(address, whole, MsyncFlags::SYNC);
        munmap(address, whole)?;
        synced?;
    }
    Ok(())
}
