//! CALLIT, BCAST and INDIRECT: calls that a portmapper makes in the caller's place (RFC 1833 3.2, 2.2.1 and 2.2.2).

use super::Portmap;
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers nothing, ever: a call passed on would come from this host, past every rule about who may call, and over UDP its
/// longer answer would go to the address on the datagram, whosever it is.
pub fn run(_: &Portmap, _: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    Err(Refusal::Silence)
}
