//! `howdah cat`.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;
use howdah_copy::{SequenceError, read_in_order};
use howdah_daemon::places::{Following, LOCAL, Location, Opener, expected};

use super::Failure;
use crate::arguments::CatArguments;
use crate::report::{self, directory_note, squash_note};

/// Prints each file; goes on with the others where one cannot be had.
pub fn run(arguments: &CatArguments) -> Result<(), Failure> {
    let opener = Opener::default();
    let mut failed = false;
    for location in &arguments.places {
        match print(&opener, location, arguments.jobs) {
            Ok(()) => {}
            // Who read us has enough.
            Err(error) if is_broken_pipe(&error) => return Ok(()),
            Err(error) => {
                failed = true;
                report::complain(&format!("howdah: {error:#}"));
                if let Some(note) =
                    squash_note(&error, location.is_root_at_server()).or(directory_note(&error))
                {
                    report::complain(&note);
                }
            }
        }
    }
    if failed { Err(Failure::Told) } else { Ok(()) }
}

fn print(opener: &Opener, location: &Location, jobs: Option<usize>) -> anyhow::Result<()> {
    let place = opener.open_file(location, Following::Links)?;
    let node = place.node().with_context(|| format!("cannot find {location}"))?;
    location.refuse_slash(&node)?;
    place.refuse_unsized().with_context(|| format!("cannot print {location}"))?;
    let mut output = io::stdout().lock();
    // Of several servers nobody knows which one this is.
    let expected = match &opener.clients()[..] {
        [client] if place.realm != LOCAL => expected(&**client)[0],
        _ => None,
    };
    read_in_order(&place.side(), &node, (jobs, expected), &mut |bytes| output.write_all(bytes))
        .with_context(|| format!("cannot print {location}"))?;
    Ok(output.flush()?)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == ErrorKind::BrokenPipe;
    match error.downcast_ref::<SequenceError>() {
        Some(SequenceError::Sink(error)) => broken(error),
        _ => error.downcast_ref::<io::Error>().is_some_and(broken),
    }
}
