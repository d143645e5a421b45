//! The profile: what blocks and edges cost, by function, instruction and line, in Callgrind's dialect.

use std::borrow::Cow;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, Header, Jump, Line, Name, NameKey, NameStyle,
    PositionKind, PositionStyle, Positions, Record, Words, Writer,
};

use gristmill_profile::hash::Map;

use super::Engine;
use super::costs::{ContextCosts, ThreadCosts};
use super::jump_counts::JumpCount;
use super::output_file::replace_content;
use super::trigger::Trigger;
use crate::contexts::{ChainId, ContextId, Function, FunctionId, Kind, Running};
use crate::lines::{Run, Source};
use crate::objects::ObjectId;

/// The file of what has none.
const UNKNOWN: &[u8] = b"???";

/// A part of the profile: its number, from 1, and what it is written for.
#[derive(Debug, Clone, Copy)]
struct Part<'a> {
    number: u64,
    trigger: &'a Trigger,
    /// The number of the one thread that it is of.
    thread: Option<u64>,
    /// `true` if it goes on with a file that has parts already.
    is_appended: bool,
}

/// Writes what the process has counted, in a thread or in all. Returns the sum.
pub(crate) fn write(
    engine: &Engine,
    trigger: &Trigger,
    number: u64,
    thread: Option<u64>,
) -> Result<u64, String> {
    if matches!(trigger, Trigger::End) {
        // A file can have been written over many times.
        for path in engine.objects.lost() {
            engine.options.report(&format!(
                "{}: the file, or that with its debug information, was written over while the program ran, so the source lines of what was \
                 loaded before are not known",
                path.display()
            ));
        }
    }
    let mut path = engine.options.client.output(std::process::id()).into_os_string();
    let is_combined = engine.options.combines_parts;
    if !is_combined && !matches!(trigger, Trigger::End) {
        path.push(format!(".{number}"));
    }
    let bases = engine.threads.bases();
    let threads = bases.iter().enumerate().filter(|(_, base)| thread.is_none_or(|thread| thread == **base));
    let threads: Vec<usize> = threads.map(|(index, _)| index).collect();
    let part = Part { number, trigger, thread: None, is_appended: is_combined && number > engine.first_part };
    if !engine.options.separates_threads {
        return write_threads(engine, path.as_ref(), &threads, part);
    }
    let mut total = 0;
    for (index, thread) in threads.into_iter().enumerate() {
        let number = thread as u64 + 1;
        let mut name = path.clone();
        if !is_combined {
            name.push(format!("-{number:02}"));
        }
        let is_appended = is_combined && (part.number > engine.first_part || index > 0);
        let part = Part { thread: Some(number), is_appended, ..part };
        total += write_threads(engine, name.as_ref(), &[thread], part)?;
    }
    Ok(total)
}

/// Writes the profile of threads, by their indexes.
fn write_threads(engine: &Engine, path: &Path, threads: &[usize], part: Part<'_>) -> Result<u64, String> {
    let shown = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bases = engine.threads.bases();
    let mut bases: Vec<u64> = threads.iter().map(|thread| bases[*thread]).collect();
    let summary = match part.trigger {
        Trigger::Replaced(_) => engine.counted(&bases),
        _ => {
            let of_parent = bases.iter().filter_map(|base| engine.threads.counts_of_parent(*base));
            bases.extend(of_parent.collect::<Vec<u64>>());
            threads.iter().map(|thread| engine.threads.summary(*thread)).fold(0, u64::wrapping_add)
        }
    };
    let profile = Profile { engine, callees: Map::default(), part };
    let (bytes, total) =
        profile.write(&ThreadCosts::new(engine, &bases), summary).map_err(|error| shown(&error))?;
    replace_content(path, &bytes, part.is_appended).map_err(|error| shown(&error))?;
    Ok(total)
}

/// A profile that is written.
struct Profile<'a> {
    engine: &'a Engine,
    /// By context and address that is called.
    callees: Map<(ContextId, u64), Rc<Callee>>,
    part: Part<'a>,
}

/// The parts of a call that its function has.
#[derive(Debug)]
struct Callee {
    object: Option<ObjectId>,
    file: Option<Arc<str>>,
    name: Vec<u8>,
    positions: [u64; 2],
}

/// A function on a level of recursion, called by others.
#[derive(Debug, Clone, Copy)]
struct Place {
    function: FunctionId,
    level: u32,
    callers: ChainId,
}

