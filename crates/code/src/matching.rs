//! Comparison of a program with a profile: is it the one that was recorded, and how do their addresses relate?

mod names;

use std::collections::{BTreeMap, BTreeSet};

use crate::{Architecture, Binary, Error};
use names::{Aliases, ProfileName};

/// The count of starts of instructions that prove something: most bytes of code are inside of an instruction, so not all of these agree at
/// random.
const MIN_STARTS: u64 = 20;

/// The share of addresses that have to agree, in percent. Below it, it is not the same build.
const MIN_AGREEING_PERCENT: u64 = 99;

/// Programs are loaded at a multiple of this.
const PAGE_BYTES: u64 = 4096;

/// The largest function whose instructions are compared.
const MAX_DECODED_BYTES: u64 = 256 << 10;

/// Distances that are tried: those with the most votes.
const MAX_CANDIDATES: usize = 4;

/// A line of a profile: its address, its function, and the number of its source line if the profile has one.
///
/// See the example of [`Matching`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileLine<'a> {
    /// The address, as the profile has it.
    pub address: u64,
    /// The name of the function, as the profile has it: mangled or demangled, with the level of a recursion and callers.
    pub function: &'a [u8],
    /// The source line. `None` or 0 if it is unknown.
    pub line: Option<u64>,
}

/// The relation between the lines of a profile that are in one object and a program.
///
/// A profile names the path of a program, but has no build id and no load address: after another build, addresses of the profile are in
/// other functions. So what can be checked is checked, see [`Agreement`].
///
/// # Addresses in profiles
///
/// Callgrind subtracts the address at which an object was loaded: what it writes is the address in the file, for fixed programs,
/// position-independent ones and libraries, also if their segments begin at another address than 0. Found with Valgrind 3.19, where
/// the program runs at 0x108000 and libraries above 0x4800000:
///
/// | object | symbol in the file | address in the profile |
/// |---|---|---|
/// | program with `-no-pie` | `main` 0x401157 | 0x401157 |
/// | program with `-pie` | `main` 0x116a | 0x116a |
/// | static program, `-static-pie` | `grind` 0x9699 | 0x9699 |
/// | library | `twice` 0x10f9 | 0x10f9 |
/// | library linked to 0x7000000 (`-Ttext-segment`) | `twice` 0x70010f9 | 0x70010f9 |
/// | `_init` of a position-independent program, in `ob=???` | `_init` 0x1000 | 0x109000 |
///
/// The last row is code that Valgrind has no symbols for (`.init`, `.fini`, and stubs of some objects): its object is `???` and its
/// address is the one at run time. It cannot be assigned to a program, as several were loaded.
///
/// Other producers write run-time addresses, and a library can be prelinked again after the recording. So a distance is looked for: each
/// function of the profile whose name the program has votes for the distance between its lowest address and the symbol, if it is a
/// multiple of a page. The distance is 0 unless another one agrees better.
///
/// ```
/// # use gristmill_code::{Binary, FileSystem, Locator, Matching, ProfileLine};
/// # fn run() -> Result<(), gristmill_code::Error> {
/// let binary = Binary::open("target/release/mill", &Locator::new(FileSystem))?;
/// let line = ProfileLine { address: 0x1149, function: b"grind'2", line: Some(3) };
/// let matching = Matching::new(&binary, &[line])?;
/// if !matching.agreement().is_same_build() {
///     eprintln!("not the same build: {:?}", matching.agreement());
/// }
/// let address = matching.address(line.address);
/// # let _ = address;
/// # Ok(())
/// # }
/// # let _ = run();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matching {
    distance: u64,
    agreement: Agreement,
}

