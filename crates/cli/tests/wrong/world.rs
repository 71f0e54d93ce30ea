//! What wrong commands are typed at: files, servers, and what is no server.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use super::server::{HOWDAH, Server, home, serve};

/// The world, until it is dropped.
pub struct World {
    /// What stands for names in braces.
    names: Vec<(&'static str, String)>,
    _servers: [Server; 2],
    _home: tempfile::TempDir,
}

impl World {
    /// Makes it.
    pub fn new() -> Self {
        let home = home();
        let at = home.path();
        plant(at);
        let squashing = Server::start(serve(at).arg(at.join("data")).args(["--listen", "127.0.0.1:0"]));
        let mut small = Command::new(HOWDAH);
        small.args(["serve", "memory:1M", "--rpcbind", "off", "--squash", "none", "--listen", "127.0.0.1:0"]);
        let small = Server::start(small.arg("--state").arg(at.join("small")));
        let url = |server: &Server| format!("nfs://{}", server.address());
        let port = squashing.address().port();
        let names = vec![
            ("{home}", at.to_str().expect("a plain path").to_owned()),
            ("{url}", url(&squashing)),
            ("{small}", url(&small)),
            ("{port}", port.to_string()),
            ("{dead}", format!("127.0.0.1:{}", dead())),
            ("{http}", format!("127.0.0.1:{}", http())),
            ("{silent}", format!("127.0.0.1:{}", silent())),
            // Longer than a name can be, so that no name server is asked.
            ("{nohost}", "x".repeat(70)),
        ];
        Self { names, _servers: [squashing, small], _home: home }
    }

    /// A text with what stands for the names in it.
    pub fn named(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// Files and configurations.
fn plant(at: &Path) {
    let write = |name: &str, text: &[u8]| fs::write(at.join(name), text).expect("written");
    let mode = |name: &str, mode| {
        fs::set_permissions(at.join(name), fs::Permissions::from_mode(mode)).expect("set");
    };
    for directory in ["here", "empty", "to/a", "data/sub"] {
        fs::create_dir_all(at.join(directory)).expect("made");
    }
    write("exports", b"# of Linux\n/srv *(rw)\n");
    write("here/a", b"a");
    write("here/b", b"b");
    write("big", &vec![7; 3_000_000]);
    write("binary", &[0xff, 0xfe, 0, 1]);
    write("number.json", b"3");
    write("words.json", b"hello");
    write("data/secret", b"x");
    mode("data/secret", 0o600);
    // The server maps root to another user, who must find the way.
    mode("data", 0o755);
    let export = format!("[[export]]\nname = \"/\"\npath = \"{}\"\n", at.join("data").display());
    for (name, text) in [
        ("key.toml", format!("{export}sqash = \"none\"\n")),
        ("kind.toml", format!("workers = \"many\"\n{export}")),
        ("word.toml", format!("{export}squash = \"most\"\n")),
        ("range.toml", format!("workers = 0\n{export}")),
        ("section.toml", format!("{export}[log]\nlevel = 3\n")),
        ("nothing.toml", "workers = 3\n".to_owned()),
        ("directory.toml", "[[export]]\nname = \"/\"\npath = \"/no/such/directory\"\n".to_owned()),
        ("nameless.toml", export.replace("name = \"/\"\n", "")),
        ("twice.toml", format!("workers = 3\nworkers = 4\n{export}")),
    ] {
        write(name, text.as_bytes());
    }
    let plan = |server: &str, client: &str| {
        format!(
            "name = 'x'\ntitle = 'x'\nasks = 'x'\n[cell.server]\n{server}\n[cell.clients.main]\n{client}\n"
        )
    };
    for (name, text) in [
        ("plan-key.toml", plan("", "kind = 'howdah'\ncolour = 3")),
        ("plan-kind.toml", plan("", "kind = 'howdy'")),
        ("plan-work.toml", plan("", "kind = 'howdah'\nworkload = 'wrtie'")),
        ("plan-option.toml", plan("options = ['--no-tunning']", "kind = 'howdah'")),
        ("plan-number.toml", plan("", "kind = 3")),
        ("plan-rtt.toml", format!("{}\n[cell.path]\nrtt = 'fast'", plan("", "kind = 'howdah'"))),
        ("plan-name.toml", "name = 3\n".to_owned()),
        ("plan-untitled.toml", "name = 'x'\n".to_owned()),
        ("plan-syntax.toml", "name = = 3\n".to_owned()),
    ] {
        write(name, text.as_bytes());
    }
}

/// A port that nothing listens on, and nobody else can take: it is that of a connection.
fn dead() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    let stream = TcpStream::connect(address).expect("a connection");
    let port = stream.local_addr().expect("its address").port();
    keep((listener, stream));
    port
}

/// Keeps something until the process ends.
fn keep<T: Send + 'static>(kept: T) {
    thread::spawn(move || {
        let _kept = kept;
        loop {
            thread::park();
        }
    });
}

/// A web server, which answers whatever it is asked.
fn http() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                // A client that goes away in the middle is as good.
                let _ = stream.read(&mut [0; 4]);
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
                let _ = io::copy(&mut stream, &mut io::sink());
            });
        }
    });
    port
}

/// A service that takes connections and says nothing: the kernel takes them for a listener that nobody asks.
fn silent() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    keep(listener);
    port
}
