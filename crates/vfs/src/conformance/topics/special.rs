//! MKNOD: devices, sockets and pipes, which the server keeps and never opens.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, refused};
use crate::conformance::verdict::Verdict;
use crate::{DeviceNumber, FileKind, FsError, NewAttributes, SpecialKind};

cases! { "special files":
    pipes_and_sockets_are_made,
    devices_keep_their_numbers [DeviceNodes],
    only_the_superuser_makes_devices [ActsAsCaller],
    a_name_that_exists_is_refused,
    they_can_be_changed_and_removed,
}

fn pipes_and_sockets_are_made(bench: &Bench<'_>) -> Verdict {
    for (name, special, kind) in
        [("p", SpecialKind::Fifo, FileKind::Fifo), ("s", SpecialKind::Socket, FileKind::Socket)]
    {
        let node = bench.me.make_special(&bench.home, name, special, 0o622)?;
        equal("kind", node.attributes.kind, kind)?;
        equal("mode", node.attributes.mode, 0o622)?;
        equal("links", node.attributes.links, 1)?;
        equal("handle", bench.me.look(&bench.home, name)?.handle, node.handle)?;
    }
    Ok(())
}

fn devices_keep_their_numbers(bench: &Bench<'_>) -> Verdict {
    let number = |major, minor| DeviceNumber { major, minor };
    for (name, special, kind, device) in [
        ("b", SpecialKind::BlockDevice(number(7, 300)), FileKind::BlockDevice, number(7, 300)),
        ("c", SpecialKind::CharacterDevice(number(1, 3)), FileKind::CharacterDevice, number(1, 3)),
        (
            "d",
            SpecialKind::CharacterDevice(number(4095, 65_535)),
            FileKind::CharacterDevice,
            number(4095, 65_535),
        ),
    ] {
        let node = bench.me.make_special(&bench.home, name, special, 0o600)?;
        equal("kind", node.attributes.kind, kind)?;
        equal("device", node.attributes.device, device)?;
        equal("device, looked up", bench.me.look(&bench.home, name)?.attributes.device, device)?;
    }
    Ok(())
}

fn only_the_superuser_makes_devices(bench: &Bench<'_>) -> Verdict {
    let null = SpecialKind::CharacterDevice(DeviceNumber { major: 1, minor: 3 });
    let made = bench.alice().make_special(&bench.home, "c", null, 0o666);
    refused("MKNOD", made, &[FsError::NotPermitted, FsError::AccessDenied])?;
    bench.alice().make_special(&bench.home, "p", SpecialKind::Fifo, 0o600)?;
    Ok(())
}

fn a_name_that_exists_is_refused(bench: &Bench<'_>) -> Verdict {
    bench.file("f")?;
    let made = bench.me.make_special(&bench.home, "f", SpecialKind::Fifo, 0o600);
    refused("MKNOD", made, &[FsError::Exists])
}

fn they_can_be_changed_and_removed(bench: &Bench<'_>) -> Verdict {
    let pipe = bench.me.make_special(&bench.home, "p", SpecialKind::Fifo, 0o600)?;
    bench.me.set(&pipe, NewAttributes::with_mode(0o644))?;
    equal("mode", bench.me.attributes(&pipe)?.mode, 0o644)?;
    bench.me.rename((&bench.home, "p"), (&bench.home, "q"))?;
    bench.me.remove(&bench.home, "q")?;
    refused("GETATTR", bench.me.attributes(&pipe), &[FsError::Stale])
}
