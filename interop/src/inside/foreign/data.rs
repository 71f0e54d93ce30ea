//! Several threads write files and read them back at once, so that every lane has something to carry.

use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use howdah_vfs::{
    Caller, Change, CommitFile, Content, Create, CreateFile, Data, FileSystem, Handle, Name, NewAttributes,
    ReadFile, Stability, WriteFile,
};

use howdah_random::Random;

/// Threads, each with a file of its own.
const THREADS: u64 = 8;
/// Bytes that one call carries at most, if the client does not cut it: more than a server takes at once.
const PIECE: usize = 3 << 19;

/// Sizes of small files: the data of READ ends just before, at and behind the end of a page. A server that encodes its reply in pages
/// may misplace what follows there.
const AROUND_A_PAGE: std::ops::RangeInclusive<usize> = 4_080..=4_100;

/// Writes and reads so many bytes in all, made from a seed; says what it did.
pub fn carry(fs: &dyn FileSystem, seed: u64, bytes: u64) -> Result<String> {
    let each = usize::try_from(bytes / THREADS).context("the size of a file")?;
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|number| scope.spawn(move || one_file(fs, seed, number, each))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })?;
    for (number, length) in (THREADS..).zip(AROUND_A_PAGE) {
        one_file(fs, seed, number, length).with_context(|| format!("a file of {length} bytes"))?;
    }
    Ok(format!("{} MiB written and read back by {THREADS} threads", bytes >> 20))
}

fn one_file(fs: &dyn FileSystem, seed: u64, number: u64, length: usize) -> Result<()> {
    let name = format!("carried-{number}");
    let mut expected = vec![0; length];
    Random::new(seed ^ number).fill(&mut expected);
    let parsed = Name::parse(name.as_bytes()).context("a name")?;
    let (caller, how) = (Caller::ROOT, Create::Unchecked(NewAttributes::with_size(0)));
    let file = fs
        .create(&caller, CreateFile::new(&fs.root(), parsed, &how), &mut Change::default())
        .with_context(|| format!("making {name}"))?;
    write_all(fs, &file.handle, &expected).with_context(|| format!("writing {name}"))?;
    let found = read_all(fs, &file.handle, length).with_context(|| format!("reading {name}"))?;
    ensure!(found == expected, "{name} holds other bytes than were written");
    fs.remove(&caller, &fs.root(), parsed, &mut Change::default()).with_context(|| format!("removing {name}"))
}

fn write_all(fs: &dyn FileSystem, file: &Handle, bytes: &[u8]) -> Result<()> {
    let (mut at, mut verifier) = (0, None);
    while at < bytes.len() {
        let piece = &bytes[at..bytes.len().min(at + PIECE)];
        let (data, change) = (Data::Bytes(piece), &mut Change::default());
        let written =
            fs.write(&Caller::ROOT, WriteFile::new(file, at as u64, data, Stability::Unstable), change)?;
        ensure!(written.count > 0, "nothing of {} bytes was written at {at}", piece.len());
        at += written.count;
        let before = *verifier.get_or_insert(written.verifier);
        ensure!(written.verifier == before, "the write verifier changed, as if the server had restarted");
    }
    let committed = fs.commit(&Caller::ROOT, CommitFile::new(file, 0, 0), &mut Change::default())?;
    ensure!(
        verifier.is_none_or(|written| written == committed.verifier),
        "the verifier of COMMIT is another"
    );
    Ok(())
}

fn read_all(fs: &dyn FileSystem, file: &Handle, length: usize) -> Result<Vec<u8>> {
    let mut found = Vec::with_capacity(length);
    loop {
        let before = found.len();
        let read = fs.read(&Caller::ROOT, ReadFile::new(file, before as u64, PIECE), &mut found)?;
        if let Content::Bytes(bytes) = &read.content {
            found.extend_from_slice(bytes);
        }
        ensure!(read.end || found.len() > before, "neither a byte nor the end at {before}");
        if read.end {
            return Ok(found);
        }
    }
}
