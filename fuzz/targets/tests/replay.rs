//! Every input in the corpora, findings of the past among them, run by a plain test.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use howdah_fuzz_targets::{TARGETS, Target, seeds};

fn inputs(target: &Target) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(target.name);
    let entries =
        fs::read_dir(&directory).unwrap_or_else(|error| panic!("reading {}: {error}", directory.display()));
    let mut inputs: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    inputs.sort();
    inputs
}

#[test]
fn every_corpus_runs_without_a_finding() {
    for target in TARGETS {
        let inputs = inputs(target);
        assert!(!inputs.is_empty(), "the corpus of {} is empty", target.name);
        for path in &inputs {
            let input = fs::read(path).expect("a file");
            let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
            assert!(outcome.is_ok(), "{} finds something in {}", target.name, path.display());
        }
    }
}

#[test]
fn every_seed_runs_without_a_finding() {
    for target in TARGETS {
        for seed in seeds(target.name) {
            (target.run)(&seed);
        }
    }
}

#[test]
fn every_fuzzer_has_its_file() {
    for target in TARGETS {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../fuzz_targets/{}.rs", target.name));
        let text =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("reading {}: {error}", file.display()));
        assert!(text.contains(&format!("howdah_fuzz_targets::{}::run", target.name)), "{}", file.display());
    }
}
