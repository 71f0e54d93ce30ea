//! An established context: the keys of both directions. Threads share it, and it has no lock.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_lc_rs::rand;

use crate::derivation::{Purpose, Usage};
use crate::enctype::Enctype;
use crate::error::TokenError;
use crate::header::{HEADER, Sender, without_rotation};
use crate::integrity::IntegrityKey;
use crate::lucid::{ContextSide, LucidContext, SessionKey};
use crate::mic::{self, Mic};
use crate::sealing::{BLOCK, Opener, Sealer};

/// Bytes of a Wrap token in front of its message: its header and the confounder. The message of a received token is there, too.
pub const WRAP_HEAD: usize = HEADER + BLOCK;

/// A context of Kerberos 5 (RFC 4121). Its keys are wiped when it is dropped.
pub struct GssContext {
    key: SessionKey,
    ours: Sender,
    theirs: Sender,
    signing: IntegrityKey,
    checking: IntegrityKey,
    /// Most contexts only sign: these are derived when they are first needed.
    sealing: OnceLock<Box<SealingKeys>>,
    next_sequence: AtomicU64,
}

struct SealingKeys {
    sealer: Sealer,
    opener: Opener,
}

impl GssContext {
    /// The context that was exported.
    pub fn new(lucid: &LucidContext) -> Self {
        let (key, side) = (lucid.key.clone(), lucid.side);
        let sender = |side| Sender { side, acceptor_subkey: lucid.acceptor_subkey };
        let checksum_key = |side| {
            IntegrityKey::derived(key.enctype(), key.bytes(), sign_usage(side) as u32, Purpose::Checksum)
        };
        Self {
            ours: sender(side),
            theirs: sender(side.peer()),
            signing: checksum_key(side),
            checking: checksum_key(side.peer()),
            sealing: OnceLock::new(),
            next_sequence: AtomicU64::new(lucid.send_sequence),
            key,
        }
    }

    /// Its encryption type.
    pub fn enctype(&self) -> Enctype {
        self.key.enctype()
    }

    /// Length of each MIC token, of either side, in bytes.
    pub fn mic_length(&self) -> usize {
        Mic::length(self.enctype())
    }

    /// Bytes of a Wrap token behind its message, as this side makes them.
    pub fn wrap_tail(&self) -> usize {
        HEADER + self.enctype().checksum_length()
    }

    /// A MIC token over a message, which is given in parts (`GSS_GetMIC`).
    pub fn sign(&self, message: &[&[u8]]) -> Mic {
        mic::sign(&self.signing, self.ours, self.next_sequence(), message)
    }

    /// Checks the peer's MIC token over a message, which is given in parts (`GSS_VerifyMIC`).
    ///
    /// # Errors
    /// The token is not the peer's, or not of this message.
    pub fn verify(&self, message: &[&[u8]], token: &[u8]) -> Result<(), TokenError> {
        mic::check(&self.checking, self.theirs, message, token)
    }

    /// Turns a buffer into a Wrap token, in place (`GSS_Wrap`). The message lies behind [`WRAP_HEAD`] bytes and in front of
    /// [`Self::wrap_tail`]; what these hold is overwritten.
    ///
    /// # Panics
    /// The buffer is shorter than these two, or the system has no random numbers.
    pub fn wrap(&self, buffer: &mut [u8]) {
        let header = self.ours.wrap_header(self.next_sequence());
        let (sealed, checksum) = buffer.split_at_mut(buffer.len() - self.enctype().checksum_length());
        let (clear, text) = sealed.split_at_mut(HEADER);
        clear.copy_from_slice(&header);
        let (confounder, rest) = text.split_at_mut(BLOCK);
        rand::fill(confounder).expect("random numbers");
        *rest.last_chunk_mut().expect("room for the second header") = header;
        checksum.copy_from_slice(self.sealing().sealer.seal(text).bytes());
    }

