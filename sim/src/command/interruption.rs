//! What happens when somebody asks the program to end, by Ctrl-C or SIGTERM.
//!
//! Promises: asked once, a command that works unit by unit ends behind the one in flight, with what it found, what it
//! did not run, and status 130; asked again, and where there is but one unit, the program ends at once with the same
//! status. Leaves out: what a unit is, which every command says of itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::exit::Exit;

/// Set by the first signal that asks the program to end; the second one ends it.
///
/// # Errors
///
/// When the system takes no handler.
pub fn listen() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        end_if(signal, &interrupted)?;
        register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}

/// The first signal ends the program: there is nothing to keep.
///
/// # Errors
///
/// When the system takes no handler.
pub fn end_at_once() -> io::Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    [SIGINT, SIGTERM].into_iter().try_for_each(|signal| end_if(signal, &always))
}

fn end_if(signal: i32, is_meant: &Arc<AtomicBool>) -> io::Result<()> {
    register_conditional_shutdown(signal, i32::from(Exit::Interrupted as u8), Arc::clone(is_meant))?;
    Ok(())
}
