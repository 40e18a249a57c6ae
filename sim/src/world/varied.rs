//! What was changed for a second look at a start, and what that came to: the world in which a check that compares
//! two starts fails.
//!
//! Promises: what was changed is data, put together as it is done and put into words only where a check has failed.
//! Leaves out: judging it.

use std::fmt;

use recovery_core::decide::LostRange;
use recovery_core::storage::Call;
use recovery_core::units::{Namespace, Offset, SegmentStart};

use super::boot::Boot;
use super::laid::Laid;
use super::told::short_path;
use crate::oracle::judge::verdict_code;
use crate::oracle::served_log::for_each;
use crate::schedule::{CallPoint, HeaderField, Restart, Survivors, Word};

/// A second look at a start, in which a check failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varied {
    /// What was changed.
    pub change: Change,
    /// What it came to: the disposition, or why it is refused.
    pub verdict: &'static str,
    /// The offset of its next message.
    pub next_offset: Option<Offset>,
    /// What the core says about it, if it does not simply serve.
    pub remark: Option<String>,
}

/// What was changed against the start that the schedule asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The process ended behind it, and the partition was started once more.
    Repeated {
        /// The first call of the second start that changes something.
        first_change: Option<CallTold>,
    },
    /// The node went down in it, and the partition was started once more.
    CutShort {
        /// Before which of its calls, counted from 1.
        call: u32,
        /// That call.
        about: Option<CallTold>,
        /// How.
        restart: Restart,
        /// What survived of what was not durable.
        survivors: Survivors,
    },
    /// The process ended behind it, nothing failed any more, and the partition was started once more.
    Cleared,
    /// Its bytes were shown in another guise.
    Guise(Guise),
    /// Bytes of a log were damaged besides.
    Damaged(MoreDamage),
    /// One of its reads went wrong, once.
    Misread {
        /// How.
        misread: Misread,
        /// Which of its calls, counted from 1.
        call: u32,
        /// That call, where a check has failed.
        about: Option<CallTold>,
    },
    /// Every read came short.
    ShortReads {
        /// How many bytes came at most, if not half of what was asked for.
        bytes: Option<u64>,
        /// The window that the core read through.
        window_bytes: u64,
        /// Bytes of its steps.
        step_bytes: u64,
    },
    /// Signals interrupted calls, each several times in a row.
    Signals {
        /// Which, of each kind.
        calls: Vec<CallPoint>,
    },
    /// Bait lay behind the newest log.
    Baited,
    /// Something else lay there, or the ledger was shorter.
    Laid(Laid),
    /// An operator named what is not lost.
    WrongWord {
        /// What was named.
        named: Vec<LostRange>,
        /// What the core answered.
        answer: &'static str,
    },
}

/// How a read goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misread {
    /// It shows one bit wrongly.
    Flipped,
    /// It shows zeros.
    Zeros,
    /// It fails with `EIO`.
    Failed,
    /// It shows another file.
    Elsewhere,
}

impl Misread {
    /// Each way in which one read goes wrong that needs no other file.
    pub(super) const ONCE: [Self; 3] = [Self::Flipped, Self::Zeros, Self::Failed];
}

/// The same bytes in another guise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guise {
    /// The directory was listed in another order.
    ListingOrder,
    /// No clean page was cached.
    ColdCache,
    /// All indexes were gone.
    NoIndexes,
    /// The core read through another window.
    OtherWindow,
    /// A bit of a field was flipped up, and in the start that it is compared with another one down.
    Flipped(Spot),
    /// The logs of another partition were zeros.
    DamagedSibling(Namespace),
    /// No damage but a crash had left them.
    CrashAlone,
}

/// More damage to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoreDamage {
    /// A bit is flipped.
    Flip(Spot, u8),
    /// Bytes are zeros.
    Zeros(Spot, u64),
    /// Everything from there on is noise.
    Noise(Spot),
}

/// A byte of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The segment.
    pub segment: SegmentStart,
    /// The byte.
    pub position: u64,
    /// The batch that it lies in, as far as [`Varied::of`] has looked.
    pub batch: Option<u64>,
}

