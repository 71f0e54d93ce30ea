//! The counters of the kernel's client, as `/proc/net/rpc/nfs` gives them: totals, and calls per procedure.

use serde::Serialize;

use super::names::NFS;
use super::{ProcedureCount, names};

/// What the kernel's client did since it was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelClient {
    /// Over all versions and procedures.
    pub rpc: RpcTotals,
    /// Calls per procedure of NFS 2 and 3. The kernel counts retransmissions only in total here.
    pub procedures: Vec<ProcedureCount>,
    /// Operations of NFS 4, all kinds together: which number is which depends on the kernel.
    pub operations_of_version_4: u64,
}

/// The line `rpc`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RpcTotals {
    /// Calls.
    pub calls: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// How often credentials were refreshed.
    pub credentials_refreshed: u64,
}

impl KernelClient {
    /// The kernel's file of counters.
    pub const FILE: &str = "/proc/net/rpc/nfs";

    /// Reads the text of that file. Lines that are unknown are passed over.
    pub fn parse(text: &str) -> Self {
        let mut read = Self { rpc: RpcTotals::default(), procedures: Vec::new(), operations_of_version_4: 0 };
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
            match (name, numbers.as_slice()) {
                ("rpc", &[calls, retransmissions, credentials_refreshed, ..]) => {
                    read.rpc = RpcTotals { calls, retransmissions, credentials_refreshed };
                }
                ("proc2", [_, counts @ ..]) => read.procedures.extend(version(2, counts)),
                ("proc3", [_, counts @ ..]) => read.procedures.extend(version(3, counts)),
                ("proc4", [_, counts @ ..]) => read.operations_of_version_4 = counts.iter().sum(),
                _ => {}
            }
        }
        read
    }
}

fn version(version: u32, counts: &[u64]) -> impl Iterator<Item = ProcedureCount> {
    let known = names::procedure_names(NFS, version).len();
    (0..).zip(counts).take(known).map(move |(procedure, &calls)| ProcedureCount {
        program: NFS,
        version,
        procedure,
        calls,
        retransmissions: 0,
        errors: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_kernel_wrote() {
        let client = KernelClient::parse(
            "net 0 0 0 0\nrpc 6443 304 6447\n\
             proc3 22 1 5 0 3 9 0 6412 0 0 0 0 0 0 0 0 0 0 4 1 2 1 5\nproc4 3 1 2 3\nnew 7\n",
        );
        assert_eq!(client.rpc, RpcTotals { calls: 6443, retransmissions: 304, credentials_refreshed: 6447 });
        assert_eq!(client.operations_of_version_4, 6);
        assert_eq!(client.procedures.len(), 22);
        let read = client.procedures[6];
        assert_eq!((read.version, read.procedure, read.calls), (3, 6, 6412));
    }

    #[test]
    fn garbage_is_nothing() {
        assert_eq!(KernelClient::parse("rpc x\n\nproc3\nproc3 2 one").procedures, []);
    }
}
