//! The terminal while a screen is on it: taken over, and given back as it was, whatever happens.

use std::io::{self, Stdout, Write, stdout};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::screen::Screen;

/// A terminal that was taken over. It is given back when this is dropped, and before the message of a panic is printed.
pub struct Taken {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Taken {
    /// Takes it over.
    pub fn take() -> io::Result<Self> {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |why| {
            give_back();
            usual(why);
        }));
        enter()?;
        // From here on it is given back.
        let terminal = Terminal::new(CrosstermBackend::new(stdout()));
        terminal.map(|terminal| Self { terminal }).inspect_err(|_| give_back())
    }

    /// Shows a screen; nothing, while the terminal is somebody else's.
    pub fn show(&mut self, screen: &Screen) -> io::Result<()> {
        if !IS_TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.terminal.draw(|frame| frame.render_widget(screen, frame.area())).map(drop)
    }

    /// Shows the next screen from its first letter. Its own way of clearing asks the terminal where the cursor is, and the answer
    /// would come among the keys.
    pub fn forget(&mut self) -> io::Result<()> {
        if !IS_TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        execute!(stdout(), Clear(ClearType::All))?;
        self.terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(())
    }

    /// Gives it back and stops this process, as Ctrl-Z does. When it goes on there is a SIGCONT, upon which it is to be
    /// [taken again](Self::take_again), once: between two times it would be in nobody's mode, and a key could be lost.
    pub fn suspend(&mut self) -> io::Result<()> {
        // The first process of a container cannot be stopped from within, and no shell waits for it.
        if rustix::process::getpid() == rustix::process::Pid::INIT {
            return Ok(());
        }
        give_back();
        Ok(rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?)
    }

    /// Takes it over once more: while this process was stopped, another may have left it in another state.
    pub fn take_again(&mut self) -> io::Result<()> {
        give_back();
        enter()?;
        self.forget()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether it is taken over now: it is given back once, or what was printed since would be lost.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    IS_TAKEN.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen, Hide).inspect_err(|_| give_back())
}

/// As it was. If that fails, there is nobody to report it to.
fn give_back() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = stdout().flush();
    let _ = disable_raw_mode();
}

#[cfg(test)]
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../cli/tests/running/tty.rs"]
mod tty;

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::tty::Tty;
    use super::*;
    use crate::Kind;

    /// Whether this test is the one that breaks: it is run once more by itself.
    const BREAKS: &str = "HOWDAH_TEST_BREAKS";

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_is_told() {
        if std::env::var_os(BREAKS).is_some() {
            let mut taken = Taken::take().expect("a terminal");
            taken.show(&Screen::new(Kind::Clients, "", Duration::from_secs(1), true)).expect("shown");
            panic!("as it must");
        }
        let name = "terminal::tests::a_panic_gives_the_terminal_back_before_it_is_told";
        let mut command = Command::new(std::env::current_exe().expect("a test"));
        command.args([name, "--exact", "--nocapture"]).env(BREAKS, "1");
        let mut tty = Tty::start(&mut command, 80, 24);
        tty.wait_for(&["\x1b[?1049h", "as it must"]);
        let (status, after) = tty.end();
        assert!(!status.success() && after.contains("as it must"), "{after:?}");
    }
}
