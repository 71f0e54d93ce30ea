//! Debian packages: installs those that are missing, if we may.

use std::io::{IsTerminal, stdin};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::step::{Context, Report};
use super::{guest_registers, newer_guest, services};

/// What each is for stands beside it; the tests skip what needs a missing one.
const PACKAGES: &[&str] = &[
    "user-mode-linux",         // the guest's kernel
    "nfs-common",              // mount.nfs, showmount
    "rpcbind",                 // rpcbind, rpcinfo
    "iproute2",                // the private network
    "iperf3",                  // a load for wires
    "kmod",                    // the guest's modules
    "libnfs-utils",            // nfs-ls, nfs-cat, nfs-cp
    "attr",                    // setfattr, which v3 must refuse
    "strace",                  // counting system calls
    "nfs-kernel-server",       // the guest's kernel as a server
    "e2fsprogs",               // the file system it exports
    "xfsprogs",                // another one, for power cuts
    "btrfs-progs",             // a third one, in the guest
    "dosfstools",              // FAT, in the guest
    "acl",                     // setfacl, for default ACLs
    "nfs-ganesha",             // another server
    "nfs-ganesha-vfs",         // and its storage
    "libnl-genl-3-200",        // the TLS daemon of a newer guest
    "moosefs-master",          // a cluster file system under several servers
    "moosefs-chunkserver",     // its storage
    "moosefs-client",          // its mount
    "keepalived",              // what moves the address of heads
    "openssl",                 // certificates that are no longer valid, TLS without RPC
    "krb5-kdc",                // a Kerberos realm
    "krb5-admin-server",       // its principals
    "krb5-user",               // their tickets
    "libgssapi-krb5-2",        // and what establishes contexts by them
    "stunnel4",                // TLS in front of clients that have none
    "chromium-headless-shell", // the live page, on a phone's screen
];

/// Installs what is missing, and fetches a guest kernel that this machine's Debian does not have.
pub fn install(context: &Context) -> Result<Report> {
    let mut report = install_packages()?;
    report.add(guest_registers::prepare(context));
    report.add(newer_guest::fetch(context));
    Ok(report)
}

fn install_packages() -> Result<Report> {
    let Some(missing) = missing() else {
        return Ok(Report::skipped(format!(
            "no dpkg here; the tests use {} where they find them",
            PACKAGES.join(", ")
        )));
    };
    if missing.is_empty() {
        return Ok(Report::passed("all installed"));
    }
    let list = missing.join(" ");
    let Some(prefix) = way_to_root() else {
        return Ok(Report::skipped(format!("not root, and sudo is not to be had; missing: {list}")));
    };
    println!("installing {list}");
    let held = services::hold(prefix, &missing)?;
    let arguments = [&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat();
    let done = install_all(prefix, &arguments);
    held.release()?;
    Ok(if done? {
        Report::passed(format!("installed {list}"))
    } else {
        Report::failed(format!("apt-get could not install {list}"))
    })
}

/// A list of packages that is too old, or was never fetched, is the usual reason for a failure.
fn install_all(prefix: &[&str], arguments: &[&str]) -> Result<bool> {
    Ok(apt_get(prefix, arguments)? || (apt_get(prefix, &["update"])? && apt_get(prefix, arguments)?))
}

fn missing() -> Option<Vec<&'static str>> {
    let mut missing = Vec::new();
    for package in PACKAGES {
        let output =
            Command::new("dpkg-query").args(["-W", "-f", "${db:Status-Status}", package]).output().ok()?;
        if output.stdout != b"installed" {
            missing.push(*package);
        }
    }
    Some(missing)
}

/// The words before a command that runs it as root; None if there is no way.
fn way_to_root() -> Option<&'static [&'static str]> {
    if rustix::process::geteuid().is_root() {
        return Some(&[]);
    }
    let quiet = Command::new("sudo").args(["-n", "true"]).stderr(Stdio::null()).status();
    match quiet {
        Ok(status) if status.success() => Some(&["sudo", "-n"]),
        // It may ask a person for the password.
        Ok(_) if stdin().is_terminal() => Some(&["sudo"]),
        _ => None,
    }
}

fn apt_get(prefix: &[&str], arguments: &[&str]) -> Result<bool> {
    let words = [
        prefix,
        &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet=2", "-o=Dpkg::Use-Pty=0"],
        arguments,
    ]
    .concat();
    let status = Command::new(words[0]).args(&words[1..]).status().context("starting apt-get")?;
    Ok(status.success())
}
