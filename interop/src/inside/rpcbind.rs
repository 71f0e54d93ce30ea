//! The system's rpcbind, in our namespace, with a /run of its own.

use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use howdah_lab::guest::find_command;

use super::command::{Running, run};
use crate::job::Job;

/// It starts in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts it and waits until it answers.
pub fn start(job: &Job) -> Result<Running> {
    run("mkdir", &["-p", "/run/rpcbind"])?;
    // rpcbind gives up root for this user; some packages make the user, some do not.
    let _ = run("chown", &["_rpc", "/run/rpcbind"]);
    let program = find_command("rpcbind").unwrap_or_else(|| Path::new("rpcbind").into());
    let mut rpcbind = Running::start(&program, &job.log("rpcbind.txt"), |command| {
        command.arg("-f");
    })?;
    let give_up = Instant::now() + PATIENCE;
    while TcpStream::connect("127.0.0.1:111").is_err() {
        if let Some(status) = rpcbind.ended()? {
            bail!("rpcbind ended with {status}");
        }
        if Instant::now() > give_up {
            bail!("rpcbind does not answer on port 111 after {PATIENCE:?}");
        }
        thread::sleep(super::LOOK);
    }
    Ok(rpcbind)
}
