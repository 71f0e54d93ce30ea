//! Replies out of a stream that comes in pieces of any size, against the same stream in pieces as large as can be.

use howdah_rpc::client::{Claim, Locate, Peer, ReceiveInto};

/// The longest reply here.
const RECORD_MAX: usize = 80 << 10;
/// The most data that a call asks for.
const MOST: usize = 20 << 10;
/// What every buffer holds before.
const BEFORE: &[u8] = b"before";

/// What a stream comes to: its replies, and whether it is broken.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    replies: Vec<String>,
    is_broken: bool,
}

/// Reads an input's stream in both ways. Its first byte says how small the pieces are.
pub fn run(input: &[u8]) {
    let Some((&choice, stream)) = input.split_first() else { return };
    let expected = read(stream, &[usize::MAX]);
    let piece = usize::from(choice >> 2) + 1;
    let pieces = [piece, piece * usize::from(choice & 3) * 37 + 1, 3];
    assert_eq!(read(stream, &pieces), expected, "in pieces of {pieces:?}");
}

fn read(mut stream: &[u8], pieces: &[usize]) -> Outcome {
    let mut peer = Peer::new(RECORD_MAX);
    let mut outcome = Outcome { replies: Vec::new(), is_broken: false };
    let mut claimed = 0;
    for &piece in pieces.iter().cycle() {
        if stream.is_empty() || outcome.is_broken {
            break;
        }
        let room = peer.room(piece % 2 == 1);
        let mut left = piece.min(stream.len());
        for (buffer, most) in [(room.first, room.most)].into_iter().chain(room.next) {
            let (now, later) = stream.split_at(left.min(most));
            buffer.extend_from_slice(now);
            left -= now.len();
            stream = later;
        }
        loop {
            match peer.poll(|xid| claim(xid, &mut claimed)) {
                Ok(Some(reply)) => outcome.replies.push(format!("{reply:?}")),
                Ok(None) => break,
                Err(_) => {
                    outcome.is_broken = true;
                    break;
                }
            }
        }
    }
    if let Some((_, back)) = peer.abandon() {
        assert_eq!(back.buffer, BEFORE, "a buffer comes back as it was");
    }
    outcome
}

/// Some xids are of calls with a buffer, some of calls without, some of none.
fn claim(xid: u32, claimed: &mut u32) -> Claim {
    *claimed += 1;
    match (xid ^ *claimed) % 4 {
        0 => Claim::Unknown,
        1 => Claim::Call(None),
        _ => Claim::Call(Some(ReceiveInto { buffer: BEFORE.to_vec(), most: MOST, locate })),
    }
}

/// The first byte says how many come before the data, the next two how long it is.
fn locate(results: &[u8]) -> Locate {
    match *results {
        [0xff, ..] => Locate::NoData,
        [at, high, low, ..] => {
            Locate::Data { at: 4 + usize::from(at), length: usize::from(high) << 8 | usize::from(low) }
        }
        _ => Locate::NeedMore,
    }
}
