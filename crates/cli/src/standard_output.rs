//! Standard output as it is: where it is closed or cannot be written to, writing fails.
//!
//! The standard library takes both for success. It opens `/dev/null` in place of a closed one before `main`, so this looks
//! earlier.

use std::io::{self, Write};

/// Returns standard output, without a buffer where the system has descriptors.
#[cfg(unix)]
pub(crate) fn open() -> Box<dyn Write> {
    use std::fs::File;
    use std::os::fd::AsFd as _;

    if early::was_closed() {
        return Box::new(Closed);
    }
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(descriptor) => Box::new(File::from(descriptor)),
        // Without a free descriptor.
        Err(_) => Box::new(io::stdout().lock()),
    }
}

/// Returns standard output, locked for the whole run: there is one thread that writes.
#[cfg(not(unix))]
pub(crate) fn open() -> Box<dyn Write> {
    Box::new(io::stdout().lock())
}

/// A standard output that is closed.
#[cfg(unix)]
struct Closed;

#[cfg(unix)]
impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("is closed"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
mod early {
    //! A look at standard output before the standard library changes it.

    use std::sync::atomic::{AtomicBool, Ordering};

    static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    pub(super) fn was_closed() -> bool {
        WAS_CLOSED.load(Ordering::Relaxed)
    }

    /// An entry of the list of functions that the system calls before `main`.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    #[expect(
        unsafe_code,
        reason = "after `main` has begun, nothing tells whether standard output was closed"
    )]
    static LOOK: extern "C" fn() = look;

    #[expect(unsafe_code, reason = "a descriptor that may be closed has no safe type")]
    extern "C" fn look() {
        use nix::libc::{F_GETFD, STDOUT_FILENO, fcntl};

        // SAFETY: it asks for flags, and fails if the descriptor is closed.
        let flags = unsafe { fcntl(STDOUT_FILENO, F_GETFD) };
        WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }
}
