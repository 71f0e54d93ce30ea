//! Parameters as a plan's `options` give them.

use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail};
use howdah_link::quantity::{ByteCount, Probability, Span};
use howdah_link::{PathSpec, QueueSpec, profile, profiles};

use super::Parameters;

/// What may be said.
const ALLOWED: &str = "--timer RULE, --profile NAME, --queue QUEUE, --fragment-loss PERCENT, --size SIZE, --transfer SIZE, \
                       --ahead SIZE, --record SIZE, --cached TIME, --fetch SIZE, --fetch-time TIME, --disk-share PERCENT, --disk TIME, \
                       --disk-spread TIME, --seed NUMBER";

impl Parameters {
    /// Reads pairs of an option and its value; what is not said is as [`Parameters::default`] has it.
    pub fn parse(options: &[String]) -> Result<Self> {
        let mut parameters = Self::default();
        for pair in options.chunks(2) {
            let [option, value] = pair else { bail!("{} lacks its value; allowed are {ALLOWED}", pair[0]) };
            parameters.set(option, value).with_context(|| format!("{option} {value}"))?;
        }
        parameters.check()?;
        Ok(parameters)
    }

    fn set(&mut self, option: &str, text: &str) -> Result<()> {
        match option {
            "--timer" => self.timer = value(text)?,
            "--profile" => self.path = path(text)?,
            "--queue" => {
                let queue: QueueSpec = value(text)?;
                (self.path.there.queue, self.path.back.queue) = (Some(queue), Some(queue));
            }
            "--fragment-loss" => self.fragment_loss = value::<Probability>(text)?.fraction(),
            "--size" => self.size = value::<ByteCount>(text)?.0,
            "--transfer" => self.transfer = value::<ByteCount>(text)?.0,
            "--ahead" => self.ahead = value::<ByteCount>(text)?.0,
            "--record" => self.record = value::<ByteCount>(text)?.0,
            "--cached" => self.cached = value::<Span>(text)?.0,
            "--fetch" => self.fetch = value::<ByteCount>(text)?.0,
            "--fetch-time" => self.fetch_time = value::<Span>(text)?.0,
            "--disk-share" => self.disk_share = value::<Probability>(text)?.fraction(),
            "--disk" => self.disk = value::<Span>(text)?.0,
            "--disk-spread" => self.disk_spread = value::<Span>(text)?.0,
            "--seed" => self.seed = value(text)?,
            _ => bail!("there is no such option; allowed are {ALLOWED}"),
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let Self { size, transfer, ahead, record, .. } = *self;
        if size == 0 || ahead == 0 || record == 0 {
            bail!("--size, --ahead and --record are 1 or more");
        }
        // What fits into a datagram beside its headers, as servers have it.
        if !(512..=32 << 10).contains(&transfer) {
            bail!("--transfer is from 512B to 32KiB, {transfer} was given");
        }
        Ok(())
    }
}

fn value<T: FromStr>(text: &str) -> Result<T>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error| anyhow!("{error}"))
}

fn path(name: &str) -> Result<PathSpec> {
    let names = || profiles().iter().map(|profile| profile.name).collect::<Vec<_>>().join(", ");
    let profile =
        profile(name).with_context(|| format!("there is no such profile; there are {}", names()))?;
    Ok(profile.path.clone())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::TimerRule;
    use super::*;

    fn parse(text: &str) -> Result<Parameters> {
        Parameters::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let text = "--timer 2003 --profile lan-1g --queue 1MiB --fragment-loss 0.1% --size 10MiB --disk 40ms --seed 7";
        let parameters = parse(text).expect("parameters");
        assert_eq!((parameters.timer, parameters.seed), (TimerRule::Ratchet, 7));
        assert_eq!(parameters.path.there.line_rate(), Some(howdah_link::quantity::Bitrate(1_000_000_000)));
        assert_eq!(parameters.path.back.queue, Some(QueueSpec::Bytes(ByteCount(1 << 20))));
        assert!((parameters.fragment_loss - 0.001).abs() < 1e-12);
        assert_eq!((parameters.size, parameters.disk), (10 << 20, Duration::from_millis(40)));
        assert_eq!(parse("").expect("defaults"), Parameters::default());
    }

    #[test]
    fn errors_say_what_is_allowed() {
        for (text, part) in [
            ("--timer tomorrow", "2003-floor"),
            ("--timer", "lacks its value"),
            ("--clock 2003", "--timer RULE"),
            ("--profile moon", "lan-100m"),
            ("--size much", "256KiB"),
            ("--transfer 1MiB", "512B to 32KiB"),
            ("--ahead 0B", "1 or more"),
        ] {
            let error = format!("{:#}", parse(text).expect_err(text));
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
