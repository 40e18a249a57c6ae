//! Which letters a log gets.

use recovery_core::observe::{Residue, SegmentFacts};

use super::sample::{find, mark, torn, whole};
use crate::strip::{CELLS, Region, RegionKind, draw, legend, regions};

/// Runs of one letter with their lengths, such as `p71 T1`.
fn runs(regions: &[Region]) -> String {
    let drawn = anstream::adapter::strip_str(&draw(regions)).to_string();
    let letters: Vec<char> = drawn.chars().collect();
    let inner = &letters[1..letters.len() - 1];
    assert!(letters[0] == '[' && letters[letters.len() - 1] == ']', "{drawn}");
    if letters != "[empty]".chars().collect::<Vec<_>>() {
        assert_eq!(inner.len(), CELLS, "{drawn}");
    }
    let runs: Vec<String> =
        inner.chunk_by(|left, right| left == right).map(|run| format!("{}{}", run[0], run.len())).collect();
    runs.join(" ")
}

fn check(facts: &SegmentFacts, is_fenced: bool, expected_regions: &str, expected_runs: &str) {
    let regions = regions(facts, is_fenced);
    let listed: Vec<String> = regions
        .iter()
        .map(|region| format!("{}..{} {}", region.from, region.to, region.kind.word()))
        .collect();
    assert_eq!(listed.join(", "), expected_regions);
    assert_eq!(runs(&regions), expected_runs);
}

#[test]
fn a_whole_log_is_proven_from_end_to_end() {
    check(&whole(0, 4), false, "0..4000 proven", "p72");
}

#[test]
fn an_empty_log_says_so() {
    assert_eq!(draw(&regions(&whole(0, 0), false)), "[empty]");
}

#[test]
fn a_byte_of_residue_gets_a_letter_of_its_own() {
    let facts = torn(0, 1_000_000, Residue::Noise, 1);
    check(&facts, false, "0..1000000000 proven, 1000000000..1000000001 torn", "p71 T1");
}

#[test]
fn regions_share_the_letters_by_size() {
    check(&torn(0, 1, Residue::Zeros, 1000), false, "0..1000 proven, 1000..2000 zeros", "p36 Z36");
    check(&torn(0, 0, Residue::Unproven, 5), false, "0..5 not judged", "?72");
}

#[test]
fn what_has_been_cut_off_lies_in_the_fence_unless_it_is_all_zeros() {
    check(&torn(0, 1, Residue::Noise, 1000), true, "0..1000 proven, 1000..2000 fenced", "p36 F36");
    check(&torn(0, 1, Residue::Zeros, 1000), true, "0..1000 proven, 1000..2000 zeros", "p36 Z36");
}

#[test]
fn survivors_and_strays_stand_out_of_the_torn_bytes_around_them() {
    let mut facts = torn(0, 1, Residue::Survivor, 5000);
    facts.residue.survivors = vec![find(4000, 40, 3)];
    facts.residue.strays = vec![find(1500, 7, 9)];
    check(
        &facts,
        false,
        "0..1000 proven, 1000..1500 torn, 1500..2500 stray, 2500..4000 torn, 4000..5000 survivor, \
         5000..6000 torn",
        "p12 T6 X12 T18 S12 T12",
    );
}

#[test]
fn finds_that_overlap_or_pass_the_end_leave_no_gap() {
    let mut facts = torn(0, 1, Residue::Stray, 2000);
    facts.residue.strays = vec![find(1200, 7, 9), find(1300, 7, 9), find(2900, 7, 9)];
    check(
        &facts,
        false,
        "0..1000 proven, 1000..1200 torn, 1200..2200 stray, 2200..2300 stray, 2300..2900 torn, \
         2900..3000 stray",
        "p23 T5 X27 T14 X3",
    );
}

#[test]
fn bytes_that_were_durable_and_are_gone_are_missing() {
    let mut facts = whole(0, 1);
    facts.mark = Some(mark(0, 2000, 20));
    check(&facts, false, "0..1000 proven, 1000..2000 missing", "p36 M36");
}

#[test]
fn with_more_regions_than_letters_the_worst_of_neighbours_is_seen() {
    let region = |kind, from: u64| Region { kind, from, to: from + 10 };
    let mut all: Vec<Region> = (0..200).map(|number| region(RegionKind::Proven, number * 10)).collect();
    all[100].kind = RegionKind::Survivor;
    all[101].kind = RegionKind::Torn;
    assert_eq!(runs(&all), "p36 S1 p35");
}

#[test]
fn the_legend_names_what_occurs_and_nothing_else() {
    let legend = legend(&[RegionKind::Torn, RegionKind::Proven, RegionKind::Torn]);
    assert_eq!(anstream::adapter::strip_str(&legend).to_string(), "p proven  T torn");
}

#[test]
fn no_two_kinds_share_a_letter() {
    let letters: std::collections::BTreeSet<char> =
        RegionKind::ALL.into_iter().map(RegionKind::letter).collect();
    assert_eq!(letters.len(), RegionKind::ALL.len());
}
