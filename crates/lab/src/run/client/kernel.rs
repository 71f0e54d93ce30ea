//! The Linux kernel's client, in a guest behind the client's host.
//!
//! What it does there, [`super::mounted`] knows. A file that is read is there before, and nothing of it is in the client's
//! memory. Of a client `url` and `mount` hold options of mount(8), and `read_ahead_kb=N`.

use std::fs;

use anyhow::{Context, Result};

use super::contract::{Client, spec, url};
use super::mounted::MountWork;
use super::on_mount::RanOnMount;
use super::streaming::{StreamDirection, Streaming};
use super::{bench, file};
use crate::guest::{MOUNTED, Mount, Placing, is_version_4, quoted};
use crate::plan::{Cell, ServerKind};
use crate::record::{CommandRecord, unit};
use crate::run::guest::{Guest, boot_command, placing};
use crate::run::{Measured, Place, Scene, bench_json};

/// Its memory in MiB: for the kernel's cache of 500 MiB, as in 2008, and the buffers that a machine of today lets TCP have.
const MEMORY: u32 = 2048;
/// Programs that it takes, besides what every guest does.
const NEEDED: [&str; 1] = ["mount.nfs"];
/// The same, with Kerberos.
const KERBEROS: [&str; 3] = ["krb5kdc", "kadmin.local", "rpc.gssd"];

/// The Linux kernel as the client.
pub struct MountingKernel {
    /// Its name in the plan.
    pub name: String,
    guest: Option<Guest>,
}

impl MountingKernel {
    /// One that has not booted.
    pub fn new(name: String) -> Self {
        Self { name, guest: None }
    }

    fn placing(&self, cell: &Cell, place: &Place) -> Result<Placing> {
        let before = cell.spec.clients.keys().take_while(|name| **name != self.name).count();
        // The server's guest is number 0.
        let number = u8::try_from(before + 1).context("too many clients")?;
        Ok(placing(cell, place, &spec(cell, &self.name)?.host, &self.name, number, MEMORY))
    }

    /// What the export's URL and the plan say, as a mount.
    fn mount(&self, cell: &Cell, place: &Place) -> Result<Mount> {
        let url = url(cell, place, &self.name)?;
        let (server, words) = url.split_once('?').unwrap_or((&url, ""));
        let rest =
            server.strip_prefix("nfs://").with_context(|| format!("{server} is no URL of an export"))?;
        let slash = rest.find('/').unwrap_or(rest.len());
        let (address, export) = rest.split_at(slash);
        let address =
            address.trim_matches(['[', ']']).parse().with_context(|| format!("{address} is no address"))?;
        let (mut ports, mut options) = ((2049, 2049), Vec::new());
        for word in words.split('&') {
            match word.split_once('=') {
                Some(("nfsport", port)) => ports.0 = port.parse().with_context(|| word.to_owned())?,
                Some(("mountport", port)) => ports.1 = port.parse().with_context(|| word.to_owned())?,
                _ => options.push(word.to_owned()),
            }
        }
        options.extend(spec(cell, &self.name)?.further_mount_options());
        // To version 4 the kernel's export is the root of all.
        let is_root =
            cell.spec.server.kind == ServerKind::Kernel && options.iter().any(|word| is_version_4(word));
        let export = if is_root || export.is_empty() { "/" } else { export };
        Mount::new(address, export, ports, &options.join(","))
    }

    /// `howdah bench` on the mount.
    fn bench(&self, cell: &Cell, place: &Place) -> Result<CommandRecord> {
        let host = &spec(cell, &self.name)?.host;
        let mut record = bench::command(cell, place, &self.name, host, MOUNTED)?;
        let json =
            record.command.iter().position(|word| word == "--json").context("a measurement has figures")?;
        // The guest has a file system of its own; its output is read here.
        "-".clone_into(&mut record.command[json + 1]);
        Ok(record)
    }

    fn guest(&mut self) -> Result<&mut Guest> {
        self.guest.as_mut().context("the guest has not booted")
    }

