//! A program on a terminal of its own (a pseudo-terminal), and what it writes there.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

/// How long a loaded machine may take for something that comes.
const PATIENCE: Duration = Duration::from_secs(120);
/// What gives a terminal back: the screen that was there before, and the cursor.
const GIVEN_BACK: [&str; 2] = ["\x1b[?1049l", "\x1b[?25h"];

/// A program on a terminal.
pub struct Tty {
    child: Child,
    keyboard: File,
    /// The program's side, kept open so that its modes can be asked for when the program is gone.
    line: OwnedFd,
    modes: Termios,
    /// What it has written so far.
    pub written: String,
}

impl Tty {
    /// Starts it on a terminal of that many columns and lines.
    pub fn start(command: &mut Command, columns: u16, lines: u16) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pty");
        grantpt(&keyboard).and_then(|()| unlockpt(&keyboard)).expect("ours");
        let name = ptsname(&keyboard, Vec::new()).expect("a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let line = rustix::fs::open(name, flags, Mode::empty()).expect("its other side");
        let modes = tcgetattr(&line).expect("a terminal");
        let copy = || line.try_clone().expect("a descriptor");
        let command = command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("COLUMNS");
        let command = command.stdin(copy()).stdout(copy()).stderr(copy());
        set_size(&line, columns, lines);
        let child = command.spawn().expect("it starts");
        Self { child, keyboard: File::from(keyboard), line, modes, written: String::new() }
    }

    /// Types.
    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("typed");
    }

    /// The terminal has another size from now on.
    pub fn resize(&self, columns: u16, lines: u16) {
        set_size(&self.line, columns, lines);
        // A terminal that somebody works at does this by itself.
        self.signal(Signal::WINCH);
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.child.id()).expect("an id")).expect("not 0");
        kill_process(id, signal).expect("it lives");
    }

    /// Forgets what was written, and waits until all of this is.
    pub fn wait_for_new(&mut self, texts: &[&str]) {
        self.written.clear();
        self.wait_for(texts);
    }

    /// Waits until all of this has been written.
    pub fn wait_for(&mut self, texts: &[&str]) {
        let deadline = Instant::now() + PATIENCE;
        while !texts.iter().all(|text| self.written.contains(text)) {
            assert!(Instant::now() < deadline, "waiting for {texts:?}; there is {:?}", self.written);
            self.read();
        }
    }

    /// Waits until it has stopped, as Ctrl-Z stops programs, and has given the terminal back as it was.
    pub fn wait_for_stop(&mut self) {
        let stat = format!("/proc/{}/stat", self.child.id());
        // proc(5): the state stands behind the name, which is in parentheses.
        let state = || {
            std::fs::read_to_string(&stat)
                .expect("it lives")
                .rsplit_once(')')
                .map(|(_, rest)| rest.chars().nth(1))
        };
        let deadline = Instant::now() + PATIENCE;
        while state() != Some(Some('T')) {
            assert!(Instant::now() < deadline, "it did not stop; there is {:?}", self.written);
            self.read();
        }
        while self.read() {}
        self.is_given_back();
    }

    /// Lines, echo, the screen from before and the cursor are back; what was written after that.
    fn is_given_back(&self) -> &str {
        let modes = tcgetattr(&self.line).expect("a terminal");
        assert_eq!(modes.local_modes, self.modes.local_modes, "lines and echo");
        assert_eq!(modes.input_modes, self.modes.input_modes);
        assert_eq!(modes.output_modes, self.modes.output_modes);
        let (_, after) = self.written.rsplit_once(GIVEN_BACK[0]).expect("the screen from before is back");
        assert!(after.contains(GIVEN_BACK[1]), "the cursor is back: {after:?}");
        after
    }

    /// Waits until it has ended and has given the terminal back as it was; with what it wrote after that.
    pub fn end(mut self) -> (ExitStatus, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            self.read();
            if let Some(status) = self.child.try_wait().expect("it ends") {
                break status;
            }
            assert!(Instant::now() < deadline, "it did not end; there is {:?}", self.written);
        };
        while self.read() {}
        let after = self.is_given_back().to_owned();
        (status, after)
    }

    /// Reads what is there; waits a little if nothing is.
    fn read(&mut self) -> bool {
        const LITTLE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        let mut waiting = [PollFd::from_borrowed_fd(self.keyboard.as_fd(), PollFlags::IN)];
        if poll(&mut waiting, Some(&LITTLE)).expect("polled") == 0 {
            return false;
        }
        let mut bytes = [0; 65536];
        let count = self.keyboard.read(&mut bytes).unwrap_or_default();
        self.written.push_str(&String::from_utf8_lossy(&bytes[..count]));
        count > 0
    }
}

fn set_size(line: &OwnedFd, columns: u16, lines: u16) {
    let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(line, size).expect("a size");
}

impl Drop for Tty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
