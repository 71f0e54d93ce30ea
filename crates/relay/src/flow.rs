//! One direction of a connection: what one side sends goes to the other, by a pipe where the kernel moves both, else through memory.
//! A side is read only when all that came before has been taken: that is the whole of back-pressure.

use std::io::{self, ErrorKind};

use howdah_net::{Pipe, RelayEnd, Sent};

use crate::limits::HELD_MAX;
use crate::tools::Tools;

/// So many bytes are moved before others have their turn.
const TURN: u64 = 4 << 20;

/// Less than this was all that the source had: the poller reports whether more has come meanwhile. It is less than one record
/// of TLS, so that nothing of one is left in user space.
const ALL_THERE_WAS: usize = 16 << 10;

/// What is on its way in one direction.
#[derive(Debug)]
pub struct Flow {
    held: Held,
    splices: bool,
    /// The source has ended its side.
    is_ended: bool,
    /// The sink knows it.
    is_passed_on: bool,
}

/// What was taken from the source and not yet by the sink.
#[derive(Debug)]
enum Held {
    Nothing,
    Piped(Pipe, usize),
    Copied(Vec<u8>, usize),
}

/// What stops a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// The source has nothing.
    ForSource,
    /// The sink takes nothing.
    ForSink,
    /// It is the turn of others.
    ForItsTurn,
    /// The source has ended, and the sink has got the end.
    Over,
}

/// How far it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carriage {
    /// Bytes that the sink took.
    pub bytes: u64,
    /// Why not more.
    pub waits: Waits,
}

impl Flow {
    /// From one to another.
    pub fn between(source: &dyn RelayEnd, sink: &dyn RelayEnd) -> Self {
        let splices = source.can_splice() && sink.can_splice();
        Self { held: Held::Nothing, splices, is_ended: false, is_passed_on: false }
    }

    /// Whether bytes are moved by the kernel alone.
    pub fn splices(&self) -> bool {
        self.splices
    }

    /// Whether the source has ended its side.
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Moves what there is and the sink takes.
    ///
    /// # Errors
    /// One of the two connections is over.
    pub fn pump(
        &mut self,
        source: &dyn RelayEnd,
        sink: &dyn RelayEnd,
        tools: &mut Tools,
    ) -> io::Result<Carriage> {
        let (mut bytes, mut is_drained) = (0, false);
        let waits = loop {
            bytes += self.give(sink, tools)?;
            if !matches!(self.held, Held::Nothing) {
                break Waits::ForSink;
            }
            if self.is_ended {
                if !std::mem::replace(&mut self.is_passed_on, true) {
                    sink.end_sending();
                }
                break Waits::Over;
            }
            if bytes >= TURN {
                break Waits::ForItsTurn;
            }
            if is_drained || !self.take(source, tools)? {
                break Waits::ForSource;
            }
            is_drained = !self.is_ended && self.left() < ALL_THERE_WAS;
        };
        Ok(Carriage { bytes, waits })
    }

    /// Takes from the source; whether anything came, its end included.
    fn take(&mut self, source: &dyn RelayEnd, tools: &mut Tools) -> io::Result<bool> {
        if self.splices
            && let Ok(pipe) = tools.pipe()
        {
            match pipe.take_from(source.as_fd(), HELD_MAX) {
                Err(error) if error.kind() == ErrorKind::InvalidInput => self.splices = false,
                Ok(Sent::Bytes(count)) if count > 0 => {
                    self.held = Held::Piped(pipe, count);
                    return Ok(true);
                }
                outcome => {
                    tools.put_back_pipe(pipe);
                    return outcome.map(|sent| self.came(sent));
                }
            }
            tools.put_back_pipe(pipe);
        }
        let mut memory = tools.memory();
        let received = source.receive_behind(&mut memory, HELD_MAX);
        if memory.is_empty() {
            tools.put_back_memory(memory);
        } else {
            self.held = Held::Copied(memory, 0);
        }
        received.map(|sent| self.came(sent))
    }

    fn came(&mut self, sent: Sent) -> bool {
        self.is_ended = sent == Sent::Bytes(0);
        sent != Sent::WouldBlock
    }

    /// Gives the sink what is held, as far as it takes it; how much it took.
    fn give(&mut self, sink: &dyn RelayEnd, tools: &mut Tools) -> io::Result<u64> {
        let mut given = 0;
        loop {
            let sent = match &mut self.held {
                Held::Nothing => return Ok(given),
                Held::Piped(pipe, left) => match pipe.give_to(sink.as_fd(), *left) {
                    Ok(Sent::Bytes(count)) => {
                        *left -= count;
                        count
                    }
                    Ok(Sent::WouldBlock) => return Ok(given),
                    Err(error) if error.kind() == ErrorKind::InvalidInput => {
                        let mut memory = tools.memory();
                        pipe.read_out(&mut memory, *left)?;
                        *left = 0;
                        self.put_back(tools);
                        (self.held, self.splices) = (Held::Copied(memory, 0), false);
                        continue;
                    }
                    Err(error) => return Err(error),
                },
                Held::Copied(bytes, at) => match sink.send_some(&bytes[*at..])? {
                    Sent::Bytes(count) => {
                        *at += count;
                        count
                    }
                    Sent::WouldBlock => return Ok(given),
                },
            };
            given += sent as u64;
            if self.left() == 0 {
                self.put_back(tools);
            }
        }
    }

    /// Bytes that are held.
    fn left(&self) -> usize {
        match &self.held {
            Held::Nothing => 0,
            Held::Piped(_, left) => *left,
            Held::Copied(bytes, at) => bytes.len() - at,
        }
    }

    fn put_back(&mut self, tools: &mut Tools) {
        match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Nothing => {}
            Held::Piped(pipe, _) => tools.put_back_pipe(pipe),
            Held::Copied(memory, _) => tools.put_back_memory(memory),
        }
    }
}

#[cfg(test)]
mod tests;