/// A storage call, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTold {
    /// Which call.
    pub call: Call,
    /// The path that it was about, where it is known.
    pub path: Option<String>,
}

impl Varied {
    /// What a start came to that was changed against `first`.
    pub(super) fn of(mut change: Change, first: &Boot, again: &Boot) -> Self {
        if let Some(spot) = change.spot_mut() {
            spot.batch = spot.batch_in(first);
        }
        let verdict = &again.verdict;
        let (verdict, next_offset) = (verdict_code(verdict), verdict.next_offset);
        Self { change, verdict, next_offset, remark: again.remark() }
    }
}

impl Change {
    fn spot_mut(&mut self) -> Option<&mut Spot> {
        match self {
            Self::Guise(Guise::Flipped(spot))
            | Self::Damaged(
                MoreDamage::Flip(spot, _) | MoreDamage::Zeros(spot, _) | MoreDamage::Noise(spot),
            ) => Some(spot),
            Self::Repeated { .. }
            | Self::CutShort { .. }
            | Self::Cleared
            | Self::Misread { .. }
            | Self::ShortReads { .. }
            | Self::Signals { .. }
            | Self::Baited
            | Self::Laid(_)
            | Self::WrongWord { .. }
            | Self::Guise(
                Guise::ListingOrder
                | Guise::ColdCache
                | Guise::NoIndexes
                | Guise::OtherWindow
                | Guise::DamagedSibling(_)
                | Guise::CrashAlone,
            ) => None,
        }
    }
}

impl Spot {
    /// A byte of a log, of which no more is known.
    pub(super) const fn new(segment: SegmentStart, position: u64) -> Self {
        Self { segment, position, batch: None }
    }

    /// The batch that lay there before a start.
    fn batch_in(self, boot: &Boot) -> Option<u64> {
        let mut batch = None;
        if let Some(before) = &boot.before {
            // What does not go on in batches has none to name.
            let _is_whole = for_each(&before.directory, &boot.facts, |lying| {
                let range = lying.position..lying.position + lying.bytes.len() as u64;
                if lying.segment == self.segment && range.contains(&self.position) {
                    batch = Some(lying.position);
                }
            });
        }
        batch
    }

    /// Where in its batch it lies: a field of the header, or what follows the header.
    fn part(self) -> Option<String> {
        let batch = self.batch?;
        let at = self.position - batch;
        let field = HeaderField::WORDS.iter().find(|field| {
            let span = field.span();
            (u64::from(span.at)..u64::from(span.at + span.width_bytes)).contains(&at)
        });
        let part = match field {
            Some(HeaderField::Reserved) => "the reserved bytes",
            Some(field) => field.code(),
            None => "the messages",
        };
        Some(format!("{part} of the batch at byte {batch}"))
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { segment, position, .. } = self;
        write!(formatter, "byte {position} of segment {segment}")?;
        self.part().map_or(Ok(()), |part| write!(formatter, " ({part})"))
    }
}

