//! The system calls that a server makes, by what it makes them for; and those after which nothing can be trusted.

use libc::{
    SYS_accept, SYS_accept4, SYS_bind, SYS_brk, SYS_capget, SYS_capset, SYS_clock_getres, SYS_clock_gettime,
    SYS_clock_nanosleep, SYS_close, SYS_close_range, SYS_connect, SYS_copy_file_range, SYS_dup, SYS_dup3,
    SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_eventfd2, SYS_exit,
    SYS_exit_group, SYS_faccessat, SYS_faccessat2, SYS_fadvise64, SYS_fallocate, SYS_fanotify_init,
    SYS_fanotify_mark, SYS_fchdir, SYS_fchmod, SYS_fchmodat, SYS_fchmodat2, SYS_fchown, SYS_fchownat,
    SYS_fcntl, SYS_fdatasync, SYS_flock, SYS_fstat, SYS_fstatfs, SYS_fsync, SYS_ftruncate, SYS_futex,
    SYS_get_robust_list, SYS_getcpu, SYS_getcwd, SYS_getdents64, SYS_getegid, SYS_geteuid, SYS_getgid,
    SYS_getgroups, SYS_getpeername, SYS_getpid, SYS_getppid, SYS_getrandom, SYS_getresgid, SYS_getresuid,
    SYS_getrusage, SYS_getsockname, SYS_getsockopt, SYS_gettid, SYS_gettimeofday, SYS_getuid, SYS_getxattr,
    SYS_ioctl, SYS_linkat, SYS_listen, SYS_listxattr, SYS_lseek, SYS_madvise, SYS_membarrier, SYS_mkdirat,
    SYS_mknodat, SYS_mmap, SYS_mprotect, SYS_mremap, SYS_munmap, SYS_name_to_handle_at, SYS_nanosleep,
    SYS_newfstatat, SYS_open_by_handle_at, SYS_openat, SYS_openat2, SYS_pipe2, SYS_ppoll, SYS_prctl,
    SYS_pread64, SYS_preadv, SYS_preadv2, SYS_prlimit64, SYS_pselect6, SYS_pwrite64, SYS_pwritev,
    SYS_pwritev2, SYS_read, SYS_readlinkat, SYS_readv, SYS_recvfrom, SYS_recvmmsg, SYS_recvmsg,
    SYS_removexattr, SYS_renameat, SYS_renameat2, SYS_restart_syscall, SYS_rseq, SYS_rt_sigaction,
    SYS_rt_sigpending, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_sched_getaffinity,
    SYS_sched_yield, SYS_sendfile, SYS_sendmmsg, SYS_sendmsg, SYS_sendto, SYS_set_robust_list, SYS_setfsgid,
    SYS_setfsuid, SYS_setgroups, SYS_setpriority, SYS_setsockopt, SYS_setxattr, SYS_shutdown,
    SYS_sigaltstack, SYS_splice, SYS_statfs, SYS_statx, SYS_symlinkat, SYS_sync_file_range, SYS_sysinfo,
    SYS_tee, SYS_tgkill, SYS_timerfd_create, SYS_timerfd_settime, SYS_truncate, SYS_umask, SYS_uname,
    SYS_unlinkat, SYS_utimensat, SYS_vmsplice, SYS_wait4, SYS_write, SYS_writev,
};

/// What is allowed, whatever its arguments. Besides: threads (`clone` without new namespaces), sockets of
/// some families, and reading quotas as their owner.
pub const ALLOWED: &[i64] = &{
    let mut all = [0; FILES.len() + SOCKETS.len() + WAITING.len() + PROCESS.len() + OLD.len()];
    let groups: [&[i64]; 5] = [FILES, SOCKETS, WAITING, PROCESS, OLD];
    let (mut group, mut at) = (0, 0);
    while group < groups.len() {
        let mut index = 0;
        while index < groups[group].len() {
            all[at] = groups[group][index];
            at += 1;
            index += 1;
        }
        group += 1;
    }
    all
};

