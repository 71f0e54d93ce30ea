//! Somebody who does not wait for the end of a fault: a program that needs what is away, ended by Ctrl-C.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process_group};

/// A program that has not ended after this long waits.
const PATIENCE: Duration = Duration::from_millis(200);
/// Who is interrupted ends so soon.
const END: Duration = Duration::from_secs(5);
/// How often it is looked whether it has: that is no event for two.
const LOOK: Duration = Duration::from_millis(5);

/// How it went with all of them.
#[derive(Default)]
pub struct Impatient {
    waited: u64,
    longest: Duration,
}

impl Impatient {
    /// Runs a program while something is away. If it waits, it is interrupted; what is wrong if it does not end then.
    pub fn run(&mut self, mut command: Command) -> Result<Option<String>> {
        // A terminal signals all that it runs in the foreground.
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn().with_context(|| format!("starting {command:?}"))?;
        if ends_within(&mut child, PATIENCE)? {
            return Ok(None);
        }
        self.waited += 1;
        let began = Instant::now();
        kill_process_group(Pid::from_child(&child), Signal::INT).context("interrupting a program")?;
        let ended = ends_within(&mut child, END)?;
        self.longest = self.longest.max(began.elapsed());
        if ended {
            return Ok(None);
        }
        child.kill().context("killing a program that does not end")?;
        let killed = if ends_within(&mut child, END)? { "SIGKILL ends it" } else { "nor by SIGKILL" };
        Ok(Some(format!("not ended {END:?} after Ctrl-C ({killed}): {command:?}")))
    }

    /// What it came to.
    pub fn figure(&self) -> String {
        format!("{} programs waited, ended by Ctrl-C within {:.2} s", self.waited, self.longest.as_secs_f64())
    }
}

/// Ctrl-C ends the program that is added, also where we ignore it ourselves.
pub fn interruptible(mut command: Command) -> Command {
    command.args(["env", "--default-signal=INT"]).stdin(Stdio::null());
    command
}

fn ends_within(child: &mut Child, patience: Duration) -> Result<bool> {
    let give_up = Instant::now() + patience;
    while child.try_wait().context("looking at a program")?.is_none() {
        if Instant::now() > give_up {
            return Ok(false);
        }
        thread::sleep(LOOK);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeping() -> Command {
        let mut command = interruptible(Command::new("env"));
        command.args(["sleep", "600"]);
        command
    }

    #[test]
    fn who_waits_is_interrupted_and_who_does_not_is_left_alone() {
        let mut impatient = Impatient::default();
        assert_eq!(impatient.run(Command::new("true")).expect("it runs"), None);
        assert_eq!(impatient.waited, 0);
        assert_eq!(impatient.run(sleeping()).expect("it runs"), None);
        assert_eq!(impatient.waited, 1);
    }
}
