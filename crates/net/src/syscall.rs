//! The calls of system and C library that no library wraps: the one file here with `unsafe` in it.

#![allow(unsafe_code)]

use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use nix::libc;
use socket2::SockAddr;

use crate::own_sysfs::own_sysfs;
use crate::transfer::{Place, Sent, Wait};

/// `mallopt(M_MMAP_THRESHOLD)` with the value that glibc starts from. Left to itself, it takes the first larger block that is freed for a
/// sign that more of the kind will come, and has the next ones in its arenas, of which it gives little back: a megabyte each, in the end.
pub fn give_large_blocks_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it changes a number of the allocator, under its lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// `malloc_trim`: the allocator gives memory that is free back to the system.
pub fn give_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it changes the allocator's own lists, under its locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// `SO_RCVLOWAT`: bytes that must wait before a socket counts as readable.
pub fn set_receive_low_water(socket: BorrowedFd<'_>, count: usize) -> io::Result<()> {
    set_number(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, count as u64)
}

/// `TCP_NOTSENT_LOWAT`: the socket takes no more while so many bytes are unsent.
pub fn set_unsent_mark(socket: BorrowedFd<'_>, bytes: u64) -> io::Result<()> {
    set_number(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, bytes)
}

/// `TCP_WINDOW_CLAMP`: the largest window that is offered from now on.
pub fn set_window_clamp(socket: BorrowedFd<'_>, bytes: u64) -> io::Result<()> {
    set_number(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)
}

/// include/uapi/linux/tcp.h
const TCP_RTO_MAX_MS: libc::c_int = 44;

/// `TCP_RTO_MAX_MS`: the longest that is waited before what was not acknowledged is sent again (Linux 6.15).
pub fn set_retransmission_wait(socket: BorrowedFd<'_>, most: Duration) -> io::Result<()> {
    let milliseconds = u64::try_from(most.as_millis()).map_err(|_| io::ErrorKind::InvalidInput)?;
    set_number(socket, libc::IPPROTO_TCP, TCP_RTO_MAX_MS, milliseconds)
}

/// The same as it is.
pub fn retransmission_wait(socket: BorrowedFd<'_>) -> io::Result<Duration> {
    let mut bytes = [0; size_of::<u32>()];
    get_bytes(socket, libc::IPPROTO_TCP, TCP_RTO_MAX_MS, &mut bytes)?;
    Ok(Duration::from_millis(u64::from(u32::from_ne_bytes(bytes))))
}

/// `SO_BUF_LOCK`: which buffers were set by hand, so that the kernel leaves them as they are (Linux 5.14).
pub fn buffer_locks(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut bytes = [0; size_of::<u32>()];
    get_bytes(socket, libc::SOL_SOCKET, libc::SO_BUF_LOCK, &mut bytes)?;
    Ok(u32::from_ne_bytes(bytes))
}

/// `SO_BUF_LOCK`: which buffers the kernel leaves as they are from now on.
pub fn set_buffer_locks(socket: BorrowedFd<'_>, locks: u32) -> io::Result<()> {
    set_number(socket, libc::SOL_SOCKET, libc::SO_BUF_LOCK, u64::from(locks))
}

/// `SO_MAX_PACING_RATE`: the most bytes per second that are sent from now on; `u64::MAX`: no such limit.
pub fn set_pace(socket: BorrowedFd<'_>, pace: u64) -> io::Result<()> {
    let length = size_of::<u64>() as libc::socklen_t;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE);
    // SAFETY: the kernel reads `length` bytes from a value of that size.
    done(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const pace).cast(), length) })
}

/// `IP_MTU_DISCOVER` with `IP_PMTUDISC_PROBE`: packets are never cut, and go out as they are whatever the kernel has heard of
/// the path.
pub fn forbid_cutting(socket: BorrowedFd<'_>, is_ipv6: bool) -> io::Result<()> {
    match is_ipv6 {
        true => {
            set_number(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE as u64)
        }
        false => set_number(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE as u64),
    }
}