/// The count of addresses of a profile that agree with a program. Each address counts once.
///
/// The name is not compared at an address whose function the profile does not name (`???`, `0x…`, `(below main)`), for which the
/// program has no name, or at which the routines of an assembler continue in each other.
///
/// Agreement proves that addresses stand for the same instructions and lines as when they were recorded. It does not prove that the
/// program is the same: a constant, an operand or a function without costs can be another one, and no number of a profile depends on
/// them.
///
/// ```
/// use gristmill_code::Agreement;
///
/// let agreement = Agreement { addresses: 200, same_name: 198, other_name: 2, ..Agreement::default() };
/// assert_eq!(agreement.compared_names(), 200);
/// assert!(agreement.is_same_build());
/// let agreement = Agreement { outside: 20, ..agreement };
/// assert!(!agreement.is_same_build());
/// assert!(!Agreement::default().is_known());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Agreement {
    /// Addresses of the profile.
    pub addresses: u64,
    /// Those whose function has the same name in both.
    pub same_name: u64,
    /// Those whose function has another name in the program.
    pub other_name: u64,
    /// Those at which the program has no code.
    pub outside: u64,
    /// Those whose source line is the same.
    pub same_line: u64,
    /// Those whose source line is another one.
    pub other_line: u64,
    /// Those at which an instruction starts.
    pub start: u64,
    /// Those inside of an instruction.
    pub inside: u64,
    /// Those of these two where instructions have different lengths, so that another program would disagree. Those of AArch64 always agree.
    pub telling_starts: u64,
}

impl Agreement {
    /// Returns the count of addresses whose names were compared, or that have no code.
    pub fn compared_names(&self) -> u64 {
        self.same_name + self.other_name + self.outside
    }

    /// Returns the count of addresses whose lines were compared.
    pub fn compared_lines(&self) -> u64 {
        self.same_line + self.other_line
    }

    /// Returns `true` if names or lines could be compared, or enough starts of instructions: a stripped program has nothing else.
    pub fn is_known(&self) -> bool {
        self.compared_names() + self.compared_lines() > 0 || self.telling_starts >= MIN_STARTS
    }

    /// Returns the count of addresses that are in a function whose instructions could be decoded.
    pub fn compared_starts(&self) -> u64 {
        self.start + self.inside
    }

    /// Returns `true` if at least 99% of the names, of the lines and of the starts of instructions that could be compared agree.
    pub fn is_same_build(&self) -> bool {
        self.is_known() && !self.is_contradicted()
    }

    /// Returns `true` if less than 99% of the names, of the lines or of the starts of instructions that could be compared agree.
    ///
    /// ```
    /// use gristmill_code::Agreement;
    ///
    /// assert!(!Agreement::default().is_contradicted());
    /// assert!(Agreement { same_name: 9, start: 7, inside: 2, ..Agreement::default() }.is_contradicted());
    /// ```
    pub fn is_contradicted(&self) -> bool {
        let is_enough = |same: u64, all: u64| {
            u128::from(same) * 100 >= u128::from(all) * u128::from(MIN_AGREEING_PERCENT)
        };
        !(is_enough(self.same_name, self.compared_names())
            && is_enough(self.same_line, self.compared_lines())
            && is_enough(self.start, self.compared_starts()))
    }

    /// Returns `true` if everything agrees that could be compared.
    pub fn is_complete(&self) -> bool {
        self.is_known() && self.other_name + self.outside + self.other_line + self.inside == 0
    }
}

