//! Replies on their way out: small ones overtake bulk between records, never inside one.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::locks::Mutex;
use howdah_net::{Sent, Stream};
use howdah_vfs::Content;
use howdah_wire::xdr::padding;

use crate::Reply;
use crate::counts::{Clerk, Moment, Ticket};
use crate::limits::{REPLY_MEMORY_BUDGET, REPLY_MEMORY_MAX, REPLY_MEMORY_UNDER_PRESSURE, REPLY_QUEUE_MAX};
use crate::segments::{Piece, RecordSegments};
use crate::spare::Spare;

/// Most replies sent in one system call.
const TRAIN: usize = 64;
/// So much of a file goes through memory at a time, to a stream that cannot send files.
const COPY: usize = 64 << 10;
/// A reply from this length on waits until smaller ones are gone.
const BULK: usize = 16 << 10;
/// Small replies that may go before one that is bulk: a round trip's worth of them.
const OVERTAKEN_MAX: u32 = 64;

/// Memory that waiting replies of all connections hold.
static MEMORY: AtomicUsize = AtomicUsize::new(0);

/// How a flush ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flushed {
    /// All is sent, or somebody else is sending.
    Done,
    /// The socket takes no more for now, and must be armed to report when it does.
    Blocked,
    /// The socket still takes no more.
    StillBlocked,
}

/// The replies of one connection.
#[derive(Debug, Default)]
pub struct Outbox {
    queue: Mutex<Queue>,
    /// Bytes of memory that waiting replies hold.
    memory: AtomicUsize,
    /// Bytes of waiting replies, file ranges included.
    length: AtomicUsize,
    /// Bytes sent so far.
    sent: AtomicUsize,
}

#[derive(Debug, Default)]
struct Queue {
    small: VecDeque<Outgoing>,
    bulk: VecDeque<Outgoing>,
    /// Small replies that went before the first bulk one that waits.
    overtaken: u32,
    /// What is being sent: taken out by the thread that sends.
    train: Train,
    sending: bool,
    blocked: bool,
}

/// Replies in the order in which they go out; at most the last has content.
#[derive(Debug, Default)]
struct Train {
    replies: VecDeque<Outgoing>,
    /// Bytes of the first reply that are sent.
    sent: usize,
}

#[derive(Debug)]
struct Outgoing {
    segments: RecordSegments,
    ticket: Option<Ticket>,
}

impl Outbox {
    /// Adds a reply.
    pub fn push(&self, reply: Reply) {
        let ticket = reply.ticket();
        let reply = Outgoing { segments: reply.finish(), ticket };
        let (memory, length) = (reply.segments.memory(), reply.segments.length());
        self.memory.fetch_add(memory, Ordering::SeqCst);
        self.length.fetch_add(length, Ordering::SeqCst);
        MEMORY.fetch_add(memory, Ordering::Relaxed);
        let mut queue = self.queue.lock();
        if length >= BULK { queue.bulk.push_back(reply) } else { queue.small.push_back(reply) }
    }

    /// Sends what waits, unless somebody else does or the socket takes nothing.
    pub fn flush(&self, stream: &Stream, spare: &mut Spare, clerk: &mut Clerk) -> io::Result<Flushed> {
        let mut queue = self.queue.lock();
        if queue.blocked {
            return Ok(Flushed::StillBlocked);
        }
        if queue.sending {
            return Ok(Flushed::Done);
        }
        let mut train = std::mem::take(&mut queue.train);
        loop {
            queue.fill(&mut train);
            if train.replies.is_empty() {
                queue.train = train;
                return Ok(Flushed::Done);
            }
            queue.sending = true;
            drop(queue);
            let went = self.send(&mut train, stream, spare, clerk);
            queue = self.queue.lock();
            queue.sending = false;
            if let Ok(Sent::Bytes(_)) = went {
                continue;
            }
            queue.train = train;
            queue.blocked = true;
            return went.map(|_| Flushed::Blocked);
        }
    }

    /// The socket takes bytes again.
    pub fn unblock(&self) {
        self.queue.lock().blocked = false;
    }

    /// Whether so much waits that no further call should be started.
    pub fn is_full(&self) -> bool {
        let all = MEMORY.load(Ordering::Relaxed);
        is_too_much(self.memory.load(Ordering::SeqCst), self.length.load(Ordering::SeqCst), all)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.length.load(Ordering::SeqCst) == 0
    }

