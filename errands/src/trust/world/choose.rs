//! What is done next: calls that meet each other often, because there are few names.

use howdah_vfs::Stability;

use super::act::{Act, How, join};
use super::tree::{Kind, World};
use howdah_random::Random;

/// How much there may be in a territory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Names in each directory.
    names: u64,
    /// Directories lie no deeper than this.
    deepest: usize,
}

impl Extent {
    /// So much that it takes hours to fill.
    pub const WIDE: Self = Self { names: 9, deepest: 2 };
    /// So little that it is full, as far as it ever is, after some minutes: what grows then, grows for another reason.
    pub const NARROW: Self = Self { names: 6, deepest: 1 };
}

/// No file grows beyond.
const LARGEST: usize = 160 << 10;
/// Of the calls that must be refused, so many are left out for one that is made.
const REFUSED_ONE_IN: u64 = 6;

/// A call to be made now.
pub fn choose(world: &World, extent: Extent, random: &mut Random) -> Act {
    let here = Here { world, extent };
    loop {
        let act = any(here, random);
        match world.verdict(&act) {
            Some(Ok(())) => return act,
            Some(Err(_)) if random.one_in(REFUSED_ONE_IN) => return act,
            _ => {}
        }
    }
}

/// A territory's world, and how much there may be in it.
#[derive(Clone, Copy)]
struct Here<'w> {
    world: &'w World,
    extent: Extent,
}

fn any(here: Here<'_>, random: &mut Random) -> Act {
    match random.below(32) {
        0..=3 => Act::Create { path: place(here, random), how: how(random) },
        4 => Act::MakeDirectory { path: shallow(here, random) },
        5 => Act::MakeLink { path: place(here, random), target: format!("../to/{}", random.below(1000)) },
        6 => Act::MakePipe { path: place(here, random) },
        7..=9 => Act::Remove { path: place(here, random) },
        10 => Act::RemoveDirectory { path: shallow(here, random) },
        11..=14 => Act::Rename { from: place(here, random), to: shallow(here, random) },
        15 | 16 => Act::Link { from: file(here, random), to: place(here, random) },
        17 => Act::SetMode { path: place(here, random), mode: 0o600 + random.below(0o100) as u32 },
        18 => Act::SetSize { path: file(here, random), size: random.index(LARGEST / 2) },
        19..=22 => Act::Commit { path: file(here, random) },
        _ => write(here, random),
    }
}

fn how(random: &mut Random) -> How {
    if random.one_in(2) { How::Guarded } else { How::Exclusive(random.number().to_be_bytes()) }
}

fn write(here: Here<'_>, random: &mut Random) -> Act {
    let path = file(here, random);
    let most = if random.one_in(8) { 64 << 10 } else { 6 << 10 };
    let at = match here.world.find(&path).map(|(_, node)| &node.kind) {
        // Most files grow at their end.
        Some(Kind::File(content)) if random.one_in(2) => content.latest().len(),
        _ => random.index(LARGEST / 2),
    };
    let length = 1 + random.index(most);
    let stability = [Stability::Unstable, Stability::Unstable, Stability::DataSync, Stability::FileSync];
    let at = at.min(LARGEST - length);
    Act::Write { path, at, bytes: random.bytes(length).into(), stability: stability[random.index(4)] }
}

/// A name in some directory, taken or not.
fn place(here: Here<'_>, random: &mut Random) -> String {
    let directories: Vec<&str> = directories(here.world).collect();
    named(directories[random.index(directories.len())], here.extent, random)
}

/// The same, where a directory may be.
fn shallow(here: Here<'_>, random: &mut Random) -> String {
    let directories: Vec<&str> =
        directories(here.world).filter(|path| depth(path) < here.extent.deepest).collect();
    named(directories[random.index(directories.len())], here.extent, random)
}

fn named(directory: &str, extent: Extent, random: &mut Random) -> String {
    join(directory, &format!("n{}", random.below(extent.names)))
}

fn directories(world: &World) -> impl Iterator<Item = &str> {
    let made = world.names().filter(|(_, node)| matches!(node.kind, Kind::Directory)).map(|(path, _)| path);
    std::iter::once("").chain(made)
}

fn depth(path: &str) -> usize {
    path.split('/').filter(|part| !part.is_empty()).count()
}

/// The name of a file that is there, or any name.
fn file(here: Here<'_>, random: &mut Random) -> String {
    let files: Vec<&str> = here
        .world
        .names()
        .filter(|(_, node)| matches!(node.kind, Kind::File(_)))
        .map(|(path, _)| path)
        .collect();
    match files.len() {
        0 => place(here, random),
        count => files[random.index(count)].to_owned(),
    }
}
