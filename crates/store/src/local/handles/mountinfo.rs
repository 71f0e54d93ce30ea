//! What the kernel says of mounts (`/proc/self/mountinfo`, proc_pid_mountinfo(5)), taken apart. Pure.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The field of the device in a line, as `major:minor`.
const DEVICE: usize = 2;

/// That of the mount point.
const MOUNT_POINT: usize = 4;

/// The field that ends those whose number differs; the kind of file system follows.
const SEPARATOR: &[u8] = b"-";

/// A mount inside a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) device: u64,
    /// Where it is, seen from the directory.
    pub(super) point: PathBuf,
    /// Of which kind the file system is, such as `ext4`.
    pub(super) kind: Vec<u8>,
}

/// Of those mounts, in their order, the ones that may be copies of what lies on a device and were mounted before it, and
/// itself. None if the device is none of theirs, as that of a subvolume: which of them it lies on is not known, and any other
/// may hang.
pub(super) fn copies_before(mounts: Vec<Mount>, device: u64) -> Vec<Mount> {
    // One device may be mounted in several places, of which the first may be a special file alone.
    let Some(at) = mounts.iter().rposition(|mount| mount.device == device) else { return Vec::new() };
    let kind = mounts[at].kind.clone();
    mounts.into_iter().take(at + 1).filter(|mount| mount.kind == kind).collect()
}

/// The mounts inside a directory, in the order in which the kernel lists them.
pub(super) fn mounts_inside(directory: &Path, text: &[u8]) -> Vec<Mount> {
    text.split(|&byte| byte == b'\n').filter_map(|line| parse(directory, line)).collect()
}

fn parse(directory: &Path, line: &[u8]) -> Option<Mount> {
    let field = |number| line.split(|&byte| byte == b' ').nth(number);
    let (major, minor) = std::str::from_utf8(field(DEVICE)?).ok()?.split_once(':')?;
    let device = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
    let point = PathBuf::from(OsString::from_vec(unescape(field(MOUNT_POINT)?)));
    let kind = line.split(|&byte| byte == b' ').skip_while(|&field| field != SEPARATOR).nth(1);
    let kind = kind.unwrap_or_default().to_vec();
    Some(Mount { device, point: point.strip_prefix(directory).ok()?.to_owned(), kind })
}

/// Blanks and the like stand as a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|digits| byte == b'\\' && digits.iter().all(u8::is_ascii_digit));
        match digits {
            Some(digits) => {
                let value = digits.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                plain.push(value as u8);
                rest = &after[3..];
            }
            None => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_unescaped() {
        assert_eq!(unescape(br"/a\040b\134c\"), br"/a b\c\");
        assert_eq!(unescape(b"/plain"), b"/plain");
    }

    #[test]
    fn mounts_are_told_apart_from_those_elsewhere() {
        let text = b"22 1 254:0 / / rw - ext4 /dev/vda rw\n\
            36 22 8:1 / /srv/my\\040data rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            37 36 0:50 / /srv/my\\040data/a/b rw - tmpfs none rw\n\
            half a line\n";
        let inside = mounts_inside(Path::new("/srv/my data"), text);
        assert_eq!(inside, [mount(8, 1, "", "ext4"), mount(0, 50, "a/b", "tmpfs")]);
    }

    fn mount(major: u32, minor: u32, point: &str, kind: &str) -> Mount {
        let device = rustix::fs::makedev(major, minor);
        Mount { device, point: PathBuf::from(point), kind: kind.into() }
    }

    #[test]
    fn copies_are_of_one_kind_and_those_before_go_first() {
        let all = [
            mount(0, 40, "far", "nfs"),
            mount(8, 1, "origin", "ext4"),
            mount(8, 2, "snapshot", "ext4"),
            mount(8, 3, "later", "ext4"),
            mount(8, 3, "again", "ext4"),
        ];
        let of = |minor| copies_before(all.to_vec(), rustix::fs::makedev(8, minor));
        assert_eq!(of(2), [all[1].clone(), all[2].clone()]);
        assert_eq!(of(1), [all[1].clone()]);
        assert_eq!(of(3), all[1..]);
        assert_eq!(of(9), [], "what is not mounted by itself is entered by itself");
    }
}
