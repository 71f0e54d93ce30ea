//! Faults of the disk and of the file system on it.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use howdah_client::connect::own_caller;
use howdah_vfs::{FsError, Name};
use rustix::fs::{FallocateFlags, fallocate};

use super::askers::{SHARED, many_are_told};
use super::fault::{Effect, Fault};
use super::pulse::{FILE, Pulse};
use super::scene::{COLD, COLD_SIZE, Scene, cold_bytes};
use super::trial::GIVE_UP;
use crate::trust::calls::read;
use crate::trust::disk::{Condition, places_of, run};

/// What may happen to any.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "disk hangs",
        expected: "calls wait for the disk",
        needs: None,
        effect: Effect::Wait,
        begin: |scene, _| {
            scene.disk.platter.set(Condition::Hanging);
            Ok(())
        },
        end: |scene| {
            scene.disk.platter.set(Condition::Well);
            Ok(())
        },
    },
    Fault {
        name: "disk cannot write",
        expected: "NFS3ERR_IO for what lies there",
        needs: Some(("filefrag", "e2fsprogs")),
        effect: Effect::Refused(&["input/output error"]),
        begin: spoil_what_is_written,
        end: |scene| {
            scene.disk.platter.spoil(Vec::new());
            Ok(())
        },
    },
    Fault {
        name: "disk cannot write, asked by many",
        expected: "no client hears that lost data is durable",
        needs: Some(("filefrag", "e2fsprogs")),
        effect: Effect::GoesOn(many_are_told),
        begin: |scene, _| {
            let path = scene.server.export().join(SHARED);
            File::create(&path).context("making a file")?;
            spoil(scene, &path)
        },
        end: |scene| {
            scene.disk.platter.spoil(Vec::new());
            Ok(())
        },
    },
    Fault {
        name: "disk cannot read",
        expected: "NFS3ERR_IO for what lies there, other files go on",
        needs: Some(("filefrag", "e2fsprogs")),
        effect: Effect::GoesOn(|scene| match read_cold(scene) {
            Err(FsError::Io) => Ok(()),
            other => anyhow::bail!("reading what lies there gave {:?}", other.map(|bytes| bytes.len())),
        }),
        begin: |scene, _| {
            scene.disk.platter.spoil(places_of(&scene.cold())?);
            scene.forget(&scene.cold())
        },
        end: |scene| {
            scene.disk.platter.spoil(Vec::new());
            let read = read_cold(scene).context("reading what was there")?;
            ensure!(read == cold_bytes(), "other bytes are read than were there");
            Ok(())
        },
    },
    Fault {
        name: "file system frozen",
        expected: "calls wait until it thaws",
        needs: Some(("fsfreeze", "util-linux")),
        effect: Effect::Wait,
        begin: |scene, _| scene.freeze(),
        end: Scene::thaw,
    },
    Fault {
        name: "file system read-only",
        expected: "NFS3ERR_ROFS until it can be written again",
        needs: None,
        effect: Effect::Refused(&["read-only file system"]),
        begin: make_read_only,
        end: |scene| remount(scene, "rw"),
    },
    Fault {
        name: "disk full",
        expected: "NFS3ERR_NOSPC until there is room",
        needs: None,
        effect: Effect::Refused(&["no space left on device"]),
        begin: fill,
        end: |scene| fs::remove_file(scene.disk.mounted().join(FILLER)).context("making room"),
    },
];

/// What may happen where there are quotas.
pub const QUOTA: &[Fault] = &[Fault {
    name: "quota exceeded",
    expected: "NFS3ERR_DQUOT until there is more",
    needs: Some(("btrfs", "btrfs-progs")),
    effect: Effect::Refused(&["disk quota exceeded"]),
    begin: |scene, _| {
        run(Command::new("btrfs").args(["quota", "enable"]).arg(scene.disk.mounted()))?;
        limit(scene, LITTLE)
    },
    end: |scene| limit(scene, "none"),
}];

/// What takes all the room.
const FILLER: &str = "filler";
/// Less than is there already.
const LITTLE: &str = "64K";
/// Room that is the pulse's before it writes there.
const ROOM: u64 = 16 << 20;

/// The blocks that the pulse is about to write.
fn spoil_what_is_written(scene: &Scene, _: &Pulse) -> Result<()> {
    spoil(scene, &scene.server.export().join(FILE))
}

/// The blocks that a file is about to have: its room is made now, so that it is known where that lies.
fn spoil(scene: &Scene, path: &Path) -> Result<()> {
    let file = File::options().write(true).open(path).context("opening a file")?;
    fallocate(&file, FallocateFlags::KEEP_SIZE, 0, ROOM).context("making room for it")?;
    file.sync_all().context("making that room durable")?;
    let places = places_of(path)?;
    // No write is under way then. Of one whose second half fails the loop driver says that all is well (a short write of
    // the file behind it is none to it), and what was answered for would be lost below the file system.
    scene.freeze()?;
    scene.disk.platter.spoil(places);
    scene.thaw()
}

fn read_cold(scene: &Scene) -> Result<Vec<u8>, FsError> {
    let fs = scene.mount(&scene.url()).map_err(|_| FsError::ServerFault)?;
    let name = Name::parse(COLD.as_bytes()).map_err(|_| FsError::Invalid)?;
    let file = fs.lookup(&own_caller(), &fs.root(), name)?.node.handle;
    read(&*fs, &own_caller(), &file, 0, COLD_SIZE)
}

/// What is open for writing keeps the kernel from it; the server closes what nobody has written for some seconds.
fn make_read_only(scene: &Scene, pulse: &Pulse) -> Result<()> {
    let (_rest, began) = (pulse.rest(), Instant::now());
    while let Err(error) = remount(scene, "ro") {
        ensure!(began.elapsed() < GIVE_UP, "{error:#}");
        std::thread::sleep(super::newcomer::PAUSE);
    }
    Ok(())
}

fn remount(scene: &Scene, how: &str) -> Result<()> {
    run(Command::new("mount").arg("-o").arg(format!("remount,{how}")).arg(scene.disk.mounted()))
}

fn fill(scene: &Scene, _: &Pulse) -> Result<()> {
    let mut filler = File::create(scene.disk.mounted().join(FILLER)).context("making a file")?;
    let zeros = vec![0; 64 << 10];
    // Until it is refused.
    while filler.write_all(&zeros).is_ok() {}
    // And the last blocks.
    while filler.write_all(&zeros[..512]).is_ok() {}
    Ok(())
}

/// By the number of the subvolume, and from outside of it: inside, even this is refused once the quota is exceeded.
fn limit(scene: &Scene, most: &str) -> Result<()> {
    let mut number = Command::new("btrfs");
    number.args(["inspect-internal", "rootid"]).arg(scene.server.export());
    let output = number.output().context("starting btrfs")?;
    let group = format!("0/{}", String::from_utf8_lossy(&output.stdout).trim());
    run(Command::new("btrfs").args(["qgroup", "limit", most, &group]).arg(scene.disk.mounted()))
}
