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
use super::jump_counts::{JumpCount, JumpKey};
use super::output_file::replace_content;
use super::trigger::Trigger;
use crate::arena::Cell;
use crate::contexts::{ChainId, ContextId, Function, FunctionId, Kind, Running};
use crate::lines::{Run, Source};
use crate::objects::ObjectId;

/// The file of what has none.
const UNKNOWN: &[u8] = b"???";

/// A call from an instruction: what is called, from which address on.
type CallKey = (u64, ContextId, u64);

/// The owner of a call, the place of the call among the owner's, the call, and the block that it ends.
type OrderedCall = (ContextId, (u64, u32), CallKey, u64);

/// The count of calls, and their cost.
type CallCost = (u64, u64);

/// The costs of a context.
#[derive(Debug, Clone, Default)]
struct ContextCosts {
    by_address: AddressCosts,
    /// By their keys.
    calls: Vec<(CallKey, CallCost)>,
    /// By their keys.
    jumps: Vec<(JumpKey, JumpCount)>,
}

impl ContextCosts {
    fn is_empty(&self) -> bool {
        self.by_address.0.is_empty() && self.calls.is_empty() && self.jumps.is_empty()
    }

    /// Returns the addresses that have costs or calls, with their self costs.
    fn spots(&self) -> Vec<(u64, u64)> {
        let mut spots = self.by_address.clone();
        spots.0.extend(self.calls.iter().map(|(key, _)| (key.0, 0)));
        spots.0.extend(self.jumps.iter().map(|(key, _)| (key.0, 0)));
        spots.sort();
        spots.0
    }
}

/// Costs by address. They are added in any order, and sorted once: most addresses are in one block.
#[derive(Debug, Clone, Default)]
struct AddressCosts(Vec<(u64, u64)>);

impl AddressCosts {
    fn add(&mut self, address: u64, cost: u64) {
        // Those of a skipped stub all have the address of the call.
        match self.0.last_mut().filter(|last| last.0 == address) {
            Some(last) => last.1 = last.1.wrapping_add(cost),
            None => self.0.push((address, cost)),
        }
    }

    /// Sorts costs, and makes those of an address one.
    fn sort(&mut self) {
        // It finds runs that are sorted, which blocks are.
        self.0.sort_by_key(|cost| cost.0);
        self.0.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.wrapping_add(next.1);
            }
            is_same
        });
    }
}

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
    let (bytes, total) = profile.write(&costs(engine, &bases), summary).map_err(|error| shown(&error))?;
    replace_content(path, &bytes, part.is_appended).map_err(|error| shown(&error))?;
    Ok(total)
}

/// Adds up what blocks and edges cost in threads, by the addresses of their counters. Returns the costs by the number of the context.
fn costs(engine: &Engine, bases: &[u64]) -> Vec<ContextCosts> {
    let sum = |cell: Cell| cell.sum(bases);
    let mut costs = vec![ContextCosts::default(); engine.contexts.count()];
    for block in &engine.blocks {
        let count = sum(block.counter);
        let repetitions: Vec<(u8, u64)> = block
            .repetitions
            .iter()
            .map(|(index, cell)| (*index, sum(*cell)))
            .filter(|(_, sum)| *sum != 0)
            .collect();
        // A fault can leave a block before it counts, but behind repetitions.
        if count == 0 && repetitions.is_empty() {
            continue;
        }
        let (owner, site) = engine.contexts.owner(block.entrance.context);
        let owner = engine.contexts.shown(owner);
        let costs = &mut costs[owner.index()].by_address;
        for counted in engine.counted_with(block) {
            let mut address = counted.entrance.address;
            for length in &counted.lengths {
                costs.add(site.unwrap_or(address), count);
                address += u64::from(*length);
            }
        }
        for (index, sum) in repetitions {
            costs.add(site.unwrap_or(block.address_of(usize::from(index))), sum);
        }
    }
    for (run, count) in engine.partial_runs.iter().filter(|(run, _)| bases.contains(&run.thread)) {
        let block = &engine.blocks[run.block as usize];
        let (owner, site) = engine.contexts.owner(block.entrance.context);
        let owner = engine.contexts.shown(owner);
        let costs = &mut costs[owner.index()].by_address;
        let mut address = block.entrance.address;
        for (at, length) in block.lengths.iter().enumerate() {
            let cost = run.change(at, *count);
            costs.add(site.unwrap_or(address), cost);
            address += u64::from(*length);
        }
    }
    // By the blocks that the calls end. Callgrind does not write calls of a block that cost nothing. The order is that of the functions: in
    // which order contexts were made differs with the size of the code cache.
    let ranks = engine.contexts.ranks();
    let mut sums: Vec<(OrderedCall, CallCost)> = Vec::new();
    for edge in engine.contexts.edges() {
        let Some(cells) = edge.cells else { continue };
        let (count, cost) = (sum(cells.count()), sum(cells.cost()));
        if count == 0 && cost == 0 {
            continue;
        }
        let (owner, site) = engine.contexts.owner(edge.from);
        let owner = engine.contexts.shown(owner);
        let to = engine.contexts.shown(edge.to);
        let key = (site.unwrap_or(edge.site.address), to, edge.target);
        sums.push(((owner, (key.0, ranks[to.index()]), key, edge.site.block), (count, cost)));
    }
    sums.sort_unstable_by_key(|sum| sum.0);
    add_up(&mut sums);
    sums.retain(|(_, (_, cost))| *cost != 0);
    for ((owner, _, key, _), sum) in sums {
        costs[owner.index()].calls.push((key, sum));
    }
    for (context, key, count) in engine.sum_jumps(bases) {
        costs[context.index()].jumps.push((key, count));
    }
    for costs in &mut costs {
        add_up(&mut costs.calls);
        costs.by_address.sort();
    }
    costs
}