impl fmt::Display for CallTold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.call.code())?;
        self.path.as_ref().map_or(Ok(()), |path| write!(formatter, " of {}", short_path(path)))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { first_change } => {
                formatter.write_str("the process ended right behind it")?;
                let Some(call) = first_change else { return Ok(()) };
                write!(formatter, ", and the first call of the next start that changes something is {call}")
            }
            Self::CutShort { call, about, restart, survivors } => {
                let what = match restart {
                    Restart::Process => "the process ended",
                    Restart::Os => "the kernel went down",
                    Restart::Power => "the power failed",
                };
                write!(formatter, "{what} before call {call}")?;
                about.as_ref().map_or(Ok(()), |about| write!(formatter, " ({about})"))?;
                match (restart, survivors) {
                    (Restart::Process, _) => Ok(()),
                    (Restart::Os | Restart::Power, Survivors::All) => {
                        formatter.write_str(", all that was written survived")
                    }
                    (Restart::Os | Restart::Power, _) => {
                        formatter.write_str(", what was not durable was lost")
                    }
                }
            }
            Self::Cleared => formatter.write_str("the process ended, and nothing failed any more"),
            Self::Guise(guise) => guise.fmt(formatter),
            Self::Damaged(damage) => damage.fmt(formatter),
            Self::ShortReads { bytes, window_bytes, step_bytes } => {
                match bytes {
                    Some(bytes) => write!(formatter, "each read came with {bytes} bytes at most")?,
                    None => formatter.write_str("each read came half as long as it was asked for")?,
                }
                write!(formatter, ", through a window of {window_bytes}, in steps of {step_bytes}")
            }
            Self::Signals { calls } => {
                formatter.write_str("signals interrupted, several times in a row,")?;
                let mut before = "";
                for CallPoint { on, call } in calls {
                    write!(formatter, "{before} {} {call}", on.map_or("call", Call::code))?;
                    before = ",";
                }
                Ok(())
            }
            Self::Laid(laid) => laid.fmt(formatter),
            Self::Baited => formatter.write_str("bait lay behind the newest log, batches inside of batches"),
            Self::WrongWord { named, answer } => {
                formatter.write_str("an operator gave up")?;
                if named.is_empty() {
                    formatter.write_str(" nothing")?;
                }
                let mut before = "";
                for range in named {
                    write!(formatter, "{before} {range}")?;
                    before = ",";
                }
                write!(formatter, ", and the answer was {answer}")
            }
            Self::Misread { misread, call, about } => {
                write!(formatter, "call {call}")?;
                about.as_ref().map_or(Ok(()), |about| write!(formatter, " ({about})"))?;
                misread.fmt(formatter)
            }
        }
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Flipped => " showed a flipped bit, once",
            Self::Zeros => " showed zeros, once",
            Self::Failed => " failed with EIO, once",
            Self::Elsewhere => " showed another one, once",
        })
    }
}

impl fmt::Display for Guise {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ListingOrder => formatter.write_str("the listing came in another order"),
            Self::ColdCache => formatter.write_str("no page was cached"),
            Self::NoIndexes => formatter.write_str("all indexes were gone"),
            Self::OtherWindow => formatter.write_str("the core read through another window"),
            Self::Flipped(spot) => {
                write!(formatter, "a bit of {spot} was flipped up, against one that was flipped down")
            }
            Self::DamagedSibling(namespace) => {
                write!(formatter, "every log of partition {namespace} was zeros")
            }
            Self::CrashAlone => formatter.write_str("a crash alone had left the same bytes"),
        }
    }
}

impl fmt::Display for MoreDamage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flip(spot, bit) => write!(formatter, "bit {bit} of {spot} was flipped besides"),
            Self::Zeros(spot, 1) => write!(formatter, "{spot} was zero besides"),
            Self::Zeros(spot, length) => {
                write!(formatter, "{length} bytes from {spot} on were zeros besides")
            }
            Self::Noise(spot) => write!(formatter, "all from {spot} on was noise besides"),
        }
    }
}