    /// Runs a script on the mount.
    fn run(&mut self, scene: &Scene<'_>, script: &str) -> Result<RanOnMount> {
        let ran = self.guest()?.run(scene, &format!("{script}\n"))?;
        let seconds = ran.ended.guest_time().as_secs_f64() / ran.clock;
        Ok(RanOnMount { output: ran.output, seconds, clock: ran.clock })
    }

    /// Runs `howdah bench` there.
    fn measure_bench(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        let command = self.bench(scene.cell, scene.place)?.command;
        let json = format!("log/{}.json", self.name);
        let ended = self.run(scene, &format!("{} >\"$WORK/{json}\"", words(&command)))?;
        let path = self.placing(scene.cell, scene.place)?.directory.join(json);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let mut measured = bench_json::measured(&text)?;
        measured.add("clock", ended.clock, unit::PART);
        Ok(measured)
    }

    /// Has the file that is to be read at the server, and not at the client.
    fn put(&mut self, scene: &Scene<'_>, streaming: &Streaming) -> Result<()> {
        if scene.cell.spec.server.kind != ServerKind::Kernel {
            return file::fill(&scene.place.export.join(&streaming.file), streaming.bytes);
        }
        // Only through the mount; what the client has of it goes with that.
        let write = Streaming { direction: StreamDirection::Write, ..streaming.clone() };
        let mount = self.mount(scene.cell, scene.place)?.script();
        let write = words(&write.command(MOUNTED));
        let script = format!("{write}\numount {MOUNTED}\necho 3 >/proc/sys/vm/drop_caches\n{mount}");
        self.guest()?.run(scene, &script).map(drop)
    }
}

impl Client for MountingKernel {
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>> {
        let placing = self.placing(cell, place)?;
        let mount = self.mount(cell, place)?;
        let record = |name: &str, command: Vec<String>| CommandRecord {
            host: placing.host.clone(),
            name: name.to_owned(),
            command,
        };
        let mut commands = vec![boot_command(&placing, &self.name), record("mount", mount.command())];
        commands.extend(mount.read_ahead_command().map(|command| record("read-ahead", command)));
        let work = MountWork::of(cell, place, &self.name)?;
        let warm_up = work.warm_up(cell, &self.name)?;
        commands.extend(warm_up.map(|streaming| record("warm-up", streaming.command(MOUNTED))));
        commands.push(match work.command(MOUNTED) {
            Some(command) => record(&self.name, command),
            None => self.bench(cell, place)?,
        });
        commands.extend(work.safe_command(MOUNTED).map(|command| record("safe", command)));
        Ok(commands)
    }

    fn prepare(&mut self, scene: &Scene<'_>) -> Result<()> {
        for command in self.commands(scene.cell, scene.place)? {
            scene.record(&command.host, &command.name, &command.command);
        }
        let placing = self.placing(scene.cell, scene.place)?;
        let work = MountWork::of(scene.cell, scene.place, &self.name)?;
        if let Some(completed) = work.grow(scene.cell, scene.place).context("the tree")? {
            scene.run(&completed.host, &completed.name, &completed.command)?;
        }
        let mount = self.mount(scene.cell, scene.place)?;
        let kerberos = if mount.uses_kerberos() { &KERBEROS[..] } else { &[] };
        let needed = [&NEEDED[..], kerberos, work.needed()].concat();
        let mut guest = Guest::boot(scene, &placing, &self.name, &needed)?;
        guest.run(scene, &mount.script()).context("mounting")?;
        self.guest = Some(guest);
        let warm_up = work.warm_up(scene.cell, &self.name)?;
        for streaming in work.files_to_read(warm_up.as_ref()) {
            self.put(scene, streaming).context("the file to read")?;
        }
        if let Some(warm_up) = warm_up {
            self.run(scene, &words(&warm_up.command(MOUNTED))).context("warming up")?;
        }
        Ok(())
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        let work = MountWork::of(scene.cell, scene.place, &self.name)?;
        let measured = match work {
            MountWork::Bench => self.measure_bench(scene)?,
            _ => work.measure(MOUNTED, |command| self.run(scene, &words(command)))?,
        };
        if let Some(check) = work.check(scene.cell, scene.place) {
            scene.run(&check.host, &check.name, &check.command)?;
        }
        // It ends here, not beside whatever the cell has still to do.
        self.guest = None;
        Ok(measured)
    }
}

