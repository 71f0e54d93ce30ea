//! A floor, from inside: listens, says where, and serves one connection after the other.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;

use anyhow::Context;

use super::super::arguments::Floor;
use super::super::{congestion, cores};
use super::{Job, bulk, change, list, query, small};

/// Serves until its parent ends it.
#[allow(clippy::print_stdout, reason = "the parent reads it")]
pub fn run(arguments: &Floor) -> anyhow::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .context("tying our life to our parent's")?;
    cores::stay_on(arguments.core)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("listening on loopback")?;
    let congestion = congestion::choose(&listener);
    println!("{} {congestion}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().context("waiting for the load")?;
        stream.set_nodelay(true)?;
        // The load closes the connection when it is done, possibly with replies unread.
        match serve(arguments.job, &stream, &arguments.directory) {
            Err(error) if is_end(&error) => {}
            result => result.with_context(|| format!("floor {}", arguments.job.name()))?,
        }
    }
}

fn serve(job: Job, stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    match job {
        Job::Stat => query::stat(stream, export),
        Job::Lookup => query::lookup(stream, export),
        Job::Create => change::create(stream, export),
        Job::Remove => change::remove(stream, export),
        Job::List => list::list(stream, export, true),
        Job::ListKnown => list::list(stream, export, false),
        Job::Pread => small::read(stream, export),
        Job::Pwrite => small::write(stream, export),
        Job::Sendfile => bulk::sendfile(stream, export),
        Job::ReceivePwrite => bulk::receive_pwrite(stream, export),
        Job::ReceiveSplice => bulk::receive_splice(stream, export),
    }
}

fn is_end(error: &anyhow::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    let of_system = error.downcast_ref::<rustix::io::Errno>().map(|errno| errno.kind());
    let kind = of_system.or_else(|| error.downcast_ref::<std::io::Error>().map(std::io::Error::kind));
    matches!(kind, Some(BrokenPipe | ConnectionReset | UnexpectedEof))
}

#[cfg(test)]
mod tests {
    use super::super::super::export::Export;
    use super::super::super::generator::{self, Shape};
    use super::super::super::load::{Counted, Scene};
    use super::super::super::row::{ROWS, Unit};
    use super::*;
    use xtask::clock::ProcessClock;

    /// Calls of each load; enough for a walk through the large directory.
    const CALLS: u64 = 200;

    #[test]
    fn floors_of_small_rows_give_their_loads_what_these_check() {
        let export = Export::make(None).expect("a directory");
        let bulk = [Job::Pread, Job::Pwrite];
        for row in ROWS.iter().filter(|row| row.unit != Unit::Byte && !bulk.contains(&row.floors[0])) {
            for &job in row.floors {
                let load = row.kind.load(&mut Scene { export: &export, session: None, calls: CALLS });
                let mut load = Counted::new(load.expect("an export to fill"), CALLS);
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
                let (stream, _) =
                    generator::connect(listener.local_addr().expect("bound")).expect("listening");
                let (floor, _) = listener.accept().expect("connected");
                let own = ProcessClock::of(std::process::id()).expect("we run");
                std::thread::scope(|scope| {
                    scope.spawn(|| serve(job, &floor, export.path()));
                    let slice = generator::drive(&stream, &mut load, Shape::of_calls(row.in_flight), own);
                    drop(stream);
                    assert!(slice.expect(row.name).calls > 0, "{}", row.name);
                });
            }
        }
    }
}
