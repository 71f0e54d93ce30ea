//! The conformance suite on any directory, such as a mount of a cluster file system (the cases that need no server), and on any server.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::url::NfsUrl;
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::conformance::{self, Abilities, ActsAs, Report, Subject};
use howdah_vfs::{Caller, FileSystem};
use rustix::process::{getegid, geteuid, umask};

/// Of a large directory: calls are slow there.
const MANY: usize = 500;

/// What MooseFS 3.0.117 does otherwise, and why no server on it can do better.
const MOOSEFS: &[(&str, &str)] = &[
    (
        "a_directory_counts_its_children_or_never",
        "the links of a directory do not follow its children at once",
    ),
    ("a_hole_takes_no_storage", "it tells no storage in use"),
    ("a_cookie_of_nobody_does_no_harm", "it refuses to go on at a place that it did not give out"),
    ("a_listing_goes_on_after_a_removed_entry", "the places of entries move when others are removed"),
    ("times_are_set_to_the_step_that_is_told", "times are whole seconds"),
    ("a_copied_range_is_the_same", "two changes in one second have one time"),
    ("a_change_is_a_change_of_the_node", "two changes in one second have one time"),
    ("every_change_of_a_file_is_told", "two changes in one second have one time"),
    ("reading_follows_the_bits", "members of the group may also do what all others may"),
    ("writing_follows_the_bits", "members of the group may also do what all others may"),
    ("listing_takes_the_read_bit", "its master judges listings by other rules"),
    ("a_sticky_directory_is_its_owners", "its client does not know the mode when it judges attributes"),
];

/// Runs all cases. Those in which MooseFS is known to differ may fail.
///
/// # Errors
/// The directory cannot be served, or a case failed: the report.
pub fn run(directory: &Path) -> Result<Report> {
    umask(rustix::fs::Mode::empty());
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    let options = Options { keeps_verifier: false, ..Options::default() };
    let served = LocalFileSystem::open(directory, options)
        .with_context(|| format!("serving {}", directory.display()))?;
    let served = Arc::new(served);
    let report = conformance::run(&|| Subject::new(Arc::clone(&served) as _, abilities()));
    let is_known = |case: &str| MOOSEFS.iter().any(|(name, _)| *name == case);
    ensure!(report.failures().all(|(case, _)| is_known(case.name)), "{report}");
    Ok(report)
}

/// Runs all cases on an export of a server, through our client.
///
/// # Errors
/// The server cannot be reached, or a case failed: the report.
pub fn run_on_server(url: &str) -> Result<Report> {
    let url: NfsUrl = url.parse().with_context(|| format!("reading {url}"))?;
    let client: Arc<dyn FileSystem> = connect(&url, &ConnectOptions::default())?;
    let report = conformance::run(&|| Subject::new(Arc::clone(&client), abilities()));
    ensure!(report.failures().next().is_none(), "{report}");
    Ok(report)
}

fn abilities() -> Abilities {
    let (user, group) = (geteuid(), getegid());
    let acts_as = if user.is_root() {
        ActsAs::Caller
    } else {
        ActsAs::Always(Caller::new(user.as_raw(), group.as_raw()))
    };
    Abilities { acts_as, many_entries: MANY, ..Abilities::default() }
}
