//! Which servers are meant: those that run with a state directory, or the one that was named.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail};
use howdah_config::state_directory;
use howdah_daemon::host::{is_admin_socket, running_servers};
use rustix::process::geteuid;

use super::AskedServer;
use super::running::owner;

/// How a server is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerName {
    /// By its process.
    Process(u32),
    /// By where it listens: `ADDRESS:PORT` or `:PORT`.
    Listening(String),
    /// By its admin socket.
    Socket(PathBuf),
}

impl FromStr for ServerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('/') {
            return Ok(Self::Socket(PathBuf::from(text)));
        }
        if text.contains(':') {
            return Ok(Self::Listening(text.to_owned()));
        }
        let process = text.parse().map(Self::Process);
        process.map_err(|_| {
            "expected a process id (4711), a listen address (:2049), or an admin socket (/run/howdah.sock)".to_owned()
        })
    }
}

/// The servers that are meant; at least one.
pub fn find_servers(name: Option<&ServerName>, state: Option<&Path>) -> Result<Vec<AskedServer>> {
    if let Some(ServerName::Socket(socket)) = name {
        return Ok(vec![AskedServer::at(socket)?]);
    }
    let state = match state {
        Some(state) => state.to_owned(),
        None => state_directory()
            .context("finding the state directory: this user has no home; use --state DIR")?,
    };
    let servers = servers_with(&state)?;
    let meant = |server: &AskedServer| match name {
        Some(ServerName::Process(process)) => server.process() == *process,
        Some(ServerName::Listening(place)) => server.listens_at(place),
        _ => true,
    };
    let (meant, others): (Vec<_>, Vec<_>) = servers.into_iter().partition(meant);
    if meant.is_empty() {
        bail!("no such server is running (looked in {}); running there: {}", state.display(), names(&others));
    }
    Ok(meant)
}

/// The same where there can be only one.
pub fn the_one_server(name: Option<&ServerName>, state: Option<&Path>) -> Result<AskedServer> {
    let mut servers = find_servers(name, state)?;
    match servers.pop() {
        Some(server) if servers.is_empty() => Ok(server),
        Some(last) => {
            servers.push(last);
            bail!(
                "which server is meant? Name one, as in --server {}: there is {}",
                servers[0].process(),
                names(&servers)
            )
        }
        None => bail!("no server is there"),
    }
}

fn names(servers: &[AskedServer]) -> String {
    servers.iter().map(AskedServer::name).collect::<Vec<_>>().join(", and ")
}

/// All that run with a state directory, if they can be asked.
fn servers_with(state: &Path) -> Result<Vec<AskedServer>> {
    let denied = fs::read_dir(state).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    if denied {
        bail!(
            "cannot read the state directory {}: it belongs to {}; use sudo, or run as that user",
            state.display(),
            owner(state)
        );
    }
    let found = running_servers(state)?;
    if found.is_empty() {
        return Err(nobody(state));
    }
    let mut asked = Vec::new();
    let mut silent = Vec::new();
    for server in found {
        match server.admin.as_deref() {
            Some(socket) => match AskedServer::at(socket) {
                Ok(server) => asked.push(server),
                Err(error) => silent.push(error),
            },
            None => silent.push(anyhow!(
                "the server of process {} cannot be asked: it runs without an admin socket (admin = \"off\", or it could not \
                 make one and said so at start), or is older than this howdah; restart it",
                server.process
            )),
        }
    }
    match silent.pop() {
        Some(why) if asked.is_empty() => Err(why),
        _ => Ok(asked),
    }
}

fn nobody(state: &Path) -> anyhow::Error {
    let elsewhere = sockets_in(&fs::read_to_string(LOCAL_SOCKETS).unwrap_or_default());
    let elsewhere = match elsewhere.is_empty() {
        true => String::new(),
        false => format!("; running elsewhere: --server {}", elsewhere.join(", --server ")),
    };
    anyhow!("{}{elsewhere}", none_running(state, geteuid().is_root()))
}

/// That no server runs with a state directory, and what to do.
pub fn none_running(state: &Path, is_root: bool) -> String {
    let sudo = if is_root { "" } else { "for a server of another user use sudo; " };
    format!(
        "no running howdah server found (looked in {})\n  {sudo}for another state directory --state DIR",
        state.display()
    )
}

/// The kernel's list of local sockets.
const LOCAL_SOCKETS: &str = "/proc/net/unix";

/// The admin sockets in state directories among those that the kernel lists, as far as they have their usual names.
fn sockets_in(listed: &str) -> Vec<String> {
    let paths = listed.lines().filter_map(|line| line.get(line.find('/')?..));
    let mut sockets: Vec<String> = paths.filter(|path| is_admin_socket(path)).map(str::to_owned).collect();
    // Each connection is listed, too.
    sockets.sort();
    sockets.dedup();
    sockets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_three_kinds_of_names() {
        assert_eq!("4711".parse(), Ok(ServerName::Process(4711)));
        assert_eq!(":2049".parse(), Ok(ServerName::Listening(":2049".to_owned())));
        assert_eq!("./a.sock".parse(), Ok(ServerName::Socket(PathBuf::from("./a.sock"))));
        assert!("howdah".parse::<ServerName>().is_err());
    }

    #[test]
    fn admin_sockets_are_found_among_all() {
        let listed = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                      0000: 00000002 00000000 00010000 0001 01 7 /run/a b/running/42.admin\n\
                      0000: 00000003 00000000 00000000 0001 03 8 /run/a b/running/42.admin\n\
                      0000: 00000002 00000000 00010000 0001 01 9 /run/42.admin\n\
                      0000: 00000002 00000000 00010000 0001 01 9 @/running/x.admin\n\
                      0000: 00000003 00000000 00000000 0001 03 8\n";
        assert_eq!(sockets_in(listed), ["/run/a b/running/42.admin"]);
    }

    #[test]
    fn that_nobody_is_there_is_said() {
        let state = tempfile::tempdir().expect("a directory");
        let why = find_servers(None, Some(state.path())).expect_err("nobody").to_string();
        assert!(why.contains("no running howdah server found") && why.contains("--state DIR"), "{why}");
        assert!(none_running(state.path(), false).contains("use sudo"));
        assert!(!none_running(state.path(), true).contains("sudo"), "root needs none");
        let why =
            find_servers(Some(&ServerName::Socket(state.path().join("none"))), None).expect_err("nobody");
        assert!(why.to_string().contains("no server listens there"), "{why}");
    }
}
