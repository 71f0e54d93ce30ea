//! What a cell would run, before anything is made.

use std::path::Path;

use anyhow::Result;

use super::cell::place;
use super::confined::confined;
use super::{Job, client, relay, server};
use crate::plan::{ClientKind, ServerKind};
use crate::record::CommandRecord;

/// The commands of server and clients, in order. Directories that a run makes stand as words in capitals.
pub fn planned_commands(job: &Job, howdah: &Path) -> Result<Vec<CommandRecord>> {
    let cell = &job.cell.spec;
    let place = place(job, howdah, Path::new("TEMPORARY"), Path::new("LOGS"));
    let on_host = |mut record: CommandRecord| {
        record.command = confined(cell, &record.host, &record.command);
        record
    };
    let mut commands = server(cell.server.kind)?.commands(&job.cell, &place);
    // What runs in a guest has a kernel of its own, which knows nothing of that.
    if cell.server.kind != ServerKind::Kernel {
        commands = commands.into_iter().map(on_host).collect();
    }
    commands.extend(relay::command(&job.cell, &place)?.map(on_host));
    for (name, spec) in &cell.clients {
        let theirs = client(spec.kind, name)?.commands(&job.cell, &place)?.into_iter();
        match spec.kind {
            ClientKind::Kernel => commands.extend(theirs),
            _ => commands.extend(theirs.map(on_host)),
        }
    }
    Ok(commands)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::plan::Cell;

    #[test]
    fn what_a_hosts_programs_may_not_do_is_shown() {
        let text =
            "[hosts.client]\nnice = 5\nwithout = ['net_admin', 'net_raw']\n[clients.main]\nkind = 'howdah'";
        let spec = toml::from_str(text).expect("a cell");
        let job = Job { cell: Cell { number: 1, factors: BTreeMap::new(), spec }, repetition: 1, seed: 1 };
        let commands = planned_commands(&job, Path::new("howdah")).expect("commands");
        let lines: Vec<String> = commands.iter().map(|record| record.command.join(" ")).collect();
        assert!(lines[0].starts_with("howdah serve "), "{lines:?}");
        assert!(
            lines[1]
                .starts_with("nice -n 5 setpriv --bounding-set=-net_admin,-net_raw -- howdah bench nfs://"),
            "{lines:?}"
        );
    }
}
