//! What a helper is asked and answers: one message of the socket each, with bounds. Neither side trusts the other's lengths.

use howdah_gss::{ContextSide, LucidContext, LucidError, SessionKey};
use zeroize::Zeroizing;

use crate::error::GssFailure;

/// The longest token: that of a user in many groups of Active Directory has up to 48 KiB.
pub(crate) const TOKEN_MAX: usize = 64 << 10;
/// The longest name or text.
pub(crate) const TEXT_MAX: usize = 4 << 10;
/// What a message has at most beside tokens and texts: numbers, lengths, a key.
const FIXED_MAX: usize = 256;
/// The longest message: a token, two names, a context.
pub(crate) const MESSAGE_MAX: usize = TOKEN_MAX + 2 * TEXT_MAX + FIXED_MAX;

/// What is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request<'m> {
    /// Whether the library is there.
    Hello,
    /// A context of the client whose first token this is.
    Accept { token: &'m [u8] },
    /// The first token of a context with this service.
    Initiate { target: &'m str },
    /// The context that was begun last, given the service's answer.
    Finish { token: &'m [u8] },
}

/// What is answered.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The library is there.
    Ready,
    /// It is not: what the loader says.
    NoLibrary(String),
    /// The library refuses.
    Failed(GssFailure),
    /// The context is none that is accepted.
    Unfit(LucidError),
    /// A context is there. With the token for the peer, its name and the own one.
    Established { token: Vec<u8>, peer: String, own: String, lucid: Box<LucidContext> },
    /// The first token for the service.
    Started { token: Vec<u8> },
    /// The worker died; its supervisor says so, and starts another. It answers no particular request.
    Died,
}

impl<'m> Request<'m> {
    /// As a message.
    pub(crate) fn encode(&self, number: u64) -> Vec<u8> {
        let room = match self {
            Self::Hello => 0,
            Self::Accept { token } | Self::Finish { token } => token.len(),
            Self::Initiate { target } => target.len(),
        };
        let mut writer = Writer::new(number, room);
        match self {
            Self::Hello => writer.kind(1),
            Self::Accept { token } => writer.kind(2).bytes(token),
            Self::Initiate { target } => writer.kind(3).bytes(target.as_bytes()),
            Self::Finish { token } => writer.kind(4).bytes(token),
        };
        std::mem::take(&mut writer.0)
    }

    /// The request in a message, and its number.
    pub(crate) fn decode(message: &'m [u8]) -> Option<(u64, Self)> {
        let (mut reader, number) = Reader::of(message)?;
        let request = match reader.byte()? {
            1 => Self::Hello,
            2 => Self::Accept { token: reader.bytes(TOKEN_MAX)? },
            3 => Self::Initiate { target: reader.text()? },
            4 => Self::Finish { token: reader.bytes(TOKEN_MAX)? },
            _ => return None,
        };
        reader.0.is_empty().then_some((number, request))
    }
}

impl Reply {
    /// As a message, which may hold a key.
    pub(crate) fn encode(&self, number: u64) -> Zeroizing<Vec<u8>> {
        let room = match self {
            Self::Ready | Self::Unfit(_) | Self::Died => 0,
            Self::NoLibrary(text) | Self::Failed(GssFailure { text, .. }) => text.len(),
            Self::Established { token, peer, own, .. } => token.len() + peer.len() + own.len(),
            Self::Started { token } => token.len(),
        };
        let mut writer = Writer::new(number, room);
        match self {
            Self::Ready => writer.kind(1),
            Self::NoLibrary(why) => writer.kind(2).text(why),
            Self::Failed(failure) => {
                writer.kind(3).number(failure.major.into()).number(failure.minor.into()).text(&failure.text)
            }
            Self::Unfit(LucidError::Enctype(enctype)) => writer.kind(4).number((*enctype).into()).number(0),
            Self::Unfit(LucidError::KeyLength(enctype, length)) => {
                writer.kind(4).number(enctype.number().into()).number(*length as u64)
            }
            Self::Established { token, peer, own, lucid } => {
                writer.kind(5).bytes(token).text(peer).text(own).context(lucid)
            }
            Self::Started { token } => writer.kind(6).bytes(token),
            Self::Died => writer.kind(7),
        };
        Zeroizing::new(std::mem::take(&mut writer.0))
    }

    /// The reply in a message, and the number of its request.
    pub(crate) fn decode(message: &[u8]) -> Option<(u64, Self)> {
        let (mut reader, number) = Reader::of(message)?;
        let reply = match reader.byte()? {
            1 => Self::Ready,
            2 => Self::NoLibrary(reader.text()?.to_owned()),
            3 => Self::Failed(GssFailure {
                major: reader.word()?,
                minor: reader.word()?,
                text: reader.text()?.to_owned(),
            }),
            4 => Self::Unfit(unfit(reader.word()?, reader.number()?)),
            5 => Self::Established {
                token: reader.bytes(TOKEN_MAX)?.to_owned(),
                peer: reader.text()?.to_owned(),
                own: reader.text()?.to_owned(),
                lucid: Box::new(reader.context()?),
            },
            6 => Self::Started { token: reader.bytes(TOKEN_MAX)?.to_owned() },
            7 => Self::Died,
            _ => return None,
        };
        reader.0.is_empty().then_some((number, reply))
    }
}

/// Reads what may be a message of the socket as both of its ends would.
///
/// # Panics
/// What is read does not come back from its own encoding.
#[cfg(feature = "fuzz")]
pub fn read_as_both_ends(message: &[u8]) {
    if let Some((number, request)) = Request::decode(message) {
        assert_eq!(request.encode(number), message, "{request:?}");
    }
    if let Some((number, reply)) = Reply::decode(message) {
        let encoded = reply.encode(number);
        assert!(encoded.len() <= message.len(), "{reply:?} grew");
        let back = Reply::decode(&encoded).map(|(number, reply)| reply.encode(number));
        assert!(back.is_some_and(|back| *back == *encoded), "{reply:?}");
    }
}

fn unfit(enctype: u32, length: u64) -> LucidError {
    match howdah_gss::Enctype::from_number(enctype) {
        Some(enctype) => LucidError::KeyLength(enctype, length as usize),
        None => LucidError::Enctype(enctype),
    }
}

struct Writer(Vec<u8>);

impl Writer {
    /// With room for texts and tokens of this length, and for all else: a key is never left behind in a smaller piece of memory. With
    /// not much more, since all of it is wiped.
    fn new(number: u64, room: usize) -> Self {
        let mut message = Vec::with_capacity(room + FIXED_MAX);
        message.extend_from_slice(&number.to_be_bytes());
        Self(message)
    }

    fn kind(&mut self, kind: u8) -> &mut Self {
        self.0.push(kind);
        self
    }

    fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    /// A text, cut where it is too long.
    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(&text.as_bytes()[..text.floor_char_boundary(TEXT_MAX)])
    }

    fn context(&mut self, lucid: &LucidContext) -> &mut Self {
        self.kind(u8::from(lucid.side == ContextSide::Acceptor)).kind(lucid.acceptor_subkey.into());
        self.number(lucid.key.enctype().number().into()).bytes(lucid.key.bytes());
        self.number(lucid.send_sequence).number(lucid.expiry)
    }
}

