//! Who has the port that we want.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use super::user_name;

/// What to say when this address is taken: the process that has it, as far as this one may know, and what to do.
pub fn explain_taken_port(address: SocketAddr) -> String {
    let port = address.port();
    let owner = match owners(address).into_iter().min() {
        Some(Owner::Process { id, name }) => format!("{name} (process {id}) has it"),
        Some(Owner::Kernel) => {
            "the kernel has it, so its own NFS server runs (stop it: systemctl stop nfs-server)".to_owned()
        }
        Some(Owner::Hidden { user }) => {
            format!("a process of user {} has it (run as root to see which)", user_name(user))
        }
        Some(Owner::Unseen) => {
            "a program has it that cannot be seen from here; does it run in a container?".to_owned()
        }
        None => "another program has it".to_owned(),
    };
    let end = if owner.ends_with('?') { "" } else { "." };
    format!(
        "port {port} is taken: {owner}{end} Stop that, or listen elsewhere, as in --listen {}",
        port.wrapping_add(1).max(1024)
    )
}

/// Who has it; the surest answer comes first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// A process that we may look at.
    Process { id: u32, name: String },
    /// A process of this user that we may not look at.
    Hidden { user: u32 },
    /// No process, and the kernel's NFS server runs.
    Kernel,
    /// No process that is listed here.
    Unseen,
}

/// A socket as the kernel lists it.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    address: SocketAddr,
    user: u32,
    inode: u64,
}

fn owners(address: SocketAddr) -> Vec<Owner> {
    let tables = [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")];
    let listed = tables.iter().flat_map(|(table, state)| {
        let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        text.lines().skip(1).filter_map(|line| parse(line, state)).collect::<Vec<_>>()
    });
    listed.filter(|socket| is_taken_by(address, socket.address)).map(|socket| owner(&socket)).collect()
}

/// Whether a socket at that address keeps others from this one: a port may be taken once for each address.
fn is_taken_by(wanted: SocketAddr, listed: SocketAddr) -> bool {
    let (one, other) = (wanted.ip().to_canonical(), listed.ip().to_canonical());
    wanted.port() == listed.port() && (one == other || one.is_unspecified() || other.is_unspecified())
}

/// One line of `/proc/net/tcp` and its like (proc_net_tcp in the kernel's documentation), if the socket is in this
/// state: 0A listens, 07 is an open UDP socket.
fn parse(line: &str, state: &str) -> Option<Listed> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (host, port) = fields.get(1)?.rsplit_once(':')?;
    if *fields.get(3)? != state {
        return None;
    }
    Some(Listed {
        address: SocketAddr::new(parse_host(host)?, u16::from_str_radix(port, 16).ok()?),
        user: fields.get(7)?.parse().ok()?,
        inode: fields.get(9)?.parse().ok()?,
    })
}

/// An address as the kernel prints it: words of 32 bits in the order of the network, each as a number of this host.
fn parse_host(text: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(text.get(8 * at..8 * at + 8)?, 16).ok()?.to_ne_bytes());
    if text.len() == 8 {
        return Some(Ipv4Addr::from(word(0)?).into());
    }
    let mut bytes = [0; 16];
    for (at, part) in bytes.chunks_exact_mut(4).enumerate() {
        part.copy_from_slice(&word(at)?);
    }
    Some(Ipv6Addr::from(bytes).into())
}

fn owner(socket: &Listed) -> Owner {
    let link = format!("socket:[{}]", socket.inode);
    let mut all_seen = true;
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        match holds(&process.path(), &link) {
            Some(true) => {
                let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                return Owner::Process { id, name: name.trim().to_owned() };
            }
            Some(false) => {}
            None => all_seen = false,
        }
    }
    match all_seen {
        false => Owner::Hidden { user: socket.user },
        true if kernel_serves(Path::new("/proc")) => Owner::Kernel,
        true => Owner::Unseen,
    }
}

