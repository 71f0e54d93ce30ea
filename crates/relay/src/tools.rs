//! What a thread that carries lends to a connection while it moves something: pipes and memory. A connection at rest has neither.

use std::io;

use howdah_net::Pipe;

/// Pipes that are kept for the next use.
const IDLE_PIPES: usize = 16;

/// Of one thread.
#[derive(Default)]
pub struct Tools {
    pipes: Vec<Pipe>,
    memory: Vec<u8>,
}

impl Tools {
    /// An empty pipe.
    ///
    /// # Errors
    /// The system gives no descriptor for one.
    pub fn pipe(&mut self) -> io::Result<Pipe> {
        self.pipes.pop().map_or_else(Pipe::new, Ok)
    }

    /// Takes back a pipe, which is empty.
    pub fn put_back_pipe(&mut self, pipe: Pipe) {
        if self.pipes.len() < IDLE_PIPES {
            self.pipes.push(pipe);
        }
    }

    /// Remembered, empty.
    pub fn memory(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.memory)
    }

    /// Takes memory back.
    pub fn put_back_memory(&mut self, mut memory: Vec<u8>) {
        memory.clear();
        self.memory = memory;
    }
}
