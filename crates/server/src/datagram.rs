//! A call that came in a datagram: the same way as on a stream, without records, and one `sendmsg` for the reply.

use std::io::{self, IoSlice};

use howdah_net::Datagram;
use howdah_vfs::Content;
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::padding;

use crate::Reply;
use crate::counts::{Clerk, Moment, NO_EXPORT, Outcome, Timing, Unheard};
use crate::dispatch::{Whence, Work};
use crate::limits::{DATAGRAM_MAX, STRANGER_EXTRA_MAX};
use crate::segments::{Piece, RecordSegments};
use crate::shared::Shared;
use crate::udp::Port;

/// Pieces of memory that a datagram is sent from: what comes before content, the content, its padding, what comes behind.
const PIECES_MAX: usize = 4;

/// The reply to one datagram; or its buffer, if there is none.
pub fn answer(
    shared: &Shared,
    clerk: &mut Clerk,
    timing: &Timing,
    datagram: &Datagram,
    work: Work<'_>,
    buffer: Vec<u8>,
) -> Result<Reply, Vec<u8>> {
    let peer = datagram.peer();
    let mut reply = match work {
        Work::NoCall | Work::Reply => {
            clerk.unheard(Unheard::Malformed);
            return Err(buffer);
        }
        Work::Refuse(header) | Work::AskTls(header) => {
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
                None => return Err(Vec::new()),
            }
        }
    };
    // An export's rules let in every client that has a handle, and every client whose repeated call is answered from memory.
    let has_no_handle = reply.ticket().is_none_or(|ticket| ticket.place.export == NO_EXPORT);
    if has_no_handle
        && reply.outcome() != Outcome::Replayed
        && reply.message_length() > timing.received + STRANGER_EXTRA_MAX
    {
        let xid = reply.message().first_chunk().copied().map_or(0, u32::from_be_bytes);
        reply.start(&ReplyHeader { xid, outcome: Ok(Accepted::ProcedureUnavailable) });
    }
    if reply.message_length() > DATAGRAM_MAX {
        tracing::warn!(client = %peer.ends.client, length = reply.message_length(), "a reply too long for a datagram");
        return Err(reply.finish().into_buffer());
    }
    Ok(reply)
}

/// Sends a reply, and counts it; gives its buffer back.
pub fn send(clerk: &mut Clerk, (port, datagram): (&Port, &Datagram), reply: Reply) -> Vec<u8> {
    let ticket = reply.ticket();
    let reply = reply.finish();
    match (send_pieces(port, datagram, &reply), ticket) {
        (Ok(()), Some(ticket)) => clerk.handed(&ticket, 1, Moment::now()),
        (Ok(()), None) => {}
        (Err(error), _) => {
            tracing::debug!(client = %datagram.ends.client, %error, "answering a datagram");
        }
    }
    reply.into_buffer()
}

/// Sends all pieces but the record mark, which a datagram has none of.
fn send_pieces(port: &Port, datagram: &Datagram, reply: &RecordSegments) -> io::Result<()> {
    let mut pieces = [IoSlice::new(&[]); PIECES_MAX];
    let mut count = 0;
    let mut add = |bytes| {
        *pieces.get_mut(count).ok_or(io::ErrorKind::Unsupported)? = IoSlice::new(bytes);
        count += 1;
        io::Result::Ok(())
    };
    let mut skipped = RecordMark::SIZE;
    for piece in reply.pieces() {
        match piece {
            Piece::Bytes(bytes) => add(&bytes[std::mem::take(&mut skipped)..])?,
            Piece::Content(Content::Bytes(bytes)) => {
                add(bytes)?;
                add(&[0; 3][..padding(bytes.len())])?;
            }
            // A handler copies what it answers a datagram with.
            Piece::Content(Content::File(_) | Content::Appended(_)) => {
                return Err(io::ErrorKind::Unsupported.into());
            }
        }
    }
    port.reply(&pieces[..count], datagram)
}
