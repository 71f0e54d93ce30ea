//! A call that came in a datagram: the same way as on a stream, without records, and one `sendmsg` for the reply.

use std::io::{self, IoSlice};

use howdah_net::Datagram;
use howdah_vfs::Content;
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::padding;

use crate::counts::{Clerk, Moment, NO_EXPORT, Outcome, Timing, Unheard};
use crate::dispatch::{Whence, Work};
use crate::limits::{DATAGRAM_MAX, STRANGER_EXTRA_MAX};
use crate::shared::Shared;
use crate::udp::Port;
use crate::{Peer, Reply, Transport};

/// Answers one datagram; gives the reply's buffer back.
pub fn answer(
    shared: &Shared,
    clerk: &mut Clerk,
    timing: &Timing,
    (port, datagram): (&Port, &Datagram),
    work: Work<'_>,
    buffer: Vec<u8>,
) -> Vec<u8> {
    let peer = Peer { client: datagram.client, server: datagram.server, transport: Transport::Udp };
    let mut reply = match work {
        Work::NoCall => {
            clerk.unheard(Unheard::Malformed);
            return buffer;
        }
        Work::Refuse(header) => {
            clerk.unheard(Unheard::of(&header.outcome));
            let mut reply = Reply::with_buffer(buffer);
            reply.start(&header);
            reply
        }
        Work::Run(job) => {
            let has_ended = |token| shared.has_ended_in_order(token);
            let from = Whence::datagram(&peer, &has_ended);
            let reply = shared.service.dispatcher.carry_out(clerk, &job, &from, timing, None, buffer);
            match reply {
                Some(reply) => reply,
                None => return Vec::new(),
            }
        }
    };
    let ticket = reply.ticket();
    // Whoever has a handle was let in by an export's rules, and so was whoever repeats a call that is answered from memory.
    let has_no_handle = ticket.is_none_or(|ticket| ticket.place.export == NO_EXPORT);
    if has_no_handle
        && reply.outcome() != Outcome::Replayed
        && reply.message_length() > timing.received + STRANGER_EXTRA_MAX
    {
        let xid = reply.message().first_chunk().copied().map_or(0, u32::from_be_bytes);
        reply.start(&ReplyHeader { xid, outcome: Ok(Accepted::ProcedureUnavailable) });
    }
    if reply.message_length() > DATAGRAM_MAX {
        tracing::warn!(client = %peer.client, length = reply.message_length(), "a reply too long for a datagram");
        return reply.finish().0;
    }
    let (head, content) = reply.finish();
    match (send(port, datagram, &head[RecordMark::SIZE..], content), ticket) {
        (Ok(()), Some(ticket)) => clerk.handed(&ticket, 1, Moment::now()),
        (Ok(()), None) => {}
        (Err(error), _) => tracing::debug!(client = %peer.client, %error, "answering a datagram"),
    }
    head
}

fn send(port: &Port, datagram: &Datagram, head: &[u8], content: Option<Content>) -> io::Result<()> {
    let bytes = match &content {
        None => return port.reply(&[IoSlice::new(head)], datagram),
        Some(Content::Bytes(bytes)) => bytes,
        // A handler copies what it answers a datagram with.
        Some(Content::File(_) | Content::Appended(_)) => return Err(io::ErrorKind::Unsupported.into()),
    };
    let pad = &[0; 3][..padding(bytes.len())];
    port.reply(&[IoSlice::new(head), IoSlice::new(bytes), IoSlice::new(pad)], datagram)
}
