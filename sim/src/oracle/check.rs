//! The checks that a world runs under, by their permanent names (CONTRACTS 1).

use std::fmt;

macro_rules! checks {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $broken:literal;)*) => {
        /// One check. The numbered ones are the invariants of DESIGN section 9.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Check {
            $($(#[$doc])* $variant,)*
        }

        impl Check {
            /// Every check.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its permanent name.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// What has happened where it fires, in plain words.
            pub const fn broken(self) -> &'static str {
                match self {
                    $(Self::$variant => $broken,)*
                }
            }
        }
    };
}

checks! {
    /// No verified byte is truncated away.
    I01 = "I01", "a verified byte is cut away";
    /// No non-zero byte is destroyed.
    I02 = "I02", "a byte that is not zero is destroyed";
    /// A tombstoned or refused partition is never served, and never looks empty.
    I03 = "I03", "a partition that is not to be served is, or looks empty";
    /// Refused means byte-identical.
    I04 = "I04", "a refused partition is changed";
    /// After a clean crash every promised batch is served, identical, at its offset.
    I05 = "I05", "a promised batch is not served";
    /// Nothing is served that was not written to that partition at that offset in this generation.
    I06 = "I06", "something is served that was never written there";
    /// Offsets are dense, or the gap is recorded.
    I07 = "I07", "offsets are missing, and no gap is recorded";
    /// No promised offset, and none of a survivor in a fence, is given to another batch.
    I08 = "I08", "an offset that is taken is given to another batch";
    /// Recovering twice is recovering once.
    I09 = "I09", "recovering twice is not recovering once";
    /// A crash anywhere in recovery, then recovery, ends in the same state.
    I10 = "I10", "a recovery that is cut short ends elsewhere";
    /// What recovery adopted survives an immediate power loss.
    I11 = "I11", "what recovery adopted does not survive a power loss";
    /// File length, recovered length and writer cursor are one number.
    I12 = "I12", "file, recovered length and writer do not agree";
    /// With a ledger, a clean crash is never refused.
    I13 = "I13", "a clean crash is refused";
    /// At the instant of an acknowledgement its promise holds in every crash state.
    I14 = "I14", "an acknowledged promise does not hold";
    /// After a failed sync nothing that it covered is acknowledged on a bare retry.
    I15 = "I15", "what a failed sync covered is acknowledged on a retry";
    /// Index and log agree; the index may lag.
    I16 = "I16", "an index disagrees with its log";
    /// Work is linear.
    I17 = "I17", "recovery does more work than there are bytes";
    /// The verdict depends on the bytes alone.
    I18 = "I18", "the same bytes get two verdicts";
    /// Everything accepted is installable by a peer, and the reverse.
    I19 = "I19", "what one node accepts another one cannot install";
    /// Any error at any call is a typed error, and nothing is lost.
    I20 = "I20", "an error is no clean answer, or something is lost by it";
    /// Damage in one partition never changes another.
    I21 = "I21", "damage in one partition changes another";
    /// More damage never serves more.
    I22 = "I22", "more damage serves more";
    /// The sentence agrees with the disk.
    I23 = "I23", "what is said is not what lies on the disk";
    /// The same schedule has the same digest.
    I24 = "I24", "the same schedule has two digests";
    /// The core and the reference recoverer agree.
    Reference = "reference", "core and reference disagree";
    /// A crash and a corruption that leave the same bytes get the same verdict.
    Twin = "twin", "a crash and damage that leave the same bytes get two verdicts";
    /// A scenario's own expectation.
    Expect = "expect", "an expectation is not met";
    /// The subject did not panic.
    Panic = "panic", "something panics";
    /// A second run of the same schedule is the same run.
    Nondeterminism = "nondeterminism", "the same schedule ends in two ways";
}

impl fmt::Display for Check {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}
