//! Gives a host's interfaces their addresses and routes, with ip(8): it is on every Linux, says what is wrong in words, and its
//! commands can be repeated by hand.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Addresses;
use super::addresses::{PREFIX4, PREFIX6};

/// Packets that wait to be taken by the forwarder: so many that none is lost before the path when it is busy elsewhere for a
/// while. What a path lets wait is its queue's matter.
const TRANSMIT_QUEUE: usize = 10_000;

/// Routing tables of wires begin here; the kernel's own are above 252 and 0.
const FIRST_TABLE: usize = 1000;

/// An interface to be.
#[derive(Debug, Clone, Copy)]
pub struct LabInterface<'a> {
    pub name: &'a str,
    pub mtu: usize,
    pub addresses: Addresses,
}

/// Does it, in the network namespace of the calling thread.
pub fn configure(interfaces: &[LabInterface<'_>]) -> Result<()> {
    let mut lines = "link set lo up\n".to_owned();
    let mut rules6 = String::new();
    for (index, interface) in interfaces.iter().enumerate() {
        let LabInterface { name, mtu, addresses } = interface;
        // Without multicast nobody announces memberships in groups on it.
        line(
            &mut lines,
            format_args!("link set dev {name} mtu {mtu} txqueuelen {TRANSMIT_QUEUE} multicast off up"),
        );
        line(&mut lines, format_args!("address add {}/{PREFIX4} dev {name}", addresses.v4));
        if let Some(v6) = addresses.v6 {
            line(&mut lines, format_args!("address add {v6}/{PREFIX6} dev {name} nodad"));
        }
        // Whatever has an address of a wire as its source takes that wire, also to an address of another one.
        if interfaces.len() > 1 {
            let table = FIRST_TABLE + index;
            line(&mut lines, format_args!("route add default dev {name} table {table}"));
            line(&mut lines, format_args!("rule add from {} lookup {table}", addresses.v4));
            if let Some(v6) = addresses.v6 {
                line(&mut rules6, format_args!("route add default dev {name} table {table}"));
                line(&mut rules6, format_args!("rule add from {v6} lookup {table}"));
            }
        }
    }
    ip(&["-batch", "-"], &lines)?;
    if rules6.is_empty() { Ok(()) } else { ip(&["-6", "-batch", "-"], &rules6) }
}

fn line(lines: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(lines, "{line}").expect("a string takes everything");
}

fn ip(arguments: &[&str], lines: &str) -> Result<()> {
    let mut child = Command::new("ip")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("starting ip, of the package iproute2")?;
    let mut input = child.stdin.take().context("a piped standard input")?;
    let written = input.write_all(lines.as_bytes());
    drop(input);
    let output = child.wait_with_output().context("waiting for ip")?;
    if !output.status.success() {
        bail!("ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    written.context("telling ip what to do")
}