/// Makes the counts and costs of a key one, when they are sorted.
fn add_up<K: PartialEq>(sums: &mut Vec<(K, CallCost)>) {
    sums.dedup_by(|(key, sum), (kept_key, kept)| {
        let is_same = key == kept_key;
        if is_same {
            *kept = (kept.0.wrapping_add(sum.0), kept.1.wrapping_add(sum.1));
        }
        is_same
    });
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
    file: Vec<u8>,
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
    fn write(mut self, costs: &[ContextCosts], summary: u64) -> Result<(Vec<u8>, u64), Error> {
        let options = &self.engine.options;
        let names = if options.compresses_names { NameStyle::Compressed } else { NameStyle::Plain };
        let positions =
            if options.compresses_positions { PositionStyle::Compressed } else { PositionStyle::Absolute };
        let mut writer = Writer::new(Vec::new()).names(names).positions(positions);
        self.write_head(&mut writer, summary)?;
        let costs = costs.iter().enumerate().filter(|(_, costs)| !costs.is_empty());
        let mut places: Vec<(Place, &ContextCosts)> =
            costs.map(|(index, costs)| (self.place(ContextId(index as u32)), costs)).collect();
        places.sort_by_key(|(place, _)| {
            let function = self.engine.contexts.function(place.function);
            (function.object, function.start, place.level, place.callers)
        });
        let (mut object, mut total) = (None, 0);
        for (place, costs) in places {
            let id = self.object(place);
            if object != Some(id) {
                self.put_name(&mut writer, NameKey::Ob, self.object_name(id))?;
                object = Some(id);
            }
            total += self.write_function(&mut writer, place, costs)?;
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
    fn file(&self, place: Place) -> Vec<u8> {
        let start = self.engine.contexts.function(place.function).start;
        file_name(&self.run(place, start).source.0).to_vec()
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
        costs: &ContextCosts,
    ) -> Result<u64, Error> {
        let file = self.file(place);
        self.put_name(writer, NameKey::Fl, &file)?;
        self.put_name(writer, NameKey::Fn, &self.name(place))?;
        let mut current = file.clone();
        let (bias, by_instruction) = (self.bias(place), self.engine.options.by_instruction);
        let spots = costs.spots();
        let mut spots = spots.iter().copied().peekable();
        let mut calls = costs.calls.as_slice();
        let mut jumps = costs.jumps.as_slice();
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
                && calls.first().is_none_or(|(key, _)| key.0 != last)
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
            while let Some(((_, to, target), (count, cost))) = calls.first().filter(|(key, _)| key.0 == last)
            {
                self.write_call(writer, place, &current, (*to, *target), *count)?;
                self.cost_line(writer, CostRole::Call, &positions, *cost)?;
                calls = &calls[1..];
            }
            while let Some(((_, target), count)) = jumps.first().filter(|(key, _)| key.0 <= last) {
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
        if callee.file != current {
            self.put_name(writer, NameKey::Cfi, &callee.file)?;
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