/// Sets an option that is an `int`.
fn set_number(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int, value: u64) -> io::Result<()> {
    let value = libc::c_int::try_from(value).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes from `value`, which lives until the call returns.
    done(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), length) })
}

/// `TCP_INFO`: what the kernel reports of a connection, as many bytes as it has of it.
pub fn tcp_info(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    get_bytes(socket, libc::IPPROTO_TCP, libc::TCP_INFO, bytes)
}

/// `TCP_CC_INFO`: what the congestion control reports of itself, which may be nothing.
pub fn congestion_info(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    /// include/uapi/linux/tcp.h
    const TCP_CC_INFO: libc::c_int = 26;
    get_bytes(socket, libc::IPPROTO_TCP, TCP_CC_INFO, bytes)
}

/// `SO_MEMINFO`: what the socket holds.
pub fn memory_info(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    get_bytes(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, bytes)
}

/// Gets an option that is a struct; how much of it there is.
fn get_bytes(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    bytes: &mut [u8],
) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(bytes.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the kernel writes at most `length` bytes into `bytes`, which has as many, and the length that it wrote.
    done(unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, option, bytes.as_mut_ptr().cast(), &raw mut length)
    })?;
    Ok(length as usize)
}

/// `recvmsg` into the spare capacity of buffers, one after the other: memory that is about to be overwritten is not
/// zeroed first.
pub fn receive_appending(socket: BorrowedFd<'_>, places: &mut [Place<'_>], wait: Wait) -> io::Result<Sent> {
    const PLACES: usize = 3;
    let mut vectors = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; PLACES];
    let count = places.len().min(PLACES);
    for (vector, place) in vectors.iter_mut().zip(places.iter_mut()) {
        place.buffer.reserve(place.most);
        let spare = place.buffer.spare_capacity_mut();
        vector.iov_base = spare.as_mut_ptr().cast();
        vector.iov_len = place.most.min(spare.len());
    }
    let flags = match wait {
        Wait::No => libc::MSG_DONTWAIT,
        Wait::Some => 0,
        Wait::All => libc::MSG_WAITALL,
    };
    // SAFETY: `msghdr` is plain data, and all zeros is a valid one.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = vectors.as_mut_ptr();
    message.msg_iovlen = count as _;
    // SAFETY: each vector is spare capacity of a buffer that is borrowed mutably until after the call.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let Ok(received) = usize::try_from(received) else {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(Sent::WouldBlock),
            _ => Err(error),
        };
    };
    let mut left = received;
    for (vector, place) in vectors.iter().zip(places.iter_mut()) {
        let filled = left.min(vector.iov_len);
        left -= filled;
        // SAFETY: the kernel filled the vectors in order, `received` bytes in all, so that the first `filled` bytes of
        // this one, which begins where the buffer ends, are initialised.
        unsafe { place.buffer.set_len(place.buffer.len() + filled) };
    }
    Ok(Sent::Bytes(received))
}

/// Room for what the kernel reports of a datagram, aligned as its headers are: an address and an interface.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// A datagram as `recvmsg` gives it.
pub struct Arrival {
    /// Its length, or as much of it as there was room for.
    pub length: usize,
    /// Whether there was not room for all of it.
    pub is_cut: bool,
    /// Who sent it.
    pub from: Option<SocketAddr>,
    /// Which of our addresses it was sent to, if the socket was set to report that.
    pub to: Option<IpAddr>,
}

