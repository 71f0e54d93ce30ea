//! Replies that wait until their caps let them go, in the order in which they are due. One thread waits for all of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::Datagram;
use parking_lot::{Condvar, Mutex};

use crate::Reply;
use crate::connection::Connection;
use crate::limits::HELD_DATAGRAMS_MAX;
use crate::udp::Port;

/// Replies that are due within this time leave together.
const TOGETHER: Duration = Duration::from_micros(500);

/// A reply that waits.
pub struct HeldReply {
    /// When it may go.
    pub due: Instant,
    /// It.
    pub reply: Reply,
    /// Where it goes.
    pub target: ReplyTarget,
}

/// Where a reply goes.
pub enum ReplyTarget {
    /// To a connection.
    Connection(Arc<Connection>),
    /// To the sender of a datagram.
    Datagram(Arc<Port>, Datagram),
}

/// All that wait.
#[derive(Default)]
pub struct HeldReplies {
    queue: Mutex<Queue>,
    came: Condvar,
}

#[derive(Default)]
struct Queue {
    replies: BinaryHeap<Reverse<Queued>>,
    /// How many of them answer datagrams.
    datagrams: usize,
    /// Number of the next reply: of those that are due at the same time the first goes first.
    next: u64,
    /// Nothing waits any longer: the server stops.
    is_released: bool,
    is_over: bool,
}

struct Queued {
    number: u64,
    held: HeldReply,
}

impl HeldReplies {
    /// Another one.
    pub fn push(&self, held: HeldReply) {
        if let ReplyTarget::Connection(connection) = &held.target {
            connection.held().add(&held.reply);
        }
        let mut queue = self.queue.lock();
        queue.datagrams += usize::from(matches!(held.target, ReplyTarget::Datagram(..)));
        let number = queue.next;
        queue.next += 1;
        queue.replies.push(Reverse(Queued { number, held }));
        self.came.notify_one();
    }

    /// Whether the reply to one more datagram may be held. Nothing stops the sender of datagrams, as a full connection stops a client.
    pub fn takes_datagrams(&self) -> bool {
        self.queue.lock().datagrams < HELD_DATAGRAMS_MAX
    }

    /// The next one that is due; waits until there is one. `None`: there will be no more.
    pub fn next(&self) -> Option<HeldReply> {
        let mut queue = self.queue.lock();
        while !queue.is_over {
            let now = Instant::now();
            let due = queue.replies.peek().map(|Reverse(first)| first.held.due);
            match due {
                Some(due) if queue.is_released || due <= now => {
                    let Reverse(first) = queue.replies.pop()?;
                    match &first.held.target {
                        ReplyTarget::Connection(connection) => connection.held().remove(&first.held.reply),
                        ReplyTarget::Datagram(..) => queue.datagrams -= 1,
                    }
                    return Some(first.held);
                }
                Some(due) => {
                    self.came.wait_until(&mut queue, due + TOGETHER);
                }
                None => self.came.wait(&mut queue),
            }
        }
        None
    }

    /// A connection is gone: what waits for it holds its descriptor.
    pub fn forget(&self, connection: &Connection) {
        let is_its = |target: &ReplyTarget| matches!(target, ReplyTarget::Connection(of) if of.token() == connection.token());
        self.queue.lock().replies.retain(|Reverse(queued)| {
            let goes = is_its(&queued.held.target);
            if goes {
                connection.held().remove(&queued.held.reply);
            }
            !goes
        });
    }

    /// Whatever waits may go at once, and all that comes.
    pub fn release(&self) {
        self.queue.lock().is_released = true;
        self.came.notify_all();
    }

    /// No more are sent.
    pub fn end(&self) {
        self.queue.lock().is_over = true;
        self.came.notify_all();
    }
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl Queued {
    fn order(&self) -> (Instant, u64) {
        (self.held.due, self.number)
    }
}

#[cfg(test)]
mod tests {
    use howdah_net::{Token, UdpSocket};

    use super::*;
    use crate::Ends;
    use crate::connection::tests::connected;

    #[test]
    fn replies_go_when_they_are_due_and_all_of_them_at_the_end() {
        let (stream, _client) = connected();
        let connection = Arc::new(Connection::new(Token(9), stream));
        let held = HeldReplies::default();
        let now = Instant::now();
        let hour = Duration::from_secs(3600);
        let push = |due, length| {
            let mut reply = Reply::with_buffer(Vec::new());
            reply.bytes_mut().extend(vec![0; length]);
            held.push(HeldReply { due, reply, target: ReplyTarget::Connection(Arc::clone(&connection)) });
        };
        let next = || held.next().expect("one").reply.message_length();
        push(now + hour, 9);
        push(now, 1);
        push(now, 2);
        assert_eq!((connection.held().count(), [next(), next()]), (3, [1, 2]));
        held.release();
        assert_eq!((next(), connection.held().count()), (9, 0));
        push(now + hour, 9);
        held.forget(&connection);
        held.end();
        assert!(held.next().is_none());
        assert_eq!(Arc::strong_count(&connection), 1);
    }

    #[test]
    fn no_more_datagrams_are_held_than_there_are_places() {
        let socket = UdpSocket::bind("127.0.0.1:0".parse().expect("an address")).expect("a socket");
        let ends = Ends { client: ([192, 0, 2, 1], 700).into(), server: ([192, 0, 2, 2], 2049).into() };
        let port = Arc::new(Port::new(socket, Token(1), None));
        let held = HeldReplies::default();
        let push = || {
            let target = ReplyTarget::Datagram(Arc::clone(&port), Datagram { length: 0, ends });
            held.push(HeldReply { due: Instant::now(), reply: Reply::with_buffer(Vec::new()), target });
        };
        (1..HELD_DATAGRAMS_MAX).for_each(|_| push());
        assert!(held.takes_datagrams());
        push();
        assert!(!held.takes_datagrams());
        assert!(held.next().is_some() && held.takes_datagrams());
    }
}
