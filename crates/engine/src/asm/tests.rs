use iced_x86::{Decoder, DecoderOptions, MemorySize, Mnemonic, OpKind, Register};

use super::*;

/// Writes instructions and decodes them again.
fn decoded(write: impl FnOnce(&mut Asm)) -> Vec<iced_x86::Instruction> {
    let mut asm = Asm::new(0x5800_0000, HotPlace::Vector { numbers: 0x6c00_0000 });
    write(&mut asm);
    let decoder = Decoder::with_ip(64, asm.bytes(), asm.base(), DecoderOptions::NONE);
    decoder.into_iter().collect()
}

#[test]
fn instructions_are_encoded_as_they_are_decoded() {
    let found = decoded(|asm| {
        asm.load(SCRATCH, Mem::State(200));
        asm.store(Mem::State(0x7000_0000), RCX);
        asm.load(RCX, Mem::Base(SCRATCH, -32));
        asm.lea(RSP, RSP, -8);
        asm.lea_sum(RCX, RSP, RCX, 1);
        asm.shift_right(RCX, SCRATCH);
        asm.extract_bits(RAX, RDX);
        asm.jump_through(SCRATCH, -24);
        asm.load(RCX, Mem::StackTop);
        asm.lea(RCX, RCX, -0x40_1234);
        asm.add_cost(100, 0, None);
        asm.add_rcx_to_cost();
        asm.add_cost(2, 0, None);
        asm.add_cost(9, 0, None);
        asm.store_cost(16);
        asm.load_shadow(SCRATCH);
        asm.spill_rcx();
        asm.restore_scratch();
        asm.add_frame();
        asm.remove_frame();
        asm.add_call(0x1230, -16, true);
        asm.compare(Mem::Base(SCRATCH, -32), RSP);
        asm.compare_with(Mem::StackTop, 0x40_1234);
        asm.store_byte(0x1230, 1);
        asm.jump_if(NOT_EQUAL, 0x5900_0000);
        asm.compare_byte_with(0x1234, 24);
        asm.load_byte(RCX, 0x1230);
        asm.jump_by_hash(0x6c00_0000, 3);
    });
    let text: Vec<(Mnemonic, Register, Register, Register, u64)> = found
        .iter()
        .map(|it| {
            let second = if it.op_count() > 1 { it.op_register(1) } else { Register::None };
            (it.mnemonic(), it.op0_register(), second, it.memory_base(), it.memory_displacement64())
        })
        .collect();
    use Mnemonic::{Cmp, Crc32, Jmp, Jne, Lea, Mov, Movzx, Pext, Rorx};
    use Mnemonic::{Shrx, Vmovdqu64, Vmovq, Vpaddq, Vpsubq};
    let none = Register::None;
    assert_eq!(
        text,
        [
            (Mov, Register::R11, none, none, 200),
            (Mov, none, Register::RCX, none, 0x7000_0000),
            (Mov, Register::RCX, none, Register::R11, (-32i64) as u64),
            (Lea, Register::RSP, none, Register::RSP, (-8i64) as u64),
            (Lea, Register::RCX, none, Register::RSP, 1),
            (Shrx, Register::RCX, Register::RCX, none, 0),
            (Pext, Register::EAX, Register::EAX, none, 0),
            (Jmp, none, none, Register::R11, (-24i64) as u64),
            (Mov, Register::RCX, none, Register::RSP, 0),
            (Lea, Register::RCX, none, Register::RCX, (-0x40_1234i64) as u64),
            (Vpaddq, Register::XMM16, Register::XMM16, none, 0x6c00_0320),
            (Vmovq, Register::XMM17, Register::RCX, none, 0),
            (Vpaddq, Register::XMM16, Register::XMM16, none, 0),
            (Vpaddq, Register::XMM16, Register::XMM16, none, 0),
            (Vpaddq, Register::XMM16, Register::XMM16, none, 0),
            (Vmovq, none, Register::XMM16, Register::R11, 16),
            (Vmovq, Register::R11, Register::XMM20, none, 0),
            (Vmovq, Register::XMM18, Register::RCX, none, 0),
            (Vmovq, Register::R11, Register::XMM19, none, 0),
            (Vpaddq, Register::XMM20, Register::XMM20, none, 0),
            (Vpsubq, Register::XMM20, Register::XMM20, none, 0),
            (Vpsubq, Register::XMM21, Register::XMM16, Register::R11, (-16i64) as u64),
            (Vpaddq, Register::XMM17, Register::XMM21, none, 0x1230),
            (Vmovdqu64, none, Register::XMM17, none, 0x1230),
            (Cmp, none, Register::RSP, Register::R11, (-32i64) as u64),
            (Cmp, none, none, Register::RSP, 0),
            (Mov, none, none, none, 0x1230),
            (Jne, none, none, none, 0x5900_0000),
            (Cmp, none, none, none, 0x1234),
            (Movzx, Register::ECX, none, none, 0x1230),
            (Mov, Register::R11D, none, none, 0),
            (Crc32, Register::R11, Register::RCX, none, 0),
            (Rorx, Register::R11D, Register::R11D, none, 0),
            (Movzx, Register::R11D, Register::R11L, none, 0),
            (Jmp, none, none, none, 0x6c00_0000),
        ]
    );
    assert!(found[10].is_broadcast());
    let added = |index: usize| found[index].op_register(2);
    assert_eq!([12, 13, 14].map(added), [Register::XMM17, Register::XMM23, Register::XMM30]);
    assert_eq!([19, 20].map(added), [Register::XMM31; 2]);
    assert!(found[21].is_broadcast() && !found[22].is_broadcast());
    assert_eq!((found[21].op_mask(), found[22].op_mask()), (Register::K1, Register::None));
    assert_eq!([22, 23, 26, 28, 29].map(|index| found[index].segment_prefix()), [Register::GS; 5]);
    assert_eq!((found[25].immediate(1), found[26].immediate(1)), (0x40_1234, 1));
    assert_eq!(found[27].near_branch_target(), 0x5900_0000);
    assert_eq!((found[28].memory_size(), found[28].immediate(1)), (MemorySize::UInt8, 24));
    assert_eq!(found[32].immediate(2), 24);
    assert_eq!((found[34].memory_index(), found[34].memory_index_scale()), (Register::R11, 8));
    assert_eq!(found[0].segment_prefix(), Register::GS);
    assert_eq!(found[4].memory_index(), Register::RCX);
    assert_eq!((found[5].op_register(2), found[6].op_register(2)), (Register::R11, Register::EDX));
}

