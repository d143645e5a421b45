//! Programs that are made byte by byte: ELF for x86-64, with debug information of version 4.

/// The address of the code.
pub(crate) const START: u64 = 0x40_0000;

/// The bytes of code, each an instruction.
const CODE_BYTES: usize = 32_768;

/// A program to make.
pub(crate) struct Made {
    sections: Vec<(&'static str, Vec<u8>)>,
    /// The offset of the name, the address and the size of each function.
    pub(crate) symbols: Vec<(u32, u64, u64)>,
    pub(crate) names: Vec<u8>,
}

impl Default for Made {
    /// A program with the function `main`.
    fn default() -> Self {
        Made { sections: Vec::new(), symbols: vec![(1, START, 4096)], names: b"\0main\0".to_vec() }
    }
}

/// A section to write: its name, type, flags, address, contents, link, and the size of its entries.
type Section<'a> = (&'a str, u32, u64, u64, Vec<u8>, u32, u64);

impl Made {
    pub(crate) fn section(&mut self, name: &'static str, bytes: Vec<u8>) {
        self.sections.push((name, bytes));
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut sections: Vec<Section<'_>> = vec![(".text", 1, 6, START, vec![0x90; CODE_BYTES], 0, 0)];
        for (name, bytes) in &self.sections {
            sections.push((name, 1, 0, 0, bytes.clone(), 0, 0));
        }
        let symbol = |(name, start, size): &(u32, u64, u64)| {
            let kind = [0x12, 0, 1, 0];
            [&name.to_le_bytes()[..], &kind, &start.to_le_bytes(), &size.to_le_bytes()].concat()
        };
        let symbols = [0; 24].into_iter().chain(self.symbols.iter().flat_map(symbol)).collect();
        let names_index = u32::try_from(sections.len() + 2).unwrap();
        sections.push((".symtab", 2, 0, 0, symbols, names_index, 24));
        sections.push((".strtab", 3, 0, 0, self.names.clone(), 0, 0));
        sections.push((".shstrtab", 3, 0, 0, Vec::new(), 0, 0));
        let mut names = vec![0];
        let offsets: Vec<usize> = sections
            .iter()
            .map(|section| {
                names.extend_from_slice(section.0.as_bytes());
                names.push(0);
                names.len() - section.0.len() - 1
            })
            .collect();
        sections.last_mut().unwrap().4 = names;

        let (mut contents, mut headers) = (Vec::new(), vec![0; 64]);
        for ((_, kind, flags, address, bytes, link, entry_bytes), name) in sections.iter().zip(offsets) {
            headers.extend(u32::try_from(name).unwrap().to_le_bytes());
            headers.extend(kind.to_le_bytes());
            let offset = 64 + contents.len() as u64;
            for number in [*flags, *address, offset, bytes.len() as u64] {
                headers.extend(number.to_le_bytes());
            }
            headers.extend([link.to_le_bytes(), 1_u32.to_le_bytes()].concat());
            headers.extend([1_u64.to_le_bytes(), entry_bytes.to_le_bytes()].concat());
            contents.extend_from_slice(bytes);
        }
        let mut file = [&b"\x7fELF\x02\x01\x01"[..], &[0; 9], &[2, 0, 62, 0, 1, 0, 0, 0]].concat();
        for number in [START, 0, 64 + contents.len() as u64] {
            file.extend(number.to_le_bytes());
        }
        let count = u16::try_from(sections.len() + 1).unwrap();
        file.extend([0; 4]);
        for number in [64, 56, 0, 64, count, count - 1] {
            file.extend(number.to_le_bytes());
        }
        [file, contents, headers].concat()
    }
}

/// A number in the form of DWARF: seven bits for each byte.
fn uleb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap());
    bytes
}

/// An abbreviation: its code, tag, whether it has children, and its attributes with their forms.
pub(crate) fn abbreviation(code: usize, tag: u8, has_children: bool, attributes: &[(u8, u8)]) -> Vec<u8> {
    let mut bytes = [uleb128(code), vec![tag, u8::from(has_children)]].concat();
    attributes.iter().for_each(|&(name, form)| {
        // The attributes of GNU for split units.
        match (name, form) {
            (0x30, form) => bytes.extend([0xb0, 0x42, form]),
            (0x31, form) => bytes.extend([0xb1, 0x42, form]),
            (name, form) => bytes.extend([name, form]),
        }
    });
    bytes.extend([0, 0]);
    bytes
}

/// A unit with these entries, and its abbreviations at an offset.
pub(crate) fn unit(abbreviations: usize, entries: &[u8]) -> Vec<u8> {
    let offset = u32::try_from(abbreviations).unwrap().to_le_bytes();
    with_length(&[&[4, 0][..], &offset, &[8], entries].concat())
}

/// The entry of a unit with this many bytes of code.
pub(crate) fn unit_entry(size: u64) -> Vec<u8> {
    [&[1][..], &START.to_le_bytes(), &size.to_le_bytes()].concat()
}

/// The table of addresses of the first unit.
pub(crate) fn address_ranges(size: u64) -> Vec<u8> {
    let head = [2, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0];
    with_length(&[&head[..], &START.to_le_bytes(), &size.to_le_bytes(), &[0; 16]].concat())
}

/// A line program with these directories and instructions.
pub(crate) fn line_program(directories: &[Vec<u8>], instructions: &[u8]) -> Vec<u8> {
    let mut header = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    for directory in directories {
        header.extend_from_slice(directory);
        header.push(0);
    }
    header.extend([0, 0]);
    let length = u32::try_from(header.len()).unwrap().to_le_bytes();
    with_length(&[&[4, 0][..], &length, &header, instructions].concat())
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_le_bytes(), bytes].concat()
}