impl fmt::Display for Varied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, verdict, next_offset, remark } = self;
        write!(formatter, "in a second look at this start {change}; it came to {verdict}")?;
        next_offset.map_or(Ok(()), |next| write!(formatter, ", next offset {next}"))?;
        remark.as_ref().map_or(Ok(()), |remark| write!(formatter, " ({remark})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: Change, expected: &str) {
        let varied = Varied { change, verdict: "serve", next_offset: Some(Offset::new(7)), remark: None };
        let expected = format!("in a second look at this start {expected}; it came to serve, next offset 7");
        assert_eq!(varied.to_string(), expected);
    }

    fn spot(position: u64) -> Spot {
        Spot { batch: Some(2042), ..Spot::new(SegmentStart::ZERO, position) }
    }

    #[test]
    fn a_crash_is_told_with_the_call_that_it_came_before() {
        let path = Some("streams/1/topics/1/partitions/0/ledger".to_owned());
        let write = CallTold { call: Call::Write, path };
        let cut = |restart, survivors, about| Change::CutShort { call: 27, about, restart, survivors };
        let process = cut(Restart::Process, Survivors::All, Some(write.clone()));
        check(process, "the process ended before call 27 (write of 1/1/0/ledger)");
        let none = cut(Restart::Power, Survivors::None, None);
        check(none, "the power failed before call 27, what was not durable was lost");
        let all = cut(Restart::Power, Survivors::All, None);
        check(all, "the power failed before call 27, all that was written survived");
        let expected = "the process ended right behind it, and the first call of the next start that changes \
                        something is write of 1/1/0/ledger";
        check(Change::Repeated { first_change: Some(write) }, expected);
        check(Change::Cleared, "the process ended, and nothing failed any more");
    }

    #[test]
    fn damage_is_told_with_the_field_that_it_hits() {
        let check = |damage, expected| check(Change::Damaged(damage), expected);
        let expected =
            "bit 3 of byte 2050 of segment 0 (base-offset of the batch at byte 2042) was flipped besides";
        check(MoreDamage::Flip(spot(2050), 3), expected);
        let expected = "300 bytes from byte 2142 of segment 0 (the reserved bytes of the batch at byte 2042) on were \
                        zeros besides";
        check(MoreDamage::Zeros(spot(2142), 300), expected);
        let expected =
            "all from byte 2400 of segment 0 (the messages of the batch at byte 2042) on was noise besides";
        check(MoreDamage::Noise(spot(2400)), expected);
        check(
            MoreDamage::Noise(Spot::new(SegmentStart::ZERO, 5)),
            "all from byte 5 of segment 0 on was noise besides",
        );
    }

    #[test]
    fn a_read_that_goes_wrong_is_told_with_its_file() {
        let path = Some("streams/1/topics/1/partitions/0/ledger".to_owned());
        let about = Some(CallTold { call: Call::Read, path });
        let misread = |misread, about| Change::Misread { misread, call: 9, about };
        check(misread(Misread::Flipped, about), "call 9 (read of 1/1/0/ledger) showed a flipped bit, once");
        check(misread(Misread::Zeros, None), "call 9 showed zeros, once");
        check(misread(Misread::Failed, None), "call 9 failed with EIO, once");
        let short = |bytes| Change::ShortReads { bytes, window_bytes: 1024, step_bytes: 9000 };
        check(
            short(None),
            "each read came half as long as it was asked for, through a window of 1024, in steps of 9000",
        );
        check(
            short(Some(700)),
            "each read came with 700 bytes at most, through a window of 1024, in steps of 9000",
        );
    }

    #[test]
    fn what_signals_bait_and_operators_do_is_told() {
        let at = |on, call| CallPoint { on: Some(on), call };
        let calls = vec![at(Call::Read, 3), at(Call::List, 1)];
        check(Change::Signals { calls }, "signals interrupted, several times in a row, read 3, list 1");
        let told = "the ledger was shorter by the zeros that it ended in, 2 of them";
        check(Change::Laid(Laid::ShorterLedger { zeros: 2 }), told);
        let told = "a damaged batch lay behind the newest log, and a batch in its message, which was whole, and call 9 \
                    showed zeros, once";
        check(Change::Laid(Laid::Misread { is_bait: false, misread: Misread::Zeros, call: 9 }), told);
        let told = "batches inside of batches lay behind the newest log, and a whole one behind them, and call 9 showed \
                    zeros, once";
        check(Change::Laid(Laid::Misread { is_bait: true, misread: Misread::Zeros, call: 9 }), told);
        check(Change::Baited, "bait lay behind the newest log, batches inside of batches");
        let range = |first, last| LostRange { first: Offset::new(first), last: Offset::new(last) };
        let named = vec![range(0, 4), range(9, 9)];
        let expected = "an operator gave up 0 to 4, 9 to 9, and the answer was accepted";
        check(Change::WrongWord { named, answer: "accepted" }, expected);
        let expected = "an operator gave up nothing, and the answer was accepted";
        check(Change::WrongWord { named: Vec::new(), answer: "accepted" }, expected);
    }

    #[test]
    fn another_guise_is_told() {
        check(Change::Guise(Guise::ListingOrder), "the listing came in another order");
        let sibling = Namespace { stream: 1, topic: 1, partition: 3 };
        check(Change::Guise(Guise::CrashAlone), "a crash alone had left the same bytes");
        check(Change::Guise(Guise::DamagedSibling(sibling)), "every log of partition 1/1/3 was zeros");
    }
}
