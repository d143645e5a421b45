//! Address randomisation: the addresses of a program decide on its hash tables and the alignment of its data, and so on its
//! count of instructions.

/// Address randomisation of programs that were started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Randomisation {
    #[cfg_attr(
        not(any(target_os = "linux", target_os = "android")),
        expect(dead_code, reason = "only Linux lets a program switch it off")
    )]
    Off,
    /// This system does not let a program switch it off, as in some containers.
    On,
}

/// Calls a function that starts programs, which have no address randomisation then if this is allowed.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn without_randomisation<T>(start: impl FnOnce() -> T) -> (T, Randomisation) {
    use nix::sys::personality::{self, Persona};

    // It belongs to the thread, and the programs that the thread starts inherit it.
    let before = personality::get();
    let is_set = before.and_then(|before| personality::set(before | Persona::ADDR_NO_RANDOMIZE));
    let result = start();
    if let (Ok(before), Ok(_)) = (before, is_set) {
        // It was allowed just now, and matters only to what this thread starts later.
        let _ = personality::set(before);
    }
    (result, if is_set.is_ok() { Randomisation::Off } else { Randomisation::On })
}

/// Calls a function that starts programs. How to switch address randomisation off is not known here.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn without_randomisation<T>(start: impl FnOnce() -> T) -> (T, Randomisation) {
    (start(), Randomisation::On)
}
