//! The kernel's handle of a file, for comparing mounts of one file system on several hosts.

use std::fmt::Write as _;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

use super::syscall;

/// What `name_to_handle_at` of Linux (open_by_handle_at(2)) gives for a file, following no link: the handle's type, and its bytes in
/// hexadecimal. Handles of one file on two mounts are the same if this text is.
///
/// # Errors
/// The file cannot be looked at, or its file system makes no handles.
pub fn kernel_handle(path: &Path) -> io::Result<String> {
    let file = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let handle = syscall::name_to_handle(file.as_fd(), None)?;
    let mut text = handle.kind().to_string();
    text.push(' ');
    for byte in handle.as_bytes() {
        write!(text, "{byte:02x}").expect("a string takes everything");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_handle_under_all_its_names() {
        let home = tempfile::tempdir().expect("a directory");
        let path = |name: &str| home.path().join(name);
        std::fs::write(path("a"), "a").expect("written");
        std::fs::hard_link(path("a"), path("b")).expect("linked");
        std::fs::write(path("c"), "c").expect("written");
        std::os::unix::fs::symlink("a", path("d")).expect("linked");
        assert!(kernel_handle(&path("e")).is_err());
        // Not every file system makes handles.
        let Ok(one) = kernel_handle(&path("a")) else { return };
        let other = |name: &str| kernel_handle(&path(name)).expect("a handle");
        assert_eq!(one, other("b"));
        assert!(one != other("c") && one != other("d"), "{one}");
    }
}
