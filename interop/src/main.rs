//! `howdah-interop`: runs scenarios, and is the tool that their jobs call.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "its output is for a person, or for a job's pipe"
)]

use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use clap::Parser;
use howdah_interop::arguments::{Arguments, Command, RunArguments};
use howdah_interop::exerciser;
use howdah_interop::inside::{self, End};
use howdah_interop::job::{Job, SKIPPED};
use howdah_interop::machine::Machine;
use howdah_interop::outcome::Tally;
use howdah_interop::pattern;
use howdah_interop::runner::Runner;
use howdah_interop::scenario::Scenario;
use howdah_interop::scenarios;
use howdah_store::local::kernel_handle;
use parking_lot::Mutex;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        None => run_scenarios(&arguments.run),
        Some(command) => run_command(command),
    };
    result.unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

fn run_scenarios(arguments: &RunArguments) -> Result<ExitCode> {
    let chosen = choose(&arguments.scenarios)?;
    if arguments.list {
        for scenario in chosen {
            println!("{:<24} {}", scenario.name, scenario.about);
        }
        if arguments.scenarios.is_empty() {
            println!("only when named:");
            for scenario in scenarios::when_named() {
                println!("{:<24} {}", scenario.name, scenario.about);
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let runner = runner(arguments)?;
    println!("seed {} (--seed {} repeats every random choice)", runner.seed, runner.seed);
    let tally = run_at_once(&runner, &chosen, arguments.jobs)?;
    println!("{tally}");
    Ok(if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs scenarios, so many at once; each has namespaces or a free port of its own.
fn run_at_once(runner: &Runner, chosen: &[Scenario], jobs: usize) -> Result<Tally> {
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let work = || -> Result<()> {
        while let Some(scenario) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            let start = Instant::now();
            let outcome = runner.run(scenario)?;
            println!("{}", outcome.line(scenario.name, start.elapsed()));
            tally.lock().count(&outcome);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a runner does not panic"))
    })?;
    Ok(tally.into_inner())
}

/// Directories that look different inside.
const HIDDEN: [&str; 6] = ["/dev", "/mnt", "/proc", "/run", "/sys", "/var/lib/nfs"];

fn runner(arguments: &RunArguments) -> Result<Runner> {
    let work = arguments.work.clone().unwrap_or_else(env::temp_dir);
    fs::create_dir_all(&work).with_context(|| format!("making {}", work.display()))?;
    let work = real_path(&work)?;
    if let Some(hidden) = HIDDEN.iter().find(|hidden| work.starts_with(hidden)) {
        bail!(
            "working in {}: the guest and the namespace have a {hidden} of their own; choose --work",
            work.display()
        );
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted)).context("listening for signals")?;
    }
    Ok(Runner {
        binary: real_path(&arguments.binary)?,
        quick: arguments.quick,
        set: arguments.set.clone(),
        seed: arguments.seed.unwrap_or_else(seed_of_now),
        suites: arguments.suites.as_deref().map(real_path).transpose()?,
        image: arguments.image.as_deref().map(real_path).transpose()?,
        newer_guest: arguments.newer_guest.as_deref().map(real_path).transpose()?,
        work,
        keep: arguments.keep,
        machine: Machine::look(),
        interrupted,
    })
}

fn real_path(path: &Path) -> Result<std::path::PathBuf> {
    fs::canonicalize(path).with_context(|| format!("finding {}", path.display()))
}

fn seed_of_now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.as_secs()
}

fn choose(names: &[String]) -> Result<Vec<Scenario>> {
    let all = scenarios::all();
    if names.is_empty() {
        return Ok(all);
    }
    names.iter().map(|name| find(name)).collect()
}

fn find(name: &str) -> Result<Scenario> {
    scenarios::find(name).with_context(|| format!("no scenario is called {name}; --list names them"))
}

fn run_command(command: Command) -> Result<ExitCode> {
    match command {
        Command::Inside { scenario, work, binary, seed, quick, set, suites, image, newer_guest } => {
            let job = Job {
                scenario: find(&scenario)?,
                quick,
                set,
                seed,
                binary,
                suites,
                image,
                newer_guest,
                work,
            };
            return Ok(match inside::run(&job)? {
                End::Done => ExitCode::SUCCESS,
                End::Skipped => ExitCode::from(SKIPPED as u8),
            });
        }
        Command::Contain(arguments) => return inside::contain(&arguments),
        Command::Pattern { seed, bytes } => {
            pattern::write(seed, bytes, &mut io::stdout().lock()).context("writing to standard output")?;
        }
        Command::Conform { place } => {
            let report = match place.to_str().filter(|place| place.starts_with("nfs://")) {
                Some(url) => howdah_interop::conform::run_on_server(url)?,
                None => howdah_interop::conform::run(&place)?,
            };
            println!("{report}");
        }
        Command::Handles { files } => {
            for file in files {
                let handle =
                    kernel_handle(&file).with_context(|| format!("asking for {}", file.display()))?;
                println!("{handle} {}", file.display());
            }
        }
        Command::ExerciseFile(arguments) => {
            let time = Duration::from_secs(arguments.seconds);
            let done = exerciser::exercise_file(&arguments.path, arguments.seed, time);
            println!("note: {}", done.with_context(|| again("exercise-file", arguments.seed))?);
        }
        Command::ExerciseNames(arguments) => {
            let time = Duration::from_secs(arguments.seconds);
            let forget = || {
                if arguments.drop_caches {
                    // Where it is not allowed the caches are part of what is compared.
                    let _ = fs::write("/proc/sys/vm/drop_caches", "3");
                }
            };
            let done = exerciser::exercise_names(&arguments.path, arguments.seed, time, forget);
            println!("note: {}", done.with_context(|| again("exercise-names", arguments.seed))?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn again(what: &str, seed: u64) -> String {
    format!("failed: {what} with --seed {seed}")
}
