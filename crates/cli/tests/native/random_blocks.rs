//! A program of random instructions, which writes its registers, flags and memory.

use std::fmt::Write as _;

const REGISTERS: [&str; 13] =
    ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8", "r9", "r10", "r11", "r12", "r13"];
const CONDITIONS: [&str; 16] =
    ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"];

/// A generator of numbers that are the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() >> 11) as usize % count
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Returns the name of a part of a register.
fn part(register: &str, bits: u32) -> String {
    let letter = if register.starts_with("r1") || register == "r8" || register == "r9" {
        return match bits {
            64 => register.to_owned(),
            32 => format!("{register}d"),
            16 => format!("{register}w"),
            _ => format!("{register}b"),
        };
    } else {
        &register[1..]
    };
    match (bits, letter) {
        (64, _) => register.to_owned(),
        (32, letter) => format!("e{letter}"),
        (16, letter) => letter.to_owned(),
        (_, letter) if letter.ends_with('x') => format!("{}l", &letter[..1]),
        (_, letter) => format!("{letter}l"),
    }
}

/// Instructions that leave flags undefined, or read those that others leave so: Valgrind and processors differ in them, and so in the
/// way that a program takes.
const WITH_UNDEFINED_FLAGS: [usize; 7] = [6, 7, 8, 9, 10, 17, 18];

/// Returns the source of a program with blocks of random instructions.
pub(crate) fn program(seed: u64, block_count: usize, has_undefined_flags: bool) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::from(
        ".intel_syntax noprefix\n.globl _start\n.text\n_start:\nlea r15, [rip+memory]\nlea r14, [rip+written]\n",
    );
    for register in REGISTERS {
        writeln!(text, "mov {register}, {:#x}", random.next()).unwrap();
    }
    for block in 0..block_count {
        for index in 0..4 + random.below(12) {
            instruction(&mut text, &mut random, &format!("{block}_{index}"), has_undefined_flags);
        }
        text.push_str("call dump\n");
    }
    text.push_str(
        "mov eax, 1\nmov edi, 1\nlea rsi, [rip+written]\nmov rdx, r14\nsub rdx, rsi\nsyscall\n\
         mov eax, 60\nxor edi, edi\nsyscall\n\
         dump:\npushfq\npop [r14]\n\
         push rax\nmov rax, [r14]\nand rax, 0xcd5\nmov [r14], rax\npop rax\n",
    );
    // Writing registers must leave the flags, which the next block may read.
    for (index, register) in REGISTERS.iter().enumerate() {
        writeln!(text, "mov [r14+{}], {register}", 8 * index + 8).unwrap();
    }
    for index in 0..4 {
        writeln!(text, "vmovdqu [r14+{}], ymm{index}", 112 + 32 * index).unwrap();
    }
    for index in 0..8 {
        writeln!(text, "vmovq xmm5, [r15+{}]\nvmovq [r14+{}], xmm5", 8 * index, 240 + 8 * index).unwrap();
    }
    text.push_str("lea r14, [r14+304]\nret\n");
    text.push_str("small:\nlea rax, [rax+3]\nret\nother:\nadd rbx, rax\nsbb rdx, 5\nret\n");
    text.push_str(".data\n.balign 64\nmemory:\n");
    for _ in 0..32 {
        writeln!(text, ".quad {:#x}", random.next()).unwrap();
    }
    writeln!(
        text,
        "targets:\n.quad small, other\n.bss\n.balign 64\nwritten: .skip {}",
        304 * block_count + 64
    )
    .unwrap();
    text.push_str(".section .note.GNU-stack,\"\",@progbits\n");
    text
}

