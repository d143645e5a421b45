//! The processor that the program sees: one with AVX2 and without AVX-512, the same on every machine.
//!
//! It is the one that Valgrind 3.19 presents, found by running `cpuid` under it, so that the C library takes the same routines.

use std::arch::x86_64::__cpuid_count;

use crate::refusal::Refusal;

/// Leaf, subleaf if it matters, and the registers `eax`, `ebx`, `ecx`, `edx`.
type Row = (u32, Option<u32>, [u32; 4]);

const TABLE: [Row; 32] = [
    (0x0, None, [0xd, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]),
    (0x1, None, [0x3_06c3, 0x0210_0800, 0x7ffa_fbff, 0xbfeb_fbff]),
    (0x2, None, [0x7603_6301, 0x00f0_b6ff, 0, 0x00c1_0000]),
    (0x3, None, [0, 0, 0, 0]),
    (0x4, Some(0), [0x1c00_4121, 0x01c0_003f, 0x3f, 0]),
    (0x4, Some(1), [0x1c00_4122, 0x01c0_003f, 0x3f, 0]),
    (0x4, Some(2), [0x1c00_4143, 0x01c0_003f, 0x1ff, 0]),
    (0x4, Some(3), [0x1c03_c163, 0x03c0_003f, 0x1fff, 6]),
    (0x4, None, [0, 0, 0, 0]),
    (0x5, None, [0x40, 0x40, 3, 0x4_2120]),
    (0x6, None, [0x77, 2, 9, 0]),
    (0x7, Some(0), [0, 0x4_27aa, 0, 0]),
    (0x7, None, [0, 0x4_27aa, 0, 0]),
    (0x8, None, [0, 0, 0, 0]),
    (0x9, None, [0, 0, 0, 0]),
    (0xa, None, [0x0730_0803, 0, 0, 0x603]),
    (0xb, Some(0), [1, 2, 0x100, 2]),
    (0xb, Some(1), [4, 8, 0x201, 2]),
    (0xb, None, [0, 0, 2, 2]),
    (0xc, None, [0, 0, 0, 0]),
    (0xd, Some(0), [7, 0x340, 0x340, 0]),
    (0xd, Some(2), [0x100, 0x240, 0, 0]),
    (0xd, None, [0, 0, 0, 0]),
    (0x8000_0000, None, [0x8000_0008, 0, 0, 0]),
    (0x8000_0001, None, [0, 0, 0x21, 0x2c10_0800]),
    (0x8000_0002, None, [0x6574_6e49, 0x2952_286c, 0x726f_4320, 0x4d54_2865]),
    (0x8000_0003, None, [0x3769_2029, 0x3139_342d, 0x2051_4d30, 0x2055_5043]),
    (0x8000_0004, None, [0x2e32_2040, 0x4847_3039, 0x0000_007a, 0]),
    (0x8000_0005, None, [0, 0, 0, 0]),
    (0x8000_0006, None, [0, 0, 0x0100_6040, 0]),
    (0x8000_0007, None, [0, 0, 0, 0x100]),
    (0x8000_0008, None, [0x3027, 0, 0, 0]),
];

/// The answer to other leaves: that of the last basic one.
const UNKNOWN: [u32; 4] = [7, 0x340, 0x340, 0];

/// Returns what `cpuid` answers: `eax`, `ebx`, `ecx`, `edx`.
pub(crate) fn answer(leaf: u32, subleaf: u32) -> [u32; 4] {
    let mut rows = TABLE.iter().filter(|row| row.0 == leaf);
    let mut found =
        rows.find(|row| row.1.is_none_or(|wanted| wanted == subleaf)).map_or(UNKNOWN, |row| row.2);
    if leaf == 0xb {
        found[2] = (found[2] & !0xff) | (subleaf & 0xff);
    }
    found
}

/// The state that `xsave` has: x87, SSE and AVX.
pub(crate) const STATE_MASK: u32 = 7;

/// Refuses a processor that cannot do what the program is shown, or what the engine needs.
pub(crate) fn check() -> Result<(), Refusal> {
    let needed = [
        ("AVX2", std::is_x86_feature_detected!("avx2")),
        ("BMI1", std::is_x86_feature_detected!("bmi1")),
        ("BMI2", std::is_x86_feature_detected!("bmi2")),
        ("FMA", std::is_x86_feature_detected!("fma")),
        ("F16C", std::is_x86_feature_detected!("f16c")),
        ("LZCNT", std::is_x86_feature_detected!("lzcnt")),
        ("AES", std::is_x86_feature_detected!("aes")),
        ("PCLMULQDQ", std::is_x86_feature_detected!("pclmulqdq")),
        ("MOVBE", std::is_x86_feature_detected!("movbe")),
        ("RDRAND", std::is_x86_feature_detected!("rdrand")),
        ("XSAVE", std::is_x86_feature_detected!("xsave")),
    ];
    if let Some((name, _)) = needed.iter().find(|(_, is_there)| !is_there) {
        return Err(Refusal::new(format!("the native engine needs a processor with {name}")));
    }
    let has_fs_base = __cpuid_count(7, 0).ebx & 1 != 0 && kernel_has_fs_base();
    if !has_fs_base {
        return Err(Refusal::new(
            "the native engine needs a processor with FSGSBASE, and Linux 5.9 or later".to_owned(),
        ));
    }
    Ok(())
}

/// `true` if the kernel lets programs set the base of `fs`: bit 1 of `AT_HWCAP2`.
fn kernel_has_fs_base() -> bool {
    let values = std::fs::read("/proc/self/auxv").unwrap_or_default();
    let mut pairs = values.chunks_exact(16);
    let is_key = |pair: &&[u8]| pair[..8] == u64::from(linux_raw_sys::auxvec::AT_HWCAP2).to_ne_bytes();
    pairs.find(is_key).is_some_and(|pair| pair[8] & 2 != 0)
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn the_program_sees_avx2_and_no_avx512() {
        let [_, ebx, _, _] = answer(7, 0);
        assert_eq!((ebx >> 5 & 1, ebx >> 16 & 1), (1, 0));
        assert_eq!(answer(4, 2), [0x1c00_4143, 0x01c0_003f, 0x1ff, 0]);
        assert_eq!(answer(0xb, 3)[2], 3);
        assert_eq!(answer(0x4000_0000, 0), [7, 0x340, 0x340, 0]);
    }
}
