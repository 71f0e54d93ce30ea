//! The machine that measured.

use std::fs;

use serde::{Deserialize, Serialize};

/// What a reader of figures wants to know of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub host: String,
    /// The kernel's name and release.
    pub kernel: String,
    /// The processors' architecture.
    pub architecture: String,
    /// The processors' model, as the kernel names it.
    pub processor: String,
    /// How many processors this process may use.
    pub processors: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
}

impl Machine {
    /// This one. What it does not report stays empty.
    pub fn this() -> Self {
        let name = rustix::system::uname();
        let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
        Self {
            host: text(name.nodename()),
            kernel: format!("{} {}", text(name.sysname()), text(name.release())),
            architecture: text(name.machine()),
            processor: field("/proc/cpuinfo", "model name").unwrap_or_default(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: field("/proc/meminfo", "MemTotal").and_then(|text| kilobytes(&text)).unwrap_or(0),
        }
    }
}

/// The first value of that name in a file of `name : value` lines.
fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kilobytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse::<u64>().ok().map(|number| number * 1024)
}
