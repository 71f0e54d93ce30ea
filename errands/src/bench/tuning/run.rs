//! Measures, and prints.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::time::Duration;

use anyhow::{Context, ensure};

use super::super::arguments::{Subject, Tuning};
use super::super::cores::{self, Cores};
use super::super::export::Export;
use super::super::figures::Spread;
use super::super::machine;
use super::super::measure::Plan;
use super::super::paired;
use super::super::server::Server;
use super::super::session::Session;
use super::crowd::{Crowd, allow_descriptors};
use super::thread::ThreadClock;

/// The thread that sizes connections.
const THREAD: &str = "sizing";
/// What it may cost, in percent of a core.
const MOST: f64 = 2.0;
/// How much calls and data may lose to it.
const LEAST_RATIO: f64 = 0.98;
/// What is compared with tuning on and off.
const ROWS: [&str; 3] = ["getattr", "read-1m", "write-1m"];
/// How long a crowd that just came is left alone: longer than it counts as active.
const SETTLES_IN: Duration = Duration::from_secs(3);

/// Does it.
pub fn run(arguments: &Tuning) -> anyhow::Result<()> {
    ensure!(arguments.runs > 0 && arguments.seconds > 0.0, "nothing would be measured");
    allow_descriptors(arguments.connections)?;
    let cores = Cores::choose()?;
    let export = Export::make(None)?;
    let start = |further: &[&str]| {
        let subject = Subject {
            server_bin: arguments.server_bin.clone(),
            server_argument: further.iter().map(|&argument| argument.to_owned()).collect(),
            address: None,
            pid: None,
            directory: None,
            export: "/".to_owned(),
        };
        Server::obtain(&subject, export.path(), cores.server)
    };
    let (on, off) = (start(&[])?, start(&["--no-tuning"])?);
    cores::stay_on(cores.load)?;
    machine::describe().iter().for_each(|(what, value)| println!("{what}: {value}"));
    println!("cores: servers on {}, load on {}", cores.server, cores.load);
    println!("runs: {} of {} s each; median (min..max)\n", arguments.runs, arguments.seconds);
    rates(arguments, &export, &on, &off)?;
    crowds(arguments, &on)
}

/// The thread's processor time with connections that do nothing, and with as many that are looked at.
fn crowds(arguments: &Tuning, server: &Server) -> anyhow::Result<()> {
    let root = Session::mount(server.address, &server.export)?.handle("".as_ref())?;
    let clock = ThreadClock::of(server.process, THREAD)?;
    let time = Duration::from_secs_f64(arguments.seconds);
    let mut crowd = Crowd::connect(arguments.connections, server.address, &root)?;
    std::thread::sleep(SETTLES_IN);
    let measure = |what: &str, pass: &mut dyn FnMut() -> anyhow::Result<()>| {
        let mut shares = Vec::new();
        for _ in 0..arguments.runs {
            let before = clock.now()?;
            pass()?;
            shares.push((clock.now()? - before).as_secs_f64() / time.as_secs_f64() * 100.0);
        }
        let spread = Spread::of(&shares).context("no run")?;
        let verdict = if spread.median <= MOST { "met" } else { "NOT MET" };
        println!(
            "{} connections {what}: the sizing thread takes {:.2} ({:.2}..{:.2}) % of a core; at most {MOST}: {verdict}",
            arguments.connections, spread.median, spread.least, spread.most
        );
        anyhow::Ok(())
    };
    measure("that are idle", &mut || {
        std::thread::sleep(time);
        Ok(())
    })?;
    crowd.keep_busy(SETTLES_IN)?;
    measure("that are looked at as often as any", &mut || crowd.keep_busy(time))
}

/// Calls and data over one connection, with tuning on and off in turn.
fn rates(arguments: &Tuning, export: &Export, on: &Server, off: &Server) -> anyhow::Result<()> {
    let plan = Plan::new(arguments.runs, arguments.seconds);
    for name in ROWS {
        paired::compare(name, plan, export, [("with tuning", on), ("without", off)], LEAST_RATIO)?;
    }
    Ok(())
}
