use iced_x86::{Decoder, DecoderOptions, MemorySize, Mnemonic, Register};

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
        asm.load(RDX, Mem::State(200));
        asm.store(Mem::State(0x7000_0000), RCX);
        asm.load(RCX, Mem::Base(RDX, -32));
        asm.lea(RSP, RSP, -8);
        asm.lea_sum(RCX, RSP, RCX, 1);
        asm.shift_right(RCX, RDX);
        asm.extract_bits(RAX, RDX);
        asm.jump_through(RDX, -24);
        asm.load(RCX, Mem::StackTop);
        asm.lea(RCX, RCX, -0x40_1234);
        asm.add_cost(100, 0, None);
        asm.add_rcx_to_cost();
        asm.add_cost(2, 0, None);
        asm.add_cost(9, 0, None);
        asm.store_cost(16);
        asm.load_shadow(RDX);
        asm.spill(RCX);
        asm.restore(RDX);
        asm.add_frame();
        asm.remove_frame();
        asm.add_call(0x1230, -16, true);
        asm.compare(Mem::Base(RDX, -32), RSP);
        asm.compare_with(Mem::StackTop, 0x40_1234);
        asm.subtract_one(Mem::State(0x1230));
        asm.jump_if(NOT_EQUAL, 0x5900_0000);
        asm.compare32_with(RDX, 24, 0x1234);
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
    use Mnemonic::{Shrx, Sub, Vmovdqu64, Vmovq, Vpaddq, Vpsubq};
    let none = Register::None;
    assert_eq!(
        text,
        [
            (Mov, Register::RDX, none, none, 200),
            (Mov, none, Register::RCX, none, 0x7000_0000),
            (Mov, Register::RCX, none, Register::RDX, (-32i64) as u64),
            (Lea, Register::RSP, none, Register::RSP, (-8i64) as u64),
            (Lea, Register::RCX, none, Register::RSP, 1),
            (Shrx, Register::RCX, Register::RCX, none, 0),
            (Pext, Register::EAX, Register::EAX, none, 0),
            (Jmp, none, none, Register::RDX, (-24i64) as u64),
            (Mov, Register::RCX, none, Register::RSP, 0),
            (Lea, Register::RCX, none, Register::RCX, (-0x40_1234i64) as u64),
            (Vpaddq, Register::XMM16, Register::XMM16, none, 0x6c00_0320),
            (Vmovq, Register::XMM17, Register::RCX, none, 0),
            (Vpaddq, Register::XMM16, Register::XMM16, none, 0),
            (Vpaddq, Register::XMM16, Register::XMM16, none, 0),
            (Vpaddq, Register::XMM16, Register::XMM16, none, 0),
            (Vmovq, none, Register::XMM16, Register::RDX, 16),
            (Vmovq, Register::RDX, Register::XMM20, none, 0),
            (Vmovq, Register::XMM18, Register::RCX, none, 0),
            (Vmovq, Register::RDX, Register::XMM19, none, 0),
            (Vpaddq, Register::XMM20, Register::XMM20, none, 0),
            (Vpsubq, Register::XMM20, Register::XMM20, none, 0),
            (Vpsubq, Register::XMM21, Register::XMM16, Register::RDX, (-16i64) as u64),
            (Vpaddq, Register::XMM17, Register::XMM21, none, 0x1230),
            (Vmovdqu64, none, Register::XMM17, none, 0x1230),
            (Cmp, none, Register::RSP, Register::RDX, (-32i64) as u64),
            (Cmp, none, none, Register::RSP, 0),
            (Sub, none, none, none, 0x1230),
            (Jne, none, none, none, 0x5900_0000),
            (Cmp, none, none, Register::RDX, 24),
            (Mov, Register::EDX, none, none, 0),
            (Crc32, Register::RDX, Register::RCX, none, 0),
            (Rorx, Register::EDX, Register::EDX, none, 0),
            (Movzx, Register::EDX, Register::DL, none, 0),
            (Jmp, none, none, none, 0x6c00_0000),
        ]
    );
    assert!(found[10].is_broadcast());
    let added = |index: usize| found[index].op_register(2);
    assert_eq!([12, 13, 14].map(added), [Register::XMM17, Register::XMM23, Register::XMM30]);
    assert_eq!([19, 20].map(added), [Register::XMM31; 2]);
    assert!(found[21].is_broadcast() && !found[22].is_broadcast());
    assert_eq!((found[21].op_mask(), found[22].op_mask()), (Register::K1, Register::None));
    assert_eq!([22, 23, 26].map(|index| found[index].segment_prefix()), [Register::GS; 3]);
    assert_eq!((found[25].immediate(1), found[26].immediate(1)), (0x40_1234, 1));
    assert_eq!(found[27].near_branch_target(), 0x5900_0000);
    assert_eq!((found[28].memory_size(), found[28].immediate(1)), (MemorySize::UInt32, 0x1234));
    assert_eq!(found[31].immediate(2), 24);
    assert_eq!((found[33].memory_index(), found[33].memory_index_scale()), (Register::RDX, 8));
    assert_eq!(found[0].segment_prefix(), Register::GS);
    assert_eq!(found[4].memory_index(), Register::RCX);
    assert_eq!((found[5].op_register(2), found[6].op_register(2)), (Register::RDX, Register::EDX));
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
