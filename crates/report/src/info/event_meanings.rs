//! The meanings of well-known event types, for files that do not have them.

/// Names that mean the same in every file.
const MEANINGS: [(&str, &str); 40] = [
    // Callgrind and Cachegrind.
    ("Ir", "instructions executed"),
    ("Dr", "data reads"),
    ("Dw", "data writes"),
    ("I1mr", "instruction fetches that missed the first cache"),
    ("D1mr", "data reads that missed the first cache"),
    ("D1mw", "data writes that missed the first cache"),
    ("ILmr", "instruction fetches that missed the last cache"),
    ("DLmr", "data reads that missed the last cache"),
    ("DLmw", "data writes that missed the last cache"),
    ("I2mr", "instruction fetches that missed the second cache"),
    ("D2mr", "data reads that missed the second cache"),
    ("D2mw", "data writes that missed the second cache"),
    ("ILdmr", "instruction fetches that wrote back the last cache"),
    ("DLdmr", "data reads that wrote back the last cache"),
    ("DLdmw", "data writes that wrote back the last cache"),
    ("Bc", "conditional branches"),
    ("Bcm", "conditional branches predicted wrongly"),
    ("Bi", "indirect branches"),
    ("Bim", "indirect branches predicted wrongly"),
    ("AcCost1", "temporal locality of the first cache"),
    ("SpLoss1", "spatial locality of the first cache"),
    ("AcCost2", "temporal locality of the last cache"),
    ("SpLoss2", "spatial locality of the last cache"),
    ("Ge", "global bus events"),
    ("allocCount", "allocations"),
    ("allocSize", "bytes allocated"),
    ("sysCount", "system calls"),
    ("sysTime", "time in system calls"),
    ("sysCpuTime", "processor time in system calls"),
    // Xdebug and its like.
    ("Time_(10ns)", "time in units of 10 ns"),
    ("Time_(\u{b5}s)", "time in microseconds"),
    ("Memory_(bytes)", "memory in bytes"),
    ("Memory_Size_(bytes)", "memory in bytes"),
    ("BlocksCount", "blocks of memory"),
    // The others.
    ("Samples", "samples taken"),
    ("samples(count)", "samples taken"),
    ("cpu(ms)", "processor time in ms"),
    ("Hits", "samples, or bytes in a heap profile"),
    ("wall_time", "elapsed time"),
    ("process_time", "processor time"),
];

/// Returns the meaning of an event type.
pub(super) fn get(name: &[u8]) -> Option<&'static str> {
    MEANINGS.iter().find(|(known, _)| known.as_bytes() == name).map(|&(_, meaning)| meaning)
}
