//! How a run looks: consumers of what it says, one form a folder. Only they write to a terminal.

pub mod again;
pub mod annotations;
pub mod explain;
pub mod html;
pub mod json;
pub mod junit;
pub mod lines;
pub mod merged;
pub mod progress;
pub mod story;
pub mod terminal;
pub mod timeline;
pub mod whole;
