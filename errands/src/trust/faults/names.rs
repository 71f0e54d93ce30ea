//! Faults of the services for names and ports: rpcbind, and the resolver of host names.

use std::fs;
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use howdah_lab::network::LabHost;
use howdah_wire::nfs3;

use super::fault::{Effect, Fault};
use super::newcomer::PAUSE;
use super::process::signal;
use super::pulse::Pulse;
use super::scene::{CLIENT, Scene};
use super::trial::BACK;
use crate::trust::disk::run;

/// All of them.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "rpcbind gone",
        expected: "calls go on; howdah registers again",
        needs: Some(("rpcbind", "rpcbind")),
        effect: Effect::GoesOn(|scene| {
            ensure!(!is_registered(scene)?, "the server is registered still");
            Ok(())
        }),
        begin: |scene, _| {
            let mut rpcbind = scene.held().rpcbind.take().context("an rpcbind that runs")?;
            rpcbind.kill().context("killing rpcbind")?;
            rpcbind.wait().context("waiting for rpcbind")?;
            Ok(())
        },
        end: |scene| {
            let rpcbind = start_rpcbind(scene.server_host().0)?;
            scene.held().rpcbind = Some(rpcbind);
            let began = Instant::now();
            while !is_registered(scene)? {
                ensure!(began.elapsed() < BACK, "the server is not registered again after {BACK:?}");
                std::thread::sleep(PAUSE);
            }
            Ok(())
        },
    },
    Fault {
        name: "DNS silent at a reload",
        expected: "clients keep the addresses that they had",
        needs: None,
        effect: Effect::GoesOn(|scene| {
            let held = scene.held();
            let resolver = held.resolver.as_ref().context("a resolver")?;
            resolver.recv(&mut [0; 512]).context("nobody was asked for a name")?;
            drop(held);
            scene.wait_until_said(KEPT_ADDRESSES)
        }),
        begin: silence,
        end: |scene| {
            let names = fs::copy(KEPT, HOSTS).with_context(|| format!("writing {HOSTS}"));
            scene.held().resolver = None;
            run(Command::new("umount").arg(RESOLVER))?;
            names.map(drop)
        },
    },
];

/// What the server says of a client whose name no resolver gives.
const KEPT_ADDRESSES: &str = "it keeps its old addresses";
/// Who has which address, as long as nobody is silent, and where we keep it meanwhile.
const HOSTS: &str = "/etc/hosts";
const KEPT: &str = "/run/howdah/hosts-kept";
/// The resolver for the others.
const RESOLVER: &str = "/etc/resolv.conf";
const OUR_RESOLVER: &str = "/run/howdah/resolv.conf";
/// The port of resolvers (RFC 1035 4.2.1).
const DNS: u16 = 53;
/// Where rpcbind listens for programs of its host.
const RPCBIND: &str = "/run/rpcbind.sock";
/// It is there after this long.
const START: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// Starts one, and waits until it listens.
pub fn start_rpcbind(host: &LabHost) -> Result<Child> {
    fs::create_dir_all("/run/rpcbind").context("making a directory for rpcbind")?;
    let mut command = host.command("rpcbind");
    command.arg("-f").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut rpcbind = command.spawn().context("starting rpcbind")?;
    let give_up = Instant::now() + START;
    while UnixStream::connect(RPCBIND).is_err() {
        let ended = rpcbind.try_wait().context("looking at rpcbind")?;
        ensure!(ended.is_none(), "rpcbind ended by itself: {ended:?}");
        ensure!(Instant::now() < give_up, "rpcbind does not listen {START:?} after its start");
        std::thread::sleep(LOOK);
    }
    Ok(rpcbind)
}

/// Whether rpcbind knows where NFS is served.
fn is_registered(scene: &Scene) -> Result<bool> {
    let output = scene.server_host().0.command("rpcinfo").output().context("starting rpcinfo")?;
    let nfs = nfs3::PROGRAM.to_string();
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .any(|line| line.split_whitespace().next() == Some(&nfs)))
}

/// The client's name is known no more, and the resolver does not answer; the server looks it up again.
fn silence(scene: &Scene, _: &Pulse) -> Result<()> {
    let (host, address) = scene.server_host();
    let resolver = host.run_in(|| UdpSocket::bind((address, DNS)))?.context("listening as a resolver")?;
    resolver.set_nonblocking(true).context("listening as a resolver")?;
    scene.held().resolver = Some(resolver);
    fs::write(OUR_RESOLVER, format!("nameserver {address}\noptions timeout:1 attempts:1\n"))
        .with_context(|| format!("writing {OUR_RESOLVER}"))?;
    run(Command::new("mount").args(["--bind", OUR_RESOLVER, RESOLVER]))?;
    fs::copy(HOSTS, KEPT).with_context(|| format!("writing {KEPT}"))?;
    let hosts = fs::read_to_string(HOSTS).with_context(|| format!("reading {HOSTS}"))?;
    let others = hosts.lines().filter(|line| !line.split_whitespace().any(|word| word == CLIENT));
    let others: String = others.map(|line| format!("{line}\n")).collect();
    fs::write(HOSTS, others).with_context(|| format!("writing {HOSTS}"))?;
    signal(scene, "-HUP")
}
