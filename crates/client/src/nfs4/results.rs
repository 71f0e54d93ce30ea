//! The results of a compound, taken one after the other.

use howdah_session::UpkeepFailure;
use howdah_vfs::FsError;
use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::{Status, sequence};
use howdah_wire::xdr::{Decode, DecodeError, Decoder};

use super::refusal::refusal;

/// Why there is no result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// This operation was refused, and what follows it was not carried out.
    Refused(u32, Status),
    /// The reply is not what the protocol says.
    Malformed,
}

impl From<Stopped> for FsError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Refused(operation, status) => refusal(operation, status),
            Stopped::Malformed => Self::ServerFault,
        }
    }
}

impl From<Stopped> for UpkeepFailure {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Refused(_, status) => Self::Refused(status),
            Stopped::Malformed => Self::NoAnswer,
        }
    }
}

/// What a server answered.
pub(super) struct Results {
    /// The name of what was called.
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    /// Whether a change was sent in a session that ended before the answer came, so that this may be the answer to its second run.
    pub(super) repeated: bool,
}

impl Results {
    /// The results behind that of SEQUENCE.
    ///
    /// # Errors
    /// SEQUENCE was refused, or the reply makes no sense.
    pub(super) fn read(&self) -> Result<ResultReader<'_>, Stopped> {
        let mut reader = ResultReader::begin(self.name, &self.bytes)?;
        reader.take::<sequence::Success>(sequence::OPERATION)?;
        Ok(reader)
    }
}

/// Takes the results of a compound one after the other.
pub(super) struct ResultReader<'a> {
    name: &'static str,
    decoder: Decoder<'a>,
    left: u32,
    /// That of the last operation.
    status: Status,
}

impl<'a> ResultReader<'a> {
    /// At the first result.
    pub(super) fn begin(name: &'static str, bytes: &'a [u8]) -> Result<Self, Stopped> {
        let mut decoder = Decoder::new(bytes);
        let head = ReplyHead::decode(&mut decoder).map_err(|error| malformed(name, &error))?;
        Ok(Self { name, decoder, left: head.results, status: head.status })
    }

    /// How the last operation of all ended.
    pub(super) fn ended(&self) -> Status {
        self.status
    }

    /// What the next result holds.
    pub(super) fn take<T: Decode<'a>>(&mut self, operation: u32) -> Result<T, Stopped> {
        self.skip(operation)?;
        self.body()
    }

    /// Passes the next result, which holds nothing.
    pub(super) fn skip(&mut self, operation: u32) -> Result<(), Stopped> {
        match self.status_of(operation)? {
            Status::OK => Ok(()),
            status => Err(Stopped::Refused(operation, status)),
        }
    }

    /// How the next operation ended. Its body follows.
    pub(super) fn status_of(&mut self, operation: u32) -> Result<Status, Stopped> {
        if self.left == 0 {
            // Such as a compound of too many operations.
            return Err(match self.status {
                Status::OK => self.wrong("ends early"),
                status => Stopped::Refused(operation, status),
            });
        }
        self.left -= 1;
        let head = ResultHead::decode(&mut self.decoder).map_err(|error| malformed(self.name, &error))?;
        // An operation that the server does not know is answered by another number.
        if head.operation != operation && head.status == Status::OK {
            return Err(self.wrong("has another operation's result"));
        }
        Ok(head.status)
    }

    /// What the result holds whose status was taken.
    pub(super) fn body<T: Decode<'a>>(&mut self) -> Result<T, Stopped> {
        T::decode(&mut self.decoder).map_err(|error| malformed(self.name, &error))
    }

    fn wrong(&self, what: &str) -> Stopped {
        tracing::warn!(operation = self.name, "the server's reply {what}");
        Stopped::Malformed
    }
}

fn malformed(name: &'static str, error: &DecodeError) -> Stopped {
    tracing::warn!(operation = name, %error, "the server's reply makes no sense");
    Stopped::Malformed
}
