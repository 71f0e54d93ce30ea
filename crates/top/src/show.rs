//! What is seen on a terminal, until somebody has seen enough.

use std::io;
use std::process::ExitCode;
use std::sync::mpsc::Receiver;

use anyhow::{Context, Result, bail};
use ratatui::crossterm::event::Event;
use signal_hook::consts::SIGCONT;

use super::news::News;
use super::screen::{Screen, Wish};
use super::terminal::Taken;

/// The exit code of a program that a signal ended is this and the signal.
const OF_SIGNALS: u8 = 128;

/// Shows it until a key or a signal ends it.
pub fn show(mut screen: Screen, news: &Receiver<News>) -> Result<ExitCode> {
    let mut taken = Taken::take().context("taking the terminal over")?;
    loop {
        taken.show(&screen).context("drawing")?;
        match on_news(&mut screen, news.recv().context("waiting for news")?) {
            Turn::Wish(Wish::Show) => {}
            Turn::Wish(Wish::Redraw) => taken.forget()?,
            Turn::Wish(Wish::Suspend) => taken.suspend()?,
            Turn::Wish(Wish::End) => return Ok(ExitCode::SUCCESS),
            Turn::Signal(SIGCONT) => taken.take_again()?,
            Turn::Signal(signal) => return Ok(ExitCode::from(OF_SIGNALS + signal as u8)),
            Turn::Broken(why) => bail!(why),
        }
    }
}

/// What is to be done next.
enum Turn {
    Wish(Wish),
    Signal(i32),
    Broken(String),
}

fn on_news(screen: &mut Screen, news: News) -> Turn {
    let clock = || jiff::Zoned::now().strftime("%H:%M:%S").to_string();
    match news {
        News::Event(Event::Key(key)) => return Turn::Wish(screen.on_key(key)),
        News::Event(_) => {}
        News::Seen(seen) => screen.on_seen(*seen, clock()),
        News::Trouble(why) => screen.on_trouble(why, clock()),
        News::Signal(signal) => return Turn::Signal(signal),
        News::Broken(why) => return Turn::Broken(why),
    }
    Turn::Wish(Wish::Show)
}

/// Whether there is a terminal that can show a screen.
pub fn can_show() -> bool {
    use io::IsTerminal;
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    io::stdout().is_terminal() && io::stdin().is_terminal() && !is_dumb
}

/// Whether colours are wanted: <https://no-color.org>.
pub fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
