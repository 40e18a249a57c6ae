//! Laws over arbitrary facts.