    /// Bytes of replies that wait, file ranges included.
    pub fn waiting(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    /// Bytes sent so far.
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// Sends as much of the train as the socket takes in one go.
    fn send(
        &self,
        train: &mut Train,
        stream: &Stream,
        spare: &mut Spare,
        clerk: &mut Clerk,
    ) -> io::Result<Sent> {
        let moving = train.moves_file().map(|ticket| (ticket, Moment::now()));
        if let Some((ticket, _)) = &moving {
            clerk.start_moving(ticket);
        }
        let sent = train.send(stream);
        if moving.is_some() {
            clerk.end_moving();
        }
        let sent = sent?;
        if let Sent::Bytes(count) = sent {
            // Once a system call: all replies whose last bytes it took were gone then.
            let now = Moment::now();
            if let Some((ticket, start)) = moving {
                clerk.moved(&ticket, now.since(start));
            }
            self.sent.fetch_add(count, Ordering::Relaxed);
            train.sent += count;
            // Once for all of them: each change of a counter that others change too costs as much as ten others.
            let (mut memory, mut length) = (0, 0);
            let mut alike = (None, 0);
            while let Some(done) = train.pop_done() {
                memory += done.segments.memory();
                length += done.segments.length();
                if alike.0 != done.ticket {
                    hand(clerk, alike, now);
                    alike = (done.ticket, 0);
                }
                alike.1 += 1;
                spare.put(done.segments.into_buffer());
            }
            hand(clerk, alike, now);
            self.forget(memory, length);
        }
        Ok(sent)
    }

    /// Replies are gone.
    fn forget(&self, memory: usize, length: usize) {
        self.memory.fetch_sub(memory, Ordering::SeqCst);
        self.length.fetch_sub(length, Ordering::SeqCst);
        MEMORY.fetch_sub(memory, Ordering::Relaxed);
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        MEMORY.fetch_sub(*self.memory.get_mut(), Ordering::Relaxed);
    }
}

impl Queue {
    /// Takes more replies aboard, small ones first, up to the first with content. Bulk waits for many small ones, but
    /// not for ever.
    fn fill(&mut self, train: &mut Train) {
        while train.replies.len() < TRAIN
            && train.replies.back().is_none_or(|last| !last.segments.has_content())
        {
            let next = if self.overtaken < OVERTAKEN_MAX { self.small.pop_front() } else { None };
            self.overtaken += u32::from(next.is_some() && !self.bulk.is_empty());
            let next = next.or_else(|| {
                self.overtaken = 0;
                self.bulk.pop_front().or_else(|| self.small.pop_front())
            });
            match next {
                Some(reply) => train.replies.push_back(reply),
                None => return,
            }
        }
    }
}

impl Train {
    /// One system call: the bytes of many replies at once, up to content, or the next piece of content.
    fn send(&self, stream: &Stream) -> io::Result<Sent> {
        let mut pieces = [IoSlice::new(&[]); TRAIN];
        let (mut count, mut sent, mut more) = (0, self.sent, false);
        for (reply, place) in self.replies.iter().zip(&mut pieces) {
            let Some(next) = reply.segments.next(std::mem::take(&mut sent)) else { break };
            match next.piece {
                Piece::Content(content) if count == 0 => return send_content(stream, content, next.sent),
                Piece::Content(_) => more = true,
                Piece::Bytes(bytes) => {
                    *place = IoSlice::new(&bytes[next.sent..]);
                    count += 1;
                    more = !next.is_last;
                }
            }
            if more {
                break;
            }
        }
        stream.send(&pieces[..count], more)
    }

    /// The reply of which a range of a file goes next, if one does.
    fn moves_file(&self) -> Option<Ticket> {
        let first = self.replies.front().filter(|first| first.segments.has_content())?;
        match first.segments.next(self.sent)?.piece {
            Piece::Content(Content::File(_)) => first.ticket,
            _ => None,
        }
    }

