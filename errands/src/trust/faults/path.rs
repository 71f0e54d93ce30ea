//! Faults of the path between client and server: everything that a path of ours can do, and an interface that goes.

use std::thread;
use std::time::Instant;

use anyhow::{Result, ensure};
use howdah_link::{Counters, Tally};

use super::fault::{Effect, Fault};
use super::newcomer::PAUSE;
use super::pulse::Pulse;
use super::scene::{Scene, WIRE};
use super::trial::GIVE_UP;
use crate::trust::disk::run;

/// All of them.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "interface down",
        begin: |scene, _| interface(scene, "down"),
        end: |scene| interface(scene, "up"),
        ..waits("calls wait for the path")
    },
    Fault {
        name: "losses",
        begin: |scene, _| scene.set_path("loss = '5%'"),
        effect: Effect::GoesOn(|scene| it_did(scene, |counters| counters.dropped)),
        ..goes_on()
    },
    Fault {
        name: "losses in bursts",
        // A burst counts packets: each lone retransmission takes one, and after six of them TCP is silent for more than 6 s.
        begin: |scene, _| scene.set_path("bursts = { loss = '5%', length = 3 }"),
        effect: Effect::Stutters(|scene| it_did(scene, |counters| counters.dropped)),
        expected: "calls go on; where what is sent again is lost again, TCP waits twice as long each time",
        ..goes_on()
    },
    Fault {
        name: "packets overtake",
        begin: |scene, _| scene.set_path("rtt = '5ms'\nreorder = { packets = '20%', hold = '3ms' }"),
        effect: Effect::GoesOn(|scene| it_did(scene, |counters| counters.held_back)),
        ..goes_on()
    },
    Fault {
        name: "packets come twice",
        begin: |scene, _| scene.set_path("duplicate = '20%'"),
        effect: Effect::GoesOn(|scene| it_did(scene, |counters| counters.copied)),
        ..goes_on()
    },
    Fault {
        name: "packets are damaged",
        begin: |scene, _| scene.set_path("corrupt = '5%'"),
        effect: Effect::GoesOn(|scene| it_did(scene, |counters| counters.corrupted)),
        ..goes_on()
    },
    Fault {
        name: "up and down",
        begin: |scene, _| scene.set_path("schedule = 'down 100ms every 400ms'"),
        effect: Effect::GoesOn(|scene| it_did(scene, |counters| counters.dropped)),
        ..goes_on()
    },
    Fault {
        name: "rate collapses",
        begin: |scene, _| scene.set_path("rate = '128kbit'"),
        effect: Effect::GoesOn(|scene| it_did(scene, |counters| counters.arrived)),
        expected: "calls go on, as fast as the path lets them",
        ..goes_on()
    },
    Fault {
        name: "MTU falls",
        begin: |scene, _| set_mtu(scene, LESS_MTU),
        end: |scene| set_mtu(scene, MTU),
        effect: Effect::GoesOn(|scene| {
            let output = scene.client().command("ip").args(["link", "show", WIRE]).output()?;
            let said = String::from_utf8_lossy(&output.stdout);
            ensure!(said.contains(&format!(" mtu {LESS_MTU} ")), "the interface is another one: {said}");
            Ok(())
        }),
        expected: "calls go on",
        ..goes_on()
    },
    Fault {
        name: "MTU black hole",
        begin: |scene, _| scene.set_path("mtu = { size = 700, too_large = 'dropped' }"),
        ..waits("calls wait for the path")
    },
];

/// A path that still carries something.
const fn goes_on() -> Fault {
    Fault {
        name: "",
        expected: "calls go on, slower",
        needs: None,
        effect: Effect::Wait,
        begin: |_: &Scene, _: &Pulse| Ok(()),
        end: |scene| scene.set_path(""),
    }
}

/// A path that carries nothing.
const fn waits(expected: &'static str) -> Fault {
    Fault { expected, ..goes_on() }
}

/// What interfaces carry, and what IPv6 takes at least (RFC 8200 5).
const MTU: &str = "1500";
const LESS_MTU: &str = "1280";

fn set_mtu(scene: &Scene, mtu: &str) -> Result<()> {
    for host in [scene.client(), scene.server_host().0] {
        run(host.command("ip").args(["link", "set", WIRE, "mtu", mtu]))?;
    }
    Ok(())
}

fn interface(scene: &Scene, how: &str) -> Result<()> {
    run(scene.client().command("ip").args(["link", "set", WIRE, how]))
}

/// Waits until the path has done that to a packet: what comes by chance may not have come in a second.
fn it_did(scene: &Scene, what: fn(&Counters) -> Tally) -> Result<()> {
    let began = Instant::now();
    loop {
        let deeds = scene.deeds();
        let count: u64 = deeds.iter().map(|(_, counters)| what(counters).packets).sum();
        if count > 0 {
            return Ok(());
        }
        ensure!(began.elapsed() < GIVE_UP, "the path did nothing to packets: {deeds:?}");
        thread::sleep(PAUSE);
    }
}
