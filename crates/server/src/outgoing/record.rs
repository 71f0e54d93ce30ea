//! Messages as records of a stream (RFC 5531 11).

use std::io;

use howdah_net::TimedSocket;
use howdah_wire::rpc::RecordMark;

/// The longest answer that is taken, in bytes: a list of a thousand registrations.
const ANSWER_MAX: usize = 128 << 10;

/// Sends a message as a record.
///
/// # Errors
/// The connection broke, or its deadline passed.
pub fn send_record(stream: &TimedSocket, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mark = RecordMark { length, last: true }.to_bytes();
    stream.send(&[&mark, message].concat())
}

/// Receives the next record.
///
/// # Errors
/// The connection broke, its deadline passed, or the record is longer than any real one.
pub fn receive_record(stream: &TimedSocket) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    loop {
        let mut mark = [0; RecordMark::SIZE];
        stream.receive(&mut mark)?;
        let mark = RecordMark::from_bytes(mark);
        let start = answer.len();
        if mark.length as usize > ANSWER_MAX - start {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is longer than any real one"));
        }
        answer.resize(start + mark.length as usize, 0);
        stream.receive(&mut answer[start..])?;
        if mark.last {
            return Ok(answer);
        }
    }
}

/// Sends a message as a record and receives the next one.
///
/// # Errors
/// As [`send_record`] and [`receive_record`].
pub fn exchange_record(stream: &TimedSocket, message: &[u8]) -> io::Result<Vec<u8>> {
    send_record(stream, message)?;
    receive_record(stream)
}