type Sink = Vec<u8>;

impl Profile<'_> {
    fn write(mut self, costs: &ThreadCosts<'_>, summary: u64) -> Result<(Vec<u8>, u64), Error> {
        let options = &self.engine.options;
        let names = if options.compresses_names { NameStyle::Compressed } else { NameStyle::Plain };
        let positions =
            if options.compresses_positions { PositionStyle::Compressed } else { PositionStyle::Absolute };
        let mut writer = Writer::new(Vec::new()).names(names).positions(positions);
        self.write_head(&mut writer, summary)?;
        let mut places: Vec<(Place, ContextId)> =
            costs.contexts().into_iter().map(|context| (self.place(context), context)).collect();
        places.sort_by_key(|(place, _)| {
            let function = self.engine.contexts.function(place.function);
            (function.object, function.start, place.level, place.callers)
        });
        let (mut object, mut total) = (None, 0);
        for (place, context) in places {
            let id = self.object(place);
            if object != Some(id) {
                self.put_name(&mut writer, NameKey::Ob, self.object_name(id))?;
                object = Some(id);
            }
            total += self.write_function(&mut writer, place, &costs.of(context))?;
        }
        put(&mut writer, Line::Header(Header::Totals(Costs::new(&[Cost::from(total)]))))?;
        Ok((writer.finish()?, total))
    }

    fn write_head(&self, writer: &mut Writer<Sink>, summary: u64) -> Result<(), Error> {
        let options = &self.engine.options;
        let part = self.part;
        // The parts of threads of one moment are complete files.
        if part.is_appended && part.number > self.engine.first_part {
            put(writer, Line::Blank)?;
        } else {
            put(writer, Line::Comment(b" callgrind format"))?;
            put(writer, Line::Header(Header::Version(b"1")))?;
            let creator = concat!("gristmill-engine-", env!("CARGO_PKG_VERSION"));
            put(writer, Line::Header(Header::Creator(creator.as_bytes())))?;
            put(writer, Line::Header(Header::Pid(u64::from(std::process::id()))))?;
            put(writer, Line::Header(Header::Command(&one_line(&options.command_line()))))?;
        }
        put(writer, Line::Header(Header::Part(part.number)))?;
        if let Some(thread) = part.thread {
            put(writer, Line::Header(Header::Thread(thread)))?;
        }
        put(writer, Line::Blank)?;
        let text = self.engine.trigger_text(part.trigger);
        let trigger = Header::Description { kind: b"Trigger", value: &one_line(&text) };
        put(writer, Line::Header(trigger))?;
        put(writer, Line::Blank)?;
        let kinds: Vec<&[u8]> = self.kinds().iter().map(|kind| kind.as_str().as_bytes()).collect();
        put(writer, Line::Header(Header::Positions(Words::new(&kinds))))?;
        put(writer, Line::Header(Header::Events(Words::new(&[b"Ir"]))))?;
        put(writer, Line::Header(Header::Summary(Costs::new(&[Cost::from(summary)]))))?;
        put(writer, Line::Blank)
    }

    fn kinds(&self) -> Vec<PositionKind> {
        let options = &self.engine.options;
        match (options.by_instruction, options.by_line) {
            (true, true) => vec![PositionKind::Instr, PositionKind::Line],
            (true, false) => vec![PositionKind::Instr],
            _ => vec![PositionKind::Line],
        }
    }

    fn place(&self, context: ContextId) -> Place {
        match self.engine.contexts.kind(context) {
            Kind::Function(Running { function, level, callers, .. }) => Place { function, level, callers },
            Kind::Stubs(..) | Kind::Uncounted => unreachable!("what is skipped has no costs of its own"),
        }
    }

    fn object(&self, place: Place) -> Option<ObjectId> {
        self.engine.contexts.function(place.function).object
    }

    fn object_name(&self, object: Option<ObjectId>) -> &[u8] {
        object.map_or(UNKNOWN, |object| self.engine.objects.get(object).path.as_os_str().as_bytes())
    }

    fn bias(&self, place: Place) -> u64 {
        self.object(place).map_or(0, |object| self.engine.objects.get(object).bias)
    }

    /// Writes the line of a name.
    fn put_name(&self, writer: &mut Writer<Sink>, key: NameKey, text: &[u8]) -> Result<(), Error> {
        put(writer, self.named(key, &one_line(text)))
    }

    /// Returns the line of a name. In a file of several parts, each name has the number that it had in those before.
    fn named<'n>(&self, key: NameKey, text: &'n [u8]) -> Line<'n> {
        let options = &self.engine.options;
        if !options.combines_parts || !options.compresses_names {
            return Line::Name(key, Name::plain(text));
        }
        let mut numbers = self.engine.name_numbers.borrow_mut();
        let space = numbers.entry(key.space()).or_default();
        let next = space.len() as u64 + 1;
        let id = *space.entry(text.to_vec()).or_insert(next);
        Line::Name(key, Name { id: Some(id), text: Some(text), defines: false })
    }

    fn name(&self, place: Place) -> Vec<u8> {
        let function = self.engine.contexts.function(place.function);
        let mut name = self.own_name(function);
        if place.level > 1 {
            name.extend_from_slice(format!("'{}", place.level).as_bytes());
        }
        for caller in self.engine.contexts.callers(place.callers) {
            name.push(b'\'');
            name.extend_from_slice(&self.own_name(self.engine.contexts.function(*caller)));
        }
        name
    }

    fn own_name(&self, function: &Function) -> Vec<u8> {
        match &function.name {
            Some(name) => name.clone(),
            None => {
                let bias = function.object.map_or(0, |object| self.engine.objects.get(object).bias);
                format!("{:#018x}", function.start - bias).into_bytes()
            }
        }
    }

    /// Returns the file of a function: that of its first instruction.
    fn file(&self, place: Place) -> Option<Arc<str>> {
        let start = self.engine.contexts.function(place.function).start;
        self.run(place, start).source.0
    }

    /// Returns file and line of an address, and how far they go. One object can have been mapped where another one was before.
    fn run(&self, place: Place, address: u64) -> Run {
        let Some(object) = self.object(place).map(|id| self.engine.objects.get(id)) else {
            return Run { source: Source::default(), end: u64::MAX };
        };
        let Run { source, end } = object.run(address.wrapping_sub(object.bias));
        Run { source, end: end.saturating_add(object.bias) }
    }

    /// Writes a function, and returns its cost.
    fn write_function(
        &mut self,
        writer: &mut Writer<Sink>,
        place: Place,
        costs: &ContextCosts<'_>,
    ) -> Result<u64, Error> {
        let file = self.file(place);
        let file = file_name(&file);
        self.put_name(writer, NameKey::Fl, file)?;
        self.put_name(writer, NameKey::Fn, &self.name(place))?;
        let mut current = file.to_vec();
        let (bias, by_instruction) = (self.bias(place), self.engine.options.by_instruction);
        let mut spots = costs.spots.iter().copied().peekable();
        let mut calls = costs.calls;
        let mut jumps = costs.jumps;
        // What holds from an address on. Addresses only grow.
        let mut run = spots.peek().map(|(address, _)| self.run(place, *address));
        let mut sum = 0;
        while let Some((address, mut cost)) = spots.next() {
            let here = match run.take().filter(|run| address < run.end) {
                Some(run) => run,
                None => self.run(place, address),
            };
            let at = file_name(&here.source.0);
            if at != current {
                let key = if at == file { NameKey::Fe } else { NameKey::Fi };
                self.put_name(writer, key, at)?;
                current = at.to_vec();
            }
            let line = here.source.1;
            let mut last = address;
            let mut upcoming = None;
            // Without addresses, instructions of one line are one cost, up to a call.
            while !by_instruction
                && calls.first().is_none_or(|((_, key), _)| key.0 != last)
                && let Some((next, next_cost)) = spots.peek()
            {
                let end = upcoming.as_ref().unwrap_or(&here).end;
                if *next >= end {
                    let there = self.run(place, *next);
                    let is_other = there.source != here.source;
                    upcoming = Some(there);
                    if is_other {
                        break;
                    }
                }
                cost += next_cost;
                last = *next;
                spots.next();
            }
            let positions = [address.wrapping_sub(bias), line];
            if cost > 0 {
                self.cost_line(writer, CostRole::SelfCost, &positions, cost)?;
            }
            sum += cost;
            while let Some(((_, (_, to, target)), (count, cost))) =
                calls.first().filter(|((_, key), _)| key.0 == last)
            {
                self.write_call(writer, place, &current, (*to, *target), *count)?;
                self.cost_line(writer, CostRole::Call, &positions, *cost)?;
                calls = &calls[1..];
            }
            while let Some((_, (_, target), count)) = jumps.first().filter(|(_, key, _)| key.0 <= last) {
                self.write_jump(writer, place, &current, &positions, *target, *count)?;
                jumps = &jumps[1..];
            }
            run = Some(upcoming.unwrap_or(here));
        }
        put(writer, Line::Blank)?;
        Ok(sum)
    }

    fn write_call(
        &mut self,
        writer: &mut Writer<Sink>,
        place: Place,
        current: &[u8],
        callee: (ContextId, u64),
        count: u64,
    ) -> Result<(), Error> {
        let callee = self.callee(callee);
        if callee.object != self.object(place) {
            self.put_name(writer, NameKey::Cob, self.object_name(callee.object))?;
        }
        let file = file_name(&callee.file);
        if file != current {
            self.put_name(writer, NameKey::Cfi, file)?;
        }
        self.put_name(writer, NameKey::Cfn, &callee.name)?;
        let target = Positions::new(&callee.positions[self.columns()]);
        put(writer, Line::Calls(Calls { count: Cost::from(count), target }))
    }

    fn write_jump(
        &self,
        writer: &mut Writer<Sink>,
        place: Place,
        current: &[u8],
        positions: &[u64; 2],
        target: u64,
        (taken, executed): JumpCount,
    ) -> Result<(), Error> {
        let (file, line) = self.run(place, target).source;
        if line == 0 && !self.engine.options.by_instruction {
            // It leads to no line.
            return Ok(());
        }
        let file = file_name(&file);
        if file != current {
            self.put_name(writer, NameKey::Jfi, file)?;
        }
        let target = [target.wrapping_sub(self.bias(place)), line];
        let target = Positions::new(&target[self.columns()]);
        put(
            writer,
            Line::Jump(Jump { taken: Cost::from(taken), executed: executed.map(Cost::from), target }),
        )?;
        let positions = Positions::new(&positions[self.columns()]);
        put(writer, Line::Cost(CostLine { role: CostRole::JumpSource, positions, costs: Costs::new(&[]) }))
    }

    /// Returns what is written of a context that is called at an address.
    fn callee(&mut self, (to, target): (ContextId, u64)) -> Rc<Callee> {
        if let Some(known) = self.callees.get(&(to, target)) {
            return Rc::clone(known);
        }
        let place = self.place(to);
        let callee = Rc::new(Callee {
            object: self.object(place),
            file: self.file(place),
            name: self.name(place),
            positions: [target.wrapping_sub(self.bias(place)), self.run(place, target).source.1],
        });
        self.callees.insert((to, target), Rc::clone(&callee));
        callee
    }

    /// Returns which of address and line are written.
    fn columns(&self) -> Range<usize> {
        let options = &self.engine.options;
        match (options.by_instruction, options.by_line) {
            (true, true) => 0..2,
            (true, false) => 0..1,
            _ => 1..2,
        }
    }

    fn cost_line(
        &self,
        writer: &mut Writer<Sink>,
        role: CostRole,
        positions: &[u64; 2],
        cost: u64,
    ) -> Result<(), Error> {
        let (positions, costs) = (Positions::new(&positions[self.columns()]), [Cost::from(cost)]);
        put(writer, Line::Cost(CostLine { role, positions, costs: Costs::new(&costs) }))
    }
}

/// Returns the name of a file, also of one that is not known.
fn file_name(file: &Option<Arc<str>>) -> &[u8] {
    file.as_ref().map_or(UNKNOWN, |file| file.as_bytes())
}

/// A text as a line can have it: a name of a symbol or a file may have any bytes.
fn one_line(text: &[u8]) -> Cow<'_, [u8]> {
    let is_odd_start = match text {
        // The number of a name.
        [b'(', digit, ..] => digit.is_ascii_digit(),
        [first, ..] => first.is_ascii_whitespace() || *first == 0x0b,
        [] => false,
    };
    if !is_odd_start && !text.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return Cow::Borrowed(text);
    }
    let mut line = Vec::new();
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            byte if index == 0 && is_odd_start => line.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
            byte => line.push(*byte),
        }
    }
    Cow::Owned(line)
}

fn put(writer: &mut Writer<Sink>, line: Line<'_>) -> Result<(), Error> {
    writer.write(&Record::new(line))
}