/// `recvmsg` of one datagram, if one waits, with the address that it was sent to. No memory is allocated for it.
pub fn receive_datagram(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Arrival> {
    let mut vector = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut control = Control([0; 64]);
    // SAFETY: `msghdr` is plain data, and all zeros is a valid one.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut vector;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = size_of::<Control>() as _;
    let receive = |name: *mut socket2::SockAddrStorage, length: *mut libc::socklen_t| {
        message.msg_name = name.cast();
        // SAFETY: `try_init` passes a length that it owns.
        message.msg_namelen = unsafe { *length };
        // SAFETY: every pointer in `message` is to memory of the length beside it that lives until the call returns.
        let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        // SAFETY: as above.
        unsafe { *length = message.msg_namelen };
        usize::try_from(received).map_err(|_| io::Error::last_os_error())
    };
    // SAFETY: the kernel writes an address and its length.
    let (length, from) = unsafe { SockAddr::try_init(receive) }?;
    let is_cut = message.msg_flags & libc::MSG_TRUNC != 0;
    Ok(Arrival { length, is_cut, from: from.as_socket(), to: sent_to(&message) })
}

/// Which of our addresses a message was sent to, also if it was sent to all.
fn sent_to(message: &libc::msghdr) -> Option<IpAddr> {
    // SAFETY: the kernel has filled the message's control buffer, which still lives.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: it is null or points to a header in that buffer.
    while let Some(header) = unsafe { next.as_ref() } {
        // SAFETY: as above, and data of this kind follows the header.
        let data = unsafe { libc::CMSG_DATA(header) };
        match (header.cmsg_level, header.cmsg_type) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                // SAFETY: as above.
                let info = unsafe { data.cast::<libc::in_pktinfo>().read_unaligned() };
                return Some(Ipv4Addr::from(info.ipi_spec_dst.s_addr.to_ne_bytes()).into());
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                // SAFETY: as above.
                let info = unsafe { data.cast::<libc::in6_pktinfo>().read_unaligned() };
                return Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into());
            }
            // SAFETY: as above.
            _ => next = unsafe { libc::CMSG_NXTHDR(message, header) },
        }
    }
    None
}

/// `sendmsg` of one datagram; `from` one of our addresses, of the kind that the socket has. No memory is allocated for it.
pub fn send_datagram(
    socket: BorrowedFd<'_>,
    pieces: &[IoSlice<'_>],
    to: SocketAddr,
    from: Option<IpAddr>,
) -> io::Result<()> {
    let to = SockAddr::from(to);
    let mut control = Control([0; 64]);
    // SAFETY: `msghdr` is plain data, and all zeros is a valid one.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_name = to.as_ptr().cast_mut().cast();
    message.msg_namelen = to.len();
    // An `IoSlice` is an `iovec`, and the kernel only reads it.
    message.msg_iov = pieces.as_ptr().cast_mut().cast();
    message.msg_iovlen = pieces.len() as _;
    let any = libc::in_addr { s_addr: 0 };
    match from {
        None => {}
        Some(IpAddr::V4(from)) => {
            let from = libc::in_addr { s_addr: u32::from_ne_bytes(from.octets()) };
            let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: from, ipi_addr: any };
            attach(&mut message, &mut control, (libc::IPPROTO_IP, libc::IP_PKTINFO), info);
        }
        Some(IpAddr::V6(from)) => {
            let info =
                libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: from.octets() }, ipi6_ifindex: 0 };
            attach(&mut message, &mut control, (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO), info);
        }
    }
    // SAFETY: every pointer in `message` is to memory of the length beside it that lives until the call returns.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes this the one control message of a message.
fn attach<T>(
    message: &mut libc::msghdr,
    control: &mut Control,
    (level, kind): (libc::c_int, libc::c_int),
    info: T,
) {
    const { assert!(size_of::<T>() <= 20, "an address and a number: a header and that fit the room") };
    let length = size_of::<T>() as libc::c_uint;
    message.msg_control = (&raw mut *control).cast();
    // SAFETY: it takes a number and gives one.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(length) } as _;
    // SAFETY: the room is as long as was just said, and aligned as a header must be, so that this points into it.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: as above; the data follows the header, and there is room for it.
    unsafe {
        (*header).cmsg_level = level;
        (*header).cmsg_type = kind;
        (*header).cmsg_len = libc::CMSG_LEN(length) as _;
        libc::CMSG_DATA(header).cast::<T>().write_unaligned(info);
    }
}

