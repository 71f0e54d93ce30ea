//! NFSv4 over a socket: bulk data that the kernel moves, with operations before and behind it in one compound.

#![allow(clippy::unwrap_used)]

mod common;

use std::net::TcpStream;
use std::sync::Arc;

use common::nfs4::{Client, head, step, take};
use common::serve;
use howdah_store::local::{LocalFileSystem, Options};
use howdah_wire::nfs4::attributes::SIZE;
use howdah_wire::nfs4::{Bitmap, FileHandle, Stability, StateId, Status, getattr, putfh, read, write};
use howdah_wire::xdr::Decoder;

const LENGTH: usize = 300 << 10;

#[test]
fn data_goes_past_memory_with_operations_around_it() {
    let directory = tempfile::tempdir().unwrap();
    let local = LocalFileSystem::open(directory.path(), Options::default()).unwrap();
    let (_server, address) = serve(Arc::new(local));
    let mut client = Client::new(TcpStream::connect(address).unwrap(), "client");
    let (state, file) = client.open("file");
    let data: Vec<u8> = (0..LENGTH + 1).map(|at| (at % 251) as u8).collect();
    let put = step(putfh::OPERATION, &putfh::Arguments { node: FileHandle(&file) });
    let size = step(getattr::OPERATION, &getattr::Arguments { wanted: Bitmap::of(&[SIZE]) });
    // With padding and without, with something behind it and without.
    for (length, behind) in [(LENGTH, true), (LENGTH + 1, true), (LENGTH, false), (LENGTH - 3, true)] {
        let data = &data[..length];
        let arguments = write::Arguments { state, offset: 0, stability: Stability::Unstable, data };
        let mut steps = vec![put.clone(), step(write::OPERATION, &arguments)];
        steps.extend(behind.then(|| size.clone()));
        let (status, results) = client.call(&steps);
        assert_eq!(status, Status::OK);
        let mut decoder = Decoder::new(&results);
        head(&mut decoder);
        assert_eq!(take::<write::Success>(&mut decoder).count as usize, length);
        if behind {
            let found: getattr::Success<'_> = take(&mut decoder);
            let size = found.attributes.decode_all().unwrap().content.size;
            assert!(size >= Some(length as u64), "{size:?}");
        }
        assert!(decoder.rest().is_empty());
        let arguments = read::Arguments { state, offset: 0, count: length as u32 };
        let (status, results) = client.call(&[put.clone(), step(read::OPERATION, &arguments), size.clone()]);
        assert_eq!(status, Status::OK);
        let mut decoder = Decoder::new(&results);
        head(&mut decoder);
        assert!(take::<read::Success<'_>>(&mut decoder).data == data);
        take::<getattr::Success<'_>>(&mut decoder);
    }
    // One that is refused leaves the connection at the next call.
    let arguments =
        write::Arguments { state: StateId::INVALID, offset: 0, stability: Stability::Unstable, data: &data };
    let (status, _) = client.call(&[put.clone(), step(write::OPERATION, &arguments), size.clone()]);
    assert_eq!(status, Status::BAD_STATEID);
    assert_eq!(client.call(&[put, size]).0, Status::OK);
}
