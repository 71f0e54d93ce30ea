//! Answers of a length that programs do not know before.

use fuser::Errno;

use crate::refused::{Answer, Refused};

/// An answer that fits what the program has room for.
pub enum Fitting {
    /// It only asked how long it is, in bytes.
    Length(u32),
    /// The answer itself.
    Data(Vec<u8>),
}

impl Fitting {
    pub fn new(data: Vec<u8>, room: u32) -> Answer<Self> {
        let length = u32::try_from(data.len()).map_err(|_| Refused(Errno::E2BIG))?;
        match room {
            0 => Ok(Self::Length(length)),
            _ if length > room => Err(Refused(Errno::ERANGE)),
            _ => Ok(Self::Data(data)),
        }
    }
}
