//! What the job's shell knows: one name, one value.

use std::fs;

use super::isolation::{
    GUEST_ADDRESS, GUEST_ADDRESS6, Network, SECOND_GUEST_ADDRESS, SECOND_GUEST_ADDRESS6,
    SECOND_SERVER_ADDRESS,
};
use super::server::Server;
use crate::job::Job;
use crate::scenario::Peer;

/// Names and values.
pub type Values = Vec<(&'static str, String)>;

/// The values of a job that drives howdah.
pub fn of(job: &Job, network: &Network, server: &Server) -> Values {
    let mut values = of_every_job(job, network);
    values.extend([("PORT", server.port().to_string()), ("SERVER_PROCESS", server.process_id().to_string())]);
    if let Peer::Guest { options, ipv6, .. } = job.scenario.peer {
        let host =
            if ipv6 { format!("[{}]", network.server_address6) } else { network.server_address.to_owned() };
        values.extend([
            ("JOB_LOG", "job.txt".to_owned()),
            ("MOUNT_SOURCE", format!("{host}:{}", job.scenario.export)),
            ("MOUNT_OPTIONS", options.to_owned()),
        ]);
    }
    values
}

/// The values of the second guest, whose mount options these are: where it is another, the last value counts.
pub fn of_second(job: &Job, network: &Network, server: &Server, options: &str) -> Values {
    let mut values = of(job, network, server);
    values.extend([
        ("WORK", job.second().display().to_string()),
        ("GUEST_NUMBER", "2".to_owned()),
        ("GUEST_ADDRESS", SECOND_GUEST_ADDRESS.to_owned()),
        ("GUEST_ADDRESS6", SECOND_GUEST_ADDRESS6.to_owned()),
        ("SERVER_ADDRESS", SECOND_SERVER_ADDRESS.to_owned()),
        ("MOUNT_SOURCE", format!("{SECOND_SERVER_ADDRESS}:{}", job.scenario.export)),
        ("MOUNT_OPTIONS", options.to_owned()),
    ]);
    values
}

/// The values of a job that drives heads.
pub fn of_heads(job: &Job, network: &Network, options: &str) -> Values {
    let mut values = of_every_job(job, network);
    values.extend([
        ("JOB_LOG", "job.txt".to_owned()),
        ("MOUNT_SOURCE", format!("{}:{}", network.server_address, job.scenario.export)),
        ("MOUNT_OPTIONS", options.to_owned()),
    ]);
    values
}

/// The values of a job that mounts the export at this URL over NFSv4.2.
pub fn of_mount(job: &Job, network: &Network, url: String) -> Values {
    let mut values = of_every_job(job, network);
    values.extend([("MOUNT_URL", url), ("NFS42", "1".to_owned())]);
    values
}

/// The values of a guest that serves a file system of this type.
pub fn of_serving_guest(job: &Job, network: &Network, (file_system, nfs4): (&str, bool)) -> Values {
    let mut values = of_every_job(job, network);
    values.extend([("FILE_SYSTEM", file_system.to_owned()), ("JOB_LOG", "serve.txt".to_owned())]);
    values.push(("NFS4", if nfs4 { "yes" } else { "no" }.to_owned()));
    values
}

fn of_every_job(job: &Job, network: &Network) -> Values {
    let mut values = vec![
        ("WORK", job.work.display().to_string()),
        ("SHARED", job.work.display().to_string()),
        ("GUEST_NUMBER", "1".to_owned()),
        ("EXPORT_DIRECTORY", job.export().display().to_string()),
        ("EXPORT_NAME", job.scenario.export.to_owned()),
        ("SEED", job.seed.to_string()),
        ("TOOL", network.tool.display().to_string()),
        ("HOWDAH", job.binary.display().to_string()),
        (
            "GUEST_FILES",
            job.guest_files().map(|path| path.join("root").display().to_string()).unwrap_or_default(),
        ),
        ("SUITES", job.suites.as_ref().map(|path| path.display().to_string()).unwrap_or_default()),
        ("PRIVILEGED", if is_root_of_the_machine() { "yes" } else { "no" }.to_owned()),
        ("CONFIGURED", if job.scenario.configured { "yes" } else { "no" }.to_owned()),
        ("SERVER_ADDRESS", network.server_address.to_owned()),
        ("SERVER_ADDRESS6", network.server_address6.to_owned()),
    ];
    if let Some(script) = job.scenario.guest_job() {
        values.extend([
            ("MAIN", "run-job.sh".to_owned()),
            ("JOB", script.to_owned()),
            ("GUEST_ADDRESS", GUEST_ADDRESS.to_owned()),
            ("GUEST_ADDRESS6", GUEST_ADDRESS6.to_owned()),
            ("GUEST_WINDOW", network.guest_window.to_string()),
        ]);
    }
    for (name, ..) in job.scenario.sizes {
        values.extend(job.size(name).map(|value| (*name, value.to_string())));
    }
    values
}

/// Not so in an ordinary user's namespace, where root is that user and no other user exists.
pub fn is_root_of_the_machine() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    rustix::process::geteuid().is_root() && map.split_whitespace().nth(2) != Some("1")
}
