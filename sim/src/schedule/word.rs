//! Closed vocabularies: every enum of the schedule language lists all its words, and each word is permanent.
//!
//! Promises: `ALL` is complete and in the order people are shown it; `code` is what files, tokens and
//! reports say; reading a code back gives the same value. Leaves out: what the words mean.

use recovery_core::observe::{Evidence, IndexState, Residue, Stop};
use recovery_core::storage::Call;
use recovery_core::units::Durability;

/// A value that is written as one word.
pub trait Word: Copy + PartialEq + 'static {
    /// What kind of word it is, for errors: "a filesystem".
    const KIND: &'static str;
    /// Every value.
    const WORDS: &'static [Self];

    /// The permanent word.
    fn word(self) -> &'static str;

    /// The value that `text` names.
    fn from_word(text: &str) -> Option<Self> {
        Self::WORDS.iter().copied().find(|value| value.word() == text)
    }
}

/// Declares an enum of words with `ALL`, `code` and [`Word`].
macro_rules! words {
    (
        $(#[$doc:meta])*
        $name:ident, $kind:literal {
            $($(#[$variant_doc:meta])* $variant:ident = $code:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every value, in the order people are shown them.
            pub const ALL: [Self; [$($code),+].len()] = [$(Self::$variant),+];

            /// The permanent word for this value.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)+
                }
            }
        }

        impl $crate::schedule::word::Word for $name {
            const KIND: &'static str = $kind;
            const WORDS: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.code()
            }
        }
    };
}

pub(crate) use words;

/// Makes [`Word`]s of the core's own vocabularies, so that no word has two spellings.
macro_rules! core_words {
    ($($name:ty, $kind:literal;)+) => {
        $(impl Word for $name {
            const KIND: &'static str = $kind;
            const WORDS: &'static [Self] = &<$name>::ALL;

            fn word(self) -> &'static str {
                self.code()
            }
        })+
    };
}

core_words! {
    Call, "a storage call";
    Durability, "a durability mode";
    Stop, "a stop";
    Residue, "a residue";
    Evidence, "a relation to the evidence";
    IndexState, "a state of an index";
}
