//! `kill-quic`: SIGKILL of a server of QUIC, restarts in order, a path that is cut, and clients whose address changes. The page cache
//! survives it all, so everything that was answered must be there, as in `kill-server`; and a client that only moves, or whose path is
//! cut for less than a connection lives, keeps its connection.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use howdah_client::connect::own_caller;
use howdah_random::Random;

use super::campaign::{Context, Progress, Verdict};
use super::crew::{Crew, client};
use super::path::FarPath;
use super::server::{Offer, PORT, Server};
use super::worker::Worker;

/// Faults of the full form and of the short one.
const FULL: u64 = 400;
const QUICK: u64 = 16;
/// Workers, and how each reaches the server.
const MOUNTS: [&str; 4] = ["&version=3", "&version=3&lanes=1", "&version=4.1", "&version=4.2"];
/// A fault comes after at most so many steps of all workers, and so much later.
const MOST_STEPS: u64 = 120;
const MOST_LATER: Duration = Duration::from_millis(4);
/// Nobody goes on after this long: something hangs.
const STUCK: Duration = Duration::from_secs(150);
/// What happens, and how often it did.
const KINDS: [&str; 4] = ["kills", "restarts", "cuts", "moves"];
/// Addresses that a client moves among, from this one on.
const FIRST_ADDRESS: u8 = 100;
const ADDRESSES: u8 = 100;

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let mut random = Random::new(context.seed);
    let mut scene = QuicScene::begin(context)?;
    let crew = Crew::settle(scene.server.export(), MOUNTS.len(), true)?;
    // A client learns late that its connection is gone: any call may be sent again.
    crew.set_troubled(true);
    scene.employ(&crew, context.seed)?;
    let (times, mut progress, mut bytes) = (context.times(FULL, QUICK), Progress::begin(), 0);
    let mut counts = [0_u64; KINDS.len()];
    for fault in 1..=times {
        wait(&crew, &mut random)?;
        let kind = random.below(KINDS.len() as u64) as usize;
        counts[kind] += 1;
        bytes += scene.strike(kind, &crew, (context, &mut random), fault)?;
        if !crew.broken().is_empty() {
            break;
        }
        progress.tell(|| format!("{fault} of {times} faults, {} calls", crew.steps()));
    }
    scene.server.wait()?;
    crew.dismiss(STUCK);
    scene.server.kill()?;
    bytes += crew.verify("at the end");
    let of_each: Vec<String> =
        KINDS.iter().zip(counts).map(|(kind, count)| format!("{count} {kind}")).collect();
    Ok(Verdict {
        figures: format!(
            "{} in {:.0} s; {} calls; {} MB compared, 0 wrong; {} calls were answered as a second run is",
            of_each.join(", "),
            progress.seconds(),
            crew.steps(),
            bytes >> 20,
            crew.second_answers(),
        ),
        broken: crew.broken(),
        ..Verdict::default()
    })
}

/// A server of QUIC on a host of its own, the path to it, and where its clients are.
struct QuicScene {
    server: Server,
    authority: String,
    at: Ipv4Addr,
    // Goes last: the server lives on its host.
    path: FarPath,
}

impl QuicScene {
    fn begin(context: &Context) -> Result<Self> {
        let path = FarPath::lay(context)?;
        let (site, certificates) = (path.far(), context.directory.join("certificates"));
        let mut command = std::process::Command::new(&context.binary);
        command.args(["certificate", "--quiet", "--server", &format!("server,{}", site.address)]);
        let status = command.arg(&certificates).status().context("making certificates")?;
        anyhow::ensure!(status.success(), "howdah certificate: {status}");
        let file = |name: &str| certificates.join(name).display().to_string();
        let port = PORT.to_string();
        let flags = ["--no-udp", "--quic", &port, "--tls-certificate", &file("server.pem"), "--tls-key"];
        let flags = flags.iter().map(|flag| (*flag).to_owned()).chain([file("server.key")]).collect();
        let at = path.near_address()?;
        let offer = Offer { site, flags, ..Offer::below(&context.directory) };
        let server = Server::start_with(&context.binary, offer)?;
        Ok(Self { server, authority: file("ca.pem"), at, path })
    }

    fn employ(&self, crew: &Arc<Crew>, seed: u64) -> Result<()> {
        for ((territory, number), options) in crew.territories.iter().zip(1..).zip(MOUNTS) {
            let url = self.server.url("", &format!("&proto=quic&tlsca={}{options}", self.authority));
            let employed = self.path.near_host().run_in(|| -> Result<()> {
                // Its threads are that host's too.
                let random = Random::apart(seed, number);
                let worker = Worker::new(client(&url)?, own_caller(), Arc::clone(territory), random);
                crew.employ(worker.context("looking up a territory")?);
                Ok(())
            });
            employed.context("entering the near host")??;
        }
        Ok(())
    }

    /// Lets something happen, and have an end; gives the bytes that were compared.
    fn strike(
        &mut self,
        kind: usize,
        crew: &Arc<Crew>,
        (context, random): (&Context, &mut Random),
        fault: u64,
    ) -> Result<u64> {
        let mut bytes = 0;
        match KINDS[kind] {
            "kills" => {
                self.server.kill()?;
                bytes = crew.verify(&format!("after fault {fault}"));
                self.server.start_again()?;
            }
            "restarts" => {
                self.server.wait()?;
                self.server.end()?;
                bytes = crew.verify(&format!("after fault {fault}"));
                self.server.start_again()?;
            }
            "cuts" => {
                self.path.cut()?;
                thread::sleep(self.path.outage(context, random));
                self.path.mend()?;
            }
            _ => {
                let [a, b, c, _] = self.at.octets();
                let next = Ipv4Addr::new(a, b, c, FIRST_ADDRESS + random.below(ADDRESSES.into()) as u8);
                if next != self.at {
                    self.path.move_near(self.at, next)?;
                    self.at = next;
                }
            }
        }
        Ok(bytes)
    }
}

/// Waits until the next fault is due.
fn wait(crew: &Crew, random: &mut Random) -> Result<()> {
    let until = crew.steps() + 1 + random.below(MOST_STEPS);
    if !crew.wait_for(until, STUCK) && crew.broken().is_empty() {
        bail!("nobody goes on: no answer for {STUCK:?}");
    }
    thread::sleep(MOST_LATER.mul_f64(random.fraction()));
    Ok(())
}
