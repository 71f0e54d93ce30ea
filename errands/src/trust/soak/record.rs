//! What is written down of a run: what it was, and what was seen of server and client at each look.

use howdah_workload::measure::Machine;
use serde::{Deserialize, Serialize};

/// A run as a whole.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// Where it ran.
    pub machine: Machine,
    /// Seconds since 1970 at its beginning.
    pub began: u64,
    /// Of every choice.
    pub seed: u64,
    /// How long it was to take.
    pub minutes: f64,
    /// The howdah that was tried.
    pub binary: String,
    /// The path between client and server.
    pub path: String,
    /// How often the server was ended and started again.
    pub restarts: u32,
    /// What was done.
    pub did: Did,
    /// What the path did.
    pub packets: Packets,
    /// What was wrong of names, bytes and answers.
    pub broken: Vec<String>,
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Did {
    /// Calls that were judged by the model.
    pub calls: u64,
    /// Of those, answered as only a second run is.
    pub second_answers: u64,
    /// Copies by `howdah cp` that ended equal to their source.
    pub copies: u64,
    /// Bytes that streams wrote, and read again.
    pub streamed: u64,
    /// Bytes that were compared on the server's disk.
    pub compared: u64,
}

/// What a path did to packets, both ways together.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Packets {
    /// That came to it.
    pub arrived: u64,
    /// That ended there, in outages too.
    pub lost: u64,
    /// That it made of others.
    pub repeated: u64,
    /// That it damaged.
    pub corrupted: u64,
    /// That it let others overtake.
    pub overtaken: u64,
}

/// One look.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds since the run began.
    pub at: f64,
    /// Which life of the server this is, from 1.
    pub life: u32,
    /// Seconds since that began.
    pub age: f64,
    /// The server.
    pub server: Process,
    /// Replies that the server keeps for repetitions, in bytes.
    pub kept_replies: u64,
    /// The clients, which are threads of the process that runs this; its path and its models are in it.
    pub client: Process,
    /// Bytes of file contents in the models of the clients' process.
    pub models: u64,
}

/// A process, and calls since the last look.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Process {
    /// Its anonymous memory (`Pss_Anon`), in bytes.
    pub anonymous: u64,
    /// Its share of the files that it maps (`Pss_File`): less while other processes of the same binary run.
    pub files: u64,
    /// Its resident memory (`Rss`), in bytes.
    pub resident: u64,
    /// Open descriptors.
    pub descriptors: u64,
    /// Threads.
    pub threads: u64,
    /// Processor seconds since it began.
    pub processor: f64,
    /// Calls since the last look.
    pub calls: u64,
    /// What half of these calls took at most, in seconds.
    pub p50: Option<f64>,
    /// What ninety-nine of a hundred took at most.
    pub p99: Option<f64>,
}
