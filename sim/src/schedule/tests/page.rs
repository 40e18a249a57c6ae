//! The page on the language names every word of it.

use recovery_core::observe::{Evidence, IndexState, Residue, Stop};
use recovery_core::storage::Call;
use recovery_core::units::Durability;

use crate::schedule::{
    ActionWord, DispositionWord, ErrorClass, FaultKind, FileWord, Filesystem, Fill, FrameField, HeaderField,
    IndexField, LinkState, ReasonWord, Regime, Restart, SizeChoice, StatusWord, StrayEntry, SurvivorsWord,
    SyncStage, Word,
};

const PAGE: &str = include_str!("../../../../docs/scenarios.md");

/// Every word must stand on the page, between backticks or quotes, or in a list of them.
fn check<W: Word>() {
    let is_end = |letter: char| !letter.is_alphanumeric() && letter != '-';
    let on_page: std::collections::BTreeSet<&str> = PAGE.split(is_end).collect();
    let missing: Vec<&str> =
        W::WORDS.iter().map(|word| word.word()).filter(|word| !on_page.contains(word)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "{} is missing", W::KIND);
}

#[test]
fn the_page_on_scenarios_names_every_word_of_the_language() {
    check::<Filesystem>();
    check::<Regime>();
    check::<Durability>();
    check::<Restart>();
    check::<SyncStage>();
    check::<SurvivorsWord>();
    check::<Fill>();
    check::<SizeChoice>();
    check::<Call>();
    check::<FaultKind>();
    check::<StrayEntry>();
    check::<FileWord>();
    check::<HeaderField>();
    check::<FrameField>();
    check::<IndexField>();
    check::<LinkState>();
}

#[test]
fn the_page_on_scenarios_names_every_word_of_an_expectation() {
    check::<DispositionWord>();
    check::<ReasonWord>();
    check::<ActionWord>();
    check::<ErrorClass>();
    check::<StatusWord>();
    check::<Stop>();
    check::<Residue>();
    check::<Evidence>();
    check::<IndexState>();
}
