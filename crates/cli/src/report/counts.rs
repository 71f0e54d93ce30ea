//! Calls per procedure, laid out as `nfsstat -c` does, with retransmissions.

use std::fmt::Write;

use howdah_workload::counters::{
    KernelClient, MountedOperations, Operation, ProcedureCount, procedure_name, procedure_names, program_name,
};

/// Procedures on one line, as nfsstat has them.
const ON_ONE_LINE: usize = 6;

/// Width of one procedure's column.
const COLUMN: usize = 17;

/// One cell of the table: a name, its calls, and what was sent again (none where that is not counted).
struct Cell {
    name: String,
    calls: u64,
    again: Option<u64>,
}

/// Calls on one line, for a report: those that were made at all.
pub fn call_counts(counts: &[ProcedureCount]) -> String {
    let one = |count: &ProcedureCount| {
        let name = procedure_name(count.program, count.version, count.procedure);
        let again = match count.retransmissions {
            0 => String::new(),
            again => format!(" ({again} retransmitted)"),
        };
        format!("{name} {}{again}", count.calls)
    };
    counts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The counters of one client: a table for each version of each program.
pub fn client_counts(counts: &[ProcedureCount]) -> String {
    let calls: u64 = counts.iter().map(|count| count.calls).sum();
    let again: u64 = counts.iter().map(|count| count.retransmissions).sum();
    let mut text = format!("Client rpc stats:\n{:<11}{:<11}\n{calls:<11}{again:<11}\n", "calls", "retrans");
    let mut versions: Vec<(u32, u32)> = counts.iter().map(|count| (count.program, count.version)).collect();
    versions.sort_unstable();
    versions.dedup();
    // NFS first: that is what people look for.
    versions.sort_by_key(|(program, _)| *program != howdah_workload::counters::NFS);
    for version in versions {
        let of = |count: &&ProcedureCount| (count.program, count.version) == version;
        let mine: Vec<ProcedureCount> = counts.iter().filter(of).copied().collect();
        let _ = write!(text, "\nClient {} v{}:\n", program_name(version.0), version.1);
        text.push_str(&table(&cells(version, &mine)));
    }
    text
}

/// Every procedure of a version, those without calls too, as nfsstat has them.
fn cells((program, version): (u32, u32), counts: &[ProcedureCount]) -> Vec<Cell> {
    let known = procedure_names(program, version).len() as u32;
    let most = counts.iter().map(|count| count.procedure + 1).max().unwrap_or(0);
    let cell = |procedure: u32| {
        let count = counts.iter().find(|count| count.procedure == procedure);
        let calls = count.map_or(0, |count| count.calls);
        let again = Some(count.map_or(0, |count| count.retransmissions));
        Cell { name: procedure_name(program, version, procedure), calls, again }
    };
    (0..known.max(most)).map(cell).collect()
}

/// The counters of this machine's kernel.
pub fn kernel_counts(client: Option<&KernelClient>, mounts: &[MountedOperations]) -> String {
    let mut text = String::new();
    if let Some(KernelClient { rpc, procedures, operations_of_version_4 }) = client {
        let _ = write!(
            text,
            "Client rpc stats:\n{:<11}{:<11}{:<11}\n{:<11}{:<11}{:<11}\n",
            "calls", "retrans", "authrefrsh", rpc.calls, rpc.retransmissions, rpc.credentials_refreshed
        );
        for version in [2, 3] {
            let mine = procedures.iter().filter(|count| count.version == version);
            // The kernel counts retransmissions in total only.
            let cells: Vec<Cell> = mine
                .map(|count| Cell {
                    name: procedure_name(count.program, version, count.procedure),
                    calls: count.calls,
                    again: None,
                })
                .collect();
            if cells.iter().any(|cell| cell.calls > 0) {
                let _ = write!(text, "\nClient nfs v{version}:\n{}", table(&cells));
            }
        }
        if *operations_of_version_4 > 0 {
            let _ =
                write!(text, "\nClient nfs v4: {operations_of_version_4} operations; by name, per mount:\n");
        }
    }
    for mount in mounts {
        let _ = write!(text, "\n{} on {} ({}):\n", mount.device, mount.on, mount.kind);
        let cell = |operation: &Operation| Cell {
            name: operation.name.clone(),
            calls: operation.calls,
            again: Some(operation.retransmissions),
        };
        text.push_str(&table(&mount.operations.iter().map(cell).collect::<Vec<_>>()));
    }
    text
}

/// Names, below them calls with their share, below them retransmissions where they are counted.
fn table(cells: &[Cell]) -> String {
    let total: u64 = cells.iter().map(|cell| cell.calls).sum();
    let mut text = String::new();
    for line in cells.chunks(ON_ONE_LINE) {
        let mut row = |cell: &dyn Fn(&Cell) -> String| {
            let row: String = line.iter().map(|each| format!("{:<COLUMN$}", cell(each))).collect();
            let _ = writeln!(text, "{}", row.trim_end());
        };
        row(&|cell| cell.name.clone());
        row(&|cell| format!("{:<10}{}%", cell.calls, percent(cell.calls, total)));
        if line.iter().any(|cell| cell.again.is_some()) {
            row(&|cell| cell.again.map_or(String::new(), |again| format!("{again} retrans")));
        }
    }
    text
}

fn percent(part: u64, total: u64) -> u64 {
    (u128::from(part) * 100).checked_div(u128::from(total)).map_or(0, |percent| percent as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(program: u32, procedure: u32, calls: u64, retransmissions: u64) -> ProcedureCount {
        ProcedureCount { program, version: 3, procedure, calls, retransmissions, errors: 0 }
    }

    #[test]
    fn looks_like_nfsstat() {
        let counts = [count(100_003, 6, 6412, 304), count(100_003, 1, 30, 0), count(100_005, 1, 1, 0)];
        let text = client_counts(&counts);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..13],
            [
                "Client rpc stats:",
                "calls      retrans    ",
                "6443       304        ",
                "",
                "Client nfs v3:",
                "null             getattr          setattr          lookup           access           readlink",
                "0         0%     30        0%     0         0%     0         0%     0         0%     0         0%",
                "0 retrans        0 retrans        0 retrans        0 retrans        0 retrans        0 retrans",
                "read             write            create           mkdir            symlink          mknod",
                "6412      99%    0         0%     0         0%     0         0%     0         0%     0         0%",
                "304 retrans      0 retrans        0 retrans        0 retrans        0 retrans        0 retrans",
                "remove           rmdir            rename           link             readdir          readdirplus",
                "0         0%     0         0%     0         0%     0         0%     0         0%     0         0%",
            ]
        );
        assert!(text.contains("\nClient mount v3:\nnull             mnt  "), "{text}");
    }

    #[test]
    fn the_kernels_counters_look_the_same() {
        let client = KernelClient::parse(
            "rpc 9 1 9\nproc3 22 0 2 0 0 0 0 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nproc4 2 1 4\n",
        );
        let text = kernel_counts(Some(&client), &[]);
        assert!(text.contains("authrefrsh") && text.contains("Client nfs v4: 5 operations"), "{text}");
        assert!(text.contains("\n7         77%    0"), "{text}");
        assert!(!text.contains("0 retrans"), "they are not counted per procedure: {text}");
    }
}
