//! Cases of the list, from their text.

use std::collections::BTreeMap;

/// The list.
const TEXT: &str = include_str!("names_behind.txt");

/// A directory is `None`, a link `->TARGET`.
pub type State = BTreeMap<String, Option<String>>;

pub struct Case {
    pub name: String,
    pub lines: Vec<Line>,
}

#[derive(Debug, Clone)]
pub enum Line {
    Before(Operation),
    Program { who: Who, ends: Ends, operation: Operation },
    Stranger(Operation),
    Server(ServerWord),
    Settle,
    Never(Condition),
    Always(Condition),
    End(Condition),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Me,
    Other,
}

/// How an operation must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    Well,
    Refused,
    Anyhow,
}

#[derive(Debug, Clone)]
pub enum ServerWord {
    Stop,
    Go,
    Refuse(String),
    Full,
    Lose(String),
}

#[derive(Debug, Clone)]
pub enum Operation {
    Mkdir(String),
    Make(String, String),
    /// The same, whether there is one or not.
    File(String, String),
    Hold(String, String),
    Close(String),
    Write(String, String),
    Cut(String),
    Remove(String),
    Rmdir(String),
    Rename(String, String),
    Link(String, String),
    Symlink(String, String),
    Fsync(String),
    Sync(String),
}

/// Alternatives of parts.
#[derive(Debug, Clone)]
pub struct Condition {
    pub text: String,
    any: Vec<Vec<Part>>,
}

#[derive(Debug, Clone)]
enum Part {
    There(String),
    Absent(String),
    Is(String, String),
    IsNot(String, String),
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in TEXT.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("case "), cases.last_mut()) {
            (Some(name), _) => cases.push(Case { name: name.to_owned(), lines: Vec::new() }),
            (None, Some(case)) => case.lines.push(parse(line)),
            (None, None) => panic!("a line before the first case: {line}"),
        }
    }
    cases
}

fn parse(line: &str) -> Line {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let program = |who, ends, text| Line::Program { who, ends, operation: operation(text) };
    match word {
        "before" => Line::Before(operation(rest)),
        "fails" => program(Who::Me, Ends::Refused, rest),
        "perhaps" => program(Who::Me, Ends::Anyhow, rest),
        "other" => program(Who::Other, Ends::Well, rest),
        "stranger" => Line::Stranger(operation(rest)),
        "stop" => Line::Server(ServerWord::Stop),
        "go" => Line::Server(ServerWord::Go),
        "refuse" => Line::Server(ServerWord::Refuse(rest.to_owned())),
        "full" => Line::Server(ServerWord::Full),
        "lose" => Line::Server(ServerWord::Lose(rest.to_owned())),
        "settle" => Line::Settle,
        "never" => Line::Never(Condition::parse(rest)),
        "always" => Line::Always(Condition::parse(rest)),
        "end" => Line::End(Condition::parse(rest)),
        _ => program(Who::Me, Ends::Well, line),
    }
}

fn operation(line: &str) -> Operation {
    let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
    let word =
        |index: usize| words.get(index).cloned().unwrap_or_else(|| panic!("a word is missing: {line}"));
    match words[0].as_str() {
        "mkdir" => Operation::Mkdir(word(1)),
        "make" => Operation::Make(word(1), word(2)),
        "file" => Operation::File(word(1), word(2)),
        "hold" => Operation::Hold(word(1), word(2)),
        "close" => Operation::Close(word(1)),
        "write" => Operation::Write(word(1), word(2)),
        "cut" => Operation::Cut(word(1)),
        "remove" => Operation::Remove(word(1)),
        "rmdir" => Operation::Rmdir(word(1)),
        "rename" => Operation::Rename(word(1), word(2)),
        "link" => Operation::Link(word(1), word(2)),
        "symlink" => Operation::Symlink(word(1), word(2)),
        "fsync" => Operation::Fsync(word(1)),
        "sync" => Operation::Sync(word(1)),
        _ => panic!("what is {line}?"),
    }
}

impl Condition {
    fn parse(text: &str) -> Self {
        let parts = |alternative: &str| alternative.split('&').map(|part| Part::parse(part.trim())).collect();
        Self { text: text.to_owned(), any: text.split('|').map(parts).collect() }
    }

    /// Whether a state of the server is so.
    pub fn holds(&self, state: &State) -> bool {
        self.any.iter().any(|parts| parts.iter().all(|part| part.holds(state)))
    }
}

impl Part {
    fn parse(text: &str) -> Self {
        if let Some(path) = text.strip_prefix('!') {
            return Self::Absent(path.to_owned());
        }
        if let Some((path, data)) = text.split_once("!=") {
            return Self::IsNot(path.to_owned(), data.to_owned());
        }
        match text.split_once('=') {
            Some((path, data)) => Self::Is(path.to_owned(), data.to_owned()),
            None => Self::There(text.to_owned()),
        }
    }

    fn holds(&self, state: &State) -> bool {
        let found = |path: &str| -> Vec<Option<String>> {
            let is_meant =
                |its: &str| path.strip_suffix('*').map_or(its == path, |start| its.starts_with(start));
            state.iter().filter(|(its, _)| is_meant(its)).map(|(_, content)| content.clone()).collect()
        };
        let is = |path: &str, data: &str| found(path).iter().any(|content| content.as_deref() == Some(data));
        match self {
            Self::There(path) => !found(path).is_empty(),
            Self::Absent(path) => found(path).is_empty(),
            Self::Is(path, data) => is(path, data),
            Self::IsNot(path, data) => !found(path).is_empty() && !is(path, data),
        }
    }
}
