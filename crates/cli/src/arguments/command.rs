//! The program and its subcommands.

use clap::{Parser, Subcommand};

use super::{
    BenchArguments, CaptureArguments, CatArguments, CertificateArguments, CheckArguments, ClientsArguments,
    ClusterKeyArguments, CompletionsArguments, CpArguments, DoctorArguments, ExportsArguments, GetArguments,
    HeadsArguments, LabArguments, LsArguments, ManArguments, MountArguments, MountsArguments,
    NfsstatArguments, NicsArguments, RefusedArguments, RelayArguments, ReleaseArguments, ServeArguments,
    SetArguments, StatArguments, SyncArguments, TopArguments, UmountArguments, WhyArguments,
};

/// Serves directories over NFS.
///
/// One program without dependencies: it needs no kernel module, no rpcbind and no privileges. As root, each call acts as the
/// user who makes it; otherwise, as the user who runs howdah.
#[derive(Debug, Parser)]
#[command(name = "howdah", version, after_help = EXAMPLES)]
pub struct Howdah {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What howdah does.
#[derive(Debug, Subcommand)]
// Each subcommand's help is the documentation of its arguments: a line here would hide it.
#[allow(missing_docs)]
pub enum Command {
    Serve(Box<ServeArguments>),
    Relay(Box<RelayArguments>),
    Check(CheckArguments),
    Certificate(CertificateArguments),
    ClusterKey(ClusterKeyArguments),
    Heads(HeadsArguments),
    Exports(ExportsArguments),
    Why(WhyArguments),
    Top(TopArguments),
    Doctor(Box<DoctorArguments>),
    Get(GetArguments),
    Set(SetArguments),
    Clients(ClientsArguments),
    Release(ReleaseArguments),
    Mount(MountArguments),
    Umount(UmountArguments),
    Mounts(MountsArguments),
    Sync(SyncArguments),
    Refused(RefusedArguments),
    Cp(CpArguments),
    Ls(LsArguments),
    Cat(CatArguments),
    Stat(StatArguments),
    Bench(BenchArguments),
    Capture(CaptureArguments),
    Nfsstat(NfsstatArguments),
    Nics(NicsArguments),
    Lab(LabArguments),
    Man(ManArguments),
    Completions(CompletionsArguments),
    #[command(hide = true)]
    KerberosHelper,
}

const EXAMPLES: &str = "\
Examples:
  howdah serve /srv/data                   Serve a directory as \"/\", on port 2049
  howdah serve --config /etc/howdah.toml   Serve the exports of a configuration file
  howdah relay nfs://far/export            Serve a far server's export from this host, with caches
  howdah check /etc/howdah.toml            Show the settings of that file, and its errors
  howdah mount nfs://host/export DIR       Use a server's export as a directory
  howdah stat                              Show calls, latency and errors of the server on this host
  howdah why                               Show the bottleneck of each client of that server
  howdah top                               The same and more, updated on the screen
  howdah doctor nfs://host/export          Find what limits a mount: host, path, storage or NFS

Exit code: 0 success, 1 failure, 2 wrong arguments or configuration. Some commands have more: see their help.
";