impl Matching {
    /// Compares all lines of a profile that are in one object with a program.
    ///
    /// # Errors
    ///
    /// If the debug information of the program is damaged.
    pub fn new(binary: &Binary, lines: &[ProfileLine<'_>]) -> Result<Self, Error> {
        Self::with_limit(binary, lines, u64::MAX)
    }

    /// Does the same, but decodes no more bytes than these to see where instructions start, those of the first lines first. The names
    /// and source lines of all are compared. See the example of [`Matching`].
    ///
    /// # Errors
    ///
    /// If the debug information of the program is damaged.
    pub fn with_limit(
        binary: &Binary,
        lines: &[ProfileLine<'_>],
        max_decoded_bytes: u64,
    ) -> Result<Self, Error> {
        let mut best = Self { distance: 0, agreement: compare_names(binary, lines, 0) };
        if !best.agreement.is_same_build() {
            for distance in candidates(binary, lines) {
                let agreement = compare_names(binary, lines, distance);
                if agreement.same_name > best.agreement.same_name {
                    best = Self { distance, agreement };
                }
            }
        }
        best.agreement = best.compared(binary, lines, max_decoded_bytes)?;
        Ok(best)
    }

    /// Compares some lines of the profile, such as those of one function. After a small change of the source, most functions of a
    /// program agree with a recording of the one before, and one does not.
    ///
    /// # Errors
    ///
    /// If the debug information of the program is damaged.
    pub fn agreement_of(&self, binary: &Binary, lines: &[ProfileLine<'_>]) -> Result<Agreement, Error> {
        self.compared(binary, lines, u64::MAX)
    }

    fn compared(
        &self,
        binary: &Binary,
        lines: &[ProfileLine<'_>],
        max_decoded_bytes: u64,
    ) -> Result<Agreement, Error> {
        let mut agreement = compare_names(binary, lines, self.distance);
        self.compare_starts(binary, lines, max_decoded_bytes, &mut agreement);
        self.compare_lines(binary, lines, &mut agreement)?;
        Ok(agreement)
    }

    /// Returns what is added to an address of the program to get that of the profile. Usually 0.
    pub fn distance(&self) -> u64 {
        self.distance
    }

    /// Returns the address in the program that an address of the profile stands for.
    pub fn address(&self, in_profile: u64) -> u64 {
        in_profile.wrapping_sub(self.distance)
    }

    /// Returns how much of the profile agrees with the program.
    pub fn agreement(&self) -> Agreement {
        self.agreement
    }

    fn compare_starts(
        &self,
        binary: &Binary,
        lines: &[ProfileLine<'_>],
        max_decoded_bytes: u64,
        agreement: &mut Agreement,
    ) {
        let mut left = max_decoded_bytes;
        let mut seen = BTreeSet::new();
        // By start of a function: its end, and the starts of its instructions, if they are compared.
        let mut decoded: BTreeMap<u64, (u64, Option<Vec<u64>>)> = BTreeMap::new();
        for address in lines.iter().map(|line| self.address(line.address)) {
            if !seen.insert(address) {
                continue;
            }
            let before = decoded.range(..=address).next_back();
            let start = match before.filter(|(_, (end, _))| address < *end) {
                Some((&start, _)) => start,
                None => {
                    let Some(function) = binary.function(address) else { continue };
                    let range = function.range();
                    let length = range.end.saturating_sub(range.start);
                    let is_compared = length <= MAX_DECODED_BYTES.min(left);
                    left -= if is_compared { length } else { 0 };
                    // Without a decoder, nothing is known about the starts of instructions.
                    let starts = is_compared.then(|| binary.instruction_starts(range.clone())).flatten();
                    decoded.insert(range.start, (range.end, starts));
                    range.start
                }
            };
            match decoded.get(&start).and_then(|(_, starts)| starts.as_ref()) {
                Some(starts) if starts.binary_search(&address).is_ok() => agreement.start += 1,
                Some(_) => agreement.inside += 1,
                None => {}
            }
        }
        if matches!(binary.architecture(), Architecture::X86 | Architecture::X86_64) {
            agreement.telling_starts = agreement.compared_starts();
        }
    }

    fn compare_lines(
        &self,
        binary: &Binary,
        lines: &[ProfileLine<'_>],
        agreement: &mut Agreement,
    ) -> Result<(), Error> {
        // Callgrind gives an address one line, but a call or jump at the same address can repeat it. Its file is not compared: after a
        // call, Callgrind can leave that of another inlined function in place.
        let mut numbers = BTreeMap::new();
        for line in lines {
            if let Some(number) = line.line.filter(|number| *number != 0) {
                numbers.entry(line.address).or_insert(number);
            }
        }
        for (address, number) in numbers {
            let found = binary.line(self.address(address))?.and_then(|found| found.line);
            match found.map(u64::from) {
                Some(found) if found == number => agreement.same_line += 1,
                Some(_) => agreement.other_line += 1,
                None => {}
            }
        }
        Ok(())
    }
}

/// Compares the names of functions at a distance.
fn compare_names(binary: &Binary, lines: &[ProfileLine<'_>], distance: u64) -> Agreement {
    let mut agreement = Agreement::default();
    let mut seen = BTreeSet::new();
    // Of one function, many addresses follow each other: its name, which can be long, is parsed and compared once.
    let mut names: BTreeMap<(*const [u8], u64), Option<bool>> = BTreeMap::new();
    let mut of_start: BTreeMap<u64, Aliases<'_>> = BTreeMap::new();
    let mut last_name: Option<(&[u8], Option<ProfileName<'_>>)> = None;
    for line in lines {
        if !seen.insert(line.address) {
            continue;
        }
        agreement.addresses += 1;
        let (_, name) = match &mut last_name {
            Some(last) if std::ptr::eq(last.0, line.function) => last,
            last => last.insert((line.function, ProfileName::parse(line.function))),
        };
        let Some(name) = name else { continue };
        let address = line.address.wrapping_sub(distance);
        let Some(function) = binary.function(address) else {
            agreement.outside += u64::from(!binary.has_code(address));
            continue;
        };
        if function.raw_name().is_none() {
            continue;
        }
        let start = function.range().start;
        let is_same = *names.entry((std::ptr::from_ref(line.function), start)).or_insert_with(|| {
            let read = || Aliases::new(binary.aliases(start).iter().filter_map(|alias| alias.raw_name()));
            let is_same = of_start.entry(start).or_insert_with(read).have(name);
            (is_same || !is_assembler(binary, address)).then_some(is_same)
        });
        match is_same {
            Some(true) => agreement.same_name += 1,
            Some(false) => agreement.other_name += 1,
            None => {}
        }
    }
    agreement
}

/// Returns `true` if the code at an address comes from an assembler. Such routines continue in each other, as `mempcpy` of glibc in
/// `memmove`, and Callgrind does not take that for a call.
fn is_assembler(binary: &Binary, address: u64) -> bool {
    let file = binary.line(address).ok().flatten().and_then(|line| line.file);
    file.is_some_and(|file| [".S", ".s", ".asm"].iter().any(|end| file.ends_with(end)))
}

/// Returns the distances with the most votes.
fn candidates(binary: &Binary, lines: &[ProfileLine<'_>]) -> Vec<u64> {
    let mut lowest: BTreeMap<&[u8], u64> = BTreeMap::new();
    for line in lines {
        let address = lowest.entry(line.function).or_insert(line.address);
        *address = line.address.min(*address);
    }
    let lowest: Vec<(ProfileName<'_>, u64)> =
        lowest.into_iter().filter_map(|(name, address)| Some((ProfileName::parse(name)?, address))).collect();
    // Only of names that the profile has: those of a program can be longer than all else.
    let mut starts: BTreeMap<&str, Vec<u64>> =
        lowest.iter().map(|(name, _)| (name.key(), Vec::new())).collect();
    for function in binary.functions() {
        if let Some(raw) = function.raw_name()
            && let Some(starts) = starts.get_mut(names::key_of_symbol(raw).as_str())
            && starts.len() < MAX_VOTES_OF_NAME
        {
            starts.push(function.range().start);
        }
    }
    let mut votes: BTreeMap<u64, u64> = BTreeMap::new();
    for (name, address) in &lowest {
        for start in starts.get(name.key()).into_iter().flatten() {
            let distance = address.wrapping_sub(*start);
            if distance % PAGE_BYTES == 0 && distance != 0 {
                *votes.entry(distance).or_default() += 1;
            }
        }
    }
    let mut candidates: Vec<(u64, u64)> =
        votes.into_iter().map(|(distance, count)| (count, distance)).collect();
    candidates.sort_by_key(|(count, distance)| (std::cmp::Reverse(*count), *distance));
    candidates.truncate(MAX_CANDIDATES);
    candidates.into_iter().map(|(_, distance)| distance).collect()
}

/// Functions of one name that vote. A name of many functions says little.
const MAX_VOTES_OF_NAME: usize = 8;
