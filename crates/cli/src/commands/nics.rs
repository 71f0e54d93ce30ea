//! `howdah nics`.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context;
use howdah_net::{InterfaceCounters, interface_counters};

use super::Failure;
use crate::arguments::NicsArguments;
use crate::report::{self, NicRates, NicScale};

/// How long it looks if nobody says.
const USUAL: Duration = Duration::from_secs(1);
/// An interface that was named is not there.
const NOT_THERE: u8 = 3;

/// Shows what interfaces carry, once or in intervals.
pub fn run(arguments: &NicsArguments) -> Result<(), Failure> {
    let mut before = look()?;
    for name in &arguments.names {
        is_there(name, &before.1)?;
    }
    let count = arguments.count.or(arguments.interval.is_none().then_some(1));
    let mut scale = NicScale::default();
    let mut shown = 0;
    while count.is_none_or(|count| shown < count) && !report::is_unread() {
        sleep(arguments.interval.unwrap_or(USUAL));
        let now = look()?;
        let rates = rates(arguments, &before, &now);
        scale.see(&rates);
        let time = arguments.interval.map(|_| jiff::Zoned::now().strftime("%H:%M:%S").to_string());
        report::print(&match (arguments.json, arguments.plot) {
            (true, _) => report::nics_json(&rates),
            (false, true) => report::nics_plot(&rates, &scale, time.as_deref()),
            (false, false) => report::nics(&rates, time.as_deref()),
        });
        before = now;
        shown += 1;
    }
    Ok(())
}

type Look = (Instant, Vec<InterfaceCounters>);

fn look() -> anyhow::Result<Look> {
    interface_counters().context("reading /sys/class/net, where Linux shows interfaces")
}

fn is_there(name: &str, interfaces: &[InterfaceCounters]) -> Result<(), Failure> {
    if interfaces.iter().any(|interface| interface.name == name) {
        return Ok(());
    }
    let known: Vec<&str> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
    report::complain(&format!("howdah: no interface is called {name}; there is {}", known.join(", ")));
    Err(Failure::Ended(ExitCode::from(NOT_THERE)))
}

/// Of those that are meant. One that came in between has no rates yet.
fn rates(arguments: &NicsArguments, before: &Look, now: &Look) -> Vec<NicRates> {
    let seconds = now.0.saturating_duration_since(before.0).as_secs_f64();
    let meant = |name: &String| arguments.names.is_empty() || arguments.names.contains(name);
    let rates = now.1.iter().filter(|interface| meant(&interface.name)).filter_map(|interface| {
        let earlier = before.1.iter().find(|earlier| earlier.name == interface.name)?;
        Some(NicRates::between(earlier, interface, seconds))
    });
    rates.filter(|rates| !arguments.names.is_empty() || rates.is_busy()).collect()
}
