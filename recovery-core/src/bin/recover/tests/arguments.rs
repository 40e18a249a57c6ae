//! What parses, and what it means.

use clap::{CommandFactory, Parser};
use recovery_core::units::{Durability, Namespace};

use crate::arguments::{Arguments, ColorWhen, Command, parse_namespace, parse_number};

fn parse(line: &str) -> Result<Arguments, String> {
    let words = std::iter::once("recover").chain(line.split_whitespace());
    Arguments::try_parse_from(words).map_err(|error| error.to_string().lines().next().unwrap().to_owned())
}

#[test]
fn the_command_line_is_well_formed() {
    Arguments::command().debug_assert();
}

#[test]
fn flags_stand_before_or_behind_the_directory() {
    for line in [
        "check --namespace 1/2/3 --durability synced --replicas 3 --json --color never DIR",
        "check DIR --namespace 1/2/3 --durability synced --replicas 3 --json --color never",
        "--json --color never check --replicas 3 DIR --namespace 1/2/3 --durability synced",
    ] {
        let arguments = parse(line).unwrap();
        assert!(arguments.json, "{line}");
        assert_eq!(arguments.color, ColorWhen::Never, "{line}");
        let Command::Check(partition) = arguments.command else { panic!("{line} is a check") };
        assert_eq!(partition.directory.to_str(), Some("DIR"), "{line}");
        assert_eq!(partition.namespace, Some(Namespace { stream: 1, topic: 2, partition: 3 }), "{line}");
        assert_eq!(Durability::from(partition.durability), Durability::Synced, "{line}");
        assert_eq!(partition.replicas, 3, "{line}");
    }
}

#[test]
fn what_is_left_out_has_a_default() {
    let arguments = parse("plan DIR").unwrap();
    assert!(!arguments.json);
    assert_eq!(arguments.color, ColorWhen::Auto);
    let Command::Plan(partition) = arguments.command else { panic!("it is a plan") };
    assert_eq!(partition.namespace, None);
    assert_eq!(Durability::from(partition.durability), Durability::Buffered);
    assert_eq!(partition.replicas, 1);
}

#[test]
fn a_wrong_command_line_gets_one_plain_sentence() {
    let sentence = |line: &str| parse(line).unwrap_err();
    assert_eq!(
        sentence("check DIR --namespace 1/2"),
        "error: invalid value '1/2' for '--namespace <S/T/P>': a namespace is three numbers, as in 1/0/0"
    );
    assert_eq!(
        sentence("check DIR --replicas 0"),
        "error: invalid value '0' for '--replicas <N>': 0 is not in 1..=255"
    );
    assert_eq!(sentence("accept DIR"), "error: unrecognized subcommand 'accept'");
    let wrong = |range: &str| sentence(&format!("accept-loss DIR --range {range}"));
    let lead = "error: invalid value '5' for '--range <FIRST-LAST>':";
    assert_eq!(wrong("5"), format!("{lead} a range is two offsets, both inclusive, as in 5-7"));
    let lead = "error: invalid value '7-5' for '--range <FIRST-LAST>':";
    assert_eq!(wrong("7-5"), format!("{lead} the range 7-5 ends before it begins"));
    assert!(wrong("1-18446744073709551616").contains("a range is two offsets"), "no u64");
    assert!(wrong("+1-2").contains("a range is two offsets"), "only digits");
    assert_eq!(sentence("check"), "error: the following required arguments were not provided:");
}

#[test]
fn a_namespace_is_three_plain_numbers_that_fit() {
    let sentence = |text: &str| parse_namespace(text).unwrap_err();
    assert_eq!(
        parse_namespace("1048575/4095/1048575"),
        Ok(Namespace { stream: 1_048_575, topic: 4095, partition: 1_048_575 })
    );
    assert_eq!(sentence("0/4096/0"), "a stream or partition number has 20 bits, a topic number 12");
    assert_eq!(sentence("01/0/0"), "the stream \"01\" is not a plain decimal number");
    assert_eq!(sentence("0/+1/0"), "the topic \"+1\" is not a plain decimal number");
    assert_eq!(sentence("0/0/4294967296"), "the partition \"4294967296\" is not a plain decimal number");
    assert_eq!(sentence("0/0/0/0"), "a namespace is three numbers, as in 1/0/0");
    assert_eq!(parse_number(""), None);
    assert_eq!(parse_number("0"), Some(0));
}
