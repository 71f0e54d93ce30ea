//! The program and its subcommands.

use clap::{Parser, Subcommand};

use super::{
    BenchArguments, CaptureArguments, CatArguments, CertificateArguments, CheckArguments, ClientsArguments,
    ClusterKeyArguments, CompletionsArguments, CpArguments, DoctorArguments, ExportsArguments, GetArguments,
    HeadsArguments, LabArguments, LsArguments, ManArguments, MountArguments, MountsArguments,
    NfsstatArguments, NicsArguments, RelayArguments, ReleaseArguments, ServeArguments, SetArguments,
    StatArguments, TopArguments, UmountArguments, WhyArguments,
};

/// Serves directories over NFS.
///
/// One program, nothing to install beside it: no kernel module, no rpcbind, no privileges needed. With privileges
/// (root) each call acts as the user who makes it; without them, as the user who runs howdah.
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
}

const EXAMPLES: &str = "\
Examples:
  howdah serve /srv/data                   Serve a directory as \"/\", on port 2049
  howdah serve --config /etc/howdah.toml   Serve what the file says
  howdah relay nfs://far/export            Serve a far server's export nearby, with caches between
  howdah check /etc/howdah.toml            See what the file says, and what is wrong in it
  howdah mount nfs://host/export DIR       Use a server's export as a directory
  howdah stat                              What the server that runs here was asked
  howdah why                               What limits each client of the server that runs here
  howdah top                               The same and more, renewed on the screen
  howdah doctor nfs://host/export          Which layer limits a mount: host, path, storage or NFS

Exit code: 0 done, 1 failed, 2 wrong arguments or configuration. Others are named in the help of a command.
";