    /// Takes off the first reply if it is sent to its end.
    fn pop_done(&mut self) -> Option<Outgoing> {
        let length = self.replies.front()?.segments.length();
        if self.sent < length {
            return None;
        }
        self.sent -= length;
        self.replies.pop_front()
    }
}

/// Counts replies with the same ticket that are gone; refusals have none.
fn hand(clerk: &mut Clerk, alike: (Option<Ticket>, u64), now: Moment) {
    if let (Some(ticket), count @ 1..) = alike {
        clerk.handed(&ticket, count, now);
    }
}

/// Sends a piece of content, of which `sent` bytes are gone, and its padding.
fn send_content(stream: &Stream, content: &Content, sent: usize) -> io::Result<Sent> {
    let length = content.len();
    if sent >= length {
        return stream.send(&[IoSlice::new(&[0; 3][..padding(length) - (sent - length)])], false);
    }
    match content {
        Content::Bytes(bytes) => {
            let pad = &[0; 3][..padding(length)];
            stream.send(&[IoSlice::new(&bytes[sent..]), IoSlice::new(pad)], false)
        }
        Content::File(range) => {
            let (file, offset, rest) = (range.file.as_fd(), range.offset + sent as u64, length - sent);
            let went = match stream.can_send_file() {
                true => stream.send_file(file, offset, rest)?,
                false => send_copied(stream, file, offset, rest)?,
            };
            match went {
                // The file was cut while its bytes were promised: what was promised cannot be sent, so the
                // connection ends, and the client asks again on another.
                Sent::Bytes(0) => {
                    Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file was cut during a READ"))
                }
                sent => Ok(sent),
            }
        }
        Content::Appended(_) => unreachable!("what was appended to the head is no content"),
    }
}

/// Sends the beginning of a range of a file through memory.
fn send_copied(stream: &Stream, file: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<Sent> {
    let mut copy = vec![0; length.min(COPY)];
    match rustix::io::pread(file, &mut copy[..], offset)? {
        0 => Ok(Sent::Bytes(0)),
        count => stream.send(&[IoSlice::new(&copy[..count])], count < length),
    }
}

/// Whether a connection whose replies hold so much memory and are so long together has its part, while those of all connections
/// hold so much memory.
fn is_too_much(memory: usize, length: usize, of_all: usize) -> bool {
    let most = if of_all > REPLY_MEMORY_BUDGET { REPLY_MEMORY_UNDER_PRESSURE } else { REPLY_MEMORY_MAX };
    memory > most || length > REPLY_QUEUE_MAX
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, SeekFrom, Write};
    use std::sync::Arc;

    use howdah_wire::rpc::RecordMark;
    use socket2::SockRef;

    use super::*;
    use crate::connection::tests::connected;
    use crate::counts::Ledger;
    use crate::service::procedures;

    /// A reply with a number, and so many bytes of content that follow from it.
    fn reply(number: u32, length: usize, file: Option<&Arc<std::os::fd::OwnedFd>>) -> Reply {
        let mut reply = Reply::with_buffer(Vec::new());
        reply.encoder().u32(number);
        reply.insert(match file {
            Some(file) => {
                Content::File(howdah_vfs::FileRange { file: Arc::clone(file), offset: number.into(), length })
            }
            None => Content::Bytes(content(number, length).into()),
        });
        reply
    }

    /// The file holds the same bytes: each is the low part of its offset.
    fn content(number: u32, length: usize) -> Vec<u8> {
        (number as usize..number as usize + length).map(|at| at as u8).collect()
    }

    #[test]
    fn replies_arrive_whole_wherever_the_socket_stops_taking_them() {
        const REPLIES: u32 = 600;
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&content(0, 70_000)).expect("writing");
        file.seek(SeekFrom::Start(0)).expect("a file");
        let file = Arc::new(file.into());
        let (stream, mut client) = connected();
        SockRef::from(&stream).set_send_buffer_size(1).expect("the smallest buffer");
        client.set_nonblocking(true).expect("not blocking");
        let (outbox, mut spare, mut received) = (Outbox::default(), Spare::default(), Vec::new());
        let mut clerk = Ledger::new(procedures()).clerk();
        let length =
            |number: u32| (number as usize * 37) % if number.is_multiple_of(50) { 60_000 } else { 300 };
        let (mut pushed, mut blocked, mut buffer) = (0, 0, [0; 1021]);
        while pushed < REPLIES || !outbox.is_empty() {
            let more = pushed..REPLIES.min(pushed + 7);
            pushed = more.end;
            more.for_each(|number| {
                outbox.push(reply(number, length(number), number.is_multiple_of(3).then_some(&file)));
            });
            blocked += usize::from(
                outbox.flush(&stream, &mut spare, &mut clerk).expect("sending") == Flushed::Blocked,
            );
            outbox.unblock();
            if let Ok(count) = client.read(&mut buffer) {
                received.extend_from_slice(&buffer[..count]);
            }
        }
        assert!(blocked > 100, "the socket stopped {blocked} times");
        assert_eq!(outbox.memory.load(Ordering::SeqCst), 0);
        client.set_nonblocking(false).expect("blocking");
        drop(stream);
        client.read_to_end(&mut received).expect("the end");
        let mut seen = vec![false; REPLIES as usize];
        let mut rest = &received[..];
        while let Some((mark, behind)) = rest.split_first_chunk() {
            let (record, behind) = behind.split_at(RecordMark::from_bytes(*mark).length as usize);
            let (number, bytes) = record.split_first_chunk().expect("a number");
            let number = u32::from_be_bytes(*number);
            let mut expected = content(number, length(number));
            expected.resize(expected.len().next_multiple_of(4), 0);
            assert!(bytes == expected, "reply {number}");
            assert!(!std::mem::replace(&mut seen[number as usize], true), "reply {number} came twice");
            rest = behind;
        }
        assert!(seen.iter().all(|&seen| seen));
    }

