//! One cell as a plan writes it: the network, the server, the clients, what is sampled.

use std::collections::{BTreeMap, BTreeSet};

use howdah_link::PathSpec;
use howdah_tune::{Direction, Verdict};
use serde::{Deserialize, Serialize};

use super::{FailoverSpec, Netem, ServerSpec, Time};

/// A cell that takes longer than this failed, if the plan does not say otherwise.
const LIMIT: Time = Time::seconds(60);

/// The wire that is there without being named.
const FIRST_WIRE: &str = "path0";

/// `[cell]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CellSpec {
    /// How long it may take, building and taking down apart.
    pub limit: Time,
    /// The wire `path0` between `client` and `server`; a perfect one if nothing is said, and none is in `wires`.
    pub path: Option<PathSpec>,
    /// More wires, or all of them, by their names.
    pub wires: BTreeMap<String, WirePlan>,
    /// What is particular about hosts. `client` and `server` are there without being named.
    pub hosts: BTreeMap<String, HostPlan>,
    /// Who serves.
    pub server: ServerSpec,
    /// The address of a head moves to another one while clients work.
    pub failover: Option<FailoverSpec>,
    /// A relay between clients and server, if there is one: clients reach it instead of the server.
    pub relay: Option<RelaySpec>,
    /// Who works, all at the same time.
    pub clients: BTreeMap<String, ClientSpec>,
    /// What is looked at while they do; nothing if left out.
    pub sample: Option<SampleSpec>,
    /// The kernel's own emulation of the path, for comparing.
    pub netem: Option<Netem>,
    /// What the server says limits its clients, and what it should say.
    pub verdicts: Option<VerdictSpec>,
}

/// `[cell.verdicts]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictSpec {
    /// The word that is right, or several.
    pub right: Vec<Verdict>,
    /// In which direction.
    pub of: Direction,
    /// So long after it began to move, it is not counted: it may well say `ramping`.
    #[serde(default = "after_ramp")]
    pub after: Time,
}

fn after_ramp() -> Time {
    Time::seconds(3)
}

/// `[cell.wires.NAME]`: a wire between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WirePlan {
    /// Its two hosts; `there` is from the first to the second.
    pub between: (String, String),
    /// What it is like.
    #[serde(default)]
    pub path: PathSpec,
    /// It runs before whatever else runs, as [`crate::network::WireSpec::punctual`] says; if nothing is said, where all wires
    /// together carry little ([`crate::network::are_punctual`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub punctual: Option<bool>,
}

/// `[cell.hosts.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostPlan {
    /// Settings of its kernel, within its network namespace.
    pub sysctls: BTreeMap<String, CellSetting>,
    /// What its programs may not do, root or not: capabilities, as in `"net_admin"`.
    pub without: Vec<String>,
    /// How readily they give way to others: nice(1), 0 to 19.
    pub nice: u8,
}

/// A sysctl's value: text, or a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CellSetting {
    /// As it is written to the file.
    Text(String),
    /// A number.
    Number(i64),
}

/// `[cell.relay]`: `howdah relay` of what the server exports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RelaySpec {
    /// The host it runs on.
    pub host: String,
    /// It passes calls through, without caches.
    pub pass_through: bool,
    /// More flags for it.
    pub options: Vec<String>,
}

/// `[cell.clients.NAME]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSpec {
    /// What works.
    pub kind: ClientKind,
    /// The host it runs on.
    #[serde(default = "client")]
    pub host: String,
    /// The host whose server it uses, of several; the only one if left out.
    #[serde(default)]
    pub to: Option<String>,
    /// The wire whose server's address it uses; its host's first one if left out.
    #[serde(default)]
    pub wire: Option<String>,
    /// What it does: a workload of `howdah bench`, or what its kind knows.
    #[serde(default)]
    pub workload: Option<String>,
    /// More flags for it.
    #[serde(default)]
    pub options: Vec<String>,
    /// The version of NFS that it speaks; if left out, its own choice, or what `url` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<ClientVersion>,
    /// Options of the URL, or of the mount.
    #[serde(default)]
    pub url: String,
    /// More options of the mount, one by one, so that factors can set them. An option without a value has an empty one.
    #[serde(default)]
    pub mount: BTreeMap<String, CellSetting>,
    /// When it begins, after the first.
    #[serde(default)]
    pub after: Option<Time>,
}

impl ClientSpec {
    /// Options of the mount, those in `url` first.
    pub fn mount_options(&self) -> Vec<String> {
        let written = self.url.split([',', '&']).filter(|option| !option.is_empty()).map(str::to_owned);
        self.version_option().into_iter().chain(written).chain(self.further_mount_options()).collect()
    }

    /// The option by which its kind gets the version.
    pub fn version_option(&self) -> Option<String> {
        let name = if self.kind == ClientKind::Kernel { "vers" } else { "version" };
        self.version.map(|version| format!("{name}={}", version.name()))
    }

