//! Start and end of the sequences of a line program: its addresses alone take a fraction of the time that its rows take.

/// The first of the addresses that linkers write for code that they have removed.
const FIRST_TOMBSTONE: u64 = u64::MAX - 1;

/// The counts of operands of the opcodes from 1 on.
const OPERAND_COUNTS: [u8; 12] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];

/// Opcodes, and those that follow on a 0.
mod opcode {
    pub(super) const EXTENDED: u8 = 0;
    pub(super) const COPY: u8 = 1;
    pub(super) const ADVANCE_ADDRESS: u8 = 2;
    pub(super) const ADD_CONSTANT: u8 = 8;
    pub(super) const ADD_FIXED: u8 = 9;
    pub(super) const END_SEQUENCE: u8 = 1;
    pub(super) const SET_ADDRESS: u8 = 2;
    pub(super) const DEFINE_FILE: u8 = 3;
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, others) = self.0.split_first()?;
        self.0 = others;
        Some(*first)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, others) = self.0.split_at_checked(count)?;
        self.0 = others;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// A number of variable length. `None` if it has more than 63 bits.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Skips a number with or without a sign.
    fn skip_number(&mut self) -> Option<()> {
        while self.byte()? & 0x80 != 0 {}
        Some(())
    }
}

/// Returns start and end of the sequences of a program of version 5, which has a length of 32 bits. `None` if it has what compilers do not
/// write, or is damaged.
pub(crate) fn bounds(program: &[u8]) -> Option<Vec<(u64, u64)>> {
    let mut bytes = Bytes(program);
    let length = u32::from_le_bytes(bytes.array()?) as usize;
    bytes = Bytes(bytes.take(length)?);
    let [_, _, address_bytes, segment_bytes] = bytes.array()?;
    let header_length = u32::from_le_bytes(bytes.array()?) as usize;
    let mut header = Bytes(bytes.take(header_length)?);
    let [step, operations, _, _, line_range, first_special] = header.array()?;
    let counts = header.take(usize::from(first_special).checked_sub(1)?)?;
    let is_usual = (address_bytes, segment_bytes, operations) == (8, 0, 1) && line_range != 0;
    if !is_usual || !counts.starts_with(&OPERAND_COUNTS) {
        return None;
    }
    // A division takes longer than all the rest. The quotient of bytes is that of the product with this.
    let reciprocal = (1 << 16) / u32::from(line_range) + 1;
    let advance =
        |opcode: u8| u64::from((u32::from(opcode - first_special) * reciprocal) >> 16) * u64::from(step);
    let mut found = Vec::new();
    let (mut address, mut start) = (0u64, None);
    while let Some(next) = bytes.byte() {
        if next >= first_special {
            address = address.checked_add(advance(next))?;
            start = start.or(Some(address));
            continue;
        }
        match next {
            opcode::EXTENDED => {
                let length = usize::try_from(bytes.number()?).ok()?;
                let mut operation = Bytes(bytes.take(length)?);
                match operation.byte()? {
                    opcode::END_SEQUENCE => {
                        found.push((start.take().unwrap_or(0), address));
                        address = 0;
                    }
                    opcode::SET_ADDRESS => {
                        let new = u64::from_le_bytes(operation.array()?);
                        if new < address || new >= FIRST_TOMBSTONE {
                            return None;
                        }
                        address = new;
                    }
                    opcode::DEFINE_FILE => return None,
                    _ => {}
                }
            }
            opcode::COPY => start = start.or(Some(address)),
            opcode::ADVANCE_ADDRESS => {
                address = address.checked_add(bytes.number()?.checked_mul(u64::from(step))?)?;
            }
            opcode::ADD_CONSTANT => address = address.checked_add(advance(u8::MAX))?,
            opcode::ADD_FIXED => {
                address = address.checked_add(u16::from_le_bytes(bytes.array()?).into())?;
            }
            other => {
                for _ in 0..counts[usize::from(other) - 1] {
                    bytes.skip_number()?;
                }
            }
        }
    }
    Some(found)
}
