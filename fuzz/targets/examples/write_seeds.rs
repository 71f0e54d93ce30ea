//! Writes the seeds into the corpora: `cargo run -p howdah-fuzz-targets --example write_seeds`.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for target in howdah_fuzz_targets::TARGETS {
        let directory = corpus.join(target.name);
        fs::create_dir_all(&directory)?;
        for (number, seed) in howdah_fuzz_targets::seeds(target.name).iter().enumerate() {
            fs::write(directory.join(format!("seed-{number:02}")), seed)?;
        }
    }
    Ok(())
}
