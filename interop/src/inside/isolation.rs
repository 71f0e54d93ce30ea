//! Closes the namespaces off: nothing outside the work directory can be written, and the network holds only us.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use howdah_lab::guest::GuestInterface;

use super::command::run;
use crate::job::Job;
use crate::machine::has_tap;
use crate::scenario::Peer;

/// The network as the job sees it.
#[derive(Debug)]
pub struct Network {
    /// The server's IPv4 address.
    pub server_address: &'static str,
    /// The server's IPv6 address.
    pub server_address6: &'static str,
    /// The port the server listens on; 0 for one that the system chooses.
    pub port: u16,
    /// The guest's way to it.
    pub guest_interface: Option<GuestInterface>,
    /// The second guest's way to it.
    pub second_interface: Option<GuestInterface>,
    /// The most bytes that the guest lets each connection have on the way; 0 for as many as it likes.
    pub guest_window: u32,
    /// This program, for jobs that call it.
    pub tool: PathBuf,
}

/// Addresses of the private network between server and guest.
pub const GUEST_ADDRESS: &str = "10.99.0.2";
/// The guest's IPv6 address.
pub const GUEST_ADDRESS6: &str = "fd99::2";

/// The server's end of the way to the guest.
const HERE: &str = "guest0";
/// The guest's end where no tap device can be made (an ordinary user where /dev/net/tun is root's): then they are a pair.
const THERE: &str = "guest1";
/// The same of the second guest, whose network is another.
const SECOND_HERE: &str = "guest2";
const SECOND_THERE: &str = "guest3";
/// The server's address for the second guest.
pub const SECOND_SERVER_ADDRESS: &str = "10.99.1.1";
/// The second guest's addresses.
pub const SECOND_GUEST_ADDRESS: &str = "10.99.1.2";
pub const SECOND_GUEST_ADDRESS6: &str = "fd99:1::2";
/// The packet socket at the end of that pair holds 200 KB, and what it cannot hold is lost.
const RAW_WINDOW: u32 = 32 << 10;

impl Network {
    /// No network of our own: loopback and a port that the system chooses.
    pub fn loopback() -> Self {
        Self {
            server_address: "127.0.0.1",
            server_address6: "::1",
            port: 0,
            guest_interface: None,
            second_interface: None,
            guest_window: 0,
            tool: env::current_exe().unwrap_or_default(),
        }
    }
}

/// Makes the mounts and the network of this namespace.
pub fn enter(job: &Job) -> Result<Network> {
    close_mounts(&job.work).context("closing off the mounts")?;
    if let Some(directory) = job.guest_files() {
        symlink(directory, NEWER_SEEN_AS).with_context(|| format!("making {NEWER_SEEN_AS}"))?;
    }
    run("ip", &["link", "set", "lo", "up"])?;
    let (device, guest_interface) = match job.scenario.guest_job() {
        Some(_) => make_way(HERE, THERE).map(|way| (HERE, Some(way)))?,
        None => ("lo", None),
    };
    match job.scenario.peer {
        // Whichever head serves has it.
        Peer::Heads { .. } => run("ip", &["link", "set", device, "up"])?,
        _ => address(device, "10.99.0.1/24", "fd99::1/64")?,
    }
    let second_interface = match job.scenario.peer {
        Peer::Guest { second: Some(_), .. } => {
            let way = make_way(SECOND_HERE, SECOND_THERE)?;
            address(SECOND_HERE, &format!("{SECOND_SERVER_ADDRESS}/24"), "fd99:1::1/64")?;
            Some(way)
        }
        _ => None,
    };
    Ok(Network {
        server_address: "10.99.0.1",
        server_address6: "fd99::1",
        port: 2049,
        guest_window: if matches!(guest_interface, Some(GuestInterface::Raw(_))) { RAW_WINDOW } else { 0 },
        guest_interface,
        second_interface,
        tool: env::current_exe().context("asking for the path of this program")?,
    })
}

/// A network between here and a guest.
fn make_way(here: &str, there: &str) -> Result<GuestInterface> {
    if has_tap() {
        run("ip", &["tuntap", "add", "dev", here, "mode", "tap"])?;
        return Ok(GuestInterface::Tap(here.to_owned()));
    }
    run("ip", &["link", "add", here, "type", "veth", "peer", "name", there])?;
    run("ip", &["link", "set", there, "up"])?;
    Ok(GuestInterface::Raw(there.to_owned()))
}

/// Gives a device its addresses.
fn address(device: &str, v4: &str, v6: &str) -> Result<()> {
    run("ip", &["addr", "add", v4, "dev", device])?;
    run("ip", &["-6", "addr", "add", v6, "dev", device, "nodad"])?;
    run("ip", &["link", "set", device, "up"])
}

/// Where the host's programs find a newer guest kernel: its loader's path is in it.
pub const NEWER_SEEN_AS: &str = "/run/newer";

/// Directories that programs write to: each gets an empty, private one.
const PRIVATE: [&str; 3] = ["/run", "/dev/shm", "/var/lib/nfs"];

fn close_mounts(work: &Path) -> Result<()> {
    let work = work.to_str().context("the work directory's path is not UTF-8")?;
    run("mount", &["--bind", work, work])?;
    for mount in read_mounts()? {
        let special = ["/proc", "/sys", "/dev"].iter().any(|top| Path::new(&mount.path).starts_with(top));
        if special || mount.path == work {
            continue;
        }
        let options = format!("remount,bind,ro,{}", mount.options);
        let closed = run("mount", &["-o", &options, &mount.path]);
        // Below the root there may be mounts that we cannot even reach; those nobody here can write either.
        if mount.path == "/" {
            closed?;
        }
    }
    for directory in PRIVATE {
        if Path::new(directory).is_dir() {
            run("mount", &["-t", "tmpfs", "-o", "mode=755", "howdah", directory])?;
        }
    }
    Ok(())
}

struct Mounted {
    path: String,
    options: String,
}

/// The mounts and those of their options that a remount must repeat.
fn read_mounts() -> Result<Vec<Mounted>> {
    let text = fs::read_to_string("/proc/self/mountinfo").context("reading /proc/self/mountinfo")?;
    let mounts = text.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(4);
        let path = words.next()?.replace("\\040", " ");
        let options: Vec<_> = words.next()?.split(',').filter(|word| !matches!(*word, "rw" | "ro")).collect();
        Some(Mounted { path, options: options.join(",") })
    });
    Ok(mounts.collect())
}
