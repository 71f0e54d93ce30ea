//! What the server promised to all programs together: who holds what, who had it last, and what each register may say. Programs
//! report the answers that they got, and it says which answer broke a promise. It knows time only as its callers pass it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

/// What a register says: each record is written once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// Rises with each write.
    pub counter: u64,
    /// The grant under which it was written.
    pub grant: u64,
}

impl Record {
    /// Length in bytes.
    pub const SIZE: usize = 32;
    const KEY: u64 = 0x6c6f_636b_7265_6769;

    /// Its bytes, which no part of another record's can pass for.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        for (place, word) in bytes.chunks_exact_mut(8).zip([self.counter, self.grant, self.check(), 0]) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    /// The record of these bytes. Nothing was written where all are zero, or none is.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.iter().all(|byte| *byte == 0) {
            return Some(Self::default());
        }
        let word = |at: usize| Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let record = Self { counter: word(0)?, grant: word(8)? };
        (bytes == record.to_bytes()).then_some(record)
    }

    fn check(self) -> u64 {
        howdah_random::mix(self.counter ^ howdah_random::mix(self.grant ^ Self::KEY))
    }
}

/// Registers of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registers {
    /// Which file.
    pub file: usize,
    /// Which of them.
    pub range: Range<usize>,
}

impl Registers {
    fn overlap(&self, other: &Self) -> bool {
        self.file == other.file && self.range.start < other.range.end && other.range.start < self.range.end
    }

    fn each(&self) -> impl Iterator<Item = (usize, usize)> {
        let file = self.file;
        self.range.clone().map(move |register| (file, register))
    }
}

#[derive(Debug)]
struct Hold {
    who: String,
    registers: Registers,
    exclusive: bool,
    /// The server may not give it to others before.
    until: Instant,
}

#[derive(Debug, Default)]
struct Register {
    /// The last grant of any kind, and the last exclusive one.
    last: u64,
    last_exclusive: u64,
    /// The last record that was answered for, or seen.
    known: Record,
    /// Records that were sent since, and may be there.
    sent: Vec<Record>,
}

/// What the server promised.
#[derive(Debug, Default)]
pub struct Ledger {
    grants: u64,
    /// Those of what another had whose lease was over.
    overdue: u64,
    holds: BTreeMap<u64, Hold>,
    registers: BTreeMap<(usize, usize), Register>,
}

impl Ledger {
    /// A lock was granted, in an answer that was read at `now`, and is safe for as long as `until`: the grant's number.
    pub fn granted(
        &mut self,
        who: &str,
        registers: Registers,
        exclusive: bool,
        now: Instant,
        until: Instant,
    ) -> Result<u64, String> {
        let conflicts = |hold: &&Hold| hold.registers.overlap(&registers) && (exclusive || hold.exclusive);
        if let Some(hold) = self.holds.values().filter(|hold| hold.until > now).find(conflicts) {
            return Err(format!(
                "double grant: {registers:?} to {who} while {} has {:?}",
                hold.who, hold.registers
            ));
        }
        self.overdue += u64::from(self.holds.values().any(|hold| conflicts(&hold)));
        self.grants += 1;
        let grant = self.grants;
        for place in registers.each() {
            let register = self.registers.entry(place).or_default();
            register.last = grant;
            if exclusive {
                register.last_exclusive = grant;
            }
        }
        self.holds.insert(grant, Hold { who: who.to_owned(), registers, exclusive, until });
        Ok(grant)
    }

    /// The server let the holder of a grant go on with it, or reclaim it: nobody may have got it in between.
    pub fn continued(&mut self, grant: u64, until: Instant) -> Result<(), String> {
        let Some(hold) = self.holds.get_mut(&grant) else { return Ok(()) };
        hold.until = until;
        for place in hold.registers.each() {
            let Some(register) = self.registers.get(&place) else { continue };
            let latest = if hold.exclusive { register.last } else { register.last_exclusive };
            if latest > grant {
                return Err(format!(
                    "{} has {place:?} by grant {grant} after grant {latest} to another",
                    hold.who
                ));
            }
        }
        Ok(())
    }

    /// The holder of a grant has it no longer, or will say so now.
    pub fn ended(&mut self, grant: u64) {
        self.holds.remove(&grant);
    }

