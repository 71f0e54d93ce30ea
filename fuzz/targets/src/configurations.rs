//! Configuration files. Wrong ones are refused with the place of what is wrong; right ones mean something that can be served.

use std::collections::HashSet;
use std::path::Path;

use howdah_config::{ServerConfig, load_text};

use arbitrary::{Result, Unstructured};

/// What the file is called where something is wrong.
const FILE: &str = "fuzzed.toml";
/// Tables of a file that is put together.
const TABLES_MAX: usize = 8;

/// A setting, and values that are right for it.
type Setting = (&'static str, &'static [&'static str]);

const SERVER: &[Setting] = &[
    ("listen", &["'[::]:2049'", "'10.0.0.1'", "['10.0.0.1', '[::1]:1']"]),
    ("udp", &["true", "false"]),
    ("udp_sockets", &["'auto'", "1", "4"]),
    ("workers", &["1", "0x10"]),
    ("state", &["'/nonexistent'", "'/'"]),
    ("sandbox", &["'auto'", "'strict'", "'off'"]),
    ("admin", &["'auto'", "'off'", "'/tmp/a'"]),
    ("admin_listen", &["'127.0.0.1:9048'", "9048", "'[::]:9048'"]),
    ("admin_certificate", &["'/dev/null'"]),
    ("admin_key", &["'/dev/null'"]),
    ("metrics", &["'127.0.0.1:9049'"]),
    ("metrics_clients", &["0", "10"]),
    ("tcp_sndbuf", &["'auto'", "'16M'", "0", "1048576"]),
    ("memory_budget", &["'auto'", "'1G'"]),
    ("log", &["'info'", "'howdah=debug,warn'"]),
    ("log_format", &["'text'", "'json'"]),
];
const EXPORT: &[Setting] = &[
    ("name", &["'/'", "'/data'", "'/data/\u{fc}'"]),
    ("path", &["'/'", "'/usr'", "'/usr/../usr/lib'"]),
    ("memory", &["'1M'", "'auto'", "'4G'"]),
    ("url", &["'nfs://host/x'", "'nfs://[::1]:2050/x?lanes=2'"]),
    ("id", &["1", "4294967295"]),
    ("durability", &["'sync'", "'async'"]),
    ("cross_mounts", &["true", "false"]),
    ("read_only", &["true", "false"]),
    ("squash", &["'root'", "'all'", "'none'"]),
    ("anonymous_user", &["0", "4294967294"]),
    (
        "clients",
        &[
            "['*']",
            "['10.0.0.0/8', '::1', 'Host.example.org.']",
            "[{ allow = '::ffff:10.0.0.1', read_only = true }]",
        ],
    ),
];
const NETWORK: &[Setting] = &[
    ("clients", &["'10.0.0.0/8'", "['fd00::/8', '*']"]),
    ("tcp_rcvbuf", &["'auto'", "'16M'"]),
    ("tcp_congestion", &["'cubic'", "'bbr'"]),
];
/// Values that are right for few settings or for none.
const ODD: [&str; 10] = [
    "[]",
    "{}",
    "''",
    "-1",
    "1e9",
    "18446744073709551616",
    "1979-05-27",
    "'auto'",
    "[[[1]], { a.b = 'c' }]",
    "'/'",
];

/// By the first byte the rest is a text as it stands, or says what a file is put together of.
pub fn run(input: &[u8]) {
    let Some((kind, rest)) = input.split_first() else { return };
    let text = match kind % 2 {
        0 => std::str::from_utf8(rest).map(str::to_owned).ok(),
        _ => composed(&mut Unstructured::new(rest)).ok(),
    };
    let Some(text) = text else { return };
    match load_text(Path::new(FILE), text.clone()) {
        Ok(config) => makes_sense(&config),
        Err(error) => tells_where(&error.to_string(), &text),
    }
}

fn composed(input: &mut Unstructured<'_>) -> Result<String> {
    let mut file = String::new();
    settings(&mut file, SERVER, input)?;
    for _ in 0..input.int_in_range(0..=TABLES_MAX)? {
        let (head, known) = *input.choose(&[
            ("[[export]]", EXPORT),
            ("[[export]]", EXPORT),
            ("[[network]]", NETWORK),
            ("[export]", EXPORT),
        ])?;
        file += head;
        file.push('\n');
        settings(&mut file, known, input)?;
    }
    Ok(file)
}

/// Few of these settings or nearly all, most of them as they should be.
fn settings(file: &mut String, known: &[Setting], input: &mut Unstructured<'_>) -> Result<()> {
    let of_ten = input.int_in_range(1..=9)?;
    for (key, right) in known {
        if !input.ratio(of_ten, 10)? {
            continue;
        }
        let value = match input.int_in_range(0..=19)? {
            18 => (*input.choose(&ODD)?).to_owned(),
            19 => format!("{:?}", input.arbitrary::<&str>()?),
            _ => (*input.choose(right)?).to_owned(),
        };
        *file += &format!("{key} = {value}\n");
    }
    Ok(())
}

fn makes_sense(config: &ServerConfig) {
    assert!(!config.exports.is_empty() && !config.listen.is_empty() && config.workers > 0);
    let (mut names, mut ids) = (HashSet::new(), HashSet::new());
    for export in &config.exports {
        assert!(export.source.directory().is_none_or(Path::is_absolute), "{export:?}");
        assert!(!export.clients.is_empty(), "{export:?}");
        assert!(names.insert(&export.name) && ids.insert(export.id), "{export:?}");
        let name = export.name.to_string();
        assert_eq!(name.parse().as_ref(), Ok(&export.name));
        for rule in &export.clients {
            assert_eq!(rule.who.to_string().parse().as_ref(), Ok(&rule.who), "as it is written");
        }
    }
    assert!(config.warnings().iter().all(|warning| !warning.is_empty()));
}

/// Each problem names a line of the file and a column of that line.
fn tells_where(message: &str, text: &str) {
    assert!(!message.is_empty());
    if text.contains(FILE) {
        // What is quoted of it may look like a place.
        return;
    }
    let lines: Vec<&str> = text.split('\n').collect();
    for place in message.lines().filter_map(|line| line.strip_prefix(FILE)?.strip_prefix(':')) {
        let mut numbers = place.splitn(3, ':').map(str::parse::<usize>);
        // The last line says how many there are.
        let (Some(Ok(line)), Some(Ok(column))) = (numbers.next(), numbers.next()) else { continue };
        let line = line.checked_sub(1).and_then(|line| lines.get(line)).expect("a line of the file");
        assert!((1..=line.chars().count() + 1).contains(&column), "{place}");
    }
}
