//! Reports that interfaces or their addresses have changed. It does not say what has changed: the caller reads all of them
//! again, which is right also if the kernel could not keep all messages, and believes no message.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};

/// Groups of the kernel's messages about interfaces, and about their IPv4 and IPv6 addresses (`RTMGRP_LINK`,
/// `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV6_IFADDR`).
const GROUPS: u32 = 0x1 | 0x10 | 0x100;

/// Hears of changes, from when it is made, in the network namespace of the thread that makes it.
#[derive(Debug)]
pub struct InterfaceEvents {
    socket: OwnedFd,
    wake: OwnedFd,
}

/// What was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Something has changed.
    Change,
    /// Somebody woke us.
    Wake,
    /// Nothing for so long.
    Nothing,
}

impl InterfaceEvents {
    /// Hears from now on.
    pub fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // No protocol is `NETLINK_ROUTE`.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        bind(&socket, &SocketAddrNetlink::new(0, GROUPS))?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { socket, wake })
    }

    /// Waits until something has changed since last time, somebody wakes us, or the time is over.
    pub fn wait(&self, most: Option<Duration>) -> io::Result<Heard> {
        let most = most.map(|most| Timespec::try_from(most).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 }));
        let mut polled = [PollFd::new(&self.wake, PollFlags::IN), PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut polled, most.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Heard::Nothing),
            Err(error) => return Err(error.into()),
        }
        if !polled[0].revents().is_empty() {
            let _ = rustix::io::read(&self.wake, &mut [0; 8]);
            return Ok(Heard::Wake);
        }
        if polled[1].revents().is_empty() {
            return Ok(Heard::Nothing);
        }
        self.forget()?;
        Ok(Heard::Change)
    }

    /// Waits for nothing but to be woken; whether that came within the time.
    pub fn rest(&self, most: Duration) -> io::Result<bool> {
        let most = Timespec::try_from(most).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        match poll(&mut [PollFd::new(&self.wake, PollFlags::IN)], Some(&most)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Wakes who waits, or will wait.
    pub fn wake(&self) {
        // The counter holds 2^64 - 2 wakes: it cannot be full.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    /// Takes all messages, which all say the same to us. That the kernel had more than it could keep (ENOBUFS) does too.
    fn forget(&self) -> io::Result<()> {
        loop {
            match recv(&self.socket, &mut [0_u8; 1], RecvFlags::DONTWAIT | RecvFlags::TRUNC) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::NOBUFS) => {
                    tracing::debug!("more changes of interfaces than the kernel could keep")
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::process::Command;
    use std::thread;

    use howdah_needs::{Lack, skipped};
    use rustix::net::sockopt;

    use super::*;
    use crate::{Interface, Namespace, Offloads, Tun, interfaces};

    /// Longer than anything here takes.
    const PATIENCE: Option<Duration> = Some(Duration::from_secs(10));

    fn ip(arguments: &str) {
        let status =
            Command::new("ip").args(arguments.split(' ')).status().expect("ip, of the package iproute2");
        assert!(status.success(), "ip {arguments}");
    }

    /// Runs on a host without interfaces but loopback, which is down.
    fn on_a_host(what: impl FnOnce() + Send) {
        match Namespace::new() {
            Ok(host) => host.run_in(what).expect("a thread"),
            Err(error) => skipped(Lack::Namespaces, format_args!("making network namespaces: {error}")),
        }
    }

    fn named(name: &str) -> Option<Interface> {
        interfaces().expect("a list").into_iter().find(|interface| interface.name == name)
    }

    #[test]
    fn links_and_addresses_that_come_and_go_are_heard_of() {
        on_a_host(|| {
            let events = InterfaceEvents::new().expect("events");
            let heard = |change: &str| {
                ip(change);
                assert_eq!(events.wait(PATIENCE).expect("waited"), Heard::Change, "{change}");
                named("one")
            };
            let tun = Tun::open("one", Offloads::None).expect("an interface");
            assert_eq!(events.wait(PATIENCE).expect("waited"), Heard::Change);
            let made = named("one").expect("made");
            assert!(!made.is_up && made.addresses.is_empty());
            assert!(heard("link set one up").expect("there").is_up);
            let addressed = heard("address add 10.1.2.3/24 label one:label dev one").expect("there");
            assert!(addressed.addresses.contains(&Ipv4Addr::new(10, 1, 2, 3).into()), "{addressed:?}");
            assert!(!heard("link set one down").expect("there").is_up);
            drop(tun);
            assert_eq!(events.wait(PATIENCE).expect("waited"), Heard::Change);
            assert_eq!(named("one"), None);
            while events.wait(Some(Duration::ZERO)).expect("waited") == Heard::Change {}
            assert_eq!(events.wait(Some(Duration::ZERO)).expect("waited"), Heard::Nothing);
        });
    }

    #[test]
    fn an_overrun_is_a_change_like_any_other() {
        on_a_host(|| {
            let events = InterfaceEvents::new().expect("events");
            sockopt::set_socket_recv_buffer_size(&events.socket, 1).expect("the least that there is");
            let lines: String =
                (0..100).map(|number| format!("address add 10.1.2.{number}/24 dev lo\n")).collect();
            let path = std::env::temp_dir().join(format!("howdah-addresses-{}", std::process::id()));
            std::fs::write(&path, lines).expect("written");
            ip(&format!("-batch {}", path.display()));
            std::fs::remove_file(&path).expect("removed");
            let mut byte = [0_u8; 1];
            let overrun = loop {
                match recv(&events.socket, &mut byte, RecvFlags::DONTWAIT) {
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            assert_eq!(overrun, Errno::NOBUFS, "what is to be tested happens");
            ip("address add 10.1.3.1/24 dev lo");
            assert_eq!(events.wait(PATIENCE).expect("waited"), Heard::Change);
            let addresses = named("lo").expect("loopback").addresses;
            assert!(addresses.len() >= 101, "{} addresses", addresses.len());
        });
    }

    #[test]
    fn who_waits_is_woken() {
        let events = InterfaceEvents::new().expect("events");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                loop {
                    match events.wait(None).expect("waited") {
                        Heard::Change | Heard::Nothing => {}
                        Heard::Wake => return,
                    }
                }
            });
            events.wake();
            waiting.join().expect("woken");
        });
    }
}