/// A command as a line of a script.
fn words(command: &[String]) -> String {
    command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn cell(text: &str) -> Cell {
        let spec = toml::from_str(text).expect("a cell");
        Cell { number: 1, factors: BTreeMap::new(), spec }
    }

    fn place(cell: &Cell) -> Place {
        Place {
            howdah: "/bin/howdah".into(),
            temporary: "/t".into(),
            export: "/t/export".into(),
            logs: "/logs".into(),
            addresses: crate::run::addresses(&cell.spec),
            seed: 7,
        }
    }

    fn lines(text: &str) -> Vec<String> {
        let cell = cell(text);
        let commands =
            MountingKernel::new("main".to_owned()).commands(&cell, &place(&cell)).expect("commands");
        commands.iter().map(|command| format!("{}: {}", command.name, command.command.join(" "))).collect()
    }

    const CELL: &str = "[clients.main]\nkind = 'kernel'\n";

    #[test]
    fn a_stream_is_dd_on_a_mount_of_the_server() {
        let lines = lines(&format!(
            "{CELL}workload = 'read'\noptions = ['--size', '100M']\nurl = 'nconnect=4'\nmount.read_ahead_kb = 15360"
        ));
        assert!(lines[0].starts_with("main guest: linux.uml mem=2048M "), "{lines:?}");
        assert!(lines[0].contains(" vec0:transport=tap,ifname=guest1,"), "{lines:?}");
        assert_eq!(
            lines[1],
            "mount: mount -t nfs -o vers=3,proto=tcp,mountproto=tcp,nolock,port=2049,mountport=2049,nconnect=4 \
             10.77.0.1:/ /mnt/n"
        );
        assert!(lines[2].starts_with("read-ahead: sh -c echo 15360 >"), "{lines:?}");
        assert_eq!(
            lines[3],
            "main: env LC_ALL=C dd if=/mnt/n/main.stream of=/dev/null bs=1048576 count=100 iflag=fullblock"
        );
    }

    #[test]
    fn the_kernels_own_server_is_a_guest_too() {
        let lines = lines(&format!("[server]\nkind = 'kernel'\n{CELL}workload = 'write'"));
        assert!(lines[1].ends_with("port=2049,mountport=20048 10.78.0.2:/mnt/s /mnt/n"), "{lines:?}");
        assert!(lines[2].ends_with("count=500 iflag=fullblock conv=fsync"), "{lines:?}");
    }

    #[test]
    fn to_version_4_the_kernels_export_is_the_root() {
        let lines = lines(&format!("[server]\nkind = 'kernel'\n{CELL}workload = 'write'\nurl = 'vers=4.2'"));
        assert!(lines[1].ends_with("10.78.0.2:/ /mnt/n"), "{lines:?}");
    }

    #[test]
    fn what_warms_a_stream_up_is_another_file() {
        let warm = lines(&format!("{CELL}workload = 'read'\noptions = ['--warm-up', '64M']"));
        assert!(warm[2].starts_with("warm-up: env LC_ALL=C dd if=/mnt/n/main.warm "), "{warm:?}");
    }

    #[test]
    fn other_work_is_a_measurement_in_the_mount() {
        let lines = lines(&format!("{CELL}workload = 'metadata'\noptions = ['--files', '100']"));
        assert!(lines[2].starts_with("main: /bin/howdah bench /mnt/n --json - "), "{lines:?}");
        let cell = cell(&format!("{CELL}workload = 'read'\noptions = ['--files', '2']"));
        let error =
            MountingKernel::new("main".to_owned()).commands(&cell, &place(&cell)).expect_err("an option");
        assert!(error.to_string().starts_with("--files: one stream"), "{error}");
    }
}
