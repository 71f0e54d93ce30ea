//! Numbers that follow from a seed.

/// A sequence of numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..count.div_ceil(8)).flat_map(|_| self.number().to_le_bytes()).collect();
        bytes.truncate(count);
        bytes
    }
}

/// A seed for this run, printed, or the one that `HOWDAH_SEED` asks for.
#[allow(clippy::print_stderr, reason = "a test that fails is repeated with its seed")]
pub fn seed(test: &str) -> u64 {
    let asked = std::env::var("HOWDAH_SEED").ok().and_then(|text| text.parse().ok());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let seed = asked.unwrap_or(now.as_nanos() as u64);
    eprintln!("again: HOWDAH_SEED={seed} cargo test -p howdah-copy {test}");
    seed
}