/// Whether the kernel's NFS server runs: it has threads, which look like processes.
fn kernel_serves(proc: &Path) -> bool {
    let threads = fs::read_to_string(proc.join("fs/nfsd/threads")).unwrap_or_default();
    if threads.trim().parse::<u32>().is_ok_and(|threads| threads > 0) {
        return true;
    }
    let names = fs::read_dir(proc).into_iter().flatten().flatten();
    names
        .map(|entry| fs::read_to_string(entry.path().join("comm")))
        .any(|name| name.is_ok_and(|name| name == "nfsd\n"))
}

/// Whether a process has this socket open; `None` if we may not know.
fn holds(process: &Path, link: &str) -> Option<bool> {
    let files = fs::read_dir(process.join("fd")).ok()?;
    Some(
        files.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|target| target.as_os_str() == link)),
    )
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn finds_ourselves() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = listener.local_addr().expect("bound");
        let text = explain_taken_port(address);
        assert!(text.contains(&format!("(process {})", std::process::id())), "{text}");
    }

    #[test]
    fn the_kernel_is_named_only_if_its_server_runs() {
        let home = tempfile::tempdir().expect("a directory");
        let write = |file: &str, text: &str| {
            let file = home.path().join(file);
            fs::create_dir_all(file.parent().expect("a directory")).expect("made");
            fs::write(file, text).expect("written");
        };
        write("42/comm", "nfsd-like\n");
        write("fs/nfsd/threads", "0\n");
        assert!(!kernel_serves(home.path()));
        write("fs/nfsd/threads", "8\n");
        assert!(kernel_serves(home.path()));
        write("fs/nfsd/threads", "0\n");
        write("43/comm", "nfsd\n");
        assert!(kernel_serves(home.path()));
        let process = || Owner::Process { id: 1, name: "x".to_owned() };
        assert_eq!([Owner::Unseen, process(), Owner::Hidden { user: 1 }].into_iter().min(), Some(process()));
    }

    #[test]
    fn only_a_socket_that_is_in_the_way_has_the_port() {
        let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
        for (wanted, listed, is_taken) in [
            ("192.0.2.1:2049", "192.0.2.1:2049", true),
            ("192.0.2.1:2049", "0.0.0.0:2049", true),
            ("192.0.2.1:2049", "[::]:2049", true),
            ("192.0.2.1:2049", "[::ffff:192.0.2.1]:2049", true),
            ("0.0.0.0:2049", "127.0.0.2:2049", true),
            ("[::]:2049", "127.0.0.2:2049", true),
            ("192.0.2.1:2049", "127.0.0.1:2049", false),
            ("[2001:db8::1]:2049", "[::1]:2049", false),
            ("192.0.2.1:2049", "192.0.2.1:2050", false),
        ] {
            assert_eq!(is_taken_by(address(wanted), address(listed)), is_taken, "{wanted} beside {listed}");
        }
    }

    #[test]
    fn addresses_are_those_of_the_sockets() {
        for host in ["127.0.0.3", "127.1.2.3", "::1"] {
            let host: IpAddr = host.parse().expect("an address");
            // Not every machine has IPv6.
            let Ok(socket) = TcpListener::bind((host, 0)) else { continue };
            let wanted = socket.local_addr().expect("an address");
            let table = if host.is_ipv4() { "tcp" } else { "tcp6" };
            let text = fs::read_to_string(format!("/proc/net/{table}")).expect("a table");
            let mut listed = text.lines().filter_map(|line| parse(line, "0A"));
            assert!(listed.any(|socket| socket.address == wanted), "{wanted}: {text}");
            let other = SocketAddr::new(IpAddr::from([127, 9, 9, 9]), wanted.port());
            assert!(!explain_taken_port(other).contains(&format!("(process {})", std::process::id())));
        }
    }

    #[test]
    fn reads_the_kernels_table() {
        let line = "   3: 00000000:0801 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0 100 0 0 10 0";
        assert_eq!(
            parse(line, "0A"),
            Some(Listed { address: ([0, 0, 0, 0], 2049).into(), user: 1000, inode: 4242 })
        );
        assert_eq!(parse(line, "07"), None);
        assert_eq!(parse("", "0A"), None);
    }
}
