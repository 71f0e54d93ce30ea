//! The threads that work at once.

use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};

use super::control::{Control, Turn};
use super::performance::Deeds;

/// What one thread of many does: its number, when to stop, and where to write down what it did.
pub(super) type Job<'j> = &'j (dyn Fn(usize, &Turn<'_>, &mut Deeds) -> Result<()> + Sync);

/// Runs a job on so many threads, which all begin when `begin` has been called; answers when that was, and what they
/// did together. The first that fails stops the others.
pub(super) fn run<B>(
    control: &Control<'_>,
    count: usize,
    job: Job<'_>,
    begin: impl FnOnce() -> B,
) -> Result<(B, Instant, Deeds)> {
    let work = |number: usize| {
        let mut deeds = Deeds::default();
        let turn = control.wait(number);
        let done = job(number, &turn, &mut deeds);
        turn.ends();
        if done.is_err() {
            control.fail();
        }
        done.map(|()| deeds)
    };
    thread::scope(|scope| {
        let work = &work;
        let mut threads = Vec::new();
        let mut trouble = None;
        for number in 0..count {
            let thread = thread::Builder::new().name(format!("worker {number}"));
            match thread.spawn_scoped(scope, move || work(number)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    // Those that wait already begin, and stop at once.
                    control.fail();
                    trouble = Some(anyhow::Error::new(error).context(format!("starting thread {number}")));
                    break;
                }
            }
        }
        let before = begin();
        let began = control.begin();
        let mut together = Deeds::default();
        for thread in threads {
            let deeds =
                thread.join().map_err(|_| anyhow::anyhow!("it panicked")).context("a worker's end")?;
            match deeds {
                Ok(deeds) => together.add(&deeds),
                Err(error) => trouble = trouble.or(Some(error)),
            }
        }
        match trouble {
            Some(error) => Err(error),
            None => Ok((before, began, together)),
        }
    })
}
