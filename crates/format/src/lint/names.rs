//! Names and their numbers.

use super::{Finding, Report, rule, shown};
use crate::id_table::IdTable;
use crate::intern::EMPTY;
use crate::location::Location;
use crate::name::{Name, NameKey, NameSpace, is_compound_name};
use crate::name_spaces::NameSpaces;
use crate::record::{Line, Record};
use crate::survey::Surveyor;

/// Callgrind numbers a file once for each object it is linked into, so a few numbers for one name are usual.
const MANY_NUMBERS: u8 = 64;

#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    spaces: NameSpaces<Space>,
    /// The `cfn=` line that waits for its `calls=`.
    callee: Option<Record<'a>>,
    /// The second of several such lines.
    second_callee: Option<Record<'a>>,
    /// A `fn=` line after which no cost and no other name has come.
    fresh_function: bool,
    functions_without_lines: u32,
    has_fl: bool,
}

#[derive(Debug, Default)]
struct Space {
    /// The last name of each id, and the part that defined it.
    meanings: IdTable<(u32, u32)>,
    /// The count of ids of each name; the counts saturate.
    numbers_of: Vec<u8>,
    /// The first definition, as long as no number is used again.
    only: Option<(u64, Location)>,
    definitions: u32,
    is_used: bool,
}

impl<'a> Names<'a> {
    /// The id of a name, which for a reference is known from its number.
    pub(super) fn id(&self, space: NameSpace, name: &Name<'a>, surveyor: &Surveyor<'a>) -> u32 {
        let Some(text) = name.text else { return EMPTY };
        let Some(number) = name.id.filter(|_| !name.defines) else { return surveyor.last_name() };
        let names = surveyor.names(space);
        match self.spaces[space].meanings.get(number) {
            Some((id, _)) if is_same(names.text(id), text) => id,
            _ => names.get(text).unwrap_or(EMPTY),
        }
    }

    /// No more names will come.
    pub(super) fn names_end(&mut self) {
        for space in &mut self.spaces {
            space.meanings.clear();
            space.numbers_of = Vec::new();
        }
    }

    pub(super) fn record<F: FnMut(Finding<'a>)>(
        &mut self,
        record: &Record<'a>,
        surveyor: &Surveyor<'a>,
        report: &mut Report<'a, F>,
    ) {
        match record.line {
            Line::Name(key, name) => {
                self.order(key, record, report);
                self.number(key.space(), &name, record, surveyor, report);
                if name.id.is_none() || name.defines {
                    text(key, &name, record, report);
                }
            }
            Line::Cost(_) => self.fresh_function = false,
            Line::Calls(_) => {
                if let Some(second) = self.second_callee.take() {
                    report.line(&rule::CALLEE_NAMED_TWICE, &second, rule::CALLEE_NAMED_TWICE.summary);
                }
                self.callee = None;
                self.fresh_function = false;
            }
            Line::NewProfile(_) => {
                for space in &mut self.spaces {
                    space.meanings.clear();
                }
            }
            _ => {}
        }
    }

    /// Takes plain cost lines.
    pub(super) fn plain_lines(&mut self) {
        self.fresh_function = false;
    }

    fn order<F: FnMut(Finding<'a>)>(
        &mut self,
        key: NameKey,
        record: &Record<'a>,
        report: &mut Report<'a, F>,
    ) {
        match key {
            NameKey::Cfn => {
                if self.callee.is_some() {
                    self.second_callee.get_or_insert(*record);
                }
                // The lines before it define what such a name is made of.
                if let Line::Name(_, Name { text: Some(text), .. }) = record.line
                    && is_compound_name(text)
                {
                    self.second_callee = None;
                }
                self.callee = Some(*record);
            }
            NameKey::Cfi | NameKey::Cfl | NameKey::Cob => {
                if let Some(callee) = &self.callee {
                    report.once(&rule::CALLEE_ORDER, callee, rule::CALLEE_ORDER.summary);
                }
            }
            NameKey::Fl => {
                if self.fresh_function && !self.has_fl {
                    report.once(&rule::FUNCTION_BEFORE_FILE, record, rule::FUNCTION_BEFORE_FILE.summary);
                }
                self.has_fl = true;
                self.fresh_function = false;
            }
            NameKey::Fn => {
                if self.fresh_function {
                    self.functions_without_lines += 1;
                    // One function without costs can happen; a list of them is meant.
                    if self.functions_without_lines == 2 {
                        report.once(&rule::BARE_DEFINITIONS, record, rule::BARE_DEFINITIONS.summary);
                    }
                }
                self.fresh_function = true;
            }
            _ => {}
        }
    }

