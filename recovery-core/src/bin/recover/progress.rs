//! The progress bar of a long scan.
//!
//! Promises: on standard error, on a terminal only, and only for a scan that is worth one. Leaves out:
//! time; whatever is shown of it is measured by the bar itself.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Logs and indexes of fewer bytes are read before anybody would look at a bar.
const LONG_SCAN_BYTES: u64 = 64 * 1024 * 1024;

/// How far a command has come.
#[derive(Debug)]
pub(crate) struct ScanProgress {
    bar: ProgressBar,
}

impl ScanProgress {
    /// A bar for a scan of about `total_bytes`. It is drawn only if that is known and long, and standard
    /// error is a terminal.
    pub(crate) fn new(total_bytes: Option<u64>) -> Self {
        let target = match total_bytes {
            Some(LONG_SCAN_BYTES..) => ProgressDrawTarget::stderr(),
            Some(_) | None => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(total_bytes, target);
        let style = ProgressStyle::with_template("{msg:9} [{bar:28}] {bytes} of {total_bytes}, {eta} left")
            .expect("a fixed template");
        bar.set_style(style.progress_chars("## "));
        Self { bar }
    }

    /// Shows that `bytes_read` bytes are read in the phase called `word`.
    pub(crate) fn show(&self, word: &'static str, bytes_read: u64) {
        if !self.bar.is_hidden() {
            self.bar.set_message(word);
            self.bar.set_position(bytes_read);
        }
    }
}

impl Drop for ScanProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
