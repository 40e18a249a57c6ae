//! Reads values that have parts: where a plant goes, the name of a field, how often, runs of offsets.

use kdl::KdlValue;
use recovery_core::units::Offset;

use super::value::{Positive, Unfit, Value, decimal, text};
use crate::schedule::fault::Times;
use crate::schedule::field::{BatchField, FrameField, HeaderField, IndexField, LedgerField, SuperblockField};
use crate::schedule::step::{BatchId, OffsetRange};
use crate::schedule::word::Word;

/// `at=` of a plant.
pub(super) enum PlantAt {
    End,
    Batch(BatchId),
}

impl Value for PlantAt {
    const WANTED: &'static str = "\"end\" or \"batch:ID\"";

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        match text(value)? {
            "end" => Ok(Self::End),
            other => {
                let id = other.strip_prefix("batch:").and_then(decimal).ok_or(Unfit::Type)?;
                Ok(Self::Batch(BatchId(id)))
            }
        }
    }
}

/// `times=` of a fault.
pub(super) struct TimesValue(pub(super) Times);

impl Value for TimesValue {
    const WANTED: &'static str = "a number of at least 1 or \"always\"";

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        match value.as_string() {
            Some("always") => Ok(Self(Times::Always)),
            Some(_) => Err(Unfit::Type),
            None => Positive::read(value).map(|count| Self(Times::Count(count.0))),
        }
    }
}

/// `served=`: ascending runs of offsets, both ends inclusive.
pub(super) struct Served(pub(super) Vec<OffsetRange>);

impl Value for Served {
    const WANTED: &'static str = "ascending runs of offsets as \"0..8\" or \"0..3,7..9\", or \"\" for none";

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        let text = text(value)?;
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let runs: Option<Vec<OffsetRange>> = text.split(',').map(run).collect();
        let runs = runs.ok_or(Unfit::Type)?;
        let ascend = runs.windows(2).all(|pair| pair[0].last < pair[1].first);
        if ascend { Ok(Self(runs)) } else { Err(Unfit::Type) }
    }
}

fn run(text: &str) -> Option<OffsetRange> {
    let (first, last) = text.split_once("..")?;
    let range = OffsetRange { first: Offset::new(decimal(first)?), last: Offset::new(decimal(last)?) };
    (range.first <= range.last).then_some(range)
}

/// `field=` of a structure whose fields all carry one prefix.
pub(super) trait Prefixed: Word {
    const PREFIX: &'static str;
}

impl Prefixed for IndexField {
    const PREFIX: &'static str = "index.";
}

impl Prefixed for LedgerField {
    const PREFIX: &'static str = "ledger.";
}

impl Prefixed for SuperblockField {
    const PREFIX: &'static str = "superblock.";
}

/// `field=` with its prefix.
pub(super) struct FieldText<F>(pub(super) F);

impl<F: Prefixed> Value for FieldText<F> {
    const WANTED: &'static str = F::KIND;

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        let found = text(value)?.strip_prefix(F::PREFIX).and_then(F::from_word);
        found.map(Self).ok_or_else(|| Unfit::Word { kind: F::KIND, words: words::<F>(F::PREFIX) })
    }
}

/// `field=` of a batch.
pub(super) struct BatchFieldText(pub(super) BatchField);

impl Value for BatchFieldText {
    const WANTED: &'static str = "a field of a batch";

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        batch_field(text(value)?).map(Self).ok_or_else(|| {
            let words = words::<HeaderField>("header.") + " " + &words::<FrameField>("frame.N.");
            Unfit::Word { kind: Self::WANTED, words }
        })
    }
}

fn batch_field(text: &str) -> Option<BatchField> {
    if let Some(field) = text.strip_prefix("header.") {
        return HeaderField::from_word(field).map(BatchField::Header);
    }
    let (frame, field) = text.strip_prefix("frame.")?.split_once('.')?;
    Some(BatchField::Frame { frame: decimal(frame)?, field: FrameField::from_word(field)? })
}

fn words<F: Word>(prefix: &str) -> String {
    let words: Vec<String> = F::WORDS.iter().map(|field| format!("{prefix}{}", field.word())).collect();
    words.join(" ")
}
