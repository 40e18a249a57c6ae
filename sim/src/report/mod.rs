//! How a run looks: consumers of what it says, one form a file. Only they write to a terminal.

pub mod json;
pub mod terminal;