    /// Those in `mount`, as `-o` has them.
    pub fn further_mount_options(&self) -> impl Iterator<Item = String> {
        self.mount.iter().map(|(name, value)| match value.text() {
            value if value.is_empty() => name.clone(),
            value => format!("{name}={value}"),
        })
    }
}

/// What works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientKind {
    /// `howdah bench` on an `nfs://` URL.
    Howdah,
    /// The Linux kernel's client, in User Mode Linux.
    Kernel,
    /// `howdah mount`, and programs of others on it.
    Mount,
    /// `nfs-cp`, of libnfs.
    Libnfs,
    /// `howdah cp`.
    Copy,
    /// `rsync -a`.
    Rsync,
    /// `tar` through a socket.
    Tar,
    /// `iperf3 -c`.
    Iperf3,
    /// `howdah bench` on the exported directory, on the server's host.
    Local,
    /// Datagrams of this very program, to see what a path does to them: no NFS.
    Probe,
    /// `ping`: round trips, or that the path takes packets of a size.
    Ping,
    /// Keeps processors busy: `options` are for how many seconds, and how many loops.
    Busy,
    /// A simulation in virtual time, without any network.
    Simulation,
}

impl ClientKind {
    /// Whether a plan may choose its version of NFS.
    pub fn has_versions(self) -> bool {
        matches!(self, Self::Howdah | Self::Kernel | Self::Mount | Self::Copy)
    }
}

/// A version of NFS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientVersion {
    /// NFSv3.
    #[serde(rename = "3")]
    V3,
    /// NFSv4.1.
    #[serde(rename = "4.1")]
    V41,
    /// NFSv4.2.
    #[serde(rename = "4.2")]
    V42,
}

impl ClientVersion {
    /// As options have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::V3 => "3",
            Self::V41 => "4.1",
            Self::V42 => "4.2",
        }
    }
}

/// `[cell.sample]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleSpec {
    /// How often.
    pub every: Time,
}

fn client() -> String {
    "client".to_owned()
}

impl Default for CellSpec {
    fn default() -> Self {
        Self {
            limit: LIMIT,
            path: None,
            wires: BTreeMap::new(),
            hosts: BTreeMap::new(),
            server: ServerSpec::default(),
            failover: None,
            relay: None,
            clients: BTreeMap::new(),
            sample: None,
            netem: None,
            verdicts: None,
        }
    }
}

impl CellSpec {
    /// What wires do to packets is said in files beside the plan, for traces: reads them.
    pub fn load_traces(&mut self, read: impl Fn(&str) -> Result<String, String>) -> Result<(), String> {
        let own = self.path.iter_mut();
        own.chain(self.wires.values_mut().map(|wire| &mut wire.path)).try_for_each(|path| path.load(&read))
    }

    /// All wires, by their names. `path0` is between `client` and `server`, unless others are named and it is not.
    pub fn all_wires(&self) -> BTreeMap<String, WirePlan> {
        let mut wires = self.wires.clone();
        if self.path.is_some() || wires.is_empty() {
            let path = self.path.clone().unwrap_or_default();
            let between = (client(), "server".to_owned());
            wires.insert(FIRST_WIRE.to_owned(), WirePlan { between, path, punctual: None });
        }
        wires
    }

    /// The host whose address a client uses: that of the server that it names, or else the relay's, or else the server's.
    pub fn served_at<'s>(&'s self, client: &'s ClientSpec) -> &'s str {
        let usual = || self.relay.as_ref().map_or(&self.server.host, |relay| &relay.host);
        client.to.as_ref().unwrap_or_else(usual)
    }

    /// The hosts whose servers work for a client, in time: the second one once the first one's address has moved.
    pub fn servers_of<'s>(&'s self, client: &'s ClientSpec) -> impl Iterator<Item = &'s str> {
        let first = client.to.as_ref().unwrap_or(&self.server.host);
        let moved = self.failover.as_ref().filter(|failover| failover.from == *first);
        [Some(first.as_str()), moved.map(|failover| failover.to.as_str())].into_iter().flatten()
    }

    /// The names of all wires.
    pub(super) fn wire_names(&self) -> impl Iterator<Item = &str> {
        let first = (self.path.is_some() || self.wires.is_empty()).then_some(FIRST_WIRE);
        self.wires.keys().map(String::as_str).chain(first)
    }

    /// The hosts that wires lead to.
    pub(crate) fn host_names(&self) -> BTreeSet<&str> {
        let ends = self.wires.values().flat_map(|wire| [wire.between.0.as_str(), wire.between.1.as_str()]);
        let default = (self.path.is_some() || self.wires.is_empty()).then_some(["client", "server"]);
        ends.chain(default.into_iter().flatten()).collect()
    }
}

impl Default for RelaySpec {
    fn default() -> Self {
        Self { host: "relay".to_owned(), pass_through: false, options: Vec::new() }
    }
}

impl CellSetting {
    /// As it is written to the file.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}