    /// The message in the peer's Wrap token, decrypted in place (`GSS_Unwrap`). It starts [`WRAP_HEAD`] bytes into the token.
    ///
    /// # Errors
    /// The token is not the peer's, or was changed; then its bytes are of no use.
    pub fn unwrap<'t>(&self, token: &'t mut [u8]) -> Result<&'t mut [u8], TokenError> {
        if token.len() < WRAP_HEAD + self.wrap_tail() {
            return Err(TokenError::Length);
        }
        let (header, rest) = token.split_first_chunk_mut().ok_or(TokenError::Length)?;
        let counts = self.theirs.check_wrap(header)?;
        let turned = counts.rotation % rest.len();
        if turned != 0 {
            rest.rotate_left(turned);
        }
        let (text, checksum) = rest.split_at_mut(rest.len() - self.enctype().checksum_length());
        self.sealing().opener.open(text, checksum)?;
        let (text, second) = text.split_last_chunk_mut().ok_or(TokenError::Length)?;
        // The one in clear is not under the checksum: who changes it could otherwise cut the message short.
        if *second != without_rotation(*header) {
            return Err(TokenError::Header);
        }
        let message = &mut text[BLOCK..];
        let length = message.len().checked_sub(counts.extra).ok_or(TokenError::Length)?;
        Ok(&mut message[..length])
    }

    fn next_sequence(&self) -> u64 {
        self.next_sequence.fetch_add(1, Ordering::Relaxed)
    }

    fn sealing(&self) -> &SealingKeys {
        self.sealing.get_or_init(|| {
            let (enctype, key, side) = (self.enctype(), self.key.bytes(), self.ours.side);
            Box::new(SealingKeys {
                sealer: Sealer::derived(enctype, key, seal_usage(side) as u32),
                opener: Opener::derived(enctype, key, seal_usage(side.peer()) as u32),
            })
        })
    }
}

impl fmt::Debug for GssContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "GssContext({:?}, {:?})", self.ours.side, self.key)
    }
}

fn sign_usage(side: ContextSide) -> Usage {
    match side {
        ContextSide::Initiator => Usage::InitiatorSign,
        ContextSide::Acceptor => Usage::AcceptorSign,
    }
}

fn seal_usage(side: ContextSide) -> Usage {
    match side {
        ContextSide::Initiator => Usage::InitiatorSeal,
        ContextSide::Acceptor => Usage::AcceptorSeal,
    }
}

#[cfg(test)]
mod tests {
    use howdah_random::Random;

    use super::*;

    fn pair(enctype: Enctype, random: &mut Random) -> (GssContext, GssContext) {
        let key = SessionKey::new(enctype.number(), &random.bytes(enctype.key_length())).expect("a key");
        let side = |side| {
            GssContext::new(&LucidContext {
                side,
                key: key.clone(),
                acceptor_subkey: true,
                send_sequence: 7,
                expiry: 0,
            })
        };
        (side(ContextSide::Initiator), side(ContextSide::Acceptor))
    }

    /// A Wrap token with filler and a rotation, as other implementations may send them.
    fn wrapped(context: &GssContext, message: &[u8], extra: u16, rotation: u16) -> Vec<u8> {
        let mut header = context.ours.wrap_header(context.next_sequence());
        header[4..6].copy_from_slice(&extra.to_be_bytes());
        let filler = vec![0xee; extra.into()];
        let mut text = [&[9; BLOCK][..], message, &filler, &header].concat();
        let checksum = context.sealing().sealer.seal(&mut text);
        let mut rest = [&text, checksum.bytes()].concat();
        let turn = usize::from(rotation) % rest.len();
        rest.rotate_right(turn);
        header[6..8].copy_from_slice(&rotation.to_be_bytes());
        [&header[..], &rest].concat()
    }

    /// A server may have tens of thousands of them.
    #[test]
    fn a_context_has_a_size_that_can_be_counted_on() {
        let signing = size_of::<GssContext>() + size_of::<crate::SequenceWindow>();
        assert!(signing <= 3200, "{signing} bytes");
        let sealing = size_of::<SealingKeys>();
        assert!(sealing <= 3584, "{sealing} bytes");
    }

    #[test]
    fn every_filler_and_rotation_is_taken() {
        let seed = 0x04121;
        for enctype in Enctype::ALL {
            let mut random = Random::new(seed);
            let (initiator, acceptor) = pair(enctype, &mut random);
            let edges = [0, 1, 12, 15, 16, 17, 28, 60, 1000, u16::MAX];
            for extra in edges {
                for rotation in edges.into_iter().chain([random.below(1 << 16) as u16]) {
                    let length = random.length(5000);
                    let message = random.bytes(length);
                    let mut token = wrapped(&initiator, &message, extra, rotation);
                    let opened = acceptor.unwrap(&mut token);
                    let case =
                        format!("seed {seed:#x}: {enctype}, {length} bytes, EC {extra}, RRC {rotation}");
                    assert_eq!(opened.as_deref(), Ok(&mut message.clone()[..]).as_deref(), "{case}");
                }
            }
        }
    }

    #[test]
    fn a_header_that_only_the_clear_copy_has_is_refused() {
        let mut random = Random::new(1);
        for enctype in Enctype::ALL {
            let (initiator, acceptor) = pair(enctype, &mut random);
            for (at, bit) in (0..HEADER).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut token = wrapped(&initiator, b"a message of some length", 4, 0);
                token[at] ^= 1 << bit;
                let outcome = acceptor.unwrap(&mut token).map(|message| message.to_vec());
                assert!(outcome.is_err(), "{enctype}: bit {bit} of byte {at}: {outcome:?}");
            }
        }
    }
}
