//! Numbers that follow from a seed.

pub use howdah_random::Random;

/// A seed for this run, printed, or the one that `HOWDAH_SEED` asks for.
#[allow(clippy::print_stderr, reason = "a test that fails is repeated with its seed")]
pub fn seed(test: &str) -> u64 {
    let asked = std::env::var("HOWDAH_SEED").ok().and_then(|text| text.parse().ok());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let seed = asked.unwrap_or(now.as_nanos() as u64);
    eprintln!("again: HOWDAH_SEED={seed} cargo test -p howdah-copy {test}");
    seed
}
