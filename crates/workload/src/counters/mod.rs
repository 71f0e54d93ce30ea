//! Calls and retransmissions per procedure: of this process, of the kernel's client, and their names.

mod count;
mod kernel;
mod mount_statistics;
mod names;

pub use count::{CallCounters, ProcedureCount, since, totals};
pub use kernel::{KernelClient, RpcTotals};
pub use mount_statistics::{
    FILE as MOUNT_STATISTICS, MountTransport, MountedOperations, Operation, mount_statistics,
};
pub use names::{MOUNT, NFS, procedure_name, procedure_names, program_name};
