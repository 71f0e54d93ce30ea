//! What a server says of itself and of a file system: sizes, lease, what an exclusive OPEN sets.

use std::time::Duration;

use howdah_wire::nfs4::Bitmap;
use howdah_wire::nfs4::attributes as wire;
use howdah_wire::nfs4::create_session::ChannelSizes;

use crate::Sizes;
use crate::common::{LISTING_MAX, LISTING_MIN, Wanted};

/// Bytes of a call or reply that are not data: headers with credentials, SEQUENCE, handle, attributes.
const AROUND_DATA: u32 = 2 << 10;
/// What sizes of data are multiples of, where the session and not the file system limits them, in bytes.
const STEP: u32 = 4 << 10;
/// The lease where a server does not say, in seconds: that of most servers.
const LEASE_SECONDS: u32 = 90;

/// What is asked for.
pub(super) const WANTED: Bitmap = Bitmap::of(&[
    wire::SUPPORTED_ATTRS,
    wire::LEASE_TIME,
    wire::MAXREAD,
    wire::MAXWRITE,
    wire::SUPPATTR_EXCLCREAT,
]);

/// What the server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerFacts {
    /// How long the server keeps the state of a client that is not heard of.
    pub(super) lease: Duration,
    /// The attributes that the file system has. Some servers refuse a question for others.
    pub(super) attributes: Bitmap,
    /// What an exclusive OPEN sets.
    pub(super) exclusive: Bitmap,
    read: u64,
    write: u64,
}

impl ServerFacts {
    /// From the attributes of a node.
    pub(super) fn of(reply: &wire::Attributes<'_>) -> Self {
        let said = |size: Option<u64>| size.filter(|size| *size > 0).unwrap_or(u64::MAX);
        let seconds = reply.limits.lease_seconds.filter(|seconds| *seconds > 0).unwrap_or(LEASE_SECONDS);
        Self {
            lease: Duration::from_secs(seconds.into()),
            attributes: reply.support.attributes.unwrap_or(wire::Attributes::ALL),
            exclusive: reply.support.exclusive_attributes.unwrap_or_default(),
            read: said(reply.limits.read),
            write: said(reply.limits.write),
        }
    }

    /// How much goes into one call: as much as was asked for, the file system takes, and fits the session.
    pub(super) fn sizes(&self, session: ChannelSizes, wanted: &Wanted) -> Sizes {
        Sizes {
            read: size(wanted.read, self.read, session.response),
            write: size(wanted.write, self.write, session.request),
            listing: wanted.listing.unwrap_or(LISTING_MAX).clamp(LISTING_MIN, LISTING_MAX),
        }
    }
}

fn size(wanted: Option<u32>, most: u64, message: u32) -> u32 {
    let room = message.saturating_sub(AROUND_DATA);
    let fits = if most <= room.into() { most as u32 } else { (room / STEP * STEP).max(1) };
    wanted.unwrap_or(fits).min(fits).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_to_the_file_system_and_the_session() {
        for (most, message, wanted, expected) in [
            (1 << 20, (1 << 20) + AROUND_DATA, None, 1 << 20),
            (1 << 20, 1 << 20, None, (1 << 20) - STEP),
            (u64::MAX, 64 << 10, None, 60 << 10),
            (1 << 20, u32::MAX, Some(1 << 16), 1 << 16),
            (1 << 16, u32::MAX, Some(1 << 20), 1 << 16),
            (1 << 20, 1024, None, 1),
        ] {
            assert_eq!(size(wanted, most, message), expected, "{most} {message} {wanted:?}");
        }
    }
}
