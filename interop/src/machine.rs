//! What this machine offers, and so what must be skipped, in words for a person.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use howdah_lab::guest::{GUEST_KERNEL, find_command};

use crate::scenario::{Peer, Rpcbind, Scenario, ServerKind};

/// What the Linux kernel's server in a guest takes.
const LINUX_SERVER: [&str; 8] =
    [GUEST_KERNEL, "rpc.nfsd", "rpc.mountd", "exportfs", "rpcbind", "ip", "modprobe", "mkfs.ext4"];

/// What was found, once per run.
#[derive(Debug)]
pub struct Machine {
    root: bool,
    namespaces: Result<(), String>,
}

impl Machine {
    /// Looks around.
    pub fn look() -> Self {
        let root = rustix::process::geteuid().is_root();
        Self { root, namespaces: try_namespaces(root) }
    }

    /// Whether we are root: then the server may act as other users.
    pub fn is_root(&self) -> bool {
        self.root
    }

    /// Whether the system's guest kernel has a client that speaks TLS, and the daemon that this client needs.
    pub fn has_tls_guest(&self) -> bool {
        let Ok(output) = Command::new(GUEST_KERNEL).arg("--version").stdin(Stdio::null()).output() else {
            return false;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let mut numbers = text.trim().split('.').map_while(|word| word.parse::<u32>().ok());
        (numbers.next(), numbers.next()) >= (Some(6), Some(5)) && find_command("tlshd").is_some()
    }

    /// Why this scenario cannot run here.
    pub fn why_not(&self, scenario: &Scenario) -> Option<String> {
        if scenario.privileged && !self.root {
            return Some("needs root (the server acts as several users, or rpcbind as its own)".into());
        }
        if scenario.isolated()
            && let Err(reason) = &self.namespaces
        {
            return Some(format!("no private namespaces here: {reason}"));
        }
        let mut commands: Vec<&str> = match scenario.peer {
            Peer::Guest { .. } => vec![GUEST_KERNEL, "mount.nfs", "ip", "modprobe"],
            Peer::Heads { commands, .. } => {
                [&[GUEST_KERNEL, "mount.nfs", "ip", "modprobe"], commands].concat()
            }
            Peer::Host { commands, .. } => commands.to_vec(),
            Peer::Server { .. } => vec![],
            Peer::Mounted { commands, .. } => commands.to_vec(),
        };
        match scenario.foreign_server() {
            Some(ServerKind::LinuxKernel(_)) => commands.extend(LINUX_SERVER),
            Some(ServerKind::Ganesha(_)) => commands.extend(["ganesha.nfsd", "rpcbind", "ip"]),
            None => {}
        }
        if scenario.rpcbind == Rpcbind::System {
            commands.push("rpcbind");
        }
        let mut missing: Vec<_> = commands.into_iter().filter(|name| find_command(name).is_none()).collect();
        if let Some(ServerKind::Ganesha(storage)) = scenario.foreign_server()
            && !has_ganesha_storage(storage)
        {
            missing.push(storage);
        }
        (!missing.is_empty()).then(|| format!("not installed: {}", missing.join(", ")))
    }
}

/// The words for `unshare` that give mounts, network and processes of our own.
pub fn unshare_flags(root: bool) -> &'static [&'static str] {
    if root {
        &["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    } else {
        &["--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    }
}

/// Whether Ganesha's storage module of this name is installed: a library in a directory of the machine's architecture.
fn has_ganesha_storage(name: &str) -> bool {
    let library = format!("ganesha/libfsal{}.so", name.to_lowercase());
    let Ok(architectures) = fs::read_dir("/usr/lib") else { return false };
    architectures.flatten().any(|architecture| architecture.path().join(&library).is_file())
}

fn try_namespaces(root: bool) -> Result<(), String> {
    let output = Command::new("unshare")
        .args(unshare_flags(root))
        .arg("true")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("starting unshare: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

/// Whether a tap device can be made: the guest's faster way to the network.
pub fn has_tap() -> bool {
    use rustix::fs::{Access, access};
    access(Path::new("/dev/net/tun"), Access::READ_OK | Access::WRITE_OK).is_ok()
}
