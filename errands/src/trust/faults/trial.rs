//! One fault, tried: a client at work before it, while it lasts and after it, and what is judged of that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use howdah_vfs::FileSystem;

use super::fault::{Effect, Fault};
use super::newcomer::Newcomer;
use super::pulse::Pulse;
use super::scene::Scene;
use crate::trust::crew::client;

/// After its end service is back within this time.
pub const BACK: Duration = Duration::from_secs(5);
/// Of a fault that calls wait for, one waits for this much at least.
const LEAST: f64 = 0.75;
/// A pulse that has not come by then will not.
pub const GIVE_UP: Duration = Duration::from_secs(60);
/// The head of the table.
pub const HEAD: &str = "fault                      lasted   longest     back  seen; expected";

/// What was seen.
struct Seen {
    lasted: Duration,
    /// The longest that an answer took.
    longest: Duration,
    /// From the end to the first answer, of the client that waited longest.
    back: Duration,
    refusals: Vec<String>,
    /// Whether everybody who came meanwhile had to wait.
    is_awaited: bool,
}

/// Tries a fault; gives its line of the table, or what is not as documented.
pub fn trial(scene: &Scene, fault: &Fault, lasts: Duration) -> Result<String> {
    let fs = scene.mount(&scene.url())?;
    let pulse = Pulse::start(Arc::clone(&fs), scene.client().namespace())?;
    pulse.next(GIVE_UP)?;
    pulse.take();
    scene.listen()?;
    if let Err(error) = (fault.begin)(scene, &pulse) {
        // What has begun of it is not for the next one. Nor is there anything to say of what had not.
        let _ = (fault.end)(scene);
        return Err(error.context("beginning it"));
    }
    let began = Instant::now();
    let newcomers = come(scene, fault, lasts, fs);
    std::thread::sleep(lasts);
    let effect = match fault.effect {
        Effect::GoesOn(look) => look(scene).and_then(|()| goes_on(&pulse, BACK)),
        // In this order: what was just lost would be waited for.
        Effect::Stutters(look) => goes_on(&pulse, GIVE_UP).and_then(|()| look(scene)),
        _ => Ok(()),
    };
    let lasted = began.elapsed();
    let ending = Instant::now();
    (fault.end)(scene).context("ending it")?;
    effect.context("while it lasted")?;
    let ended = Instant::now();
    let (mut back, mut is_awaited) = (pulse.next(GIVE_UP)?, true);
    for newcomer in newcomers {
        let at = newcomer.served(GIVE_UP)?;
        back = back.max(at.saturating_duration_since(ended));
        is_awaited &= at >= ending;
    }
    let (refusals, longest) = pulse.take();
    let blocks = pulse.end(scene)?;
    let seen = Seen { lasted, longest, back, refusals, is_awaited };
    seen.judge(fault)?;
    Ok(seen.line(fault, blocks))
}

/// An error if no further block is answered for, while it lasts and had an effect.
fn goes_on(pulse: &Pulse, patience: Duration) -> Result<()> {
    pulse.next(patience).map(drop)
}

/// The clients that come while it lasts, to a server that can take nobody in: by a mount of its own, and by one that was there.
fn come(scene: &Scene, fault: &Fault, lasts: Duration, old: Arc<dyn FileSystem>) -> Vec<Newcomer> {
    let Effect::NewcomersWait(url) = fault.effect else { return Vec::new() };
    let (url, patience, host) = (url(scene), lasts + GIVE_UP, scene.client().namespace());
    vec![
        Newcomer::come("by-a-new-mount", host, patience, move || client(&url)),
        Newcomer::come("by-an-old-mount", host, patience, move || Ok(Arc::clone(&old))),
    ]
}