/// `read` into the spare capacity of a buffer, at most `most` bytes.
pub fn read_appending(file: BorrowedFd<'_>, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
    let spare = buffer.spare_capacity_mut();
    let most = most.min(spare.len());
    // SAFETY: the kernel writes at most `most` bytes into spare capacity of that length, which is borrowed mutably.
    let length = unsafe { libc::read(file.as_raw_fd(), spare.as_mut_ptr().cast(), most) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel has just initialised that many bytes behind the buffer's end.
    unsafe { buffer.set_len(buffer.len() + length) };
    Ok(length)
}

/// `TUNSETIFF`: makes the file an interface of that name, with packets that begin with their IP header after the kernel's
/// header about offloads.
pub fn make_tun(file: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let mut request = named(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: the kernel reads and writes an `ifreq`, which lives until the call returns.
    done(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })
}

/// `TUNSETVNETHDRSZ`: how long that header is.
pub fn set_tun_header_size(file: BorrowedFd<'_>, bytes: libc::c_int) -> io::Result<()> {
    // SAFETY: the kernel reads an `int`, which lives until the call returns.
    done(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETVNETHDRSZ as _, &raw const bytes) })
}

/// `TUNSETOFFLOAD`: what the kernel may leave to us (`TUN_F_…`).
pub fn set_tun_offloads(file: BorrowedFd<'_>, flags: u32) -> io::Result<()> {
    // SAFETY: the argument is a number, not a pointer.
    done(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD as _, libc::c_ulong::from(flags)) })
}

/// Has the command's process move into a network namespace before it becomes another program, which sees it in `/sys` too.
pub fn enter_before_exec(command: &mut Command, namespace: Arc<OwnedFd>) {
    let enter = move || {
        // SAFETY: `setns` takes numbers. It is a bare system call, which is all that may be made between fork and exec.
        done(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) })?;
        own_sysfs()
    };
    // SAFETY: the closure makes system calls and allocates nothing, not even to report that one failed.
    unsafe { command.pre_exec(enter) };
}

/// Has the command begin with no signal blocked, whatever its parent blocks.
pub fn unblock_before_exec(command: &mut Command) {
    let unblock = || {
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: both calls may be made between fork and exec (signal-safety(7)); the set is made by the first.
        done(unsafe {
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut())
        })
    };
    // SAFETY: the closure makes system calls and allocates nothing, not even to report that it failed.
    unsafe { command.pre_exec(unblock) };
}

