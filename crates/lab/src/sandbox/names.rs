//! The names of a network's hosts inside a sandbox: for ip(8), and for programs that look up a name.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::mount::{UnmountFlags, mount_bind, unmount};

use crate::network::LabHost;

/// Our copy of `/etc/hosts`, which covers it.
pub(super) const HOSTS: &str = "/run/howdah/hosts";
/// Where ip(8) looks for network namespaces.
const NAMESPACES: &str = "/run/netns";

/// Names that hosts have until this is dropped.
#[derive(Debug)]
pub struct SandboxNames {
    mounted: Vec<PathBuf>,
    /// What the file held before.
    hosts: String,
}

impl SandboxNames {
    /// Gives them.
    pub(super) fn give(hosts: &BTreeMap<String, LabHost>) -> Result<Self> {
        let before = fs::read_to_string(HOSTS).with_context(|| format!("reading {HOSTS}"))?;
        let mut names = Self { mounted: Vec::new(), hosts: before };
        for host in hosts.values() {
            names.mount(host).with_context(|| format!("naming host {}", host.name()))?;
        }
        let text = lines(&names.hosts, hosts);
        fs::write(HOSTS, text).with_context(|| format!("writing {HOSTS}"))?;
        Ok(names)
    }

    fn mount(&mut self, host: &LabHost) -> Result<()> {
        let place = Path::new(NAMESPACES).join(host.name());
        fs::File::create_new(&place).with_context(|| format!("making {}", place.display()))?;
        self.mounted.push(place.clone());
        let namespace = format!("/proc/self/fd/{}", host.namespace().as_fd().as_raw_fd());
        mount_bind(namespace, &place).with_context(|| format!("mounting {}", place.display()))
    }
}

impl Drop for SandboxNames {
    fn drop(&mut self) {
        // All of it goes with the sandbox, whatever fails here.
        for place in &self.mounted {
            let _ = unmount(place, UnmountFlags::DETACH);
            let _ = fs::remove_file(place);
        }
        let _ = fs::write(HOSTS, &self.hosts);
    }
}

/// The hosts' lines before those that were there: a name of ours is ours, whatever it was outside. Who asks for a name gets
/// its address on the first of its wires, first.
fn lines(before: &str, hosts: &BTreeMap<String, LabHost>) -> String {
    let mut text = String::new();
    for host in hosts.values() {
        for address in host.addresses().values().flat_map(|addresses| addresses.all()) {
            text.push_str(&format!("{address} {}\n", host.name()));
        }
    }
    text + before
}
