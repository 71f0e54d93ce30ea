//! What small calls take: for nothing, for attributes, for a few bytes of a file; one at a time, and many at once.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use howdah_client::Remote;
use howdah_client::channel::Request;
use howdah_vfs::{Caller, Handle, ReadFile};

use super::file::ProbedFile;
use crate::facts::StorageFacts;

/// How often each kind is called, unless that takes longer than [`LONG`].
const CALLS: usize = 31;
/// Enough calls of one kind took as long.
const LONG: Duration = Duration::from_millis(1500);
/// Calls at once: as many as a reader ahead has.
const AT_ONCE: usize = 16;
/// Bytes of a small READ.
const SMALL: u64 = 4096;

/// Calls.
///
/// # Errors
/// The server refuses what every server answers.
pub fn small_calls(
    client: &dyn Remote,
    caller: &Caller,
    directory: &Handle,
    file: Option<ProbedFile>,
) -> Result<StorageFacts> {
    let nothing = median(|_| call_nothing(client))?;
    let attributes =
        median(|_| client.attributes(caller, directory).map(|_| ()).context("asking for attributes"))?;
    let read = file.filter(|file| file.size > 0).map(|file| {
        median(|index| {
            // Spread over the file: a block that was read before is in the server's memory.
            let blocks = (file.size / SMALL).max(1);
            let offset = (index as u64 * blocks / CALLS as u64) * SMALL;
            let read =
                client.read(caller, ReadFile::new(&file.handle, offset, SMALL as usize), &mut Vec::new());
            read.map(|_| ()).context("reading a little of a file")
        })
    });
    let at_once = at_once(client, caller, directory)?;
    Ok(StorageFacts {
        nothing: Some(nothing),
        attributes: Some(attributes),
        read: read.transpose()?,
        at_once: AT_ONCE as u64,
        at_once_seconds: Some(at_once),
        ..StorageFacts::default()
    })
}

fn call_nothing(client: &dyn Remote) -> Result<()> {
    let (program, version) = client.program();
    let request = Request::null(program, version);
    client.channel().call(request).map(|_| ()).context("calling for nothing")
}

/// The median time of a call, in seconds.
fn median(mut call: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    let mut times = Vec::new();
    // The first one wakes threads and fills caches of processors.
    call(0)?;
    for index in 0..CALLS {
        let before = Instant::now();
        call(index)?;
        times.push(before.elapsed().as_secs_f64());
        if times.len() >= 3 && begin.elapsed() > LONG {
            break;
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// How long it takes until the last of many is answered, in seconds: the better of two times.
fn at_once(client: &dyn Remote, caller: &Caller, node: &Handle) -> Result<f64> {
    let once = || -> Result<f64> {
        let ready = Barrier::new(AT_ONCE);
        let call = || {
            ready.wait();
            let before = Instant::now();
            client.attributes(caller, node).context("asking for attributes")?;
            Ok(before.elapsed().as_secs_f64())
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(call)).collect();
            let mut longest: f64 = 0.0;
            for thread in threads {
                let took: Result<f64> = thread.join().expect("it does not panic");
                longest = longest.max(took?);
            }
            Ok(longest)
        })
    };
    Ok(once()?.min(once()?))
}