#[test]
fn the_scratch_register_is_encoded_like_others() {
    let found = decoded(|asm| {
        asm.keep_scratch();
        asm.set(SCRATCH, 63);
        asm.lea_sum(RCX, RCX, SCRATCH, 0);
        asm.load_bytes(SCRATCH, 0x40_1234, 8);
        asm.load_bytes(SCRATCH, 0x40_1234, 2);
        asm.load_bytes(SCRATCH, 0x7fff_0000_1234, 4);
        asm.load_bytes(RCX, 0x7fff_0000_1234, 1);
        asm.store(Mem::Base(SCRATCH, 8), RCX);
        asm.store_value(Mem::Base(SCRATCH, 8), 1);
        asm.lea(SCRATCH, SCRATCH, -32);
        asm.lea(RCX, SCRATCH, 0x1234);
        asm.pop(SCRATCH);
        asm.increment(Mem::State(0x1230));
    });
    let text: Vec<String> = found
        .iter()
        .map(|it| {
            let registers = (0..it.op_count()).map(|index| match it.op_kind(index) {
                OpKind::Register => format!("{:?}", it.op_register(index)),
                OpKind::Memory => {
                    let (base, index) = (it.memory_base(), it.memory_index());
                    format!("{:?} [{base:?} {index:?} {:#x}]", it.memory_size(), it.memory_displacement64())
                }
                _ => format!("{:#x}", it.immediate(index)),
            });
            format!("{:?} {}", it.mnemonic(), registers.collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert_eq!(
        text,
        [
            "Vmovq XMM19, R11",
            "Mov R11D, 0x3f",
            "Lea RCX, Unknown [RCX R11 0x0]",
            "Mov R11, UInt64 [None None 0x401234]",
            "Movzx R11D, UInt16 [None None 0x401234]",
            "Mov R11, 0x7fff00001234",
            "Mov R11D, UInt32 [R11 None 0x0]",
            "Mov RCX, 0x7fff00001234",
            "Movzx ECX, UInt8 [RCX None 0x0]",
            "Mov UInt64 [R11 None 0x8], RCX",
            "Mov UInt64 [R11 None 0x8], 0x1",
            "Lea R11, Unknown [R11 None 0xffffffffffffffe0]",
            "Lea RCX, Unknown [R11 None 0x1234]",
            "Pop R11",
            "Inc UInt64 [None None 0x1230]",
        ]
    );
}

#[test]
fn the_hash_is_that_of_the_processor() {
    #[allow(unsafe_code)]
    fn processor(value: u64) -> u64 {
        // SAFETY: the test runs only where the instruction exists.
        unsafe { std::arch::x86_64::_mm_crc32_u64(0, value) }
    }
    if std::is_x86_feature_detected!("sse4.2") {
        for value in [0, 1, 0x40_1234, 0x7fff_ffff, u64::MAX, 0x1234_5678_9abc_def0] {
            assert_eq!(hash(value), processor(value), "{value:x}");
        }
    }
}