    fn number<F: FnMut(Finding<'a>)>(
        &mut self,
        key: NameSpace,
        name: &Name<'a>,
        record: &Record<'a>,
        surveyor: &Surveyor<'a>,
        report: &mut Report<'a, F>,
    ) {
        let space = &mut self.spaces[key];
        let Some(id) = name.id else { return };
        let line = record.text();
        if !name.defines {
            space.is_used = true;
        }
        // Most lines have no such letter, which is found out in a fraction of the time.
        if memchr::memchr2(b'x', b'X', line).is_some()
            && let Some(at) =
                memchr::memmem::find(line, b"=(0x").or_else(|| memchr::memmem::find(line, b"=(0X"))
        {
            report.at(&rule::HEX_NAME_NUMBER, record, (at + 1, 3), rule::HEX_NAME_NUMBER.summary);
        }
        if id == 0 {
            report.once(&rule::NAME_NUMBER_ZERO, record, rule::NAME_NUMBER_ZERO.summary);
        }
        if !name.defines || name.text.is_none() {
            return;
        }
        let text = surveyor.last_name();
        space.definitions += 1;
        space.only.get_or_insert((id, record.location));
        let before = space.meanings.get(id);
        space.meanings.set(id, (text, record.part));
        match before {
            Some((before, part)) if before != text && part != record.part => {
                let message = format!(
                    "({id}) meant {} `{}` in an earlier part",
                    key,
                    shown(surveyor.names(key).text(before))
                );
                report.once(&rule::RENUMBERED_NAMES, record, message);
            }
            Some((before, _)) if before == text => {}
            _ => {
                let index = text as usize;
                if index >= space.numbers_of.len() {
                    space.numbers_of.resize(index + 1, 0);
                }
                let numbers = &mut space.numbers_of[index];
                *numbers = numbers.saturating_add(1);
                if *numbers == MANY_NUMBERS {
                    let message = format!("the {MANY_NUMBERS}th id of the same {key}");
                    report.once(&rule::NAME_MANY_NUMBERS, record, message);
                }
            }
        }
    }

    pub(super) fn end<F: FnMut(Finding<'a>)>(&mut self, report: &mut Report<'a, F>) {
        for space in &self.spaces {
            if let (Some((id, location)), 1, false) = (space.only, space.definitions, space.is_used)
                && id > 1
            {
                report.place(
                    &rule::AMBIGUOUS_NAME,
                    location,
                    format!("({id}) is defined here and never used"),
                );
            }
        }
    }
}

/// `true` if two names are equal. The text of a reference lies where it was defined, so it need not be compared.
pub(super) fn is_same(a: &[u8], b: &[u8]) -> bool {
    std::ptr::eq(a, b) || a == b
}

/// Checks the bytes of a name.
fn text<'a, F: FnMut(Finding<'a>)>(
    key: NameKey,
    name: &Name<'a>,
    record: &Record<'a>,
    report: &mut Report<'a, F>,
) {
    let line = record.text();
    let text = name.bytes();
    let place = (line.len() - text.len(), text.len());
    if text.is_empty() {
        return report.once(&rule::EMPTY_NAME, record, format!("empty {} name", key.space()));
    }
    if name.id.is_none()
        && let [b'(', next, ..] = text
    {
        if matches!(next, b')' | b'-' | b'+') || next.is_ascii_digit() {
            report.at(&rule::ODD_NAME_NUMBER, record, place, rule::ODD_NAME_NUMBER.summary);
        } else {
            report.once(&rule::PARENTHESIS_NAME, record, rule::PARENTHESIS_NAME.summary);
        }
    }
    let holds = |needle: &[u8]| memchr::memmem::find(text, needle).is_some();
    if memchr::memchr(b'<', text).is_some() && (holds(b"<script") || holds(b"</") || holds(b"<img")) {
        report.at(&rule::MARKUP_IN_NAME, record, place, rule::MARKUP_IN_NAME.summary);
    }
    match key.space() {
        NameSpace::Function => {
            // Namespaces of PHP are separated by backslashes.
            if memchr::memchr(b'\\', text).is_some() && escape_is_alone(text) {
                report.at(&rule::ESCAPE_IN_NAME, record, place, rule::ESCAPE_IN_NAME.summary);
            }
        }
        NameSpace::File => path(text, place, record, report),
        NameSpace::Object => {}
    }
}

/// `true` if a name has `\n` and no other backslash, so that it is no PHP namespace or Windows path.
fn escape_is_alone(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"\\n").is_some() && memchr::memchr_iter(b'\\', text).count() == 1
}

fn path<'a, F: FnMut(Finding<'a>)>(
    text: &[u8],
    place: (usize, usize),
    record: &Record<'a>,
    report: &mut Report<'a, F>,
) {
    let mut depth = 0i64;
    let mut least = 0;
    for piece in text.split(|&byte| byte == b'/') {
        depth += match piece {
            b"" | b"." => 0,
            b".." => -1,
            _ => 1,
        };
        least = least.min(depth);
    }
    if least < 0 {
        report.at(&rule::PATH_LEAVES_TREE, record, place, rule::PATH_LEAVES_TREE.summary);
    }
    if text.starts_with(b"/dev/") || text.starts_with(b"/proc/") {
        report.at(&rule::DEVICE_PATH, record, place, rule::DEVICE_PATH.summary);
    }
}
