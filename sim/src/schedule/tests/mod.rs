//! Tests of the language as a whole: text to value, value to text.

mod arbitrary;
mod generated;
mod golden;
mod page;
mod refusals;
mod round_trip;