/// Files, as their callers. fanotify tells what others change in single nodes, which takes no privilege.
const FILES: &[i64] = &[
    SYS_openat,
    SYS_openat2,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_close,
    SYS_close_range,
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_preadv,
    SYS_preadv2,
    SYS_write,
    SYS_writev,
    SYS_pwrite64,
    SYS_pwritev,
    SYS_pwritev2,
    SYS_lseek,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_statfs,
    SYS_fstatfs,
    SYS_getdents64,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_ftruncate,
    SYS_truncate,
    SYS_fallocate,
    SYS_fadvise64,
    SYS_fsync,
    SYS_fdatasync,
    SYS_sync_file_range,
    SYS_copy_file_range,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchmodat2,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_getxattr,
    SYS_setxattr,
    SYS_listxattr,
    SYS_removexattr,
    SYS_linkat,
    SYS_symlinkat,
    SYS_unlinkat,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_renameat,
    SYS_renameat2,
    SYS_flock,
    SYS_fcntl,
    SYS_dup,
    SYS_dup3,
    SYS_umask,
    SYS_getcwd,
    SYS_fchdir,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    SYS_fanotify_init,
    SYS_fanotify_mark,
];

/// Connections and datagrams, and payload on its way past user space. `ioctl` asks how much waits to be read, and clones ranges
/// of files.
const SOCKETS: &[i64] = &[
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_connect,
    SYS_shutdown,
    SYS_getsockname,
    SYS_getpeername,
    SYS_getsockopt,
    SYS_setsockopt,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_recvmmsg,
    SYS_sendfile,
    SYS_splice,
    SYS_tee,
    SYS_vmsplice,
    SYS_pipe2,
    SYS_ioctl,
];

/// Waiting, and the time.
const WAITING: &[i64] = &[
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_eventfd2,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_ppoll,
    SYS_pselect6,
    SYS_futex,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_sched_yield,
    // Threads that do what can wait give way to others.
    SYS_setpriority,
];

/// Memory, threads, signals, and what a process may know of itself: the C library makes these by itself.
const PROCESS: &[i64] = &[
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_brk,
    SYS_membarrier,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_rseq,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_rt_sigpending,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_tgkill,
    SYS_wait4,
    SYS_prctl,
    SYS_capget,
    SYS_capset,
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getgroups,
    SYS_getrusage,
    SYS_getrandom,
    SYS_getcpu,
    SYS_sched_getaffinity,
    SYS_prlimit64,
    SYS_sysinfo,
    SYS_uname,
];

/// Older forms of the above that the C library may still take on this architecture.
#[cfg(target_arch = "x86_64")]
const OLD: &[i64] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_chmod,
    libc::SYS_getdents,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_create,
    libc::SYS_eventfd,
    libc::SYS_pipe,
    libc::SYS_dup2,
    libc::SYS_time,
    libc::SYS_getrlimit,
    libc::SYS_arch_prctl,
];
/// There are none.
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[i64] = &[];

/// The families of sockets that may be made: clients, the admin socket and service manager, and news of interfaces.
pub(crate) const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// What may be asked of quotas (`quotactl_fd`): those of a user and of a group. The last one shows whether the kernel can be asked.
pub(crate) const QUOTAS: [i32; 3] =
    [libc::QCMD(libc::Q_GETQUOTA, 0), libc::QCMD(libc::Q_GETQUOTA, 1), libc::QCMD(libc::Q_GETQUOTA, 255)];

/// Bits of `clone` that make namespaces.
pub(crate) const NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// Other programs, other processes, the kernel itself: nothing here or in a library ever tries these by way of precaution, so
/// that who does has taken the process over.
pub const FATAL: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_userfaultfd,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_stands_twice_or_in_both_lists() {
        let mut all: Vec<i64> = ALLOWED.iter().chain(FATAL).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
