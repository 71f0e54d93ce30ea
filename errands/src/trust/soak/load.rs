//! The load, as light as it is mixed: calls of workers that are judged by a model, streams, and copies by `howdah cp`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use howdah_client::connect::own_caller;
use howdah_lab::network::{LabHost, LabNetwork};
use howdah_workload::measure::Latencies;

use super::STUCK;
use super::record::Did;
use super::stream::Stream;
use crate::trust::campaign::Context;
use crate::trust::copies::Copies;
use crate::trust::crew::{Crew, client};
use crate::trust::server::Server;
use crate::trust::worker::{Answers, Worker};
use crate::trust::world::Extent;
use howdah_random::Random;

/// Workers, and how they reach the server.
const MOUNTS: [(usize, &str); 3] = [(2, "&lanes=1"), (2, "&lanes=4"), (2, "&proto=udp")];
/// How streams do.
const STREAMS: [&str; 2] = ["&lanes=2", "&proto=udp"];
/// Between two calls of a worker, two blocks of a stream, and two copies.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_OF_STREAMS: Duration = Duration::from_millis(150);
const PAUSE_OF_COPIES: Duration = Duration::from_secs(15);
/// A long run takes so many times as long for each: it is to run beside all that a machine has to do otherwise.
const SLOWLY: u32 = 4;

/// The load, at work.
pub struct Load {
    crew: Arc<Crew>,
    streams: Vec<Arc<Stream>>,
    copies: Arc<Copies>,
    copied: Arc<AtomicU64>,
    compared: AtomicU64,
    latencies: Arc<Mutex<Latencies>>,
    export: PathBuf,
    /// How many times as long as in a short run each pause is.
    slowly: u32,
}

impl Load {
    /// Starts all of it.
    pub fn begin(context: &Context, network: &LabNetwork, server: &Server) -> Result<Self> {
        let workers = MOUNTS.iter().map(|(workers, _)| workers).sum();
        let mut random = Random::new(context.seed);
        let mut load = Self {
            crew: Crew::settle(server.export(), workers, true)?,
            streams: Vec::new(),
            copies: Arc::new(Copies::prepare(&context.binary, &context.directory, server, &mut random)?),
            copied: Arc::default(),
            compared: AtomicU64::new(0),
            latencies: Arc::default(),
            export: server.export().to_owned(),
            slowly: if context.quick { 1 } else { SLOWLY },
        };
        let here = network.host("client");
        load.employ(here, server, context.seed)?;
        load.stream(here, server, context.seed)?;
        load.copy();
        Ok(load)
    }

    fn employ(&self, here: &LabHost, server: &Server, seed: u64) -> Result<()> {
        let mut territories = self.crew.territories.iter().zip(1..);
        for (workers, options) in MOUNTS {
            let territories: Vec<_> = territories.by_ref().take(workers).collect();
            // Its threads are that host's too.
            here.run_in(|| -> Result<()> {
                let client = client(&server.url("", options))?;
                for (territory, number) in territories {
                    let random = Random::apart(seed, number);
                    let worker =
                        Worker::new(Arc::clone(&client), own_caller(), Arc::clone(territory), random);
                    let worker = worker.context("looking up a territory")?.within(Extent::NARROW);
                    self.pace(worker.answered(Answers::AnyForgotten));
                }
                Ok(())
            })??;
        }
        Ok(())
    }

    /// Lets a worker work at its pace.
    fn pace(&self, mut worker: Worker) {
        let (latencies, pause) = (Arc::clone(&self.latencies), PAUSE * self.slowly);
        self.crew.start(worker.place().to_owned(), move |crew| {
            while !crew.stops() {
                thread::sleep(pause);
                let began = Instant::now();
                worker.step()?;
                latencies.lock().unwrap_or_else(PoisonError::into_inner).record(began.elapsed());
                crew.stepped();
            }
            Ok(())
        });
    }

    fn stream(&mut self, here: &LabHost, server: &Server, seed: u64) -> Result<()> {
        for (options, number) in STREAMS.into_iter().zip(1..) {
            let stream = here.run_in(|| -> Result<_> {
                let pause = PAUSE_OF_STREAMS * self.slowly;
                let stream = Arc::new(Stream::new(client(&server.url("", options))?, number, seed, pause));
                let runs = Arc::clone(&stream);
                self.crew.start(format!("stream-{number}"), move |crew| runs.run(crew));
                Ok(stream)
            })??;
            self.streams.push(stream);
        }
        Ok(())
    }

    fn copy(&self) {
        let (copies, copied) = (Arc::clone(&self.copies), Arc::clone(&self.copied));
        let pause = PAUSE_OF_COPIES * self.slowly;
        self.crew.start("howdah cp", move |crew| {
            while !crew.stops() {
                let was_made = copies.copy(|| crew.stops())?;
                copied.fetch_add(u64::from(was_made), Ordering::Relaxed);
                crew.rest(pause);
            }
            Ok(())
        });
    }

    /// The server is about to go, or is back.
    pub fn set_troubled(&self, is_troubled: bool) {
        self.crew.set_troubled(is_troubled);
    }

    /// Compares all there is with what was answered for, while nobody serves it.
    pub fn verify(&self, when: &str) {
        let mut bytes = self.crew.verify(when);
        for stream in &self.streams {
            match stream.verify(&self.export) {
                Ok(compared) => bytes += compared,
                Err(wrong) => self.crew.report(format!("{when}: {wrong}")),
            }
        }
        self.copies.check(false).unwrap_or_else(|wrong| self.crew.report(format!("{when}: {wrong}")));
        self.compared.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Lets all end what they do, and compares.
    pub fn end(&self, server: &mut Server) {
        self.crew.dismiss(STUCK);
        server.end().unwrap_or_else(|error| self.crew.report(format!("at the end: {error:#}")));
        self.verify("at the end");
    }

    /// How long calls took since this was asked last.
    pub fn take_latencies(&self) -> Latencies {
        std::mem::take(&mut *self.latencies.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Bytes that the models keep.
    pub fn models(&self) -> u64 {
        self.crew.territories.iter().map(|territory| territory.state().world.kept() as u64).sum()
    }

    /// Something is wrong.
    pub fn report(&self, wrong: String) {
        self.crew.report(wrong);
    }

    /// All that is wrong so far.
    pub fn broken(&self) -> Vec<String> {
        self.crew.broken()
    }

    /// What was done so far.
    pub fn did(&self) -> Did {
        Did {
            calls: self.crew.steps(),
            second_answers: self.crew.second_answers(),
            copies: self.copied.load(Ordering::Relaxed),
            streamed: self.streams.iter().map(|stream| stream.moved()).sum(),
            compared: self.compared.load(Ordering::Relaxed),
        }
    }
}
