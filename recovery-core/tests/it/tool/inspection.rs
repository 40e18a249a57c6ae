//! What `inspect` shows of a real torn batch.

use super::{check, look};
use crate::fixture::Fixture;

#[test]
fn inspection_shows_the_torn_batch_and_what_is_wrong_with_it() {
    let fixture = Fixture::torn_tail();
    check(
        &look(&fixture, "inspect DIR/00000000000000000050.log@3639704"),
        "\
exit 0
--- stdout
batch in 00000000000000000050.log at byte 3639704 of 3641344
         3639704  partition-id     0
         3639712  base-offset      90
         3639720  base-timestamp   1795966570220287
         3639728  origin-timestamp 1795966570218169
WRONG    3639736  batch-length     873051 (1640 bytes are left in the file)
         3639744  batch-checksum   2984939bc103256d (not computed: not every
                                   frame is there)
WRONG    3639752  message-count    10 (0 whole frames up to byte 3639960, which
                                   is not the end of the batch)
ok       3639756  reserved         zero
WRONG    3639960  frame 0          delta 0, payload 81923, headers 0 (it takes
                                   81971 bytes, and 1384 are left)
WRONG    3639704  verdict          short (873051 bytes are needed and 1640 are
                                   left)
4 wrong rows: batch-length, message-count, frame 0, verdict
",
    );
    let object = look(&fixture, "inspect --json DIR/00000000000000000050.log@3639704").object();
    let wrong: Vec<&str> = object["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["check"] == "wrong")
        .map(|row| row["field"].as_str().unwrap())
        .collect();
    assert_eq!(wrong, ["batch-length", "message-count", "frame 0", "verdict"]);
    check(
        &look(&fixture, "inspect DIR/nothing"),
        "\
exit 2
--- stderr
error: there is no file streams/1/topics/0/partitions/0/nothing
",
    );
}
