//! Every maximum that an outsider can push against, with its reason.

use std::time::Duration;

/// The largest transfer of READ and WRITE on a stream, in bytes: what the Linux client asks for at most
/// (`NFS_MAX_FILE_IO_SIZE`).
pub const TRANSFER_MAX: usize = 1 << 20;
/// The longest record, in bytes: the largest WRITE, and room for its header with 400 bytes of credentials and as much of
/// a verifier.
pub const RECORD_MAX: usize = TRANSFER_MAX + (4 << 10);
/// The longest datagram, in bytes: what UDP carries over IPv4.
pub const DATAGRAM_MAX: usize = 65_507;
/// Bytes of memory that replies of one connection may hold while its peer does not read; beyond it no further call of
/// that connection is started.
pub const REPLY_MEMORY_MAX: usize = 256 << 10;
/// The same while all connections together hold more than [`REPLY_MEMORY_BUDGET`].
pub const REPLY_MEMORY_UNDER_PRESSURE: usize = 16 << 10;
/// Bytes of memory that replies of all connections may hold before each is held shorter.
pub const REPLY_MEMORY_BUDGET: usize = 128 << 20;
/// Bytes of replies that wait in one connection, file ranges included, which hold no memory: more than a client has asked for
/// that keeps twice in flight what 2.5 Gb/s x 100 ms hold. The reply to a call that is not read cannot overtake the bulk before it.
pub const REPLY_QUEUE_MAX: usize = 64 << 20;
/// Bytes of memory that half-received records of all connections may hold; beyond it those that hold most and move
/// least are closed.
pub const RECEIVE_MEMORY_BUDGET: usize = 256 << 20;
/// The slowest that a record may come in, in bytes per second, once it has taken [`RECORD_PATIENCE`].
pub const RECORD_RATE_MIN: u64 = 1 << 10;
/// How long a record may take before its rate is looked at.
pub const RECORD_PATIENCE: Duration = Duration::from_secs(30);
/// How long a peer may read nothing of the replies that wait for it. A peer that reads slowly shows it late: the kernel
/// takes more bytes only when a third of its buffer is free, at 20 KB/s after more than a minute.
pub const SEND_PATIENCE: Duration = Duration::from_secs(300);
/// Connections at a time. Of the client that has most (an IPv4 address, or 64 bits of an IPv6 one), an idle one with the
/// fewest calls gives way to a new one.
pub const CONNECTIONS_MAX: usize = 16_384;
/// So many connections are taken in however short the kernel's memory is; beyond, only the first one of each client.
pub const CONNECTIONS_FLOOR: usize = 16;
/// Worker threads, unless configured: calls that may wait for storage at the same time.
pub const WORKERS: usize = 32;
/// How long a call runs before its connection is handed on to another worker.
pub const CALL_PATIENCE: Duration = Duration::from_millis(2);
/// Data of a WRITE from this length on is bulk, in bytes: moved by the kernel where it can be, and worth another
/// processor. Below it, the system calls for that cost more than the copy they save.
pub const BULK_MIN: usize = 64 << 10;
/// A bulk WRITE that takes longer than this shows that the storage is slow: for [`SLOW_STORAGE`] the connection's data
/// is received into memory first, so that its other calls do not wait behind it.
pub const BULK_PATIENCE: Duration = Duration::from_millis(50);
/// How long that lasts.
pub const SLOW_STORAGE: Duration = Duration::from_secs(1);
/// How long READs are copied into their replies after sending a range of a file failed: a client must have the time to
/// connect again and to be told.
pub const RANGE_DOUBT: Duration = Duration::from_secs(60);
/// UDP sockets that share one address, at most: more processors than this have no lock to share any more. Each may hold
/// what `howdah-net` asks the kernel for, 8 MiB of what was received and not read; `net.ipv4.udp_mem` bounds them all.
pub const UDP_GROUP_MAX: usize = 16;
/// Interfaces with UDP sockets of their own, for each address: a host of containers has hundreds of interfaces, and what
/// has none here the wildcard takes.
pub const INTERFACES_MAX: usize = 64;
/// Interfaces that are gone whose traffic is remembered: names of containers' interfaces never come back.
pub const INTERFACES_REMEMBERED: usize = 256;
