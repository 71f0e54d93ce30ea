//! What is done next: calls that meet each other often, because there are few names.

use howdah_vfs::Stability;

use super::act::{Act, How, join};
use super::tree::{Kind, World};
use crate::trust::random::Random;

/// Names in each directory.
const NAMES: usize = 9;
/// Directories lie no deeper than this.
const DEEPEST: usize = 2;
/// No file grows beyond.
const LARGEST: usize = 160 << 10;
/// Of the calls that must be refused, so many are left out for one that is made.
const REFUSED_ONE_IN: u64 = 6;

/// A call to be made now.
pub fn choose(world: &World, random: &mut Random) -> Act {
    loop {
        let act = any(world, random);
        match world.verdict(&act) {
            Some(Ok(())) => return act,
            Some(Err(_)) if random.one_in(REFUSED_ONE_IN) => return act,
            _ => {}
        }
    }
}

fn any(world: &World, random: &mut Random) -> Act {
    match random.below(32) {
        0..=3 => Act::Create { path: place(world, random), how: how(random) },
        4 => Act::MakeDirectory { path: shallow(world, random) },
        5 => Act::MakeLink { path: place(world, random), target: format!("../to/{}", random.below(1000)) },
        6 => Act::MakePipe { path: place(world, random) },
        7..=9 => Act::Remove { path: place(world, random) },
        10 => Act::RemoveDirectory { path: shallow(world, random) },
        11..=14 => Act::Rename { from: place(world, random), to: shallow(world, random) },
        15 | 16 => Act::Link { from: file(world, random), to: place(world, random) },
        17 => Act::SetMode { path: place(world, random), mode: 0o600 + random.below(0o100) as u32 },
        18 => Act::SetSize { path: file(world, random), size: random.up_to(LARGEST / 2) },
        19..=22 => Act::Commit { path: file(world, random) },
        _ => write(world, random),
    }
}

fn how(random: &mut Random) -> How {
    if random.one_in(2) { How::Guarded } else { How::Exclusive(random.number().to_be_bytes()) }
}

fn write(world: &World, random: &mut Random) -> Act {
    let path = file(world, random);
    let most = if random.one_in(8) { 64 << 10 } else { 6 << 10 };
    let at = match world.find(&path).map(|(_, node)| &node.kind) {
        // Most files grow at their end.
        Some(Kind::File(content)) if random.one_in(2) => content.latest().len(),
        _ => random.up_to(LARGEST / 2),
    };
    let length = 1 + random.up_to(most);
    let stability = [Stability::Unstable, Stability::Unstable, Stability::DataSync, Stability::FileSync];
    let at = at.min(LARGEST - length);
    Act::Write { path, at, bytes: random.bytes(length).into(), stability: stability[random.up_to(4)] }
}

/// A name in some directory, taken or not.
fn place(world: &World, random: &mut Random) -> String {
    let directories: Vec<&str> = directories(world).collect();
    named(directories[random.up_to(directories.len())], random)
}

/// The same, where a directory may be.
fn shallow(world: &World, random: &mut Random) -> String {
    let directories: Vec<&str> = directories(world).filter(|path| depth(path) < DEEPEST).collect();
    named(directories[random.up_to(directories.len())], random)
}

fn named(directory: &str, random: &mut Random) -> String {
    join(directory, &format!("n{}", random.below(NAMES as u64)))
}

fn directories(world: &World) -> impl Iterator<Item = &str> {
    let made = world.names().filter(|(_, node)| matches!(node.kind, Kind::Directory)).map(|(path, _)| path);
    std::iter::once("").chain(made)
}

fn depth(path: &str) -> usize {
    path.split('/').filter(|part| !part.is_empty()).count()
}

/// The name of a file that is there, or any name.
fn file(world: &World, random: &mut Random) -> String {
    let files: Vec<&str> =
        world.names().filter(|(_, node)| matches!(node.kind, Kind::File(_))).map(|(path, _)| path).collect();
    match files.len() {
        0 => place(world, random),
        count => files[random.up_to(count)].to_owned(),
    }
}
