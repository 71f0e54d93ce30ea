//! One file per subcommand: each turns its arguments into what it does.

mod bench;
mod capture;
mod cat;
mod certificate;
mod check;
mod clients;
mod cluster_key;
mod completions;
mod counted;
mod cp;
mod doctor;
mod exports;
mod failure;
mod file_stat;
mod get;
mod heads;
mod kerberos_check;
mod kerberos_helper;
mod lab;
mod ls;
mod man;
mod mount;
mod mount_background;
mod mounts;
mod nfsstat;
mod nics;
mod refused;
mod relay;
mod release;
mod serve;
mod set;
mod stat;
mod sync;
mod top;
mod umount;
mod why;

pub use failure::Failure;

use crate::arguments::Command;
use crate::report;

/// Does what was asked, and prints what came of it.
pub fn run(command: &Command) -> Result<(), Failure> {
    run_command(command)?;
    // A server does not live to print.
    let is_answer = !matches!(command, Command::Serve(_) | Command::Relay(_));
    if is_answer && report::is_incomplete() { Err(Failure::Told) } else { Ok(()) }
}

fn run_command(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Serve(arguments) => serve::run(arguments),
        Command::Relay(arguments) => relay::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Certificate(arguments) => certificate::run(arguments),
        Command::ClusterKey(arguments) => cluster_key::run(arguments),
        Command::Heads(arguments) => heads::run(arguments),
        Command::Exports(arguments) => exports::run(arguments),
        Command::Why(arguments) => why::run(arguments),
        Command::Top(arguments) => top::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Get(arguments) => get::run(arguments),
        Command::Set(arguments) => set::run(arguments),
        Command::Clients(arguments) => clients::run(arguments),
        Command::Release(arguments) => release::run(arguments),
        Command::Cp(arguments) => cp::run(arguments),
        Command::Mount(arguments) => mount::run(arguments),
        Command::Umount(arguments) => umount::run(arguments),
        Command::Mounts(arguments) => mounts::run(arguments),
        Command::Sync(arguments) => sync::run(arguments),
        Command::Refused(arguments) => refused::run(arguments),
        Command::Ls(arguments) => ls::run(arguments),
        Command::Cat(arguments) => cat::run(arguments),
        Command::Stat(arguments) => stat::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Capture(arguments) => capture::run(arguments),
        Command::Nfsstat(arguments) => nfsstat::run(arguments),
        Command::Nics(arguments) => nics::run(arguments),
        Command::Lab(arguments) => lab::run(arguments),
        Command::KerberosHelper => kerberos_helper::run(),
        Command::Man(arguments) => man::run(arguments),
        Command::Completions(arguments) => {
            completions::run(arguments);
            Ok(())
        }
    }
}