impl Seen {
    /// Whether it is as documented.
    fn judge(&self, fault: &Fault) -> Result<()> {
        let Self { lasted, longest, back, .. } = *self;
        ensure!(back <= BACK, "back only {back:?} after its end");
        let allowed = if let Effect::Refused(allowed) = fault.effect { allowed } else { &[] };
        let strange = self.refusals.iter().find(|refusal| !allowed.contains(&refusal.as_str()));
        ensure!(strange.is_none(), "refused with {strange:?}; expected: {}", fault.expected);
        let most = match fault.effect {
            Effect::Wait | Effect::Refused(_) | Effect::Stutters(_) => lasted + BACK,
            Effect::NewcomersWait(_) | Effect::GoesOn(_) => BACK,
        };
        ensure!(longest <= most, "an answer took {longest:?}; expected: {}", fault.expected);
        match fault.effect {
            Effect::Wait => {
                let least = lasted.mul_f64(LEAST);
                ensure!(longest >= least, "no effect: no answer took longer than {longest:?}");
            }
            Effect::Refused(_) => ensure!(!self.refusals.is_empty(), "no effect: nothing was refused"),
            Effect::NewcomersWait(_) => {
                ensure!(self.is_awaited, "no effect: each client that came was served")
            }
            // It has said so itself.
            Effect::GoesOn(_) | Effect::Stutters(_) => {}
        }
        Ok(())
    }

    fn line(&self, fault: &Fault, blocks: usize) -> String {
        let refusals =
            if self.refusals.is_empty() { "no refusal".to_owned() } else { self.refusals.join(", ") };
        format!(
            "{:<24} {:>6.1} s {:>7.2} s {:>6.2} s  {refusals}; {} ({blocks} blocks)",
            fault.name,
            self.lasted.as_secs_f64(),
            self.longest.as_secs_f64(),
            self.back.as_secs_f64(),
            fault.expected
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LASTED: Duration = Duration::from_secs(10);

    fn fault(effect: Effect) -> Fault {
        let (name, expected) = ("it", "nothing");
        Fault { name, expected, needs: None, effect, begin: |_, _| Ok(()), end: |_| Ok(()) }
    }

    fn seen(longest: u64) -> Seen {
        let (longest, back) = (Duration::from_secs(longest), Duration::ZERO);
        Seen { lasted: LASTED, longest, back, refusals: Vec::new(), is_awaited: false }
    }

    fn wrong(seen: &Seen, effect: Effect) -> String {
        seen.judge(&fault(effect)).map_or_else(|wrong| wrong.to_string(), |()| String::new())
    }

    #[test]
    fn what_is_not_as_documented_is_found() {
        let refused = Effect::Refused(&["no space left on device"]);
        let newcomers = Effect::NewcomersWait(|_| String::new());
        let goes_on = Effect::GoesOn(|_| Ok(()));
        let full = || vec!["no space left on device".to_owned()];
        for (fits, effect) in [
            (seen(10), Effect::Wait),
            (Seen { refusals: full(), ..seen(0) }, refused),
            (Seen { is_awaited: true, ..seen(5) }, newcomers),
            (seen(5), goes_on),
        ] {
            assert_eq!(wrong(&fits, effect), "");
            let late = Seen { back: BACK + Duration::from_millis(1), ..fits };
            assert!(wrong(&late, effect).contains("back only"));
        }
        assert!(wrong(&seen(7), Effect::Wait).contains("no effect"));
        assert!(wrong(&seen(16), Effect::Wait).contains("an answer took"));
        assert!(wrong(&seen(0), refused).contains("no effect"));
        let other = Seen { refusals: vec!["input/output error".to_owned()], ..seen(0) };
        [refused, Effect::Wait, newcomers, goes_on]
            .iter()
            .for_each(|&effect| assert!(wrong(&other, effect).contains("refused with")));
        assert!(wrong(&seen(0), newcomers).contains("no effect"));
        assert!(wrong(&seen(6), goes_on).contains("an answer took"));
        assert_eq!(wrong(&seen(15), Effect::Stutters(|_| Ok(()))), "");
        assert!(wrong(&seen(16), Effect::Stutters(|_| Ok(()))).contains("an answer took"));
    }
}
