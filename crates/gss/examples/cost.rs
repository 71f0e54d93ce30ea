//! What tokens cost: time of a MIC over 160 bytes, and of a Wrap token of 1 MiB, made and checked.
//! `cargo run --release -p howdah-gss --example cost`

#![allow(clippy::disallowed_methods)] // It measures time.
#![allow(clippy::print_stdout)] // Figures are what it is for.

use std::time::{Duration, Instant};

use howdah_gss::{ContextSide, Enctype, GssContext, LucidContext, SequenceWindow, SessionKey, WRAP_HEAD};

/// Length of a call's header up to its credential, about.
const SIGNED: usize = 160;
const SEALED: usize = 1 << 20;

/// The shortest of some runs: others were disturbed.
fn best(times: u32, mut run: impl FnMut()) -> Duration {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..times).for_each(|_| run());
        start.elapsed() / times
    };
    (0..7).map(|_| once(&mut run)).min().expect("some runs")
}

fn main() {
    println!("            MIC of {SIGNED} bytes, µs      MIC of 1 MiB      Wrap of 1 MiB, s/GB");
    println!("enctype       sign     verify            s/GB             make        open");
    for enctype in Enctype::ALL {
        let key = SessionKey::new(enctype.number(), &[5; 32][..enctype.key_length()]).expect("a key");
        let side = |side| {
            let key = key.clone();
            GssContext::new(&LucidContext { side, key, acceptor_subkey: true, send_sequence: 0, expiry: 0 })
        };
        let (initiator, acceptor) = (side(ContextSide::Initiator), side(ContextSide::Acceptor));
        let message = [7; SIGNED];
        let mic = initiator.sign(&[&message]);
        let sign = best(20_000, || {
            std::hint::black_box(initiator.sign(&[&message]));
        });
        let verify = best(20_000, || acceptor.verify(&[&message], mic.bytes()).expect("a good MIC"));
        let mut token = vec![0; WRAP_HEAD + SEALED + initiator.wrap_tail()];
        let bulk = best(5, || {
            std::hint::black_box(initiator.sign(&[&token]));
        });
        let make = best(5, || initiator.wrap(&mut token));
        // Decrypted once, a token is none any more: the copy of it is measured alone, and taken off.
        let good = token.clone();
        let copy = best(5, || token.copy_from_slice(std::hint::black_box(&good)));
        let open = best(5, || {
            token.copy_from_slice(&good);
            acceptor.unwrap(&mut token).expect("a good token");
        });
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let per_gigabyte = |time: Duration| time.as_secs_f64() / SEALED as f64 * 1e9;
        println!(
            "{:>7}  {:>9.2}  {:>9.2}       {:>9.2}        {:>9.2}   {:>9.2}",
            enctype.number(),
            micros(sign),
            micros(verify),
            per_gigabyte(bulk),
            per_gigabyte(make),
            per_gigabyte(open.saturating_sub(copy)),
        );
    }
    let window = SequenceWindow::new();
    let mut next = 0;
    let take = best(1_000_000, || {
        next += 1;
        window.take(next).expect("a new number");
    });
    println!("window: {:.1} ns", take.as_secs_f64() * 1e9);
}
