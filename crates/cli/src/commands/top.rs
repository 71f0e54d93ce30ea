//! `howdah top`: on a screen, in lines, or as JSON.

use std::path::PathBuf;
use std::thread::sleep;

use anyhow::{Result, anyhow};
use howdah_top::{Kind, Screen, Seen, Sort, TopLook, can_show, lines, listen, only, show, wants_colour};

use super::Failure;
use crate::admin::{ServerName, the_one_server};
use crate::arguments::TopArguments;
use crate::report;

/// The letters of a line where a terminal does not say.
const USUAL_WIDTH: usize = 80;
/// Less is too narrow to show anything.
const LEAST_WIDTH: usize = 40;
/// Where there is no terminal nothing has to be cut.
const WIDTH_OF_FILES: usize = 4096;

/// Shows it.
pub fn run(arguments: &TopArguments) -> Result<(), Failure> {
    let sort = sort(arguments).map_err(Failure::Usage)?;
    let mut looker = Looker::new(arguments);
    // That there is no such server is said at once, and not on a screen.
    let first = looker.look()?;
    if arguments.once || arguments.json || arguments.lines || !can_show() {
        return in_lines(arguments, sort, looker, first);
    }
    let mut screen = Screen::new(
        arguments.table.unwrap_or(Kind::Clients),
        &arguments.filter,
        arguments.interval,
        wants_colour(),
    );
    if let Some(sort) = sort {
        screen.set_sort(sort);
    }
    let code = show(screen, &listen(arguments.interval, move || looker.look())?)?;
    Err(Failure::Ended(code))
}

/// Finds the server and looks at it; one that was started anew is another process, and found again by its name.
struct Looker {
    server: Option<ServerName>,
    state: Option<PathBuf>,
}

impl Looker {
    fn new(arguments: &TopArguments) -> Self {
        Self { server: arguments.asked.server.clone(), state: arguments.asked.state.clone() }
    }

    fn look(&mut self) -> Result<TopLook> {
        let server = the_one_server(self.server.as_ref(), self.state.as_deref())?;
        Ok(TopLook {
            server: server.name(),
            process: server.process(),
            exports: server.get("/v1/exports")?,
            clients: server.get("/v1/clients")?,
            tuning: server.get("/v1/tuning")?,
            workers: server.get("/v1/workers")?,
        })
    }
}

/// Interval after interval; a server that does not answer any more is asked again.
fn in_lines(
    arguments: &TopArguments,
    sort: Option<Sort>,
    mut looker: Looker,
    mut before: TopLook,
) -> Result<(), Failure> {
    loop {
        sleep(arguments.interval);
        match looker.look() {
            Ok(now) => {
                report::print(&page(arguments, sort, &Seen::between(Some(&before), &now))?);
                before = now;
            }
            Err(error) if arguments.once => return Err(error.into()),
            Err(error) => report::complain(&format!("howdah: {error:#}; still trying")),
        }
        if arguments.once || report::is_unread() {
            return Ok(());
        }
    }
}

fn page(arguments: &TopArguments, sort: Option<Sort>, seen: &Seen) -> Result<String> {
    if arguments.json {
        return Ok(format!("{}\n", serde_json::to_string(&only(seen, &arguments.filter))?));
    }
    let kinds = arguments.table.map_or(Kind::ALL.to_vec(), |kind| vec![kind]);
    let tables: Vec<(Kind, Sort)> =
        kinds.into_iter().map(|kind| (kind, sort.unwrap_or(kind.usual_sort()))).collect();
    let text = lines(seen, &tables, &arguments.filter, width());
    let clock = jiff::Zoned::now().strftime("%H:%M:%S");
    Ok(if arguments.once { text } else { format!("{clock}\n{text}\n") })
}

/// The column that somebody named.
fn sort(arguments: &TopArguments) -> Result<Option<Sort>> {
    let (Some(name), Some(kind)) = (&arguments.sort, arguments.table) else { return Ok(None) };
    let (is_reverse, title) = name.strip_prefix('-').map_or((false, name.as_str()), |title| (true, title));
    let column = kind.column(title).ok_or_else(|| {
        let titles: Vec<&str> = kind.columns().iter().map(|column| column.title).collect();
        anyhow!("--sort {name}: {} have the columns {}", kind.name(), titles.join(", "))
    })?;
    let is_descending = kind.columns()[column].is_text == is_reverse;
    Ok(Some(Sort { column, is_descending }))
}

/// Letters of a line: of the terminal, or as in `COLUMNS` where it does not say.
fn width() -> usize {
    let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout()) else { return WIDTH_OF_FILES };
    let said = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = Some(size.ws_col.into()).filter(|width| *width > 0).or_else(said);
    width.unwrap_or(USUAL_WIDTH).max(LEAST_WIDTH)
}
