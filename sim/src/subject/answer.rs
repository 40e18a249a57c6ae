//! What a recovery program says of a partition: the part of `recover apply --json` that is needed to judge it.

use serde::Deserialize;
use serde_json::Value;

use super::program::{ProgramFault, Ran};

/// What happens to the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// It is served.
    Serve,
    /// It is served, with a gap.
    ServeFrom,
    /// It is not served, and was not touched.
    Refuse,
    /// Something kept the program from knowing.
    Unavailable,
}

impl Said {
    /// The permanent word.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::ServeFrom => "serve-from",
            Self::Refuse => "refuse",
            Self::Unavailable => "unavailable",
        }
    }

    /// Whether the partition is served.
    pub const fn is_served(self) -> bool {
        match self {
            Self::Serve | Self::ServeFrom => true,
            Self::Refuse | Self::Unavailable => false,
        }
    }

    /// Whether a program ends with that status when it says so.
    const fn agrees_with(self, status: i32) -> bool {
        match self {
            Self::Serve | Self::ServeFrom => matches!(status, 0 | 10),
            Self::Refuse => status == 20,
            Self::Unavailable => status == 30,
        }
    }
}

/// One segment, as far as a program tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SegmentAnswer {
    /// Its first offset, which is also its file name.
    pub start_offset: u64,
    /// How much of its log is proven, and served.
    #[serde(default)]
    pub proven_bytes: Option<u64>,
}

/// A verdict, as a program printed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What happens to the partition.
    pub said: Said,
    /// The offset that the next message gets; known if it is served.
    pub next_offset: Option<u64>,
    /// What it says of segments, ascending.
    pub segments: Vec<SegmentAnswer>,
    /// Everything that it printed.
    pub object: Value,
}

/// The fields that are needed.
#[derive(Deserialize)]
struct Fields {
    disposition: Said,
    next_offset: Option<u64>,
    #[serde(default)]
    segments: Option<Vec<SegmentAnswer>>,
}

impl Answer {
    /// Reads what a program printed.
    ///
    /// # Errors
    ///
    /// When it is not one JSON object with those fields, or its status says something else.
    pub fn read(ran: &Ran) -> Result<Self, ProgramFault> {
        let wrong = |why: String| ProgramFault::NoVerdict { why, stderr: ran.stderr.clone() };
        if ran.stdout.trim().is_empty() {
            return Err(wrong("it printed nothing (`recover` needs --json)".to_owned()));
        }
        let object: Value =
            serde_json::from_str(&ran.stdout).map_err(|error| wrong(format!("no JSON object: {error}")))?;
        let fields = Fields::deserialize(&object).map_err(|error| wrong(error.to_string()))?;
        let Fields { disposition: said, next_offset, segments } = fields;
        if !said.agrees_with(ran.status) {
            return Err(wrong(format!("it says {}, and ended with status {}", said.code(), ran.status)));
        }
        match (said.is_served(), next_offset, segments) {
            (true, None, _) => Err(wrong(format!("{} has no next_offset", said.code()))),
            (true, Some(_), None) => Err(wrong(format!("{} has no segments", said.code()))),
            (_, _, segments) => {
                Ok(Self { said, next_offset, segments: segments.unwrap_or_default(), object })
            }
        }
    }

    /// The code of the reason, if there is one.
    pub fn reason(&self) -> Option<&str> {
        self.object.get("reason")?.get("code")?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: i32, stdout: &str) -> Result<Answer, String> {
        let ran = Ran { status, stdout: stdout.to_owned(), stderr: String::new() };
        Answer::read(&ran).map_err(|fault| fault.to_string())
    }

    #[test]
    fn disposition_next_offset_and_segments_are_enough() {
        let text = r#"{"disposition":"serve-from","next_offset":9,"segments":[{"start_offset":3}]}"#;
        let answer = read(10, text).expect("it is a verdict");
        assert_eq!((answer.said, answer.next_offset), (Said::ServeFrom, Some(9)));
        assert_eq!(answer.segments, [SegmentAnswer { start_offset: 3, proven_bytes: None }]);
        let refused = read(20, r#"{"disposition":"refuse","next_offset":null,"reason":{"code":"hole"}}"#);
        assert_eq!(refused.expect("it is a verdict").reason(), Some("hole"));
    }

    #[test]
    fn what_is_no_verdict_says_what_is_wrong_with_it() {
        let cases = [
            (0, "", "it printed nothing (`recover` needs --json)"),
            (0, "served", "no JSON object: expected value at line 1 column 1"),
            (0, "{} {}", "no JSON object: trailing characters at line 1 column 4"),
            (0, "{}", "missing field `disposition`"),
            (0, r#"{"disposition":"serve","next_offset":null}"#, "serve has no next_offset"),
            (0, r#"{"disposition":"serve","next_offset":3}"#, "serve has no segments"),
            (0, r#"{"disposition":"refuse"}"#, "it says refuse, and ended with status 0"),
        ];
        for (status, stdout, why) in cases {
            let told = read(status, stdout).expect_err(stdout);
            assert_eq!(told, format!("its standard output is no verdict: {why}"));
        }
    }
}
