//! `kill-relay`: SIGKILL at any moment of a relay with caches, and of the server behind it, and a path between them that is cut. What a
//! COMMIT was answered for under one verifier is on that server's disk, and clients go on as soon as the fault is over.

use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use howdah_client::connect::own_caller;
use howdah_vfs::{
    Caller, Change, CommitFile, Content, Data, FileSystem, Handle, Name, ReadFile, Stability, WriteFile,
};

use super::blocks::{BLOCK, Blocks, Interrupted, Way};
use super::campaign::{Context, Progress, Verdict};
use super::crew::{Crew, client};
use super::impatient::interruptible;
use super::path::FarPath;
use super::server::{Offer, Relayed, Server};
use super::tally::{STUCK, Tally};
use howdah_random::Random;

/// Faults of the full form and of the short one.
const FULL: u64 = 400;
const QUICK: u64 = 16;
/// Clients, each with a file of its own.
const CLIENTS: u64 = 4;
/// A fault comes after so long at most.
const MOST_LATER: Duration = Duration::from_millis(400);
/// What becomes of the relay, the server and the path.
const KINDS: [&str; 4] = ["of the relay", "of the server", "of both", "of the path"];
const RELAY: usize = 0;
const SERVER: usize = 1;
const PATH: usize = 3;

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let mut random = Random::new(context.seed);
    let mut chain = Chain::start(context)?;
    let crew = Crew::settle(chain.far.export(), 0, false)?;
    let files = employ(&crew, &chain, context.seed)?;
    let (times, mut progress, mut tally) = (context.times(FULL, QUICK), Progress::begin(), Tally::of(&KINDS));
    for fault in 1..=times {
        thread::sleep(MOST_LATER.mul_f64(random.fraction()));
        let kind = tally.next(&mut random);
        chain.strike(kind)?;
        tally.verify(&crew, &chain.far, &files, fault)?;
        if let Some(wrong) = tally.impatient.run(chain.copying(context, &mut random))? {
            crew.report(format!("at fault {fault}, {}: {wrong}", KINDS[kind]));
        }
        if kind == PATH {
            thread::sleep(chain.path.outage(context, &mut random));
        }
        chain.recover(kind)?;
        tally.wait_for_service(&crew, kind);
        if !crew.broken().is_empty() {
            break;
        }
        progress.tell(|| format!("{fault} of {times} faults, {} times made durable", crew.steps()));
    }
    crew.dismiss(STUCK);
    tally.verify(&crew, &chain.far, &files, times)?;
    Ok(tally.verdict(&crew, &progress))
}

/// A server, a relay, and the path between them.
struct Chain {
    far: Server,
    relay: Server,
    // Goes last: both live on its hosts.
    path: FarPath,
}

impl Chain {
    fn start(context: &Context) -> Result<Self> {
        let path = FarPath::lay(context)?;
        let offer = Offer { site: path.far(), ..Offer::below(&context.directory) };
        let far = Server::start_with(&context.binary, offer)?;
        let place = context.directory.join("relay");
        std::fs::create_dir(&place).context("a directory for the relay")?;
        let relayed = Some(Relayed::Cached(far.url("", "")));
        let offer = Offer { relayed, site: path.near(), ..Offer::below(&place) };
        let relay = Server::start_with(&context.binary, offer)?;
        Ok(Self { far, relay, path })
    }

    fn strike(&mut self, kind: usize) -> Result<()> {
        if kind == PATH {
            return self.path.cut();
        }
        if kind != SERVER {
            self.relay.kill()?;
        }
        if kind != RELAY {
            self.far.kill()?;
        }
        Ok(())
    }

    /// Waits until all of it is as it was.
    fn recover(&mut self, kind: usize) -> Result<()> {
        if kind == PATH {
            return self.path.mend();
        }
        if kind != RELAY {
            self.far.start_again()?;
            // A relay does not start without its server.
            self.far.wait()?;
        }
        if kind != SERVER {
            self.relay.start_again()?;
        }
        self.relay.wait()
    }

    /// Somebody copies a file through the relay, there or back.
    fn copying(&self, context: &Context, random: &mut Random) -> Command {
        let mut command = interruptible(self.path.near_command());
        command.arg(&context.binary);
        match random.one_in(2) {
            true => command.arg("cp").arg(&context.binary).arg(self.relay.url("copied", "")),
            false => command.arg("cat").arg(self.relay.url(&name(0), "")),
        };
        command
    }
}

fn employ(crew: &Arc<Crew>, chain: &Chain, seed: u64) -> Result<Vec<Arc<Blocks>>> {
    let mut files = Vec::new();
    for number in 0..CLIENTS {
        let (name, host) = (name(number), chain.path.near_host());
        let file = Arc::new(Blocks::make(chain.far.export().join(&name), number).context("making a file")?);
        let way = host
            .run_in(|| Client::new(client(&chain.relay.url("", "&lanes=1"))?, &name))
            .context("entering the near host")??;
        let (its, random) = (Arc::clone(&file), Random::apart(seed, number + 1));
        crew.start(name, move |crew| {
            // It connects again from here.
            host.enter().map_err(|error| format!("entering the near host: {error}"))?;
            its.work(crew, way, random)
        });
        files.push(file);
    }
    Ok(files)
}

fn name(number: u64) -> String {
    format!("file-{number}")
}

/// A client of NFSv3, which writes again what a COMMIT was not for.
struct Client {
    fs: Arc<dyn FileSystem>,
    caller: Caller,
    file: Handle,
    /// Those that writes were answered with since all was durable.
    verifiers: Vec<[u8; 8]>,
}

impl Client {
    fn new(fs: Arc<dyn FileSystem>, name: &str) -> Result<Self> {
        let caller = own_caller();
        let name = Name::parse(name.as_bytes()).context("a name")?;
        let file = fs.lookup(&caller, &fs.root(), name).context("looking up a file")?.node.handle;
        Ok(Self { fs, caller, file, verifiers: Vec::new() })
    }
}

impl Way for Client {
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Interrupted> {
        let mut done = 0;
        while done < bytes.len() {
            let (data, change) = (Data::Bytes(&bytes[done..]), &mut Change::default());
            let offset = at + done as u64;
            let written = self.fs.write(
                &self.caller,
                WriteFile::new(&self.file, offset, data, Stability::Unstable),
                change,
            );
            let written = written.map_err(|_| self.interrupted())?;
            if written.stability == Stability::Unstable {
                self.verifiers.push(written.verifier);
            }
            done += written.count;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<bool, Interrupted> {
        let committed =
            self.fs.commit(&self.caller, CommitFile::new(&self.file, 0, 0), &mut Change::default());
        let verifier = committed.map_err(|_| self.interrupted())?.verifier;
        Ok(std::mem::take(&mut self.verifiers).iter().all(|of| *of == verifier))
    }

    fn read(&mut self, at: u64) -> Result<Vec<u8>, Interrupted> {
        let mut buffer = Vec::new();
        let read = self
            .fs
            .read(&self.caller, ReadFile::new(&self.file, at, BLOCK), &mut buffer)
            .map_err(|_| Interrupted)?;
        Ok(match read.content {
            Content::Appended(_) => buffer,
            Content::Bytes(bytes) => bytes.to_vec(),
            Content::File(_) => return Err(Interrupted),
        })
    }
}

impl Client {
    fn interrupted(&mut self) -> Interrupted {
        self.verifiers.clear();
        Interrupted
    }
}