/// Writes an instruction, or a few that belong together.
fn instruction(text: &mut String, random: &mut Random, label: &str, has_undefined_flags: bool) {
    let bits = [8, 16, 32, 64][random.below(4)];
    let wide = [16, 32, 64][random.below(3)];
    let (first, second) = (random.of(&REGISTERS), random.of(&REGISTERS));
    let condition = random.of(&CONDITIONS);
    let value = (i64::try_from(random.below(1 << 31)).unwrap() - (1 << 30)) >> random.below(32);
    let offset = 8 * random.below(7);
    // A loop must not change its count.
    let summed = if second == "rcx" { "rdx" } else { second };
    let (vector, other) = (random.below(4), random.below(4));
    let names = ["add", "sub", "adc", "sbb", "and", "or", "xor", "cmp", "test"];
    let name = random.of(&names);
    let mut kind = random.below(33);
    while !has_undefined_flags && WITH_UNDEFINED_FLAGS.contains(&kind) {
        kind = random.below(33);
    }
    let line = match kind {
        0..=3 => format!("{name} {}, {}", part(first, bits), part(second, bits)),
        4 => format!("{name} {first}, {value}"),
        5 => format!("{} {}", random.of(&["inc", "dec", "neg", "not"]), part(first, bits)),
        6 | 7 => {
            let name = random.of(&["shl", "shr", "sar", "rol", "ror", "rcl", "rcr"]);
            let count = if random.below(2) == 0 { "cl".to_owned() } else { random.below(40).to_string() };
            format!("{name} {}, {count}", part(first, bits))
        }
        8 => format!("imul {}, {}", part(first, wide), part(second, wide)),
        9 => format!("mul {first}\nmov rdx, rax"),
        10 => {
            format!("{} {}, {}", random.of(&["bt", "bts", "btr", "btc"]), part(first, wide), random.below(16))
        }
        11 => format!("set{condition} {}", part(first, 8)),
        12 => format!("cmov{condition} {}, {}", part(first, wide), part(second, wide)),
        13 => format!("lea {first}, [{second}+{first}*2+{value}]"),
        14 => format!("mov {}, {}", part(first, bits), part(second, bits)),
        15 => format!("xchg {first}, {second}"),
        16 => format!("bswap {first}"),
        17 => format!("{} {first}, {second}", random.of(&["popcnt", "lzcnt", "tzcnt"])),
        18 => format!("lahf\nadd ah, 3\nsahf\nmov {first}, rax"),
        19 => format!("mov [r15+{offset}], {first}"),
        20 => format!("{name} {first}, [r15+{offset}]"),
        21 => format!("{name} [r15+{offset}], {}", part(first, bits)),
        22 => format!("mov {first}, [rip+memory+{offset}]\nadd [rip+memory+{offset}], {second}"),
        23 => format!("vmovq xmm{vector}, {first}\nvpbroadcastq ymm{other}, xmm{vector}"),
        24 => format!("vpaddd ymm{vector}, ymm{other}, [r15]\nvpxor ymm{other}, ymm{other}, ymm{vector}"),
        25 => format!("pushfq\npop {first}\nand {first}, 0xcd5\npush {second}\npop {first}"),
        26 => format!("j{condition} l{label}\nadd {first}, {value}\nxor {second}, {first}\nl{label}:"),
        27 => "call small".to_owned(),
        28 => format!("lea {first}, [rip+other]\ncall {first}"),
        29 => format!(
            "mov ecx, {}\nlea rdi, [r15+8]\nrep {}\nmov rdi, rcx",
            random.below(30),
            random.of(&["stosb", "stosw"])
        ),
        // Valgrind does not know `repne cmpsb`.
        30 => format!(
            "mov ecx, {}\nmov rdi, r15\nlea rsi, [r15+16]\n{}\nlea rdi, [rdi+rcx]\nsub rdi, r15\nsub rsi, r15",
            random.below(30),
            random.of(&["repe cmpsb", "repe scasb", "repne scasb"])
        ),
        31 => format!("mov ecx, {}\nl{label}: add {summed}, rcx\nloop l{label}", 1 + random.below(9)),
        _ => format!(
            "lea rcx, [rip+targets]\ncall [rcx+{}]\nlea rcx, [rip+l{label}]\njmp rcx\nl{label}:\nxor ecx, ecx\n\
             jrcxz m{label}\nm{label}:",
            8 * random.below(2)
        ),
    };
    text.push_str(&line);
    text.push('\n');
}
