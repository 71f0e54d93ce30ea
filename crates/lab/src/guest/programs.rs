//! Where programs are that a guest or a server of other people needs, and which package brings what is not there.

use std::env;
use std::path::PathBuf;

const SYSTEM_DIRECTORIES: &[&str] = &["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// Programs, and the package of Debian and its descendants that brings each.
const PACKAGES: &[(&str, &str)] = &[
    ("linux.uml", "user-mode-linux"),
    ("mount.nfs", "nfs-common"),
    ("rpc.nfsd", "nfs-kernel-server"),
    ("rpc.mountd", "nfs-kernel-server"),
    ("exportfs", "nfs-kernel-server"),
    ("ganesha.nfsd", "nfs-ganesha nfs-ganesha-vfs"),
    ("rpcbind", "rpcbind"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("modprobe", "kmod"),
    ("setpriv", "util-linux"),
    ("rsync", "rsync"),
    ("socat", "socat"),
    ("mfsmaster", "moosefs-master"),
    ("mfschunkserver", "moosefs-chunkserver"),
    ("mfsmount", "moosefs-client"),
];

/// Where a command is; the system's directories too, which an ordinary user's PATH may lack.
pub fn find_command(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(SYSTEM_DIRECTORIES.iter().map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
}

/// PATH for everything we start.
pub fn search_path() -> String {
    let own = env::var("PATH").unwrap_or_default();
    let system = SYSTEM_DIRECTORIES.join(":");
    if own.is_empty() { system } else { format!("{own}:{system}") }
}

/// The package that brings a program; the program's own name where we know of none.
pub fn package_of(program: &str) -> &str {
    PACKAGES.iter().find(|(name, _)| *name == program).map_or(program, |(_, package)| package)
}

/// What of these programs is not installed and what to install for it, as a sentence; none if all are there.
pub fn missing(programs: &[&str]) -> Option<String> {
    let absent: Vec<&str> = programs.iter().copied().filter(|name| find_command(name).is_none()).collect();
    sentence(&absent)
}

fn sentence(absent: &[&str]) -> Option<String> {
    if absent.is_empty() {
        return None;
    }
    let mut packages: Vec<&str> = absent.iter().map(|name| package_of(name)).collect();
    packages.dedup();
    Some(format!("not installed: {}; on Debian: apt install {}", absent.join(", "), packages.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_the_package_that_brings_it() {
        assert_eq!(sentence(&[]), None);
        assert_eq!(
            sentence(&["linux.uml", "rpc.nfsd", "rpc.mountd"]).as_deref(),
            Some(
                "not installed: linux.uml, rpc.nfsd, rpc.mountd; on Debian: apt install user-mode-linux nfs-kernel-server"
            )
        );
        assert_eq!(package_of("nobody-knows"), "nobody-knows");
    }

    #[test]
    fn a_shell_is_found() {
        assert!(find_command("sh").is_some());
        assert!(missing(&["sh"]).is_none());
    }
}