/// `struct sched_attr` in its first form (linux/sched/types.h).
#[repr(C)]
#[derive(Default)]
struct Scheduling {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// `sched_setattr` with `SCHED_FIFO`: the calling thread runs before all that have no such priority.
pub fn run_before_others(priority: u32) -> io::Result<()> {
    schedule(Scheduling { policy: libc::SCHED_FIFO as u32, priority, ..Scheduling::default() })
}

/// `sched_setattr` with `SCHED_OTHER`, this niceness and a time: what the calling thread may run in one go.
pub fn set_time_slice(nice: i32, slice: Duration) -> io::Result<()> {
    let runtime = u64::try_from(slice.as_nanos()).map_err(|_| io::ErrorKind::InvalidInput)?;
    schedule(Scheduling { policy: libc::SCHED_OTHER as u32, nice, runtime, ..Scheduling::default() })
}

/// `sched_getscheduler`: whether the calling thread has such a priority.
#[cfg(test)]
pub fn is_before_others() -> io::Result<bool> {
    // SAFETY: it takes a number and gives a number.
    match unsafe { libc::sched_getscheduler(0) } {
        policy if policy < 0 => Err(io::Error::last_os_error()),
        policy => Ok(policy == libc::SCHED_FIFO),
    }
}

fn schedule(mut how: Scheduling) -> io::Result<()> {
    how.size = size_of::<Scheduling>() as u32;
    let (thread, flags) = (0, 0);
    // SAFETY: the kernel reads as many bytes as `size` says, which lives until the call returns.
    match unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const how, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Bytes of a page of memory.
pub fn page_size() -> u64 {
    // SAFETY: it takes a number and gives a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096)
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `ioctl` with an `ifreq` that names an interface and points to `bytes`, which the kernel reads and writes: `SIOCETHTOOL`,
/// with a struct of `linux/ethtool.h` that begins with its command.
pub fn ethtool(socket: BorrowedFd<'_>, interface: &str, bytes: &mut [u8]) -> io::Result<()> {
    /// linux/sockios.h
    const SIOCETHTOOL: u32 = 0x8946;
    let mut request = named(interface);
    request.ifr_ifru.ifru_data = bytes.as_mut_ptr().cast();
    // SAFETY: the kernel reads and writes an `ifreq`, and behind its pointer the struct that the command means: callers give
    // as many bytes as that has. Both live until the call returns.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) })
}

/// `SIOCGIFMTU`: the longest packet that an interface sends.
pub fn interface_mtu(socket: BorrowedFd<'_>, interface: &str) -> io::Result<u64> {
    let mut request = named(interface);
    // SAFETY: the kernel reads and writes an `ifreq`, which lives until the call returns.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU as _, &raw mut request) })?;
    // SAFETY: the kernel has just written this member.
    Ok(u64::try_from(unsafe { request.ifr_ifru.ifru_mtu }).unwrap_or_default())
}

/// An `ifreq` with nothing in it but a name.
fn named(interface: &str) -> libc::ifreq {
    // SAFETY: `ifreq` is plain data, and all zeros is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.as_bytes()).take(libc::IFNAMSIZ - 1) {
        *to = *from as libc::c_char;
    }
    request
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use std::hint::black_box;

    /// Whether this process runs that test and no other: what others free before it may lie in an arena, for large blocks as well.
    const ALONE: &str = "HOWDAH_TEST_ALONE";

    #[test]
    fn large_blocks_are_mapped_each_by_itself_whatever_was_freed() {
        const SIZE: usize = 1 << 20;
        if std::env::var_os(ALONE).is_none() {
            let name = "syscall::tests::large_blocks_are_mapped_each_by_itself_whatever_was_freed";
            let mut command = std::process::Command::new(std::env::current_exe().expect("a test"));
            let output = command.args([name, "--exact"]).env(ALONE, "1").output().expect("it runs");
            return assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        super::give_large_blocks_back();
        drop(black_box(vec![1_u8; SIZE]));
        let blocks: Vec<Vec<u8>> = (0..4).map(|_| vec![1; SIZE]).collect();
        // Behind the header of a mapping, which begins with a page.
        let behind = |block: &Vec<u8>| block.as_ptr().addr() % 4096;
        assert!(blocks.iter().all(|block| behind(block) == 2 * size_of::<usize>()), "in an arena");
    }
}

/// `getnameinfo`: the name of the host that has an address, by whatever this host asks for names; `None`: it has none.
pub fn host_name(address: IpAddr) -> io::Result<Option<String>> {
    let place = SockAddr::from(SocketAddr::new(address, 0));
    let mut name = [0_u8; libc::NI_MAXHOST as usize];
    // SAFETY: the address is a whole one of its length, and at most so many bytes of `name` are written.
    let code = unsafe {
        libc::getnameinfo(
            place.as_ptr().cast(),
            place.len(),
            name.as_mut_ptr().cast(),
            name.len() as libc::socklen_t,
            std::ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    match code {
        0 => {
            let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            Ok(std::str::from_utf8(&name[..length]).ok().map(str::to_owned))
        }
        libc::EAI_NONAME | libc::EAI_FAMILY => Ok(None),
        libc::EAI_SYSTEM => Err(io::Error::last_os_error()),
        libc::EAI_AGAIN => Err(io::Error::new(io::ErrorKind::TimedOut, "no name server answers")),
        _ => Err(io::Error::other("name servers refuse to answer")),
    }
}