struct Reader<'m>(&'m [u8]);

impl<'m> Reader<'m> {
    fn of(message: &'m [u8]) -> Option<(Self, u64)> {
        let mut reader = Self(message);
        let number = reader.number()?;
        Some((reader, number))
    }

    fn take(&mut self, length: usize) -> Option<&'m [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn flag(&mut self) -> Option<bool> {
        self.byte().filter(|byte| *byte < 2).map(|byte| byte == 1)
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8).map(|bytes| u64::from_be_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn word(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn bytes(&mut self, most: usize) -> Option<&'m [u8]> {
        let length = self.take(4).map(|bytes| u32::from_be_bytes(bytes.try_into().expect("four bytes")))?;
        if length as usize > most { None } else { self.take(length as usize) }
    }

    fn text(&mut self) -> Option<&'m str> {
        str::from_utf8(self.bytes(TEXT_MAX)?).ok()
    }

    fn context(&mut self) -> Option<LucidContext> {
        let is_acceptor = self.flag()?;
        let acceptor_subkey = self.flag()?;
        let enctype = self.word()?;
        let key = SessionKey::new(enctype, self.bytes(TEXT_MAX)?).ok()?;
        let side = if is_acceptor { ContextSide::Acceptor } else { ContextSide::Initiator };
        Some(LucidContext {
            side,
            key,
            acceptor_subkey,
            send_sequence: self.number()?,
            expiry: self.number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use howdah_random::Random;

    use super::*;

    fn replies() -> [Reply; 8] {
        let key = SessionKey::new(18, &[7; 32]).expect("a key");
        let lucid = Box::new(LucidContext {
            side: ContextSide::Acceptor,
            key,
            acceptor_subkey: true,
            send_sequence: 1 << 40,
            expiry: 1_800_000_000,
        });
        let (peer, own) = ("alice@HOWDAH.TEST".to_owned(), "nfs/server.test@HOWDAH.TEST".to_owned());
        [
            Reply::Ready,
            Reply::NoLibrary("not found".to_owned()),
            Reply::Failed(GssFailure { major: 13 << 16, minor: u32::MAX, text: "Ticket expired".to_owned() }),
            Reply::Unfit(LucidError::Enctype(23)),
            Reply::Unfit(LucidError::KeyLength(howdah_gss::Enctype::Aes128Sha1, 5)),
            Reply::Established { token: vec![1, 2, 3], peer, own, lucid },
            Reply::Started { token: vec![9; TOKEN_MAX] },
            Reply::Died,
        ]
    }

    #[test]
    fn messages_come_back_and_are_refused_when_cut_or_drawn_out() {
        let token = vec![3; TOKEN_MAX];
        for request in [
            Request::Hello,
            Request::Accept { token: &token },
            Request::Initiate { target: "nfs@server.test" },
            Request::Finish { token: b"" },
        ] {
            let message = request.encode(5);
            assert!(message.len() <= MESSAGE_MAX);
            assert_eq!(Request::decode(&[&message[..], &[0]].concat()), None);
            (0..message.len().min(100)).for_each(|end| assert_eq!(Request::decode(&message[..end]), None));
            assert_eq!(Request::decode(&message), Some((5, request)));
        }
        for reply in replies() {
            let message = reply.encode(6);
            let (number, back) = Reply::decode(&message).expect("a reply");
            assert_eq!((number, format!("{back:?}")), (6, format!("{reply:?}")));
            // It did not move while it was written, and is wiped in no time.
            assert!(message.capacity() <= message.len() + FIXED_MAX, "{reply:?}: {}", message.capacity());
            assert!(message.len() <= MESSAGE_MAX && Reply::decode(&[&message[..], &[0]].concat()).is_none());
            (0..message.len().min(200)).for_each(|end| assert!(Reply::decode(&message[..end]).is_none()));
        }
    }

    #[test]
    fn tokens_longer_than_any_are_refused() {
        let token = vec![3; TOKEN_MAX + 1];
        assert_eq!(Request::decode(&Request::Accept { token: &token }.encode(1)), None);
        assert!(Reply::decode(&Reply::Started { token }.encode(1)).is_none());
        let long = Reply::NoLibrary("é".repeat(TEXT_MAX)).encode(1);
        assert!(matches!(Reply::decode(&long), Some((1, Reply::NoLibrary(text))) if text.len() == TEXT_MAX));
    }

    #[test]
    fn changed_messages_are_read_without_harm() {
        let seed = 0x9e1;
        let mut random = Random::new(seed);
        let messages: Vec<_> = replies().iter().map(|reply| reply.encode(1).to_vec()).collect();
        for _ in 0..50_000 {
            let mut message = messages[random.index(messages.len())].clone();
            message.truncate(random.length(message.len()));
            for _ in 0..random.below(4) {
                let at = random.index(message.len());
                message[at] = random.number() as u8;
            }
            let _ = Reply::decode(&message);
            let _ = Request::decode(&message);
        }
    }
}
