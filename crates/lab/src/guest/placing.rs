//! A guest in a network: behind one of its hosts, which forwards, and known to the hosts at the other ends of its wires.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::kernel::{GUEST_KERNEL, GuestInterface, Kernel};
use super::programs::{find_command, missing, search_path};
use super::session::{GuestSession, MAIN};
use super::share::GuestShare;
use super::tap::{Tap, run_all};
use crate::network::LabNetwork;

/// What takes no time in a guest still waits for a busy machine.
const MOMENT: Duration = Duration::from_secs(30);
/// Programs that every guest needs.
const NEEDED: [&str; 5] = [GUEST_KERNEL, "ip", "modprobe", "setpriv", "mount"];
/// What hosts do for a guest behind them.
const FORWARDING: [&str; 2] = ["/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"];

/// Which guest, and where.
#[derive(Debug, Clone)]
pub struct Placing {
    /// The host that it is behind.
    pub host: String,
    /// Its number among the guests of the network.
    pub number: u8,
    /// A directory of its own, which it shares with the machine: not below `/run`, `/mnt`, `/dev` or `/var/lib/nfs`.
    pub directory: PathBuf,
    /// Its memory in MiB.
    pub memory: u32,
    /// A file that is its disk.
    pub disk: Option<PathBuf>,
    /// Modules of its kernel.
    pub modules: &'static str,
    /// Settings of its kernel, by name: it stands for the host, which has them too.
    pub sysctls: BTreeMap<String, String>,
}

impl Placing {
    /// What is missing on this machine for a guest and for these programs, with what to install.
    pub fn missing(programs: &[&str]) -> Option<String> {
        missing(&[&NEEDED, programs].concat())
    }

    /// What its kernel is started with.
    pub fn kernel(&self) -> Kernel {
        Kernel {
            work: self.directory.clone(),
            memory: self.memory,
            interface: Some(GuestInterface::Tap(Tap::new(self.number).name())),
            disk: self.disk.clone(),
            memory_directory: "/dev/shm".into(),
            serial_line: true,
        }
    }

    /// Makes the tap, adds the routes on every host, boots.
    pub fn boot(&self, network: &LabNetwork) -> Result<GuestSession> {
        let tap = Tap::new(self.number);
        attach(network, &self.host, tap)?;
        let share = GuestShare::lay_out(&self.directory)?;
        share.write_environment([
            (MAIN.0, MAIN.1.to_owned()),
            ("MODULES", self.modules.to_owned()),
            ("GUEST_ADDRESS", tap.guest().to_string()),
            ("GUEST_ADDRESS6", tap.guest6().to_string()),
            ("GATEWAY", tap.gateway().to_string()),
            ("GATEWAY6", tap.gateway6().to_string()),
        ])?;
        let program =
            find_command(GUEST_KERNEL).with_context(|| format!("{GUEST_KERNEL} is not installed"))?;
        let mut command = network.host(&self.host).command(program);
        command.env("PATH", search_path());
        let mut session = GuestSession::boot(share, &self.kernel(), command)?;
        session
            .must(&settings_script(&self.sysctls)?, Instant::now() + MOMENT)
            .context("settings of the guest's kernel")?;
        Ok(session)
    }
}

/// Puts the tap into the host, and routes to it into all hosts that share a wire with that one.
fn attach(network: &LabNetwork, host: &str, tap: Tap) -> Result<()> {
    let here = network.host(host);
    here.run_in(forward)?.with_context(|| format!("having host {host} forward"))?;
    run_all(&tap.commands(), |program| here.command(program))
        .with_context(|| format!("making the guest's tap in host {host}"))?;
    for (name, other) in network.hosts().iter().filter(|(name, _)| *name != host) {
        let shared = other.addresses().keys().find(|wire| here.addresses().contains_key(*wire));
        if let Some(wire) = shared {
            run_all(&tap.route_commands(wire), |program| other.command(program))
                .with_context(|| format!("telling host {name} the way to the guest"))?;
        }
    }
    Ok(())
}

/// Inside the host's namespace.
fn forward() -> Result<()> {
    for file in FORWARDING.iter().filter(|file| Path::new(file).exists()) {
        fs::write(file, "1").with_context(|| format!("writing {file}"))?;
    }
    Ok(())
}

/// Sets what a network namespace can have of its own, which is what a plan's hosts can say.
fn settings_script(sysctls: &BTreeMap<String, String>) -> Result<String> {
    let mut script = String::from(":\n");
    for (name, value) in sysctls {
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
            || value.contains('\'')
        {
            bail!("sysctl {name} = {value}: no name and value of a sysctl");
        }
        script += &format!("echo '{value}' >/proc/sys/{}\n", name.replace('.', "/"));
    }
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_where_the_kernel_has_them() {
        let sysctls = BTreeMap::from([("net.ipv4.tcp_rmem".to_owned(), "4096 131072 6291456".to_owned())]);
        assert_eq!(
            settings_script(&sysctls).expect("a script"),
            ":\necho '4096 131072 6291456' >/proc/sys/net/ipv4/tcp_rmem\n"
        );
        let worse = BTreeMap::from([("a;b".to_owned(), "1".to_owned())]);
        assert!(settings_script(&worse).is_err());
    }
}
