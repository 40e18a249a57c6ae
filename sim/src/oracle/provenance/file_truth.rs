//! What stands in one file, as runs: by whom it was written, whether it is durable, which fault hit it.
//!
//! Promises: the runs ascend, touch each other and cover the file from its first byte to its last; runs
//! that say the same are one. Leaves out: the bytes themselves.

use std::ops::Range;

use super::FaultId;
use super::partition_truth::SubmissionId;

/// Where bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A submitted batch, from its byte `from` on.
    Batch {
        /// Which.
        submission: SubmissionId,
        /// The first of its bytes that stands here.
        from: u64,
    },
    /// Nobody wrote here: a file that was made longer.
    Zeros,
    /// Something that the ledgers know nothing of: what a crash exposed, what an operator put there.
    Stranger,
}

/// Whether bytes are sure to be there after the next crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Written, and not synced since: reads see them, and a crash of the machine may not keep them.
    Cached,
    /// A sync covered them, or a recovery read them from the medium: no clean crash can change them.
    Durable,
    /// Cached when the machine went down: they are there, or something else is.
    Uncertain,
}

/// A run of bytes of which all the same is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which bytes of the file.
    pub range: Range<u64>,
    /// Where they come from.
    pub source: Source,
    /// Whether they stay.
    pub standing: Standing,
    /// The last fault that hit them since they were written.
    pub fault: Option<FaultId>,
}

/// What stands in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTruth {
    runs: Vec<Run>,
}

impl FileTruth {
    /// The file's length in bytes.
    pub fn length(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.range.end)
    }

    /// Its runs, ascending.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The runs that overlap `range`, ascending; whole, and not cut to it.
    pub fn runs_in(&self, range: Range<u64>) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(move |run| run.range.start < range.end && range.start < run.range.end)
    }

    /// Bytes are written, over what was there, behind it, or with a hole before them.
    pub fn write(&mut self, range: Range<u64>, source: Source) {
        assert!(range.start < range.end, "a write writes something");
        let (start, end) = (range.start, range.end);
        self.lengthen(start);
        self.split(start);
        self.split(end);
        self.runs.retain(|run| run.range.start < start || run.range.start >= end);
        let at = self.runs.partition_point(|run| run.range.start < start);
        self.runs.insert(at, Run { range, source, standing: Standing::Cached, fault: None });
        self.join();
    }

    /// The file gets another length: what lies behind it is gone, and what is new is zeros.
    pub fn set_length(&mut self, length: u64) {
        self.split(length);
        self.runs.retain(|run| run.range.end <= length);
        self.lengthen(length);
        self.join();
    }

    /// A sync of the file covers all of it.
    pub fn sync(&mut self) {
        for run in &mut self.runs {
            if run.standing == Standing::Cached {
                run.standing = Standing::Durable;
            }
        }
        self.join();
    }

    /// The machine goes down: what is cached may be there afterwards or not.
    pub fn crash(&mut self) {
        for run in &mut self.runs {
            if run.standing == Standing::Cached {
                run.standing = Standing::Uncertain;
            }
        }
        self.join();
    }

    /// A recovery read the bytes before `end` from the medium, and they are what was written: they stay.
    /// What a fault had done to them did not matter, or is healed.
    pub fn adopt(&mut self, end: u64) {
        self.split(end);
        for run in self.runs.iter_mut().filter(|run| run.range.end <= end) {
            (run.standing, run.fault) = (Standing::Durable, None);
        }
        self.join();
    }

    /// A fault hits bytes; those past the end of the file are none.
    pub fn damage(&mut self, range: Range<u64>, fault: FaultId) {
        let (start, end) = (range.start, range.end.min(self.length()));
        if start >= end {
            return;
        }
        self.split(start);
        self.split(end);
        for run in self.runs.iter_mut().filter(|run| start <= run.range.start && run.range.end <= end) {
            run.fault = Some(fault);
        }
        self.join();
    }

    fn lengthen(&mut self, length: u64) {
        let end = self.length();
        if end < length {
            let (source, standing) = (Source::Zeros, Standing::Cached);
            self.runs.push(Run { range: end..length, source, standing, fault: None });
        }
    }

    /// Makes `position` the border of two runs, if it lies inside of one.
    fn split(&mut self, position: u64) {
        let inside = |run: &Run| run.range.start < position && position < run.range.end;
        let Some(at) = self.runs.iter().position(inside) else { return };
        let run = &mut self.runs[at];
        let mut behind = run.clone();
        behind.source = run.source.further_on(position - run.range.start);
        behind.range.start = position;
        run.range.end = position;
        self.runs.insert(at + 1, behind);
    }

    /// Makes one of runs that say the same.
    fn join(&mut self) {
        self.runs.dedup_by(|later, earlier| {
            let length = earlier.range.end - earlier.range.start;
            let says_the_same = earlier.source.further_on(length) == later.source
                && (earlier.standing, earlier.fault) == (later.standing, later.fault);
            if says_the_same {
                earlier.range.end = later.range.end;
            }
            says_the_same
        });
        let touch = self.runs.windows(2).all(|pair| pair[0].range.end == pair[1].range.start);
        assert!(touch, "runs touch each other");
        assert!(self.runs.first().is_none_or(|run| run.range.start == 0), "runs start with the file");
    }
}

impl Source {
    /// The source of what stands `bytes` further on in the same run.
    const fn further_on(self, bytes: u64) -> Self {
        match self {
            Self::Batch { submission, from } => Self::Batch { submission, from: from + bytes },
            Self::Zeros | Self::Stranger => self,
        }
    }
}
