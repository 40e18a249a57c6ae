//! One verification: what it takes of an allowance, and which reads it makes.

use super::{Log, batch};
use crate::format::{BATCH_HEADER_BYTES, BatchHeader, FrameHeader};
use crate::observe::drive::{Allowance, Drive, Drover};
use crate::observe::window::Window;
use crate::observe::{Depth, Meter, StopDetail, Undecodable, Verifier};

/// A step that no verification here uses up.
const STEP: u64 = 1 << 20;

fn drive(log: &Log, depth: Depth, allowance: &mut Allowance, window: &mut Window, limit: u64) -> Drive {
    let mut verifier = Verifier::new();
    let header = BatchHeader::read(log.bytes.first_chunk().expect("a batch has a header"));
    verifier.begin(&header, depth).expect("its messages fit its length");
    let mut meter = Meter::default();
    meter.begin_step(limit);
    let mut drover =
        Drover { source: &log.source(), window, base: 0, ahead: u64::MAX, meter: &mut meter, allowance };
    drover.drive(&mut verifier).expect("no read fails")
}

/// Verifies within an allowance, through a window that shows nothing yet and through one that shows everything.
#[track_caller]
fn check_within(log: &Log, depth: Depth, work: u64, reads: u64, expected: Drive) {
    let mut meter = Meter::default();
    meter.begin_step(STEP);
    let mut full = Window::new(log.bytes.len());
    full.ensure(&log.source(), 0, log.bytes.len(), STEP, &mut meter).expect("no read fails");
    for (window, shows) in [(&mut Window::new(4096), "nothing"), (&mut full, "everything")] {
        let found = drive(log, depth, &mut Allowance::new(work, reads), window, STEP);
        assert_eq!(found, expected, "{work} and {reads} through a window that shows {shows}");
    }
}

/// A batch of messages with payloads of these lengths takes this allowance, and none smaller.
#[track_caller]
fn check(payloads: &[usize], depth: Depth, work: u64, reads: u64) {
    let log = Log::new(batch(0, payloads));
    check_within(&log, depth, work, reads, Drive::Whole(0));
    check_within(&log, depth, work - 1, reads, Drive::Exhausted);
    check_within(&log, depth, work, reads - 1, Drive::Exhausted);
}

#[test]
fn a_skeleton_takes_its_frame_headers_and_looks_at_what_lies_between_near_ones() {
    check(&[0], Depth::Skeleton, 56, 48);
    check(&[100; 5], Depth::Skeleton, 5 * 56, 5 * 148);
    check(&[512], Depth::Skeleton, 56, 560);
    check(&[513], Depth::Skeleton, 56, 48);
    check(&[2000, 100, 2000], Depth::Skeleton, 3 * 56, 48 + 148 + 48);
}

#[test]
fn a_whole_verification_takes_every_byte() {
    check(&[0], Depth::Full, 96, 48);
    check(&[100; 5], Depth::Full, 5 * 196, 5 * 148);
    check(&[513], Depth::Full, 96 + 513, 561);
    check(&[3000], Depth::Full, 96 + 3000, 3048);
}

#[test]
fn a_frame_that_passes_the_end_of_its_batch_takes_its_header_only() {
    let mut bytes = batch(0, &[0]);
    let frame: &mut [u8; 48] = bytes[BATCH_HEADER_BYTES..].first_chunk_mut().expect("a batch has a frame");
    *frame = FrameHeader { payload_length: 400, ..FrameHeader::read(frame) }.encode();
    // So that the file goes on where the batch ends.
    bytes.extend([0; 1000]);
    let log = Log::new(bytes);
    let fault = Drive::Fault(StopDetail::Undecodable(Undecodable::Frame { index: 0 }));
    check_within(&log, Depth::Skeleton, 56, 48, fault);
    check_within(&log, Depth::Full, 96, 48, fault);
}

#[test]
fn behind_a_frame_that_was_stepped_over_no_more_is_read_ahead_than_was_looked_at_since() {
    let log = Log::new(batch(0, &[5000, 100, 100, 100, 100]));
    let allowance = &mut Allowance::new(10_000, 10_000);
    let found = drive(&log, Depth::Skeleton, allowance, &mut Window::new(4096), STEP);
    assert_eq!(found, Drive::Whole(0));
    assert_eq!(log.reads(), [(256, 48), (5304, 48), (5452, 148), (5600, 296)]);
}

#[test]
fn a_walk_reads_as_much_at_once_as_its_window_holds() {
    let log = Log::new(batch(0, &[300; 20]));
    let found = drive(&log, Depth::Full, &mut { Allowance::UNLIMITED }, &mut Window::new(4096), STEP);
    assert_eq!(found, Drive::Whole(0));
    assert_eq!(log.reads(), [(256, 4096), (4352, 2864)]);
}

#[test]
fn a_step_that_just_suffices_for_a_frame_header_takes_it() {
    let log = Log::new(batch(0, &[0]));
    for (limit, expected) in [(95, Drive::Paused), (96, Drive::Whole(0))] {
        let allowance = &mut Allowance::new(56, 48);
        let found = drive(&log, Depth::Skeleton, allowance, &mut Window::new(512), limit);
        assert_eq!(found, expected, "{limit}");
    }
}
