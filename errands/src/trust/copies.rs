//! Copies that run while a server is disturbed: by `howdah cp`, and by the client of libnfs where that is installed. A file
//! that has its final name is whole; a copy that ended well is equal to its source.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

use super::server::{Server, Site};
use super::tree;
use howdah_random::Random;

/// What is said of a server that is not there when it is to be mounted, and never of one that goes away later.
const NOT_THERE: [&str; 2] = ["is an NFS server running there?", "another service may listen there"];
/// The same, said of an address.
const NOT_AT: [&str; 2] = ["connecting to ", "asking for NFS version 3 at "];

/// A tree, and where its copies go.
pub struct Copies {
    source: PathBuf,
    target: PathBuf,
    binary: PathBuf,
    site: Site,
    url: String,
    url_of_libnfs: String,
    /// Held to look at a copy or to remove it.
    looking: Mutex<()>,
}

impl Copies {
    /// Makes the tree that is copied.
    pub fn prepare(binary: &Path, place: &Path, server: &Server, random: &mut Random) -> Result<Self> {
        let (source, target) = (place.join("source"), server.export().join("copies"));
        tree::grow(&source, random).context("growing the source of copies")?;
        fs::create_dir(&target).context("making a directory for copies")?;
        let (url, url_of_libnfs) =
            (server.url("copies/copy", ""), server.url("copies/by-libnfs", "&version=3"));
        // Of //FILE libnfs takes the first slash for the export.
        let url_of_libnfs = url_of_libnfs.replace("/copies", "//copies");
        let (binary, site) = (binary.to_owned(), server.site().clone());
        Ok(Self { source, target, binary, site, url, url_of_libnfs, looking: Mutex::default() })
    }

    /// One copy by our own client, from nothing to the end. A server that is not there when a copy begins is an error, after
    /// which it is begun again, unless it `stops`; once it has begun it goes on. Whether it was made.
    pub fn copy(&self, stops: impl Fn() -> bool) -> Result<bool, String> {
        let mut command = self.command(&self.binary);
        command.args(["cp", "-rT", "--quiet"]).arg(&self.source).arg(&self.url).stderr(Stdio::piped());
        loop {
            let output = command.output().map_err(|error| format!("starting a copy: {error}"))?;
            if output.status.success() {
                break;
            }
            let said = String::from_utf8_lossy(&output.stderr);
            if !could_not_mount(&said, self.site.address) {
                return Err(format!("howdah cp ended with {}: {}", output.status, said.trim()));
            }
            if stops() {
                return Ok(false);
            }
        }
        self.check(true)?;
        let _only_us = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        fs::remove_dir_all(self.target.join("copy")).map_err(|error| format!("removing a copy: {error}"))?;
        Ok(true)
    }

    /// One file by the client of libnfs; whether it says that it went well. What it does when its server is killed is its own
    /// business, but what it says was copied must be there.
    pub fn copy_by_libnfs(&self) -> Result<bool, String> {
        let status =
            run(self.command(Path::new("nfs-cp")).arg(self.source.join(tree::BIG)).arg(&self.url_of_libnfs))?;
        let copy = self.target.join("by-libnfs");
        if status.success() && !tree::same(&self.source.join(tree::BIG), &copy) {
            return Err("nfs-cp ended well, and its copy is not its source".to_owned());
        }
        let _ = fs::remove_file(copy);
        Ok(status.success())
    }

    /// Whether what has its final name is whole; and if the copy is `complete`, whether all is there and nothing else.
    pub fn check(&self, complete: bool) -> Result<(), String> {
        let _only_us = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        tree::check(&self.source, &self.target.join("copy"), None, complete)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = self.site.client_command(program);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

fn could_not_mount(said: &str, server: IpAddr) -> bool {
    NOT_THERE.iter().any(|words| said.contains(words))
        || NOT_AT.iter().any(|words| said.contains(&format!("{server}: {words}")))
}

fn run(command: &mut Command) -> Result<ExitStatus, String> {
    command.status().map_err(|error| format!("starting a copy: {error}"))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::time::Duration;

    use howdah_client::channel::{CallError, CallRefusal, Transport};
    use howdah_client::connect::ConnectError;
    use howdah_client::mount::{Contact, MountError, Place};
    use howdah_wire::rpc::Accepted;

    use super::*;

    #[test]
    fn only_a_mount_that_failed_is_begun_again() {
        // The server of soak is not on loopback.
        let address: SocketAddr = "10.77.0.2:2049".parse().expect("an address");
        let host = || address.ip().to_string();
        let refused = Arc::new(std::io::Error::from(std::io::ErrorKind::ConnectionRefused));
        let cause = howdah_client::channel::LaneConnectError::Failed { address, cause: refused };
        let place = Place { address, transport: Transport::Tcp };
        let unreachable = |cause, contact| {
            let cause = MountError::Unreachable { place, cause, contact };
            ConnectError::Mount { host: host(), cause }
        };
        let before = [
            unreachable(CallError::Connect(cause.clone()), Contact::None),
            unreachable(CallError::TimedOut, Contact::None),
            unreachable(CallError::TimedOut, Contact::Silent),
            unreachable(CallError::TimedOut, Contact::Closes),
            ConnectError::Nfs { host: host(), cause: cause.clone() },
            ConnectError::Silent { host: host(), address, waited: Duration::from_secs(1) },
            ConnectError::NotServed { host: host(), address, cause: CallError::TimedOut },
        ];
        before.iter().for_each(|error| assert!(could_not_mount(&error.to_string(), address.ip()), "{error}"));
        let refusal = CallError::Refused(CallRefusal::NotRun(Accepted::SystemError));
        for error in [CallError::TimedOut, CallError::Connect(cause), refusal] {
            assert!(!could_not_mount(&format!("writing file-1: {error}"), address.ip()), "{error}");
        }
    }
}
