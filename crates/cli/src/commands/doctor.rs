//! `howdah doctor`.

use std::fs;
use std::io::{BufRead, IsTerminal};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, anyhow, bail};
use howdah_client::channel::Transport;
use howdah_client::url::{NfsUrl, url_of};
use howdah_daemon::host::start_command_log;
use howdah_daemon::places::SystemTickets;
use howdah_doctor::facts::{Facts, HostFacts};
use howdah_doctor::judge::judge;
use howdah_doctor::{Remedy, Report, apply, peer, probe};
use howdah_server::admin::Clients;

use super::{Failure, kerberos_check};
use crate::admin::find_servers;
use crate::arguments::DoctorArguments;
use crate::bench::{STOPPING, open_place, stop_on_signal};
use crate::report;

/// Something limits.
const FOUND: u8 = 1;
/// Nothing does, as far as could be seen, and a rung could not be looked at.
const NOT_FOUND_OUT: u8 = 2;

/// Looks, judges, reports, and makes changes if that was asked for. Whatever fails is code 2: 1 says that something was found.
pub fn run(arguments: &DoctorArguments) -> Result<(), Failure> {
    start_command_log();
    if let Some(at) = arguments.listen {
        return listen(at).map_err(Failure::Usage);
    }
    if let (true, Some(url)) = (arguments.kerberos, &arguments.url) {
        return kerberos_check::run(url);
    }
    let facts = look(arguments).map_err(Failure::Usage)?;
    let found = judge(&facts);
    report::print(&match arguments.json {
        true => report::doctor_json(&found, &facts),
        false => report::doctor(&found),
    });
    if arguments.apply {
        make(&found, arguments.yes).map_err(Failure::Usage)?;
    }
    match found.limiting() {
        Some(_) => Err(Failure::Ended(ExitCode::from(FOUND))),
        None if found.is_partial() => Err(Failure::Ended(ExitCode::from(NOT_FOUND_OUT))),
        None => Ok(()),
    }
}

/// Lets another doctor measure, until a person has enough.
fn listen(at: SocketAddr) -> Result<()> {
    let stop = stop_on_signal("howdah: stopped listening")?;
    let listening = peer::listen(at)?;
    let at = listening.address();
    let port = if at.port() == peer::PORT { String::new() } else { format!(" --peer {}", at.port()) };
    report::print(&format!(
        "Listening at {at}, over TCP and UDP, for an hour at most.\n\
         At the other end: howdah doctor nfs://HOST/EXPORT{port}\n\
         Stop: Ctrl-C\n"
    ));
    listening.run(&stop)
}

fn look(arguments: &DoctorArguments) -> Result<Facts> {
    if let Some(file) = &arguments.from {
        return recorded(file);
    }
    // What was written is removed also when a person has enough; where nothing is, a signal ends all at once.
    let writes = arguments.write || arguments.storage.is_some();
    let stop = if writes { stop_on_signal(STOPPING)? } else { Arc::default() };
    let mut facts = match &arguments.url {
        Some(typed) => along(typed, arguments, &stop)?,
        None => Facts {
            host: HostFacts { unwritable: unwritable(), ..probe::host() },
            interfaces: probe::interfaces(None).context("listing network interfaces")?,
            mounts: probe::mounts(),
            ..Facts::default()
        },
    };
    if let Some(directory) = &arguments.storage {
        tell("storage: a directory of this host");
        let place = open_place(directory, Transport::Tcp)?.place;
        let rates = probe::directory(place, &stop).with_context(|| format!("measuring {directory}"));
        tell("");
        let (writes, reads) = rates?;
        let storage = facts.storage.get_or_insert_default();
        (storage.writes, storage.reads) = (Some(writes), Some(reads));
        storage.directory = Some(directory.clone());
    }
    Ok(facts)
}

/// Servers of this user that cannot write records of their clients. Those that do not answer are no matter of a doctor.
fn unwritable() -> Vec<String> {
    let servers = find_servers(None, None).unwrap_or_default();
    let found = servers.iter().filter_map(|server| {
        let clients: Clients = server.get("/v1/clients").ok()?;
        Some(format!("process {}: {}", server.process(), clients.unwritable?))
    });
    found.collect()
}

/// On a terminal, what is looked at now.
fn tell(what: &str) {
    if std::io::stderr().is_terminal() {
        report::status(what, false);
    }
}

/// Up the ladder to a server.
fn along(typed: &str, arguments: &DoctorArguments, stop: &AtomicBool) -> Result<Facts> {
    let Some(url) = url_of(typed)? else {
        bail!(
            "{typed} is no export of a server: type HOST:/EXPORT or nfs://HOST/EXPORT; --storage measures a directory"
        );
    };
    let url: NfsUrl = url.parse()?;
    let facts = probe::along(&probe::Asked {
        url: &url,
        typed,
        may_write: arguments.write,
        expected_bits_per_second: arguments.expect,
        peer_port: arguments.peer,
        stop,
        tell: &tell,
        tickets: Arc::new(SystemTickets::default()),
    });
    tell("");
    facts
}

/// What an earlier run printed: the facts in it are judged anew.
fn recorded(file: &Path) -> Result<Facts> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let mut value: serde_json::Value = serde_json::from_str(&text)
        .with_context(|| format!("reading {}, which is to be of howdah doctor --json", file.display()))?;
    let facts = value.get_mut("facts").with_context(|| {
        format!("reading {}: it holds no facts; give a file that howdah doctor --json wrote", file.display())
    })?;
    serde_json::from_value(facts.take()).with_context(|| format!("reading the facts in {}", file.display()))
}

/// Makes what can be made on this host, after asking; prints how to undo it.
fn make(found: &Report, is_sure: bool) -> Result<()> {
    let remedies = found.remedies().into_iter().filter(|remedy| remedy.can_be_applied()).collect::<Vec<_>>();
    if remedies.is_empty() {
        report::print("\nThere is nothing to change on this host.\n");
        return Ok(());
    }
    if !is_sure && !is_wanted(remedies.len())? {
        report::print("Nothing was changed.\n");
        return Ok(());
    }
    remedies.into_iter().try_for_each(make_one)
}

fn make_one(remedy: &Remedy) -> Result<()> {
    apply(remedy)?;
    let undo = remedy.undo().unwrap_or_default();
    report::print(&format!("done: {}\nundo: {undo}\n", remedy.command()));
    Ok(())
}

fn is_wanted(count: usize) -> Result<bool> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Err(anyhow!(
            "--apply cannot ask for confirmation: this is no terminal; add --yes to apply without it"
        ));
    }
    let things = if count == 1 { "this change".to_owned() } else { format!("these {count} changes") };
    report::print(&format!("\nApply {things} to this host now? [y/N] "));
    let mut answer = String::new();
    input.lock().read_line(&mut answer).context("reading the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
