//! Event types: which of them add up, and the long names of the usual ones.

/// Returns `true` if costs of this event type can be added up. Some producers write a mean or a rate beside their counts, such
/// as `microseconds/hit`; a sum of these means nothing.
///
/// ```
/// use gristmill_profile::event::is_additive;
///
/// assert!(is_additive(b"Ir", None));
/// assert!(!is_additive(b"usphit", Some(b"microseconds/hit")));
/// ```
pub fn is_additive(name: &[u8], long_name: Option<&[u8]>) -> bool {
    let is_rate = |text: &[u8]| {
        let text = text.to_ascii_lowercase();
        text.contains(&b'/') || text.contains(&b'%') || text.windows(5).any(|word| word == b" per ")
    };
    !is_rate(name) && !long_name.is_some_and(is_rate)
}

/// The start of the names of event types that are memory.
pub(crate) const MEMORY: &str = "Memory";

/// Returns `true` for memory: a call that frees more than it takes costs less than 0.
///
/// ```
/// use gristmill_profile::event::is_memory;
///
/// assert!(is_memory("Memory_(bytes)") && !is_memory("Time_(10ns)"));
/// ```
pub fn is_memory(name: &str) -> bool {
    name.starts_with(MEMORY)
}

/// Returns the long name of an event type that Callgrind or Cachegrind counts. A long name in the file has precedence.
///
/// ```
/// assert_eq!(gristmill_profile::event::known_long_name(b"Dr"), Some("data reads"));
/// ```
pub fn known_long_name(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"Ir" => "instructions executed",
        b"Dr" => "data reads",
        b"Dw" => "data writes",
        b"I1mr" => "L1 instruction cache misses",
        b"D1mr" => "L1 data cache read misses",
        b"D1mw" => "L1 data cache write misses",
        b"I2mr" => "L2 instruction read misses",
        b"D2mr" => "L2 data read misses",
        b"D2mw" => "L2 data write misses",
        b"ILmr" => "last-level instruction read misses",
        b"DLmr" => "last-level data read misses",
        b"DLmw" => "last-level data write misses",
        b"ILdmr" => "last-level dirty instruction read misses",
        b"DLdmr" => "last-level dirty data read misses",
        b"DLdmw" => "last-level dirty data write misses",
        b"Bc" => "conditional branches",
        b"Bcm" => "conditional branches mispredicted",
        b"Bi" => "indirect branches",
        b"Bim" => "indirect branches mispredicted",
        b"Ge" => "global bus events",
        b"AcCost1" => "L1 cache line use cost",
        b"AcCost2" => "last-level cache line use cost",
        b"SpLoss1" => "L1 cache bytes loaded but not used",
        b"SpLoss2" => "last-level cache bytes loaded but not used",
        b"allocCount" => "allocations",
        b"allocSize" => "allocated bytes",
        b"sysCount" => "system calls",
        b"sysTime" => "time in system calls",
        b"sysCpuTime" => "processor time in system calls",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_do_not_add_up() {
        assert!(is_additive(b"Ir", None));
        assert!(is_additive(b"Time_(10ns)", Some(b"personal time")));
        assert!(!is_additive(b"usphit", Some(b"microseconds/hit")));
        assert!(!is_additive(b"ps", Some(b"Samples per second")));
        assert!(!is_additive(b"share%", None));
    }
}
