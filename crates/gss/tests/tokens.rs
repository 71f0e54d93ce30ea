//! Tokens of two sides: messages of any size, every byte changed, and the shapes that no peer should send.

use howdah_gss::{ContextSide, Enctype, GssContext, LucidContext, SessionKey, TokenError, WRAP_HEAD};
use howdah_random::Random;

fn pair(enctype: Enctype, acceptor_subkey: bool, random: &mut Random) -> (GssContext, GssContext) {
    let key = SessionKey::new(enctype.number(), &random.bytes(enctype.key_length())).expect("a key");
    let side = |side| {
        let key = key.clone();
        GssContext::new(&LucidContext { side, key, acceptor_subkey, send_sequence: 1 << 33, expiry: 0 })
    };
    (side(ContextSide::Initiator), side(ContextSide::Acceptor))
}

fn wrapped(context: &GssContext, message: &[u8]) -> Vec<u8> {
    let mut token = vec![0; WRAP_HEAD];
    token.extend_from_slice(message);
    token.resize(token.len() + context.wrap_tail(), 0);
    context.wrap(&mut token);
    token
}

#[test]
fn messages_of_all_sizes_come_back_in_both_directions() {
    let seed = 0x3962;
    for enctype in Enctype::ALL {
        for subkey in [false, true] {
            let mut random = Random::new(seed);
            let (initiator, acceptor) = pair(enctype, subkey, &mut random);
            let around_pieces =
                [8 << 10, 16 << 10, 1 << 20].into_iter().flat_map(|piece| piece - 33..piece + 33);
            let any: Vec<usize> = (0..20).map(|_| random.length(2 << 20)).collect();
            for size in (0..100).chain(around_pieces.step_by(11)).chain([2 << 20]).chain(any) {
                let message = random.bytes(size);
                let case = format!("seed {seed:#x}: {enctype}, {size} bytes");
                for (from, to) in [(&initiator, &acceptor), (&acceptor, &initiator)] {
                    let mut token = wrapped(from, &message);
                    assert_eq!(to.unwrap(&mut token).as_deref(), Ok(&message[..]), "{case}");
                    let (front, back) = message.split_at(random.index(size + 1));
                    let mic = from.sign(&[front, back]);
                    assert_eq!(mic.bytes().len(), from.mic_length());
                    assert_eq!(to.verify(&[&message], mic.bytes()), Ok(()), "{case}");
                }
            }
        }
    }
}

#[test]
fn tokens_have_the_sizes_of_the_rfc_and_never_repeat() {
    let mut random = Random::new(1);
    for (enctype, sizes) in Enctype::ALL.into_iter().zip([(28, 60), (28, 60), (32, 64), (40, 72)]) {
        let (initiator, acceptor) = pair(enctype, true, &mut random);
        assert_eq!((initiator.mic_length(), wrapped(&acceptor, b"").len()), sizes, "{enctype}");
        assert_ne!(wrapped(&initiator, b"same"), wrapped(&initiator, b"same"));
        assert_ne!(initiator.sign(&[b"same"]).bytes(), initiator.sign(&[b"same"]).bytes());
    }
}

#[test]
fn a_changed_bit_anywhere_is_found() {
    let mut random = Random::new(2);
    for enctype in Enctype::ALL {
        let (initiator, acceptor) = pair(enctype, true, &mut random);
        let message = random.bytes(61);
        let (mic, token) = (initiator.sign(&[&message]), wrapped(&initiator, &message));
        for bit in 0..8 {
            let flip = |bytes: &[u8], at: usize| {
                let mut bytes = bytes.to_vec();
                bytes[at] ^= 1 << bit;
                bytes
            };
            for at in 0..message.len() {
                let outcome = acceptor.verify(&[&flip(&message, at)], mic.bytes());
                assert_eq!(outcome, Err(TokenError::Checksum), "{enctype}: byte {at} of the message");
            }
            for at in 0..mic.bytes().len() {
                let outcome = acceptor.verify(&[&message], &flip(mic.bytes(), at));
                assert!(outcome.is_err(), "{enctype}: byte {at} of the MIC");
            }
            for at in 0..token.len() {
                let mut changed = flip(&token, at);
                assert!(acceptor.unwrap(&mut changed).is_err(), "{enctype}: byte {at} of the Wrap token");
            }
        }
    }
}

#[test]
fn tokens_that_are_cut_or_drawn_out_are_refused() {
    let mut random = Random::new(3);
    for enctype in Enctype::ALL {
        let (initiator, acceptor) = pair(enctype, true, &mut random);
        let (mic, token) = (initiator.sign(&[b"text"]), wrapped(&initiator, b"some text"));
        for end in 0..mic.bytes().len() {
            assert!(acceptor.verify(&[b"text"], &mic.bytes()[..end]).is_err(), "{enctype}: {end}");
        }
        assert!(acceptor.verify(&[b"text"], &[mic.bytes(), &[0]].concat()).is_err());
        for end in 0..token.len() {
            assert!(acceptor.unwrap(&mut token[..end].to_vec()).is_err(), "{enctype}: {end}");
        }
        assert!(acceptor.unwrap(&mut [&token[..], &[0]].concat()).is_err());
    }
}

#[test]
fn a_token_of_another_side_key_or_kind_is_named() {
    let mut random = Random::new(4);
    for enctype in Enctype::ALL {
        let (initiator, acceptor) = pair(enctype, true, &mut random);
        let (_, stranger) = pair(enctype, true, &mut random);
        let (_, plain) = pair(enctype, false, &mut random);
        let (mic, token) = (initiator.sign(&[b"text"]), wrapped(&initiator, b"text"));
        let unwrap = |context: &GssContext, token: &[u8]| context.unwrap(&mut token.to_vec()).map(|_| ());
        assert_eq!(initiator.verify(&[b"text"], mic.bytes()), Err(TokenError::Reflected));
        assert_eq!(unwrap(&initiator, &token), Err(TokenError::Reflected));
        assert_eq!(plain.verify(&[b"text"], mic.bytes()), Err(TokenError::Subkey));
        assert_eq!(unwrap(&plain, &token), Err(TokenError::Subkey));
        assert_eq!(stranger.verify(&[b"text"], mic.bytes()), Err(TokenError::Checksum));
        assert_eq!(unwrap(&stranger, &token), Err(TokenError::Checksum));
        assert_eq!(acceptor.verify(&[b"text"], &token), Err(TokenError::Kind));
        let mut unsealed = token.clone();
        unsealed[2] &= !2;
        assert_eq!(unwrap(&acceptor, &unsealed), Err(TokenError::NotSealed));
        let mut long = mic.bytes().to_vec();
        long.resize(200, 0);
        assert_eq!(unwrap(&acceptor, &long), Err(TokenError::Kind));
    }
}
