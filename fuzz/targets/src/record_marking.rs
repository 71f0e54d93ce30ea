//! Records out of a stream that several workers receive, some of them past the assembly, against a reading of the whole
//! stream at once.

mod input;
mod reading;
mod workers;

use input::Input;
use reading::Reading;
use workers::Workers;

/// The longest record here: beyond the small and the medium buffers of the pool.
const RECORD_MAX: usize = 80 << 10;
/// The most fragments of one record, as the assembly has it.
const FRAGMENTS_MAX: usize = 1024;

/// Reads an input's stream in both ways.
pub fn run(input: &[u8]) {
    let Some(input) = Input::parse(input) else { return };
    let expected = Reading::of(&input.stream);
    let mut workers = Workers::new(&input.stream, &expected, input.pieces);
    workers.run(&input.steps);
    let (records, failed) = workers.end();
    assert!(failed == expected.failed, "the assembly failed: {failed}; {input}");
    assert!(
        records == expected.records,
        "{} records, not {}; {input}",
        records.len(),
        expected.records.len()
    );
}
