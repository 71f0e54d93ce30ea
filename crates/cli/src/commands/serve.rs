//! `howdah serve`: starts, says how to mount, and then does what signals say.

use std::io::IsTerminal;
use std::process;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::Result;
use howdah_config::{ServerConfig, export_changes};
use howdah_daemon::host::{
    RunningFile, ServiceManager, Signal, allow_many_open_files, catch_signals, is_full_or_read_only,
    own_addresses, read_signals, start_log, user_name, warn_of_unwritable,
};
use howdah_daemon::serve::{DirectoryNews, Prepared, RunningServer, confine};
use serde_json::json;

use super::Failure;
use crate::arguments::ServeArguments;
use crate::arguments::load_arguments;
use crate::report::{self, Welcome, reachable};

/// With fewer open files beside those of exports a server has to turn clients away.
const FEW_OPEN_FILES: usize = 512;
/// Files that an export keeps open: its directory in several ways, and where it has one its index.
const FILES_OF_EXPORT: usize = 5;

/// How often the server looks for awaited answers about names of clients, and where the paths of exports lead.
const LOOK: Duration = Duration::from_secs(2);

/// Serves until a signal says to stop.
pub fn run(arguments: &ServeArguments) -> Result<(), Failure> {
    let config = load_arguments(arguments).map_err(Failure::Usage)?;
    start_log(config.log.as_deref(), config.log_format);
    // Before anything else is started: a signal must not end us half way.
    let caught = catch_signals()?;
    let open_files = allow_many_open_files();
    let wanted = FEW_OPEN_FILES + FILES_OF_EXPORT * config.exports.len();
    if open_files < wanted {
        tracing::warn!(
            "only {open_files} open files allowed, for exports, connections and files of clients together: at least {wanted} are \
             needed; raise the limit (ulimit -n, or LimitNOFILE= in the unit)"
        );
    }
    howdah_net::give_large_blocks_back();
    let (mut prepared, file) = Prepared::open(&config)?;
    // What follows serves strangers, and does with less.
    match confine(&mut prepared, &config, arguments.server.config.as_ref()) {
        Some(confinement) => tracing::info!("sandbox: {confinement}"),
        None => tracing::info!("sandbox: off"),
    }
    let signals = read_signals(caught)?;
    let is_unshown = prepared.is_unwritable();
    let server = RunningServer::start(&config, prepared)?;
    let mut session =
        Session { arguments, config, server, file, is_unshown, manager: ServiceManager::of_this_process() };
    session.welcome()?;
    session.follow(&signals);
    session.end();
    Ok(())
}

/// A server and who must be told about it.
struct Session<'a> {
    arguments: &'a ServeArguments,
    config: ServerConfig,
    server: RunningServer,
    file: RunningFile,
    /// Whether it cannot be written. The log has the reason.
    is_unshown: bool,
    manager: ServiceManager,
}

