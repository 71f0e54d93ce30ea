//! The jobs' text, carried in the binary so that it runs from anywhere and as anybody.

macro_rules! texts {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../", $folder, "/", $name)))),*]
    };
}

/// What the guest runs.
pub const GUEST: &[(&str, &str)] = texts!(
    "guest": "acls.sh", "attributes.sh", "capture-nfs4.sh", "checksum.sh", "copies.sh", "delegations-nfs4.sh", "directory.sh", "exercise.sh", "exports-nfs4.sh", "falls-back.sh", "far-copies.sh", "file-systems.sh", "krb5-client.sh", "krb5-lib.sh", "krb5.sh", "pass-through.sh", "quotas.sh", "heads.sh", "heads-race.sh",
    "lib.sh", "locks-nfs4.sh", "locks-nlm.sh", "locks-reclaim.sh", "locks-refused.sh", "mount-nfs4.sh", "mount.sh",
    "open-files.sh", "ranges-nfs4.sh", "relay-applications.sh", "relay-connectathon.sh", "relay-fsx.sh", "relay-ganesha.sh", "relay-ganesha4.sh", "relay-howdah.sh", "relay-kernel.sh", "relay-kernel4.sh", "relay-krb5.sh", "relay-memory.sh", "relay-passed.sh",
    "relay-pjdfstest.sh", "relay.sh",
    "run-job.sh", "serve.sh", "squash.sh", "through-kill.sh", "tls-lib.sh", "tls-refused.sh", "tls-server.sh", "tls.sh", "tree.sh", "udp.sh", "under-load.sh", "users.sh",
    // Of suites and contention.
    "connectathon.sh", "contend.sh", "kernel-beside.sh", "nfs-conformance.sh", "nfstest.sh", "pjdfstest.sh", "xfstests.sh", "xfstests-accepted.sh",
);

/// What the host runs.
pub const HOST: &[(&str, &str)] = texts!(
    "host": "fuse-acls.sh", "fuse-applications.sh", "fuse-connectathon.sh", "fuse-fsx.sh", "fuse-locks-kernel.sh", "fuse-locks.sh", "fuse-pjdfstest.sh", "fuse.sh",
    "heads-cephfs.sh", "heads-lib.sh", "heads-moosefs.sh", "lib.sh", "libnfs.sh", "own-portmap.sh", "rpcbind.sh",
);

/// How the names of scripts begin that mount by FUSE. They run beside a guest, too.
pub const FUSE: &str = "fuse";

/// What scripts of cluster file systems share.
pub const HEADS: &str = "heads-lib.sh";

/// Programs and suites on a mounted directory, which jobs of the guest and of the host run.
pub const SUITES: &[(&str, &str)] = texts!(
    "suites": "contend.pl", "suite-applications.sh", "suite-connectathon.sh", "suite-fsx.sh", "suite-pjdfstest.sh",
);

#[cfg(test)]
mod tests {
    use crate::scenario::Peer;
    use crate::scenarios;

    #[test]
    fn every_scenario_has_its_script() {
        for scenario in [scenarios::all(), scenarios::when_named()].concat() {
            let of_guest = scenario.guest_job().map(|job| (super::GUEST, job));
            let of_host = match scenario.peer {
                Peer::Host { job, .. } | Peer::Mounted { job, .. } => Some((super::HOST, job)),
                _ => None,
            };
            for (texts, job) in of_guest.into_iter().chain(of_host) {
                assert!(texts.iter().any(|(name, _)| *name == job), "{}: no script {job}", scenario.name);
            }
        }
    }

    /// `sh` takes the arithmetic of bash for a subshell that runs a number, and a condition of it as false.
    #[test]
    fn jobs_of_the_host_have_no_arithmetic_of_bash() {
        for (name, text) in [super::HOST, super::SUITES].concat() {
            for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
                assert!(!line.replace("$((", "").contains("(("), "{name}: {line}");
            }
        }
    }
}
