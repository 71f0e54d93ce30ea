//! The path between a far server and what is near its clients, a relay or a mount: a wire of ours, which is cut at any moment.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use howdah_lab::network::{LabNetwork, Topology, WireSpec};
use howdah_link::PathSpec;
use howdah_net::Namespace;
use howdah_random::Random;

use super::campaign::Context;
use super::server::Site;

const NEAR: &str = "client";
const FAR: &str = "server";
const WIRE: &str = "path0";
/// It is away for so long at most, in the full form and in the short one. After 3 s clients try another connection.
const MOST_AWAY: Duration = Duration::from_secs(8);
const MOST_AWAY_QUICK: Duration = Duration::from_secs(1);

/// The hosts at its ends, and the wire between them.
pub struct FarPath {
    network: LabNetwork,
    seed: u64,
}

impl FarPath {
    /// A path that does nothing to packets.
    pub fn lay(context: &Context) -> Result<Self> {
        let network = context.sandbox.network(&Topology::pair(WireSpec::default()))?;
        Ok(Self { network, seed: context.seed })
    }

    /// Of the far server.
    pub fn far(&self) -> Site {
        self.site(FAR, NEAR)
    }

    /// Of a server on the near host, whose clients are there too.
    pub fn near(&self) -> Site {
        self.site(NEAR, NEAR)
    }

    fn site(&self, host: &str, clients: &str) -> Site {
        let hosts = [clients, host].map(|name| self.network.host(name).namespace().clone());
        Site { address: self.network.address(host, WIRE), hosts: Some(hosts) }
    }

    /// The near host, for threads.
    pub fn near_host(&self) -> Namespace {
        self.network.host(NEAR).namespace().clone()
    }

    /// A command on the near host, to which the program is to be added; it dies with us. It mounts where we do:
    /// `Namespace::command` gives mounts of their own.
    pub fn near_command(&self) -> Command {
        let descriptor = self.network.host(NEAR).namespace().as_fd().as_raw_fd();
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/fd/{descriptor}", std::process::id())).stdin(Stdio::null());
        command.args(["--", "setpriv", "--pdeathsig", "KILL", "--"]);
        command
    }

    /// Drops every packet, without an error to either end.
    pub fn cut(&self) -> Result<()> {
        self.change("loss = '100%'")
    }

    /// It is as it was.
    pub fn mend(&self) -> Result<()> {
        self.change("")
    }

    /// The near host's address.
    pub fn near_address(&self) -> Result<Ipv4Addr> {
        match self.network.address(NEAR, WIRE) {
            IpAddr::V4(address) => Ok(address),
            IpAddr::V6(address) => bail!("the near host has the address {address}"),
        }
    }

    /// The near host has another address from now on.
    pub fn move_near(&self, from: Ipv4Addr, to: Ipv4Addr) -> Result<()> {
        for (what, address) in [("del", from), ("add", to)] {
            let mut command = self.network.host(NEAR).command("ip");
            command.args(["address", what, &format!("{address}/24"), "dev", WIRE]);
            let status = command.status().context("starting ip")?;
            ensure!(status.success(), "ip address {what} {address}: {status}");
        }
        Ok(())
    }

    /// How long it is cut.
    pub fn outage(&self, context: &Context, random: &mut Random) -> Duration {
        let most = if context.quick { MOST_AWAY_QUICK } else { MOST_AWAY };
        most.mul_f64(random.fraction())
    }

    fn change(&self, path: &str) -> Result<()> {
        let path: PathSpec = toml::from_str(path).context("a path")?;
        self.network.wire(WIRE).change(&path, self.seed);
        Ok(())
    }
}
