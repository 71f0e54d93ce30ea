//! `cargo xtask trust`: campaigns against what howdah promises. Each is a figure and a list of what was broken, which is to be
//! empty.
#![allow(clippy::print_stdout, reason = "its output is for a person")]

mod arguments;
mod blocks;
mod calls;
mod campaign;
mod copies;
mod crew;
mod disk;
mod exactly_once;
mod faults;
mod impatient;
mod kill_behind;
mod kill_client;
mod kill_locks;
mod kill_mount;
mod kill_passed;
mod kill_quic;
mod kill_relay;
mod kill_server;
mod losing;
mod mount;
mod names;
mod path;
mod power_behind;
mod power_cut;
mod server;
mod soak;
mod tally;
mod territory;
mod tree;
mod worker;
mod world;

/// As the client's tests have them: somebody in the middle, and a server in this process.
#[path = "../../../crates/client/tests/middleman/mod.rs"]
mod middleman;
#[path = "../../../crates/client/tests/served/mod.rs"]
mod served;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use howdah_lab::sandbox::{Entered, enter};

pub use arguments::Arguments;
use campaign::{Campaign, Context, Verdict};

/// All of them.
const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "kill-server",
        about: "SIGKILL of the server under writes, changes of names, and copies",
        run: kill_server::run,
    },
    Campaign {
        name: "kill-client",
        about: "SIGKILL of howdah cp, begun again until it ends",
        run: kill_client::run,
    },
    Campaign {
        name: "kill-relay",
        about: "SIGKILL of a relay and of the server behind it, and a path that is cut, under writes that are made durable",
        run: kill_relay::run,
    },
    Campaign {
        name: "kill-pass-through",
        about: "SIGKILL of a pass-through relay and of the server behind it, and lost paths, under calls that may not run twice",
        run: kill_passed::run,
    },
    Campaign {
        name: "kill-mount",
        about: "SIGKILL of a mount's process and of its server, and a path that is cut, under writes that are made durable",
        run: kill_mount::run,
    },
    Campaign {
        name: "kill-behind",
        about: "SIGKILL of a mount with -o behind, of its server, or of both, and a path that is cut, under changes of names",
        run: kill_behind::run,
    },
    Campaign {
        name: "kill-quic",
        about: "SIGKILL and restarts of a server of QUIC, a path that is cut, and clients whose address changes",
        run: kill_quic::run,
    },
    Campaign {
        name: "kill-locks",
        about: "SIGKILL of the server under programs that lock, and crash, and fall silent",
        run: kill_locks::run,
    },
    Campaign {
        name: "power-cut",
        about: "the power of the server's disk is cut at any write",
        run: power_cut::run,
    },
    Campaign {
        name: "power-behind",
        about: "the power of a mount with -o behind, of its server, or of both is cut under changes of names",
        run: power_behind::run,
    },
    Campaign {
        name: "exactly-once",
        about: "calls that may not run twice, over loss, repetition, broken connections and restarts",
        run: exactly_once::run,
    },
    Campaign {
        name: "faults",
        about: "what may go wrong around a server, under a client that never stops",
        run: faults::run,
    },
    Campaign {
        name: "soak",
        about: "hours of mixed load through a nasty path, with restarts; nothing is lost, and nothing grows",
        run: soak::run,
    },
];

/// Runs campaigns, and says what each found.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(results) = &arguments.report {
        let verdict = soak::report(results)?;
        tell("soak", &verdict, &format!("cargo xtask trust --report {}", results.display()));
        return Ok(if verdict.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let sandbox = match enter()? {
        Entered::Inside(sandbox) => sandbox,
        Entered::Done(code) => return Ok(code),
    };
    let status = Command::new("ip").args(["link", "set", "lo", "up"]).status().context("starting ip")?;
    ensure!(status.success(), "ip could not start loopback: {status}");
    let (binary, seed) = (binary(arguments)?, arguments.seed.unwrap_or_else(seed_of_now));
    println!("{} at {}, seed {seed}", howdah_workload::measure::Machine::this().processor, binary.display());
    let chosen = |campaign: &&Campaign| {
        arguments.campaigns.is_empty() || arguments.campaigns.iter().any(|name| name == campaign.name)
    };
    let mut broken = false;
    for campaign in CAMPAIGNS.iter().filter(chosen) {
        println!("\n== {}: {}", campaign.name, campaign.about);
        let directory = sandbox.directory().join(campaign.name);
        std::fs::create_dir(&directory).with_context(|| format!("making {}", directory.display()))?;
        let context = Context {
            sandbox: &sandbox,
            binary: binary.clone(),
            directory,
            seed,
            times: arguments.times,
            quick: arguments.quick,
            minutes: arguments.minutes,
            results: arguments.results.clone(),
        };
        let verdict = (campaign.run)(&context)
            .unwrap_or_else(|error| Verdict { broken: vec![format!("{error:#}")], ..Verdict::default() });
        broken |= !verdict.broken.is_empty();
        tell(campaign.name, &verdict, &again(campaign.name, seed, arguments));
    }
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The last lines of a campaign.
fn tell(name: &str, verdict: &Verdict, again: &str) {
    verdict.table.iter().for_each(|line| println!("   {line}"));
    verdict.skipped.iter().for_each(|why| println!("SKIP  {name}: {why}"));
    verdict.broken.iter().for_each(|what| println!("BROKEN {name}: {what}"));
    match verdict.broken.len() {
        // Where nothing was done, nothing passed.
        0 if verdict.figures.is_empty() => {}
        0 => println!("PASS  {name}: {}", verdict.figures),
        count => println!("FAIL  {name}: {count} broken promises; again with: {again}"),
    }
}

/// The command that makes the same choices.
fn again(name: &str, seed: u64, arguments: &Arguments) -> String {
    let mut command = format!("cargo xtask trust {name} --seed {seed}");
    if arguments.quick {
        command += " --quick";
    }
    if let Some(times) = arguments.times {
        command += &format!(" --times {times}");
    }
    if let Some(minutes) = arguments.minutes {
        command += &format!(" --minutes {minutes}");
    }
    if let Some(binary) = &arguments.binary {
        command += &format!(" --binary {}", binary.display());
    }
    command
}

fn binary(arguments: &Arguments) -> Result<PathBuf> {
    if let Some(binary) = &arguments.binary {
        return std::path::absolute(binary).context("asking for the current directory");
    }
    let program = std::env::current_exe().context("asking for the path of this program")?;
    let target = program.ancestors().nth(2).context("this program lies in no target directory")?;
    let found = ["release", "debug"]
        .map(|kind| target.join(kind).join("howdah"))
        .into_iter()
        .find(|path| path.exists());
    found.context("there is no howdah to try: cargo build --release -p howdah, or give one with --binary")
}

fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_broke_is_tried_again_as_it_was() {
        let mut arguments = Arguments::default();
        assert_eq!(again("faults", 7, &arguments), "cargo xtask trust faults --seed 7");
        arguments = Arguments { quick: true, times: Some(3), binary: Some("bin/howdah".into()), ..arguments };
        assert_eq!(
            again("faults", 7, &arguments),
            "cargo xtask trust faults --seed 7 --quick --times 3 --binary bin/howdah"
        );
        arguments = Arguments { minutes: Some(0.5), ..Arguments::default() };
        assert_eq!(again("soak", 7, &arguments), "cargo xtask trust soak --seed 7 --minutes 0.5");
    }
}
