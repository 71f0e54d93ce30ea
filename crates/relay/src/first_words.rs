//! Which program a connection is for, from the header of its first call (RFC 5531 9). Pure.

/// So many bytes are enough: record mark, xid, message type, RPC version, program.
pub const LENGTH: usize = 20;

/// `msg_type` of a call.
const CALL: u32 = 0;
/// The version of RPC.
const RPC_VERSION: u32 = 2;

/// The program of the first call, if these bytes begin one. Others, such as TLS, are nobody's business here.
pub fn program(words: &[u8; LENGTH]) -> Option<u32> {
    let word = |at: usize| u32::from_be_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
    (word(8) == CALL && word(12) == RPC_VERSION).then(|| word(16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: [u32; 5]) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes.chunks_mut(4).zip(words).for_each(|(place, word)| place.copy_from_slice(&word.to_be_bytes()));
        bytes
    }

    #[test]
    fn a_call_names_its_program_and_nothing_else_does() {
        assert_eq!(program(&words([0x8000_0028, 7, 0, 2, 100_005])), Some(100_005));
        assert_eq!(program(&words([0x8000_0028, 7, 1, 2, 100_005])), None, "a reply");
        assert_eq!(program(&words([0x8000_0028, 7, 0, 3, 100_005])), None, "another RPC");
        assert_eq!(program(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03abcdefghi"), None, "TLS");
    }
}