    /// What is written next into a register whose record was seen.
    pub fn write(&mut self, place: (usize, usize), grant: u64) -> Record {
        let register = self.registers.entry(place).or_default();
        let record = Record { counter: register.known.counter + 1, grant };
        register.sent.push(record);
        record
    }

    /// A record was written.
    pub fn written(&mut self, place: (usize, usize), record: Record) {
        let register = self.registers.entry(place).or_default();
        register.sent.retain(|sent| *sent != record);
        register.known = register.known.max(record);
    }

    /// A write was refused, and will not come.
    pub fn refused(&mut self, place: (usize, usize), record: Record) {
        self.registers.entry(place).or_default().sent.retain(|sent| *sent != record);
    }

    /// A register was read by one who holds it: it may say what was answered for, or what was sent since, and from now on that.
    pub fn seen(&mut self, place: (usize, usize), bytes: &[u8]) -> Result<(), String> {
        let record = self.may_be(place, bytes)?;
        let register = self.registers.entry(place).or_default();
        register.known = record;
        register.sent.clear();
        Ok(())
    }

    /// The same by one who holds nothing, while no call is carried out.
    pub fn may_be(&self, place: (usize, usize), bytes: &[u8]) -> Result<Record, String> {
        let Some(record) = Record::from_bytes(bytes) else {
            return Err(format!("register {place:?} holds no whole record: {bytes:02x?}"));
        };
        let unused = Register::default();
        let register = self.registers.get(&place).unwrap_or(&unused);
        if record == register.known || register.sent.contains(&record) {
            return Ok(record);
        }
        Err(format!(
            "register {place:?} says {record:?} instead of {:?} or {:?}",
            register.known, register.sent
        ))
    }

    /// Grants so far.
    pub fn grants(&self) -> u64 {
        self.grants
    }

    /// How much there was of it.
    pub fn figures(&self) -> String {
        let counted: u64 = self.registers.values().map(|register| register.known.counter).sum();
        format!(
            "{} grants ({} of what the silent had), registers raised {counted} times",
            self.grants, self.overdue
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn registers(range: Range<usize>) -> Registers {
        Registers { file: 0, range }
    }

    #[test]
    fn nobody_gets_what_another_has() {
        let (mut ledger, now) = (Ledger::default(), Instant::now());
        ledger.granted("a", registers(0..2), true, now, now + SECOND).expect("the first");
        assert!(ledger.granted("b", registers(1..3), false, now, now + SECOND).is_err());
        ledger.granted("b", registers(2..3), true, now, now + SECOND).expect("beside it");
        ledger
            .granted("b", registers(1..2), true, now + SECOND, now + SECOND * 2)
            .expect("its lease is over");
    }

    #[test]
    fn readers_share() {
        let (mut ledger, now) = (Ledger::default(), Instant::now());
        ledger.granted("a", registers(0..2), false, now, now + SECOND).expect("the first");
        let second = ledger.granted("b", registers(0..2), false, now, now + SECOND).expect("the second");
        assert!(ledger.granted("c", registers(0..1), true, now, now + SECOND).is_err());
        ledger.continued(second, now + SECOND).expect("no writer was there");
    }

    #[test]
    fn nobody_goes_on_after_another() {
        let (mut ledger, now) = (Ledger::default(), Instant::now());
        let first = ledger.granted("a", registers(0..2), true, now, now).expect("the first");
        ledger.continued(first, now).expect("nobody else");
        let second = ledger.granted("b", registers(0..1), false, now, now).expect("the second");
        ledger.ended(second);
        assert!(ledger.continued(first, now).is_err());
    }

    #[test]
    fn a_register_does_not_go_back() {
        let (mut ledger, place) = (Ledger::default(), (0, 0));
        ledger.seen(place, &[0; Record::SIZE]).expect("nothing is written");
        let first = ledger.write(place, 1);
        ledger.written(place, first);
        let second = ledger.write(place, 1);
        assert_eq!((first.counter, second.counter), (1, 2));
        ledger.may_be(place, &first.to_bytes()).expect("the second may not have come");
        ledger.seen(place, &second.to_bytes()).expect("or it has");
        assert!(ledger.seen(place, &first.to_bytes()).is_err());
        assert!(ledger.seen(place, &[0; Record::SIZE]).is_err());
        let mut torn = second.to_bytes();
        torn[7] ^= 1;
        assert!(ledger.seen(place, &torn).is_err());
    }
}
