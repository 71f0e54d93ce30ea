//! A network interface whose other end is a file: what the kernel sends is read here, what is written the kernel receives.
//! Packets come with the kernel's own header about checksums and segmentation (`struct virtio_net_hdr`), so that a
//! packet may stand for dozens of segments and cost what one costs.
//!
//! Three ioctls of our own and no crate: a wire passes super-packets through as they are, with one read and one write each,
//! which no crate could do with less, and reads into memory that nobody has to zero, which those that take a `&mut [u8]`
//! cannot. What a crate has besides (addresses, splitting to single packets, an async interface) is not used here.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use bytes::BytesMut;
use nix::libc;

use crate::syscall;

/// The file from which interfaces are made.
const DEVICE: &str = "/dev/net/tun";
/// A name has 15 bytes and a zero (`IFNAMSIZ`).
const NAME_MOST: usize = 15;

/// What the kernel may leave to the other end (`TUN_F_…` of linux/if_tun.h): checksums, segmentation of TCP over IPv4 and
/// IPv6, also with ECN, and of UDP.
const CHECKSUMS: u32 = 0x01;
const TCP_SEGMENTATION: u32 = 0x02 | 0x04 | 0x08;
const UDP_SEGMENTATION: u32 = 0x20 | 0x40;

/// What the kernel leaves undone in packets that it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offloads {
    /// Nothing: every packet is one segment, with its checksums.
    None,
    /// Checksums and segmentation of TCP: kernels before 6.2.
    Tcp,
    /// That, and segmentation of UDP.
    TcpAndUdp,
}

/// A network interface of which we are the wire. It is gone when this is dropped.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Length of the header before every packet (`struct virtio_net_hdr`).
    pub const HEADER: usize = 10;
    /// The longest packet, header included.
    pub const LONGEST: usize = Self::HEADER + (64 << 10);

    /// Makes an interface of that name in the network namespace of the calling thread, with all offloads that the kernel
    /// has, up to `most`. It never blocks.
    pub fn open(name: &str, most: Offloads) -> io::Result<Self> {
        if name.is_empty() || name.len() > NAME_MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an interface's name has 1 to 15 bytes"));
        }
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DEVICE)?;
        syscall::make_tun(file.as_fd(), name)?;
        syscall::set_tun_header_size(file.as_fd(), Self::HEADER as libc::c_int)?;
        offer(file.as_fd(), most)?;
        Ok(Self { file })
    }

    /// The same interface for another thread.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()? })
    }

    /// Takes the next packet that the kernel sends, header first: appends it to `buffer`, which must have room for
    /// [`Tun::LONGEST`] bytes. None: there is none now.
    pub fn receive(&self, buffer: &mut BytesMut) -> io::Result<Option<usize>> {
        match syscall::read_appending(self.file.as_fd(), buffer, Self::LONGEST) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Has the kernel receive a packet, header first. False: it does not take it (the interface is down, or its memory
    /// is short), and the packet is lost, as on any interface.
    pub fn send(&self, packet: &[u8]) -> io::Result<bool> {
        loop {
            return match (&self.file).write(packet) {
                Ok(_) => Ok(true),
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => continue,
                    Some(libc::EAGAIN | libc::EIO | libc::ENOBUFS | libc::ENOMEM | libc::EINVAL) => Ok(false),
                    _ => Err(error),
                },
            };
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Offers as much as the kernel takes.
fn offer(file: BorrowedFd<'_>, most: Offloads) -> io::Result<()> {
    let all = [
        (Offloads::TcpAndUdp, CHECKSUMS | TCP_SEGMENTATION | UDP_SEGMENTATION),
        (Offloads::Tcp, CHECKSUMS | TCP_SEGMENTATION),
        (Offloads::None, 0),
    ];
    let mut refused = io::Error::from(io::ErrorKind::Unsupported);
    for (_, flags) in all.into_iter().filter(|(offloads, _)| *offloads <= most) {
        match syscall::set_tun_offloads(file, flags) {
            Ok(()) => return Ok(()),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
