//! `kill-relay`: SIGKILL at any moment of a relay with caches, and of the server behind it. What a COMMIT was answered for under one
//! verifier is on that server's disk, and clients go on as soon as both run again.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use howdah_client::connect::own_caller;
use howdah_vfs::{Caller, Change, Content, Data, FileSystem, Handle, Name, Stability};

use super::blocks::{BLOCK, Blocks, Interrupted, Way};
use super::campaign::{Context, Progress, Verdict};
use super::crew::{Crew, client};
use super::server::{Offer, Relayed, Server, Site};
use howdah_random::Random;

/// Kills of the full form and of the short one.
const FULL: u64 = 200;
const QUICK: u64 = 16;
/// Clients, each with a file of its own.
const CLIENTS: u64 = 4;
/// The relay's address: its port is the server's.
const RELAY: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// A kill comes after so long at most.
const MOST_LATER: Duration = Duration::from_millis(400);
/// Clients go on so soon after both run again.
pub const BACK: Duration = Duration::from_secs(5);
/// Nobody goes on after this long: something hangs.
pub const STUCK: Duration = Duration::from_secs(60);

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let mut random = Random::new(context.seed);
    let mut far = Server::start(&context.binary, &context.directory)?;
    let place = context.directory.join("relay");
    std::fs::create_dir(&place).context("a directory for the relay")?;
    let relayed = Some(Relayed::Cached(far.url("", "")));
    let site = Site { address: RELAY, hosts: None };
    let mut relay = Server::start_with(&context.binary, Offer { relayed, site, ..Offer::below(&place) })?;
    let crew = Crew::settle(far.export(), 0, false)?;
    let files = employ(&crew, &far, &relay, context.seed)?;
    let (times, mut progress, mut tally) = (context.times(FULL, QUICK), Progress::begin(), Tally::default());
    for kill in 1..=times {
        thread::sleep(MOST_LATER.mul_f64(random.fraction()));
        // One in four kills takes both.
        let (of_relay, of_far) = [(true, false), (false, true), (true, false), (true, true)][random.index(4)];
        for server in [of_relay.then_some(&mut relay), of_far.then_some(&mut far)].into_iter().flatten() {
            server.kill()?;
        }
        tally.verify(&crew, &far, &files, kill)?;
        if of_far {
            far.start_again()?;
        }
        if of_relay {
            // It does not start without the server.
            far.wait()?;
            relay.start_again()?;
        }
        far.wait()?;
        relay.wait()?;
        tally.wait_for_service(&crew);
        if !crew.broken().is_empty() {
            break;
        }
        progress.tell(|| format!("{kill} of {times} kills, {} times made durable", crew.steps()));
    }
    crew.dismiss(STUCK);
    tally.verify(&crew, &far, &files, times)?;
    Ok(tally.verdict(times, &crew, &progress))
}

/// What was seen.
#[derive(Default)]
pub struct Tally {
    bytes: u64,
    longest: Duration,
}

impl Tally {
    /// Compares all files on this server's disk.
    pub fn verify(&mut self, crew: &Crew, server: &Server, files: &[Arc<Blocks>], kill: u64) -> Result<()> {
        server.while_stopped(|| {
            for file in files {
                match file.verify() {
                    Ok(bytes) => self.bytes += bytes,
                    Err(wrong) => crew.report(format!("at kill {kill}: {wrong}")),
                }
            }
        })
    }

    /// Waits until somebody has made something durable.
    pub fn wait_for_service(&mut self, crew: &Crew) {
        let began = Instant::now();
        let is_back = crew.wait_for(crew.steps() + 1, STUCK);
        let took = began.elapsed();
        self.longest = self.longest.max(took);
        if !is_back || took > BACK {
            crew.report(format!("nothing was made durable for {took:?} after all ran again"));
        }
    }

    /// What it came to.
    pub fn verdict(&self, times: u64, crew: &Crew, progress: &Progress) -> Verdict {
        let figures = format!(
            "{times} kills in {:.0} s; {} times something was made durable, back after {:.2} s at most; {} MB compared, 0 wrong",
            progress.seconds(),
            crew.steps(),
            self.longest.as_secs_f64(),
            self.bytes >> 20,
        );
        Verdict { figures, broken: crew.broken(), ..Verdict::default() }
    }
}

fn employ(crew: &Arc<Crew>, far: &Server, relay: &Server, seed: u64) -> Result<Vec<Arc<Blocks>>> {
    let mut files = Vec::new();
    for number in 0..CLIENTS {
        let name = format!("file-{number}");
        let file = Arc::new(Blocks::make(far.export().join(&name), number).context("making a file")?);
        let way = Client::new(client(&relay.url("", "&lanes=1"))?, &name)?;
        let (its, random) = (Arc::clone(&file), Random::apart(seed, number + 1));
        crew.start(move |crew| its.work(crew, way, random));
        files.push(file);
    }
    Ok(files)
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
            let written = self.fs.write(&self.caller, &self.file, offset, data, Stability::Unstable, change);
            let written = written.map_err(|_| self.interrupted())?;
            if written.stability == Stability::Unstable {
                self.verifiers.push(written.verifier);
            }
            done += written.count;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<bool, Interrupted> {
        let committed = self.fs.commit(&self.caller, &self.file, 0, 0, &mut Change::default());
        let verifier = committed.map_err(|_| self.interrupted())?.verifier;
        Ok(std::mem::take(&mut self.verifiers).iter().all(|of| *of == verifier))
    }

    fn read(&mut self, at: u64) -> Result<Vec<u8>, Interrupted> {
        let mut buffer = Vec::new();
        let read = self.fs.read(&self.caller, &self.file, at, BLOCK, &mut buffer).map_err(|_| Interrupted)?;
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
