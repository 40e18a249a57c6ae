//! Panics inside a world: caught, with their place, so that they are a failure like any other.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static PANIC: RefCell<Option<Panicked>> = const { RefCell::new(None) };
}

/// A panic that was caught.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panicked {
    /// File and line.
    pub place: String,
    /// What it said.
    pub text: String,
}

impl Panicked {
    /// Whether it is the harness that panicked, and not what it runs.
    pub fn is_harness_bug(&self) -> bool {
        self.place.starts_with("sim/")
    }
}

/// Lets panics be remembered with their place instead of printed. Once a process.
pub fn remember_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
        let text = info.payload_as_str().unwrap_or("a panic without a message").to_owned();
        PANIC.with_borrow_mut(|panic| *panic = Some(Panicked { place, text }));
    }));
}

/// Runs something that may panic.
///
/// # Errors
///
/// The panic, if there was one. Whatever was borrowed for writing is then to be thrown away.
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| PANIC.with_borrow_mut(Option::take).unwrap_or_default())
}
