//! What happens while a screen is shown: keys, looks at the server, signals; each waited for on a thread of its own.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::crossterm::event::{self, Event};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::look::TopLook;
use super::seen::Seen;

/// How soon it is looked again after the first look.
const SOON: Duration = Duration::from_millis(500);

/// Something happened.
#[derive(Debug)]
pub enum News {
    /// A key, or another size of the terminal.
    Event(Event),
    /// What the server did since the look before.
    Seen(Box<Seen>),
    /// Why it could not be looked at.
    Trouble(String),
    /// A signal came.
    Signal(i32),
    /// The thread that waits for one of these ended, and with it what is shown.
    Broken(String),
}

/// Says what happens, until the receiver is gone; `look` finds the server anew each time.
pub fn listen(
    interval: Duration,
    look: impl FnMut() -> Result<TopLook> + Send + 'static,
) -> Result<Receiver<News>> {
    let (sender, receiver) = channel();
    let signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCONT]).context("waiting for signals")?;
    on_thread("keys", sender.clone(), keys)?;
    on_thread("signals", sender.clone(), |sender| hear(signals, &sender))?;
    on_thread("looks", sender, move |sender| watch(interval, look, &sender))?;
    Ok(receiver)
}

/// Runs it on a thread; if that breaks, it is said.
fn on_thread(
    name: &str,
    sender: Sender<News>,
    body: impl FnOnce(Sender<News>) -> String + Send + 'static,
) -> Result<()> {
    let said = Teller(sender.clone(), format!("the thread of {name} broke"));
    let run = move || {
        let mut said = said;
        said.1 = body(sender);
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop).context("starting a thread")
}

/// Says at its end that there is nothing more to come.
struct Teller(Sender<News>, String);

impl Drop for Teller {
    fn drop(&mut self) {
        let _ = self.0.send(News::Broken(std::mem::take(&mut self.1)));
    }
}

/// Says why it ended.
fn keys(sender: Sender<News>) -> String {
    loop {
        match event::read() {
            Ok(event) => {
                if sender.send(News::Event(event)).is_err() {
                    return String::new();
                }
            }
            Err(error) => return format!("reading keys: {error}"),
        }
    }
}

fn hear(mut signals: Signals, sender: &Sender<News>) -> String {
    for signal in signals.forever() {
        if sender.send(News::Signal(signal)).is_err() {
            break;
        }
    }
    String::new()
}

/// Looks again and again. The second look comes sooner: without it there are no rates.
fn watch(interval: Duration, mut look: impl FnMut() -> Result<TopLook>, sender: &Sender<News>) -> String {
    let mut before: Option<TopLook> = None;
    loop {
        let is_second_due = before.is_none();
        let news = match look() {
            Ok(now) => {
                let seen = Seen::between(before.as_ref(), &now);
                before = Some(now);
                News::Seen(Box::new(seen))
            }
            Err(error) => News::Trouble(format!("{error:#}")),
        };
        if sender.send(news).is_err() {
            return String::new();
        }
        thread::sleep(if is_second_due { interval.min(SOON) } else { interval });
    }
}
