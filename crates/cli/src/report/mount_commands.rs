//! How to mount an export: exact commands, ready to be pasted.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

use howdah_config::{DEFAULT_PORT, ExportName};

/// Where mount commands mount.
const MOUNT_POINT: &str = "/mnt";

/// For the kernel of Linux, with all ports: a client that has to ask for one waits minutes where nobody answers. `nolock`,
/// because clients look for locks by port 111, where perhaps nobody answers: so they hold on the client only.
pub fn linux(host: SocketAddr, name: &ExportName) -> String {
    let target = quoted(&target(host.ip(), name));
    let port = host.port();
    // nfs(5): "tcp" means TCP over IPv4 only.
    let tcp = if host.is_ipv4() { "tcp" } else { "tcp6" };
    format!(
        "mount -t nfs -o vers=3,proto={tcp},port={port},mountport={port},mountproto={tcp},nolock {target} {MOUNT_POINT}"
    )
}

/// For the kernel of Linux over NFSv4, which asks for no port.
pub fn linux_nfs4(host: SocketAddr, name: &ExportName) -> String {
    let target = quoted(&target(host.ip(), name));
    match host.port() {
        DEFAULT_PORT => format!("mount -t nfs {target} {MOUNT_POINT}"),
        port => format!("mount -t nfs -o port={port} {target} {MOUNT_POINT}"),
    }
}

/// For an export of a far server through a relay, over NFSv4.
pub fn far(host: SocketAddr) -> String {
    let target = format!("{}:/EXPORT", bracketed(host.ip()));
    match host.port() {
        DEFAULT_PORT => format!("mount -t nfs -o vers=4 {target} {MOUNT_POINT}"),
        port => format!("mount -t nfs -o vers=4,port={port} {target} {MOUNT_POINT}"),
    }
}

/// The same over NFSv3: MOUNT goes to the port of the relay, too.
pub fn far_nfs3(host: SocketAddr) -> String {
    let (target, port) = (format!("{}:/EXPORT", bracketed(host.ip())), host.port());
    let tcp = if host.is_ipv4() { "tcp" } else { "tcp6" };
    format!(
        "mount -t nfs -o vers=3,proto={tcp},port={port},mountport={port},mountproto={tcp},nolock {target} {MOUNT_POINT}"
    )
}

/// The same where port 111 answers: locks are found there, too.
pub fn linux_by_portmapper(host: SocketAddr, name: &ExportName) -> String {
    format!("mount -t nfs -o vers=3 {} {MOUNT_POINT}", quoted(&target(host.ip(), name)))
}

/// The same command of Linux, protected as this word of `xprtsec` says.
pub fn over_tls(command: &str, xprtsec: &str) -> String {
    match command.split_once(" -o ") {
        Some((start, options)) => format!("{start} -o xprtsec={xprtsec},{options}"),
        None => command.replacen(" -t nfs ", &format!(" -t nfs -o xprtsec={xprtsec} "), 1),
    }
}

/// For macOS, whose mount_nfs(8) spells the same differently; `locallocks` keeps programs working that lock files.
pub fn macos(host: SocketAddr, name: &ExportName) -> String {
    let port = host.port();
    let tcp = if host.is_ipv4() { "tcp" } else { "proto=tcp6" };
    let target = quoted(&target(host.ip(), name));
    format!("mount -t nfs -o vers=3,{tcp},port={port},mountport={port},locallocks {target} {MOUNT_POINT}")
}

/// For programs that use libnfs: RFC 2224 with libnfs's own arguments.
pub fn url(host: SocketAddr, name: &ExportName) -> String {
    let (ip, port) = (bracketed(host.ip()), host.port());
    let slash = if name.as_str() == "/" { "" } else { "/" };
    format!("nfs://{ip}{}{slash}?nfsport={port}&mountport={port}", escaped(name.as_str()))
}

fn target(host: IpAddr, name: &ExportName) -> String {
    format!("{}:{name}", bracketed(host))
}

fn bracketed(host: IpAddr) -> String {
    match host {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// A word of a shell command.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/:._-".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn escaped(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    fn name(text: &str) -> ExportName {
        text.parse().expect("a name")
    }

    #[test]
    fn one_line_per_system() {
        let here = host("10.0.0.1:3049");
        assert_eq!(
            linux(here, &name("/")),
            "mount -t nfs -o vers=3,proto=tcp,port=3049,mountport=3049,mountproto=tcp,nolock 10.0.0.1:/ /mnt"
        );
        assert_eq!(linux_nfs4(here, &name("/data")), "mount -t nfs -o port=3049 10.0.0.1:/data /mnt");
        assert_eq!(linux_nfs4(host("[fd00::1]:2049"), &name("/")), "mount -t nfs '[fd00::1]:/' /mnt");
        assert_eq!(linux_by_portmapper(here, &name("/data")), "mount -t nfs -o vers=3 10.0.0.1:/data /mnt");
        assert_eq!(
            macos(here, &name("/")),
            "mount -t nfs -o vers=3,tcp,port=3049,mountport=3049,locallocks 10.0.0.1:/ /mnt"
        );
        assert_eq!(url(here, &name("/")), "nfs://10.0.0.1/?nfsport=3049&mountport=3049");
        assert_eq!(url(here, &name("/data")), "nfs://10.0.0.1/data/?nfsport=3049&mountport=3049");
    }

    #[test]
    fn ipv6_and_odd_names() {
        let here = host("[fd00::1]:2049");
        let line = linux(here, &name("/a b"));
        assert!(line.contains("proto=tcp6,") && line.ends_with("'[fd00::1]:/a b' /mnt"), "{line}");
        assert_eq!(url(here, &name("/a b?")), "nfs://[fd00::1]/a%20b%3F/?nfsport=2049&mountport=2049");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
