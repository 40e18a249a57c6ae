//! The checks that a world runs under, by their permanent names (CONTRACTS 1).

use std::fmt;

macro_rules! checks {
    ($($(#[$doc:meta])* $variant:ident = $code:literal,)*) => {
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
        }
    };
}

checks! {
    /// No verified byte is truncated away.
    I01 = "I01",
    /// No non-zero byte is destroyed.
    I02 = "I02",
    /// A tombstoned or refused partition is never served, and never looks empty.
    I03 = "I03",
    /// Refused means byte-identical.
    I04 = "I04",
    /// After a clean crash every promised batch is served, identical, at its offset.
    I05 = "I05",
    /// Nothing is served that was not written to that partition at that offset in this generation.
    I06 = "I06",
    /// Offsets are dense, or the gap is recorded.
    I07 = "I07",
    /// No promised offset, and none of a survivor in a fence, is given to another batch.
    I08 = "I08",
    /// Recovering twice is recovering once.
    I09 = "I09",
    /// A crash anywhere in recovery, then recovery, ends in the same state.
    I10 = "I10",
    /// What recovery adopted survives an immediate power loss.
    I11 = "I11",
    /// File length, recovered length and writer cursor are one number.
    I12 = "I12",
    /// With a ledger, a clean crash is never refused.
    I13 = "I13",
    /// At the instant of an acknowledgement its promise holds in every crash state.
    I14 = "I14",
    /// After a failed sync nothing that it covered is acknowledged on a bare retry.
    I15 = "I15",
    /// Index and log agree; the index may lag.
    I16 = "I16",
    /// Work is linear.
    I17 = "I17",
    /// The verdict depends on the bytes alone.
    I18 = "I18",
    /// Everything accepted is installable by a peer, and the reverse.
    I19 = "I19",
    /// Any error at any call is a typed error, and nothing is lost.
    I20 = "I20",
    /// Damage in one partition never changes another.
    I21 = "I21",
    /// More damage never serves more.
    I22 = "I22",
    /// The sentence agrees with the disk.
    I23 = "I23",
    /// The same schedule has the same digest.
    I24 = "I24",
    /// The core and the reference recoverer agree.
    Reference = "reference",
    /// A crash and a corruption that leave the same bytes get the same verdict. Held by `reference`, which
    /// judges the bytes alone at every start, and by I18; nothing asks it by itself, and its count is 0.
    Twin = "twin",
    /// A scenario's own expectation.
    Expect = "expect",
    /// The subject did not panic.
    Panic = "panic",
    /// A second run of the same schedule is the same run.
    Nondeterminism = "nondeterminism",
}

impl fmt::Display for Check {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}
