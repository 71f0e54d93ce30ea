//! A crowd of one client that asks for much and takes nothing, so that the server's memory for connections is used up.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use howdah_client::connect::own_caller;
use howdah_vfs::Name;
use howdah_wire::nfs3::{self, FileHandle};
use socket2::{Domain, Socket, Type};

use super::scene::{COLD, COLD_SIZE, CROWD, STRANGER, Scene};
use crate::bench::nfs_call;
use crate::trust::server::PORT;

/// Connections; what each asks for fits no budget by far.
const MANY: usize = 300;
/// The procedure that does nothing (RFC 1813 3.3.0).
const NULL: u32 = 0;
/// READs of the whole file that each asks for.
const READS: usize = 2;
/// A window that holds next to nothing.
const WINDOW: usize = 4 << 10;
/// A client that gets in gets in within this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lets them come, and ask.
pub fn come(scene: &Scene) -> Result<()> {
    let file = handle_of_cold(scene)?;
    let arguments = nfs3::read::Arguments { node: FileHandle(&file), offset: 0, count: COLD_SIZE as u32 };
    let burst = nfs_call(nfs3::read::PROCEDURE, &arguments).repeat(READS);
    let come = || {
        let mut crowd = (0..MANY).map(|_| connect(scene, CROWD.into())).collect::<Result<Vec<_>>>()?;
        // A client that the server has turned away meanwhile asks nobody.
        crowd.iter_mut().for_each(|stream| drop(stream.write(&burst)));
        Ok::<_, anyhow::Error>(crowd)
    };
    let crowd = scene.client().run_in(come)??;
    scene.held().crowd = crowd;
    Ok(())
}

/// An error if a client that has no connection gets none now.
pub fn stranger_is_served(scene: &Scene) -> Result<()> {
    scene.client().run_in(|| ask(&mut connect(scene, STRANGER.into())?).context("as another client"))?
}

/// An error unless a client that has no connection gets one now, and no second one.
pub fn stranger_is_served_once(scene: &Scene) -> Result<()> {
    scene.client().run_in(|| {
        let mut first = connect(scene, STRANGER.into())?;
        ask(&mut first).context("as another client")?;
        let mut second = connect(scene, STRANGER.into())?;
        match ask(&mut second) {
            Ok(()) => bail!("a second connection of another client is served"),
            Err(error) if is_turned_away(&error) => Ok(()),
            Err(error) => Err(error).context("over a second connection, which is not turned away either"),
        }
    })?
}

fn ask(stream: &mut TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&nfs_call(NULL, &()))?;
    stream.read_exact(&mut [0; 4])
}

/// Whether the other side has ended the connection.
fn is_turned_away(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    [BrokenPipe, ConnectionReset, UnexpectedEof].contains(&error.kind())
}

fn connect(scene: &Scene, from: IpAddr) -> Result<TcpStream> {
    let step = || format!("connecting from {from}");
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).with_context(step)?;
    socket.set_recv_buffer_size(WINDOW).with_context(step)?;
    socket.bind(&SocketAddr::new(from, 0).into()).with_context(step)?;
    let server = SocketAddr::new(scene.server_host().1, PORT);
    socket.connect_timeout(&server.into(), PATIENCE).with_context(step)?;
    Ok(socket.into())
}

fn handle_of_cold(scene: &Scene) -> Result<Vec<u8>> {
    let fs = scene.mount(&scene.url())?;
    let name = Name::parse(COLD.as_bytes()).context("a name")?;
    let node = fs.lookup(&own_caller(), &fs.root(), name).context("looking up a file")?.node;
    Ok(node.handle.as_bytes().to_vec())
}
