//! `howdah mount`, `howdah umount` and `howdah mounts`: what was typed.

use std::path::PathBuf;

use clap::Args;

/// Mount an export of an NFS server as a directory, by FUSE
///
/// The mount adapts to the path to the server: it keeps several reads and writes in flight, reads ahead, and gathers writes.
/// After close or fsync, data is on the server's disk; these calls also report write errors. If the server restarts or is down,
/// programs wait for it, and waiting programs can be interrupted.
///
/// The command returns when the directory is mounted; a background process serves the mount. Root mounts for all users with -o
/// allow_other: each call then acts as the user who makes it. Other users need fusermount3 (package fuse3), or a namespace of
/// their own (unshare -Urm).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MountArguments {
    /// What to mount: nfs://HOST[:PORT]/EXPORT, or HOST:/EXPORT
    #[arg(value_name = "SOURCE")]
    pub source: String,

    /// An empty directory. A mount whose process was killed is replaced
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Options as mount(8) takes them, separated by commas
    ///
    /// ro, rw; allow_other (all users may use it); soft, hard, timeo=, retrans= (whether, and how long, to wait for a server
    /// that is down); actimeo=, acregmin=, acregmax=, acdirmin=, acdirmax=, noac (how long to cache attributes, in seconds);
    /// lookupcache=all|positive|none (which names to cache); alone (nobody else changes the tree: nothing that is cached is asked
    /// for again); cache_dir=DIR, cache_size= (keep data that was read on disk, over restarts); behind[=5s], journal=off|DIR (names
    /// and small files reach the server up to 5 s later, and are in a journal until then); port=, mountport=, proto=tcp|udp|quic, rsize=, wsize=, nconnect= (how
    /// to reach the server); vers= (the version of NFS); local_lock=all|none (whether locks of programs hold on this host only, or
    /// at the server, as by default with vers=4.1 and 4.2); acl (show and set POSIX ACLs of a server with NFSv3; each look at one is a call); exec, noexec, suid, nosuid, dev, nodev. Options of mount(8) and systemd are ignored, such as
    /// _netdev, nofail and x-systemd.*.
    #[arg(short, long = "options", value_name = "OPTIONS")]
    pub options: Vec<String>,

    /// Stay in the foreground until the mount ends; Ctrl-C unmounts it
    #[arg(short, long)]
    pub foreground: bool,

    /// Mount over a directory that is not empty; its files are hidden until you unmount
    #[arg(long)]
    pub nonempty: bool,

    /// Print what was negotiated with the server: version, transport, sizes, connections
    #[arg(short, long)]
    pub verbose: bool,

    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Where running mounts are noted [default: /run/howdah, or $XDG_RUNTIME_DIR/howdah for users]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// For the process in the background: says on standard output that the mount is there.
    #[arg(long, hide = true)]
    pub in_background: bool,
}

/// Unmount a directory that howdah mounted
///
/// It first writes outstanding data to the server; if that fails, it names the files and exits with 1. A mount that is in use
/// stays mounted, and the command names the processes that use it.
#[derive(Debug, Args)]
#[command(after_help = UMOUNT_EXAMPLES)]
pub struct UmountArguments {
    /// Directory to unmount
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Detach a mount that is in use; it ends when no program uses it any more. Waits at most 3 s for the server; the mount's
    /// process writes the rest later
    #[arg(short, long)]
    pub lazy: bool,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Where running mounts are noted [default: /run/howdah, or $XDG_RUNTIME_DIR/howdah for users]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}

/// List the mounts of howdah on this host, their traffic, and what limits them
#[derive(Debug, Args)]
#[command(after_help = MOUNTS_EXAMPLES)]
pub struct MountsArguments {
    /// Print JSON, for machines
    #[arg(long)]
    pub json: bool,

    /// Where running mounts are noted [default: /run/howdah, or $XDG_RUNTIME_DIR/howdah for users]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  howdah mount nfs://server/data /mnt/data
      As the user who mounts, for that user alone.
  howdah mount nfs://server/data /mnt/data -o allow_other
      As root: for all users of this host, each with their own rights.
  howdah mount nfs://server:20490/data /mnt -o ro,soft,timeo=50,retrans=2
      Read-only; a program gets EIO after 15 s without an answer.
  unshare -Urm sh -c 'howdah mount nfs://server/data /mnt/data && exec bash'
      Without root and without fusermount3: programs started in this shell see the mount.

In /etc/fstab, with a link /sbin/mount.howdah to howdah:
  nfs://server/data  /mnt/data  howdah  allow_other,_netdev,nofail  0 0

Exit code: 0 mounted, 1 not mounted (the reason is printed), 2 wrong arguments.
";

const UMOUNT_EXAMPLES: &str = "\
Examples:
  howdah umount /mnt/data
  howdah umount --lazy /mnt/data
      Even if programs use it: these keep their open files, others no longer see the mount.

Exit code: 0 unmounted, and all data is on the server (with --lazy the rest may follow), 1 not unmounted, or data is lost (both are printed), 2 wrong arguments.
";

const MOUNTS_EXAMPLES: &str = "\
Examples:
  howdah mounts
  howdah mounts --json | jq -r '.mounts[] | \"\\(.directory) \\(.read)\"'

Exit code: 0 success, 1 a mount does not answer or its process was killed, 2 wrong arguments.
";