    /// As a COMPOUND of READ and GETATTR is answered.
    #[test]
    fn content_in_the_middle_of_a_reply_arrives_in_its_place() {
        const LENGTH: usize = 300_001;
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&content(0, LENGTH)).expect("writing");
        let file: Arc<std::os::fd::OwnedFd> = Arc::new(file.into());
        let (stream, mut client) = connected();
        SockRef::from(&stream).set_send_buffer_size(1).expect("the smallest buffer");
        let (outbox, mut spare) = (Outbox::default(), Spare::default());
        let mut clerk = Ledger::new(procedures()).clerk();
        let mut expected = Vec::new();
        for number in 0..20_u32 {
            let mut reply = Reply::with_buffer(Vec::new());
            let mut message = Vec::new();
            for part in 0..3_u32 {
                reply.encoder().u32(number + part);
                let (offset, length) = (part.into(), LENGTH / 3);
                let file = Arc::clone(&file);
                reply.insert(Content::File(howdah_vfs::FileRange { file, offset, length }));
                message.extend_from_slice(&(number + part).to_be_bytes());
                message.extend_from_slice(&content(part, length));
                message.resize(message.len().next_multiple_of(4), 0);
            }
            reply.encoder().u32(!number);
            message.extend_from_slice(&(!number).to_be_bytes());
            let mark = RecordMark { length: message.len() as u32, last: true };
            expected.extend_from_slice(&mark.to_bytes());
            expected.extend_from_slice(&message);
            outbox.push(reply);
        }
        let mut received = vec![0; expected.len()];
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| client.read_exact(&mut received));
            while !outbox.is_empty() {
                outbox.flush(&stream, &mut spare, &mut clerk).expect("sending");
                outbox.unblock();
            }
            reading.join().expect("a thread").expect("all of it");
        });
        assert!(received == expected);
    }

    #[test]
    fn small_replies_overtake_bulk_but_do_not_starve_it() {
        let outbox = Outbox::default();
        outbox.push(reply(0, BULK, None));
        // Whether they end a train, as content does, or not.
        (1..200).for_each(|number| outbox.push(reply(number, number as usize % 2 * 4, None)));
        let mut order = Vec::new();
        while !outbox.queue.lock().small.is_empty() {
            let mut train = Train::default();
            outbox.queue.lock().fill(&mut train);
            order.extend(train.replies.iter().map(|reply| reply.segments.length() >= BULK));
        }
        assert_eq!(order.iter().position(|&bulk| bulk), Some(OVERTAKEN_MAX as usize));
        assert_eq!(order.len(), 200, "each once");
    }

    #[test]
    fn a_file_cut_short_ends_the_connection() {
        let file = Arc::new(tempfile::tempfile().expect("a file").into());
        let (stream, _client) = connected();
        let (outbox, mut clerk) = (Outbox::default(), Ledger::new(procedures()).clerk());
        outbox.push(reply(0, 100, Some(&file)));
        let error = outbox.flush(&stream, &mut Spare::default(), &mut clerk).expect_err("nothing to send");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_connection_is_full_one_byte_past_each_of_its_bounds() {
        for (memory, length, of_all, full) in [
            (REPLY_MEMORY_MAX, REPLY_QUEUE_MAX, REPLY_MEMORY_BUDGET, false),
            (REPLY_MEMORY_MAX + 1, 0, 0, true),
            (0, REPLY_QUEUE_MAX + 1, 0, true),
            (REPLY_MEMORY_UNDER_PRESSURE, 0, REPLY_MEMORY_BUDGET + 1, false),
            (REPLY_MEMORY_UNDER_PRESSURE + 1, 0, REPLY_MEMORY_BUDGET + 1, true),
        ] {
            assert_eq!(is_too_much(memory, length, of_all), full, "{memory} {length} {of_all}");
        }
    }
}
