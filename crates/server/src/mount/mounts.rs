//! Who has mounted what, as far as clients said so: only DUMP reads it, and nothing depends on it.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::locks::Mutex;

use super::telling::Telling;
use crate::limits::MOUNTS_MAX;

/// The list, oldest first.
#[derive(Debug, Default)]
pub struct Mounts {
    list: Mutex<VecDeque<Mount>>,
    /// Paces what the log says of mounts: a client may mount and unmount in a loop.
    pub(super) news: Telling,
    /// Paces what it says of refusals.
    pub(super) refusals: Telling,
}

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Who.
    pub client: IpAddr,
    /// What: a path that starts with a slash, without empty parts.
    pub path: Vec<u8>,
}

impl Mounts {
    /// Remembers a mount; says whether it was not known.
    pub fn add(&self, client: IpAddr, path: &[u8]) -> bool {
        let mount = Mount { client, path: tidy(path) };
        let mut list = self.list.lock();
        let known = list.len();
        list.retain(|other| *other != mount);
        let new = list.len() == known;
        if list.len() == MOUNTS_MAX {
            list.pop_front();
        }
        list.push_back(mount);
        new
    }

    /// Forgets a mount.
    pub fn remove(&self, client: IpAddr, path: &[u8]) {
        let mount = Mount { client, path: tidy(path) };
        self.list.lock().retain(|other| *other != mount);
    }

    /// Forgets every mount of a client.
    pub fn remove_all(&self, client: IpAddr) {
        self.list.lock().retain(|mount| mount.client != client);
    }

    /// All of them, oldest first.
    pub fn list(&self) -> Vec<Mount> {
        self.list.lock().iter().cloned().collect()
    }
}

/// The path with one slash before each part: `//srv/./data/` is mounted and unmounted as `/srv/data`.
fn tidy(path: &[u8]) -> Vec<u8> {
    let parts = path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    let tidy: Vec<u8> = parts.flat_map(|part| [b"/", part]).flatten().copied().collect();
    if tidy.is_empty() { b"/".to_vec() } else { tidy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn paths(mounts: &Mounts) -> Vec<String> {
        mounts.list().iter().map(|mount| String::from_utf8_lossy(&mount.path).into_owned()).collect()
    }

    #[test]
    fn a_mount_is_listed_once_until_it_is_taken_back() {
        let mounts = Mounts::default();
        mounts.add(client(1), b"/srv");
        mounts.add(client(1), b"/");
        assert!(!mounts.add(client(1), b"//srv/./"), "known");
        assert_eq!(paths(&mounts), ["/", "/srv"]);
        mounts.remove(client(2), b"/srv");
        assert_eq!(paths(&mounts), ["/", "/srv"]);
        mounts.remove(client(1), b"srv/");
        assert_eq!(paths(&mounts), ["/"]);
        mounts.add(client(2), b"/home");
        mounts.remove_all(client(1));
        assert_eq!(paths(&mounts), ["/home"]);
    }

    #[test]
    fn the_oldest_mount_gives_way() {
        let mounts = Mounts::default();
        for number in 0..=MOUNTS_MAX {
            mounts.add(client(1), format!("/{number}").as_bytes());
        }
        let paths = paths(&mounts);
        assert_eq!((paths.len(), paths[0].as_str()), (MOUNTS_MAX, "/1"));
    }
}