impl Session<'_> {
    /// Says in the log, to the service manager, to `howdah exports` and on the screen that we serve.
    fn welcome(&mut self) -> Result<()> {
        let hosts = reachable(self.server.addresses(), &own_addresses());
        let user = user_name(rustix::process::geteuid().as_raw());
        let page = self.page();
        let welcome = Welcome {
            config: &self.config,
            hosts: &hosts,
            user: &user,
            opened: &self.server.opened(),
            portmapper: self.server.answered_by(),
            admin: self.server.admin(),
            page: page.as_deref(),
            quic: self.server.quic(),
            reads_file: self.arguments.server.config.is_some(),
            process: process::id(),
        };
        let screen = welcome.text();
        // First for machines, then for people: who waits for the screen may then ask for all the rest.
        self.tell(&[])?;
        report::print(&screen);
        Ok(())
    }

    /// Where the live page is. The token is for a person's eyes: what goes elsewhere than to a terminal may be kept.
    fn page(&self) -> Option<String> {
        self.server.page().map(|page| match std::io::stdout().is_terminal() {
            true => page.url_with_token(),
            false => format!("{} (token: {})", page.url, page.file.display()),
        })
    }

    /// What is in effect from now on. Warnings that were logged before are not repeated.
    fn tell(&mut self, known: &[String]) -> Result<()> {
        for warning in self.config.warnings().iter().filter(|warning| !known.contains(warning)) {
            tracing::warn!("{warning}");
        }
        self.show()?;
        let count = self.config.exports.len();
        let addresses = self.addresses();
        tracing::info!(%addresses, exports = count, "serving");
        self.manager.ready(&format!("Serving {count} exports on {addresses}"));
        Ok(())
    }

    fn addresses(&self) -> String {
        let addresses: Vec<String> = self.server.addresses().iter().map(ToString::to_string).collect();
        addresses.join(", ")
    }

    /// Writes down what `howdah exports` shows.
    fn show(&mut self) -> Result<()> {
        let standings = self.server.standings(&self.config.exports);
        let text = format!(
            "howdah, process {}, listening on {}\nadmin socket: {}\nlive page: {}\n\n{}",
            process::id(),
            self.addresses(),
            self.server.admin().map_or("none".into(), |path| path.display().to_string()),
            self.server.page().map_or("none".into(), |page| format!(
                "{}, its token is in {}",
                page.url,
                page.file.display()
            )),
            report::exports(&self.config.exports, &standings)
        );
        let page =
            self.server.page().map(|page| json!({ "url": page.url, "token": page.file.to_string_lossy() }));
        let json = json!({
            "process": process::id(),
            "addresses": self.server.addresses(),
            "quic": self.server.quic(),
            "admin_socket": self.server.admin().map(|path| path.to_string_lossy()),
            "live_page": page,
            "settings": report::settings_json(&self.config, &standings),
        });
        let shown = self.file.show_both(&text, &json);
        let was_unshown = self.is_unshown;
        self.is_unshown = shown.as_ref().is_err_and(is_full_or_read_only);
        match shown {
            Err(error) if self.is_unshown => {
                if !was_unshown {
                    warn_of_unwritable(&self.config.state, &format!("{error:#}"));
                }
                Ok(())
            }
            shown => shown,
        }
    }

    /// Does what signals say until one says to stop.
    fn follow(&mut self, signals: &Receiver<Signal>) {
        loop {
            let signal = signals.recv_timeout(self.manager.due_in().map_or(LOOK, |due| due.min(LOOK)));
            // Whatever woke us: signals may come more often than this is due.
            self.manager.alive();
            if let Err(error) = self.server.take_late_names(&self.config.exports) {
                tracing::error!("new addresses of client names are not in effect yet: {error:#}");
            }
            if let Err(error) = self.follow_directories() {
                tracing::error!("exports could not be changed: {error:#}");
            }
            self.server.look_at_certificate();
            if self.is_unshown {
                // There may be room again.
                let _ = self.show();
            }
            match signal {
                Ok(Signal::Reload) => self.reload(),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Notices exports whose directories are gone or back.
    fn follow_directories(&mut self) -> Result<()> {
        let news = self.server.follow_directories(&self.config.exports)?;
        if !news.is_empty() {
            self.show()?;
            news.iter().for_each(DirectoryNews::log);
        }
        Ok(())
    }

    /// Reads the configuration again; if it is no good, all stays as it was.
    fn reload(&mut self) {
        self.manager.reloading();
        match self.try_reload() {
            Ok(changes) if self.arguments.server.config.is_some() => {
                tracing::info!("configuration reloaded: {changes}");
            }
            Ok(_) => tracing::info!(
                "client names and certificates reloaded; there is no configuration file (--config)"
            ),
            Err(error) => {
                // Its own lines, not one line of the log: it shows places in the file.
                tracing::error!("reload refused, the old configuration stays:\n{}", Failure::Usage(error));
                self.manager.ready("Reload refused; the old configuration stays");
            }
        }
    }

    /// What the new configuration changed, in words.
    fn try_reload(&mut self) -> Result<String> {
        let new = load_arguments(self.arguments)?;
        let (held, waiting) = self.config.reloaded(new).map_err(anyhow::Error::msg)?;
        for setting in waiting {
            tracing::warn!(
                "{setting} changed: restart the server to apply it; until then the old value is in effect"
            );
        }
        self.server.reload(&held)?;
        let known = self.config.warnings();
        let changes = export_changes(&self.config.exports, &held.exports);
        self.config = held;
        self.tell(&known)?;
        Ok(changes)
    }

    fn end(self) {
        self.manager.stopping();
        tracing::info!("stopping: waiting for calls in flight");
        if self.server.stop() {
            tracing::info!("stopped");
        } else {
            tracing::warn!("stopped before all calls had finished and all replies were delivered");
        }
    }
}
