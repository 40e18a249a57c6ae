//! What the names in a partition directory say (IGGY_FORMAT section 1, CONTRACTS 2).

/// The start of the segment whose log has this name: exactly 20 digits of a u64 and `.log`.
pub(super) fn segment_of_log(name: &[u8]) -> Option<u64> {
    let stem = name.strip_suffix(b".log")?;
    if stem.len() != 20 || !stem.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Twenty digits can spell a number that is no u64: then no segment has that name.
    std::str::from_utf8(stem).ok()?.parse().ok()
}

/// Whether a name claims to be a log.
pub(super) fn is_log(name: &[u8]) -> bool {
    name.ends_with(b".log")
}

/// The name of a segment's index.
pub(super) fn index_name(segment: u64) -> [u8; 26] {
    let mut name = *b"00000000000000000000.index";
    let mut left = segment;
    for place in name[..20].iter_mut().rev() {
        *place = b'0' + u8::try_from(left % 10).expect("a digit");
        left /= 10;
    }
    name
}

/// The name of the log that belongs to an index or to an index being made.
pub(super) fn log_beside(name: &[u8]) -> Option<Vec<u8>> {
    let index = name.strip_suffix(b".staging").unwrap_or(name);
    let log = [index.strip_suffix(b".index")?, b".log"].concat();
    segment_of_log(&log).map(|_| log)
}
