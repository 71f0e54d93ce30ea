//! What a run would refuse only once it is under way: looked for in every cell before anything is made.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::cell::place;
use super::word::one_of;
use super::{Job, client, failover, server, topology};
use crate::plan::{CellSpec, HostPlan};

/// Capabilities of Linux (capabilities(7)), as `setpriv` names them.
const CAPABILITIES: [&str; 41] = [
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
];

/// The largest niceness (nice(1)).
const NICEST: u8 = 19;

/// Checks a cell's hosts, wires, server and clients. Commands of this program are checked by the code that knows their flags.
pub fn check(job: &Job) -> Result<()> {
    let spec = &job.cell.spec;
    hosts(spec)?;
    topology(&job.cell, job.seed).check()?;
    let place = place(job, Path::new("howdah"), Path::new("TEMPORARY"), Path::new("LOGS"));
    server(spec.server.kind)?.check(&job.cell).context("cell.server")?;
    for (name, client_spec) in &spec.clients {
        let checked = client(client_spec.kind, name)?.check(&job.cell, &place);
        checked.with_context(|| format!("cell.clients.{name}"))?;
    }
    Ok(())
}

fn hosts(spec: &CellSpec) -> Result<()> {
    let known: Vec<&str> = spec.host_names().into_iter().collect();
    one_of("cell.server.host", &spec.server.host, &known)?;
    for head in &spec.server.heads {
        one_of("cell.server.heads", head, &known)?;
    }
    failover::check(spec).context("cell.failover")?;
    for (name, client) in &spec.clients {
        client.to.iter().try_for_each(|to| one_of(&format!("cell.clients.{name}.to"), to, &known))?;
    }
    if let Some(relay) = &spec.relay {
        one_of("cell.relay.host", &relay.host, &known)?;
    }
    for (name, host) in &spec.hosts {
        one_of("cell.hosts", name, &known)?;
        of_host(host).with_context(|| format!("cell.hosts.{name}"))?;
    }
    Ok(())
}

fn of_host(host: &HostPlan) -> Result<()> {
    for capability in &host.without {
        one_of("without", capability, &CAPABILITIES)?;
    }
    ensure!(host.nice <= NICEST, "nice: {} is not possible; 0 to {NICEST} are", host.nice);
    for name in host.sysctls.keys() {
        let is_plain = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-/".contains(&byte))
        };
        if !name.starts_with("net.") || !name.split('.').all(is_plain) {
            bail!(
                "sysctls: \"{name}\" is no setting of a network namespace; those look like net.ipv4.tcp_rmem"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::plan::testing::TEXT;
    use crate::run::{Selection, jobs};

    /// What is said of the plan with `is` in place of `was`.
    fn said(was: &str, is: &str) -> String {
        let text = TEXT.replacen(was, is, 1);
        assert_ne!(text, TEXT, "{was}");
        let plan = Plan::parse("plan.toml", &text).unwrap_or_else(|error| panic!("{is}: {error}"));
        let jobs = jobs(&plan, &Selection::default()).expect("cells");
        let checked = jobs.iter().try_for_each(check);
        checked.err().map_or_else(|| "nothing".to_owned(), |error| format!("{error:#}"))
    }

    #[test]
    fn a_plan_that_is_right_passes() {
        assert_eq!(said("seed = 2008", "seed = 2009"), "nothing");
        for host in ["nice = 5\nwithout = ['net_admin']", "sysctls.'net.ipv4.conf.path0/1.rp_filter' = 0"] {
            assert_eq!(
                said("[[factor]]", &format!("[cell.hosts.client]\n{host}\n[[factor]]")),
                "nothing",
                "{host}"
            );
        }
    }

    #[test]
    fn a_wrong_word_is_told_with_its_key_and_the_possible_words() {
        const HEAD: &str = "[[factor]]";
        const KIND: &str = "kind = \"howdah\"\nworkload = \"write\"\noptions = [\"--size\", \"500M\"]";
        for (was, is, parts) in [
            (
                HEAD,
                "[cell.server]\nhost = 'sever'\n[[factor]]",
                ["cell.server.host: \"sever\"", "client, server"],
            ),
            (
                HEAD,
                "[cell.relay]\nhost = 'near'\n[[factor]]",
                ["cell.relay.host: \"near\"", "client, server"],
            ),
            (HEAD, "[cell.hosts.cleint]\n[[factor]]", ["cell.hosts: \"cleint\"", "client, server"]),
            (
                HEAD,
                "[cell.hosts.client]\nwithout = ['net_amdin']\n[[factor]]",
                ["without: \"net_amdin\"", "net_admin"],
            ),
            (HEAD, "[cell.hosts.client]\nnice = 20\n[[factor]]", ["nice: 20", "0 to 19"]),
            (HEAD, "[cell.hosts.client]\nsysctls.'vm.x' = 1\n[[factor]]", ["\"vm.x\"", "net.ipv4.tcp_rmem"]),
            (HEAD, "[cell.wires.Long]\nbetween = ['client', 'server']\n[[factor]]", ["\"Long\"", "a-z"]),
            (
                HEAD,
                "[cell.server]\nkind = 'kernel'\noptions = ['--x']\n[[factor]]",
                ["cell.server: options", "\"--x\""],
            ),
            (
                HEAD,
                "[cell.server]\nkind = 'ganesha'\nexport = 'disk'\n[[factor]]",
                ["cell.server: export", "memory"],
            ),
            (KIND, "kind = 'probe'\nworkload = 'dealy'", ["workload: \"dealy\"", "delay, loss, rate"]),
            (KIND, "kind = 'probe'\nworkload = 'delay'\noptions = ['--cuont', '3']", ["--cuont", "--count"]),
            (KIND, "kind = 'iperf3'\nworkload = 'raed'", ["workload: \"raed\"", "write, read"]),
            (KIND, "kind = 'libnfs'\nworkload = 'raed'", ["workload: \"raed\"", "write, read"]),
            (KIND, "kind = 'libnfs'\noptions = ['--sise', '1M']", ["options: \"--sise\"", "--size"]),
            (KIND, "kind = 'libnfs'\noptions = ['--size', '1X']", ["--size 1X", "K, M and G"]),
            (KIND, "kind = 'busy'\noptions = ['3', 'x']", ["options", "\"x\""]),
            (KIND, "kind = 'simulation'\noptions = ['--tmier', 'today']", ["--tmier", "--timer RULE"]),
            (KIND, "kind = 'kernel'\nworkload = 'read'\noptions = ['--sise', '1M']", ["--sise", "--size"]),
            (KIND, "kind = 'kernel'\nurl = 'nconect=4'", ["\"nconect\"", "nconnect"]),
            (KIND, "kind = 'kernel'\nmount.rsize = 'big'", ["\"rsize=big\"", "a number"]),
            (KIND, "kind = 'kernel'\nmount.proto = 'tpc'", ["\"proto=tpc\"", "tcp, udp"]),
        ] {
            let said = said(was, is);
            assert!(parts.iter().all(|part| said.contains(part)), "{is}: {said}");
        }
    }
}
