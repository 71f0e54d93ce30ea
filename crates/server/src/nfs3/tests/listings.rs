//! READDIR and READDIRPLUS: sizes, cookies and what goes with each entry.

use std::collections::BTreeSet;

use howdah_vfs::{Caller, Change, Create, CreateFile, FileSystem, NewAttributes};
use howdah_wire::nfs3::{FileHandle, FileType, Status, readdir, readdirplus};

use super::client::{Client, decoded, name};
use crate::Transport;

fn readdir_arguments(directory: &[u8], cookie: u64, count: u32) -> readdir::Arguments<'_> {
    readdir::Arguments { directory: FileHandle(directory), cookie, verifier: [0; 8], count }
}

fn plus_arguments(directory: &[u8], cookie: u64, name_count: u32, count: u32) -> readdirplus::Arguments<'_> {
    readdirplus::Arguments { directory: FileHandle(directory), cookie, verifier: [0; 8], name_count, count }
}

/// A directory with so many more files.
fn crowd(count: usize) -> Client {
    let client = Client::new();
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    for number in 0..count {
        let root = client.memory.root();
        let text = format!("file {number:0width$}", width = number % 30);
        client
            .memory
            .create(&Caller::ROOT, CreateFile::new(&root, name(&text), &how), &mut Change::default())
            .expect("made");
    }
    client
}

#[test]
fn any_size_that_holds_an_entry_lists_all_of_it_once() {
    let client = crowd(100);
    for count in [200, 400, 1000, 4096, 100_000, u32::MAX] {
        let (mut seen, mut cookie, mut calls) = (BTreeSet::new(), 0, 0);
        loop {
            let result = client.call(readdir::PROCEDURE, &readdir_arguments(&client.root, cookie, count));
            assert!(result.len() - 4 <= count as usize, "{} bytes for {count}", result.len() - 4);
            let listing = decoded::<readdir::Reply>(&result).expect("a listing");
            assert_eq!(listing.directory.expect("attributes").kind, FileType::Directory);
            for entry in listing.entries {
                assert!(seen.insert(entry.name.to_vec()), "{} twice", entry.name.escape_ascii());
                cookie = entry.cookie;
            }
            calls += 1;
            if listing.end {
                break;
            }
        }
        assert_eq!(seen.len(), 105, "{calls} calls of {count} bytes");
    }
}

#[test]
fn plus_tells_of_each_entry_what_lookup_would() {
    let client = crowd(30);
    let (mut seen, mut cookie) = (0, 0);
    loop {
        let result = client.call(readdirplus::PROCEDURE, &plus_arguments(&client.root, cookie, 300, 1500));
        assert!(result.len() - 4 <= 1500);
        let listing = decoded::<readdirplus::Reply>(&result).expect("a listing");
        let names: usize =
            listing.entries.map(|entry| 8 + 4 + entry.name.name.len().next_multiple_of(4) + 8).sum();
        assert!(names <= 300, "{names} bytes of names");
        for entry in listing.entries {
            let attributes = entry.attributes.expect("attributes");
            assert_eq!(attributes.file, entry.name.file);
            let getattr = howdah_wire::nfs3::getattr::Arguments { node: entry.node.expect("a handle") };
            let reply = client.call(howdah_wire::nfs3::getattr::PROCEDURE, &getattr);
            assert_eq!(
                decoded::<howdah_wire::nfs3::getattr::Reply>(&reply).expect("an answer").attributes,
                attributes
            );
            (seen, cookie) = (seen + 1, entry.name.cookie);
        }
        if listing.end {
            break;
        }
    }
    assert_eq!(seen, 35);
}

#[test]
fn a_size_that_holds_no_entry_is_too_small() {
    let client = Client::new();
    // The whole of READDIR3resok with one entry named `.`: 104 bytes without, 28 for the entry.
    for (count, expected) in [(0, false), (103, false), (131, false), (132, true)] {
        let status = client.status(readdir::PROCEDURE, &readdir_arguments(&client.root, 0, count));
        assert_eq!(status, (!expected).then_some(Status::TooSmall), "{count} bytes");
    }
    assert_eq!(
        client.status(readdirplus::PROCEDURE, &plus_arguments(&client.root, 0, 4096, 150)),
        Some(Status::TooSmall)
    );
    let result = client.call(readdirplus::PROCEDURE, &plus_arguments(&client.root, 0, 0, 4096));
    let listing = decoded::<readdirplus::Reply>(&result).expect("a listing");
    assert_eq!(listing.entries.count(), 1, "a hint of no bytes still lets one entry through");
}

#[test]
fn past_the_last_entry_there_is_an_empty_listing_that_ends() {
    let client = Client::new();
    let result = client.call(readdir::PROCEDURE, &readdir_arguments(&client.root, 0, 4096));
    let last = decoded::<readdir::Reply>(&result).expect("a listing").entries.last().expect("entries").cookie;
    let result = client.call(readdir::PROCEDURE, &readdir_arguments(&client.root, last, 4096));
    let listing = decoded::<readdir::Reply>(&result).expect("a listing");
    assert_eq!((listing.entries.count(), listing.end), (0, true));
}

#[test]
fn any_verifier_will_do_and_a_file_is_no_directory() {
    let client = Client::new();
    let arguments = readdir::Arguments { verifier: [9; 8], ..readdir_arguments(&client.root, 0, 4096) };
    let result = client.call(readdir::PROCEDURE, &arguments);
    assert_eq!(decoded::<readdir::Reply>(&result).expect("a listing").verifier, [0; 8]);
    let result = client.call(readdir::PROCEDURE, &readdir_arguments(&client.file, 0, 4096));
    let refused = decoded::<readdir::Reply>(&result).expect_err("a file");
    assert_eq!(refused.status, Status::NotDirectory);
    assert!(refused.detail.is_some(), "attributes all the same");
    let result = client.call(readdirplus::PROCEDURE, &plus_arguments(&client.file, 0, 4096, 4096));
    assert_eq!(decoded::<readdirplus::Reply>(&result).expect_err("a file").status, Status::NotDirectory);
}

#[test]
fn a_listing_fits_a_datagram() {
    let mut client = crowd(1000);
    client.peer.transport = Transport::Udp;
    let result = client.call(readdirplus::PROCEDURE, &plus_arguments(&client.root, 0, u32::MAX, u32::MAX));
    assert!(result.len() <= 8 << 10 | 4, "{} bytes", result.len());
    client.peer.transport = Transport::Tcp;
    let result = client.call(readdirplus::PROCEDURE, &plus_arguments(&client.root, 0, u32::MAX, u32::MAX));
    assert!((60 << 10..=64 << 10).contains(&result.len()), "{} bytes", result.len());
}
