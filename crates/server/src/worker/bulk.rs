//! Bulk WRITEs whose data is complete, but still in the socket: moved from there by the kernel.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use howdah_rpc::server::Assembly;
use howdah_wire::xdr::padding;

use super::Worker;
use crate::connection::{Connection, Payload};
use crate::counts::{Moment, Timing};
use crate::dispatch::{Whence, Work};
use crate::gss::is_secured;
use crate::limits::BULK_MIN;
use crate::outline::{Bulk, ReplyPace};
use crate::reply_cache::Origin;

/// What became of a WRITE whose data is in the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InPlace {
    /// It ran.
    Ran,
    /// Its data is not complete: the socket wakes somebody when it is.
    Waits,
    /// There is none, or its data is better received into memory.
    None,
}

impl Worker {
    /// Runs such a WRITE, if there is one.
    pub(super) fn run_in_place(&mut self, connection: &Arc<Connection>) -> io::Result<InPlace> {
        let stream = connection.stream();
        if !(stream.can_splice() && stream.knows_waiting()) {
            return Ok(InPlace::None);
        }
        let Some(mut assembly) = connection.inbox().start_move(BULK_MIN) else {
            // Whatever comes next must wake somebody, though the data that was waited for now takes another way.
            return connection.wake_at_once().map(|()| InPlace::None);
        };
        let start = Moment::now();
        let moved = self.move_payload(connection, &mut assembly, start);
        connection.inbox().end_move(assembly, Duration::from_nanos(Moment::now().since(start)));
        moved
    }

    fn move_payload(
        &mut self,
        connection: &Arc<Connection>,
        assembly: &mut Assembly,
        arrived: Moment,
    ) -> io::Result<InPlace> {
        let shared = Arc::clone(&self.shared);
        let Some(partial) = assembly.partial() else { return Ok(InPlace::None) };
        let dispatcher = &shared.service.dispatcher;
        let secured = match dispatcher.gss.as_ref().filter(|_| is_secured(partial.bytes)) {
            None => None,
            // Arguments that are protected are checked in memory, and so is whatever is wrong with a header.
            Some(door) => match door.verify_header(partial.bytes).filter(|call| !call.protects_bodies()) {
                Some(secured) => Some(secured),
                None => return connection.wake_at_once().map(|()| InPlace::None),
            },
        };
        let transport = connection.peer().transport;
        let Work::Run(mut job) = dispatcher.read(partial.bytes, secured.as_ref(), transport) else {
            return Ok(InPlace::None);
        };
        // It waits before a gate, or for another host, like any other: in memory.
        if self.shut_gate(&job).is_some()
            || (shared.service.any_waits() && self.is_far(&job, connection.peer()))
        {
            return connection.wake_at_once().map(|()| InPlace::None);
        }
        // Nothing else in the call waits for storage: the connection is kept until it has run.
        let is_long = job.outline.pace == ReplyPace::Long && !job.outline.is_dear;
        let is_moved = |bulk: &Bulk| is_long && bulk.length >= BULK_MIN;
        let Some(bulk) = job.outline.bulk.filter(is_moved) else { return Ok(InPlace::None) };
        let (header, length) = (bulk.at, partial.length);
        let here = &partial.bytes[header.min(partial.bytes.len())..];
        let pad = padding(bulk.length);
        let behind = length.checked_sub(header + bulk.length + pad);
        let Some(behind) = behind.filter(|behind| *behind <= bulk.behind_max && here.len() < bulk.length)
        else {
            return Ok(InPlace::None);
        };
        let rest = bulk.length - here.len();
        let stream = connection.stream();
        let waits = rest + pad + behind;
        if stream.waiting()? < waits {
            return wait_for(connection, waits);
        }
        connection.wake_at_once()?;
        // From here on it runs. One that came twice is refused when all of it is in memory.
        if secured.as_ref().is_some_and(|secured| secured.take().is_err()) {
            return Ok(InPlace::None);
        }
        job.came_in(length);
        job.cut_at(header);
        let mut payload = Payload::new(stream, &mut self.pipe, here, rest, (pad, behind));
        let buffer = self.spare.take();
        connection.inbox().start_moved_call(waits);
        let timing = Timing { arrived, received: length, is_first: true };
        let has_ended = |token| shared.has_ended_in_order(token);
        let (peer, origin) = (connection.peer(), Origin::connection(connection.token()));
        let from = Whence { peer, origin, has_ended: &has_ended };
        let reply = dispatcher.carry_out(&mut self.clerk, &job, &from, &timing, Some(&mut payload), buffer);
        let drained = payload.finish();
        self.deliver(connection, reply, length);
        assembly.skip_partial(header);
        drained.map(|()| InPlace::Ran)
    }
}

/// Lets the socket wake somebody when so many bytes wait. If it did so before, and they do not, then the kernel has no
/// room for them, or they will never come: then what is there is received as usual.
fn wait_for(connection: &Connection, length: usize) -> io::Result<InPlace> {
    if connection.wakes_late() {
        connection.wake_at_once()?;
        return Ok(InPlace::None);
    }
    connection.wake_late(length)?;
    Ok(InPlace::Waits)
}
