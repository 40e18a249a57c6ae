//! The reference and the core on the same images of every shape: they must agree.

use proptest::collection::vec;
use proptest::prelude::*;
use recovery_core::decide::{Verdict, decide};
use recovery_core::observe::{Expectation, Observation, Observed, Progress, Workspace};
use recovery_core::storage::{Name, PartitionDirectory};

use super::image_storage::ImageStorage;
use super::render;
use super::variety::{Tape, directory};
use crate::oracle::Image;
use crate::oracle::reference::agrees;
use crate::oracle::specimen::Directory;

/// What the core finds in an image and concludes from it.
pub(super) fn run_core(
    image: &Image,
    expectation: Expectation,
    window: usize,
    limit: u64,
) -> (Observed, Verdict) {
    let storage = ImageStorage(image);
    let partition = PartitionDirectory { parent: (), directory: (), name: Name::new(b"partition").unwrap() };
    let mut workspace = Workspace::new(window);
    let mut observation = Observation::new(expectation, &mut workspace);
    while observation.step(&storage, &partition, &mut workspace, limit) == Progress::More {}
    let observed = observation.finish();
    let verdict = match observed.failure {
        Some(failure) => Verdict::unavailable(failure, &observed.facts.segments),
        None => decide(&observed.facts),
    };
    (observed, verdict)
}

fn check_agreement(directory: &Directory, window: usize, limit: u64) -> Result<(), TestCaseError> {
    let reference = directory.recover();
    let (observed, verdict) = run_core(&directory.image, directory.expectation(), window, limit);
    let facts = observed.failure.is_none().then_some(&observed.facts);
    if observed.facts.ledger.known().is_some_and(|ledger| ledger.segments.is_empty()) {
        // Whether a ledger of which no mark is left knows anything is open in DESIGN section 4.
        return Ok(());
    }
    if let Err(violation) = agrees(&reference, facts, &verdict) {
        let reference = render(&reference);
        return Err(TestCaseError::fail(format!(
            "{violation}\n\nreference: {reference}\n\ncore: {verdict:#?}\n{:#?}\n{:?}",
            observed.facts.segments, observed.facts.ledger
        )));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    #[test]
    fn the_core_and_the_reference_agree_on_damaged_directories(
        words in vec(any::<u64>(), 0..160),
        window in prop::sample::select(vec![512_usize, 700, 4096, 65_536]),
        limit in prop::sample::select(vec![512_u64, 1000, 1_000_000]),
    ) {
        check_agreement(&directory(&mut Tape::new(&words)), window, limit)?;
    }
}
