//! The bytes of streams. A stream is bidirectional; each direction ends by itself.

use std::collections::VecDeque;

use bytes::Bytes;
use quinn_proto::{Dir, ReadError, VarInt, WriteError};

use crate::engine::Engine;
use crate::event::{ConnectionKey, StreamKey};

/// Where reading a stream has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamRead {
    /// As much was read as was wanted.
    More,
    /// There is no more now.
    Blocked,
    /// The peer ended it in order, and all was read.
    Ended,
    /// The peer gave it up: what it sent may be lost.
    Reset,
}

impl Engine {
    /// Opens a stream; `None`: the peer takes no more of them, or the connection is over.
    pub fn open(&mut self, connection: ConnectionKey) -> Option<StreamKey> {
        let stream = self.entry_to_touch(connection)?.connection.streams().open(Dir::Bi)?;
        Some(StreamKey { connection, stream })
    }

    /// Reads until `most` bytes were appended to `chunks`, or there is no more.
    pub fn read(&mut self, stream: StreamKey, most: usize, chunks: &mut VecDeque<Bytes>) -> StreamRead {
        let Some(entry) = self.entry_to_touch(stream.connection) else { return StreamRead::Reset };
        let mut incoming = entry.connection.recv_stream(stream.stream);
        let Ok(mut reading) = incoming.read(true) else { return StreamRead::Reset };
        let mut left = most;
        let read = loop {
            if left == 0 {
                break StreamRead::More;
            }
            match reading.next(left) {
                Ok(Some(chunk)) => {
                    left -= chunk.bytes.len();
                    chunks.push_back(chunk.bytes);
                }
                Ok(None) => break StreamRead::Ended,
                Err(ReadError::Blocked) => break StreamRead::Blocked,
                Err(ReadError::Reset(_)) => break StreamRead::Reset,
            }
        };
        // Whether the peer is to hear of it: the connection is looked at in any case.
        let _ = reading.finalize();
        read
    }

    /// Writes the beginning of these bytes, and takes it off them; says whether the stream still is of use.
    pub fn write(&mut self, stream: StreamKey, bytes: &mut Bytes) -> bool {
        let Some(entry) = self.entry_to_touch(stream.connection) else { return false };
        let mut pieces = [std::mem::take(bytes)];
        // Until none is left or it says that it is blocked: only then it tells when there is room again.
        let is_of_use = loop {
            if pieces[0].is_empty() {
                break true;
            }
            match entry.connection.send_stream(stream.stream).write_chunks(&mut pieces) {
                Ok(_) => {}
                Err(error) => break error == WriteError::Blocked,
            }
        };
        let [rest] = pieces;
        *bytes = rest;
        is_of_use
    }

    /// Nothing more is written: the peer learns that it has all.
    pub fn finish(&mut self, stream: StreamKey) {
        if let Some(entry) = self.entry_to_touch(stream.connection) {
            let _ = entry.connection.send_stream(stream.stream).finish();
        }
    }

    /// Gives a stream up in both directions: the peer learns that what it sent may not have been read.
    pub fn reset(&mut self, stream: StreamKey) {
        self.stop_reading(stream);
        if let Some(entry) = self.entry_to_touch(stream.connection) {
            let _ = entry.connection.send_stream(stream.stream).reset(VarInt::from_u32(0));
        }
    }

    /// Nothing more is read of it.
    pub fn stop_reading(&mut self, stream: StreamKey) {
        if let Some(entry) = self.entry_to_touch(stream.connection) {
            let _ = entry.connection.recv_stream(stream.stream).stop(VarInt::from_u32(0));
        }
    }
}
