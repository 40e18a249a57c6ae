//! The scratch memory of an observation, owned by the caller and reused from one to the next.

use super::window::Window;

/// Smallest window in bytes: it must show a batch header at once.
pub const WINDOW_BYTES_MIN: usize = 512;

/// Largest window in bytes.
pub const WINDOW_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes of the window over an index: a whole number of entries comes out of any of them.
const INDEX_WINDOW_BYTES: usize = 4096;

/// Windows over a log, a candidate in its residue, and an index. Its size never changes a verdict.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) log: Window,
    pub(crate) candidate: Window,
    pub(crate) index: Window,
    tenants: u64,
    tenant: u64,
}

/// Whom the windows show something to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tenant(u64);

impl Workspace {
    /// A workspace whose windows take `window_bytes` each.
    ///
    /// # Panics
    ///
    /// If that is not within [`WINDOW_BYTES_MIN`] to [`WINDOW_BYTES_MAX`].
    pub fn new(window_bytes: usize) -> Self {
        assert!(window_bytes >= WINDOW_BYTES_MIN, "a window shows at least a batch header");
        assert!(window_bytes <= WINDOW_BYTES_MAX, "a window takes at most 4 MiB");
        Self {
            log: Window::new(window_bytes),
            candidate: Window::new(window_bytes),
            index: Window::new(window_bytes.min(INDEX_WINDOW_BYTES)),
            tenants: 0,
            tenant: 0,
        }
    }

    /// Lets a new observation, or a settling, move in.
    pub(crate) fn enroll(&mut self) -> Tenant {
        self.tenants += 1;
        Tenant(self.tenants)
    }

    /// Hands the windows to `tenant`. What they showed to another one is forgotten.
    pub(crate) fn hand_to(&mut self, tenant: Tenant) {
        if self.tenant != tenant.0 {
            self.forget();
            self.tenant = tenant.0;
        }
    }

    /// Lends the memory of the log's window, which shows nothing afterwards, to work that is no walk.
    pub(crate) fn scratch(&mut self) -> &mut [u8] {
        self.log.scratch()
    }

    /// Forgets what every window shows.
    pub(crate) fn forget(&mut self) {
        self.log.forget();
        self.candidate.forget();
        self.index.forget();
    }
}
