//! The profile: what blocks and edges cost, by function, instruction and line, in Callgrind's dialect.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, Header, Line, Name, NameKey, NameStyle, PositionKind,
    PositionStyle, Positions, Record, Words, Writer,
};

use gristmill_profile::hash::Map;

use super::Engine;
use super::output_file::replace_content;
use super::trigger::Trigger;
use crate::arena::Cell;
use crate::contexts::{ChainId, ContextId, Function, FunctionId, Kind, Running};
use crate::lines::Source;
use crate::objects::ObjectId;
use crate::symbols::shown_name;

/// The file of what has none.
const UNKNOWN: &[u8] = b"???";

/// A call from an instruction: what is called, from which address on.
type CallKey = (u64, ContextId, u64);

/// The costs of a context.
#[derive(Debug, Default)]
struct ContextCosts {
    by_address: AddressCosts,
    calls: BTreeMap<CallKey, (u64, u64)>,
}

/// Costs by address. They are added in any order, and sorted once: most addresses are in one block.
#[derive(Debug, Default)]
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

    /// Returns the cost of an address, when they are sorted.
    fn get(&self, address: u64) -> u64 {
        self.0.binary_search_by_key(&address, |cost| cost.0).map_or(0, |index| self.0[index].1)
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
    let part = Part { number, trigger, thread: None, is_appended: is_combined && number > 1 };
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
        let is_appended = is_combined && (part.number > 1 || index > 0);
        let part = Part { thread: Some(number), is_appended, ..part };
        total += write_threads(engine, name.as_ref(), &[thread], part)?;
    }
    Ok(total)
}

/// Writes the profile of threads, by their indexes.
fn write_threads(engine: &Engine, path: &Path, threads: &[usize], part: Part<'_>) -> Result<u64, String> {
    let shown = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let summary = threads.iter().map(|thread| engine.threads.summary(*thread)).fold(0, u64::wrapping_add);
    let bases = engine.threads.bases();
    let bases: Vec<u64> = threads.iter().map(|thread| bases[*thread]).collect();
    let profile = Profile { engine, costs: costs(engine, &bases), sources: Map::default(), part };
    let (bytes, total) = profile.write(summary).map_err(|error| shown(&error))?;
    replace_content(path, &bytes, part.is_appended).map_err(|error| shown(&error))?;
    Ok(total)
}

/// Adds up what blocks and edges cost in threads, by the addresses of their counters.
fn costs(engine: &Engine, bases: &[u64]) -> BTreeMap<ContextId, ContextCosts> {
    let sum = |cell: Cell| bases.iter().map(|base| cell.of(*base)).fold(0, u64::wrapping_add);
    let mut costs: BTreeMap<ContextId, ContextCosts> = BTreeMap::new();
    for block in &engine.blocks {
        let count = sum(block.counter);
        if count == 0 {
            continue;
        }
        let (owner, site) = engine.contexts.owner(block.context);
        let owner = engine.contexts.shown(owner);
        let costs = &mut costs.entry(owner).or_default().by_address;
        let mut address = block.start;
        for length in &block.lengths {
            costs.add(site.unwrap_or(address), count);
            address += u64::from(*length);
        }
        for (index, cell) in &block.repetitions {
            let before: u64 =
                block.lengths[..usize::from(*index)].iter().map(|length| u64::from(*length)).sum();
            costs.add(site.unwrap_or(block.start + before), sum(*cell));
        }
    }
    for run in engine.partial_runs.iter().filter(|run| bases.contains(&run.thread)) {
        let block = &engine.blocks[run.block as usize];
        let (owner, site) = engine.contexts.owner(block.context);
        let owner = engine.contexts.shown(owner);
        let costs = &mut costs.entry(owner).or_default().by_address;
        let mut address = block.start;
        for (at, length) in block.lengths.iter().enumerate() {
            let cost = match (at < usize::from(run.instruction), run.is_counted) {
                (false, true) => u64::MAX,
                (true, false) => 1,
                _ => 0,
            };
            costs.add(site.unwrap_or(address), cost);
            address += u64::from(*length);
        }
    }
    // By the blocks that the calls end. Callgrind does not write calls of a block that cost nothing.
    let mut sums: BTreeMap<(ContextId, u64, CallKey), (u64, u64)> = BTreeMap::new();
    for edge in engine.contexts.edges() {
        let Some(cells) = edge.cells else { continue };
        let (count, cost) = (sum(cells.count()), sum(cells.cost()));
        if count == 0 && cost == 0 {
            continue;
        }
        let (owner, site) = engine.contexts.owner(edge.from);
        let owner = engine.contexts.shown(owner);
        let key = (site.unwrap_or(edge.site.address), engine.contexts.shown(edge.to), edge.target);
        let sum = sums.entry((owner, edge.site.block, key)).or_default();
        sum.0 = sum.0.wrapping_add(count);
        sum.1 = sum.1.wrapping_add(cost);
    }
    for ((owner, _, key), (count, cost)) in sums.into_iter().filter(|(_, (_, cost))| *cost != 0) {
        let sum = costs.entry(owner).or_default().calls.entry(key).or_default();
        sum.0 = sum.0.wrapping_add(count);
        sum.1 = sum.1.wrapping_add(cost);
    }
    costs.retain(|_, costs| !costs.by_address.0.is_empty() || !costs.calls.is_empty());
    costs.values_mut().for_each(|costs| costs.by_address.sort());
    costs
}

/// A profile that is written.
struct Profile<'a> {
    engine: &'a Engine,
    costs: BTreeMap<ContextId, ContextCosts>,
    /// File and line of addresses: one object can have been mapped where another one was before. A file that is not known is `???`, a
    /// line 0.
    sources: Map<(Option<ObjectId>, u64), Source>,
    part: Part<'a>,
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
    fn write(mut self, summary: u64) -> Result<(Vec<u8>, u64), Error> {
        let options = &self.engine.options;
        let names = if options.compresses_names { NameStyle::Compressed } else { NameStyle::Plain };
        let positions =
            if options.compresses_positions { PositionStyle::Compressed } else { PositionStyle::Absolute };
        let mut writer = Writer::new(Vec::new()).names(names).positions(positions);
        self.write_head(&mut writer, summary)?;
        let costs = std::mem::take(&mut self.costs);
        let mut places: Vec<(Place, &ContextCosts)> =
            costs.iter().map(|(context, costs)| (self.place(*context), costs)).collect();
        places.sort_by_key(|(place, _)| {
            let function = self.engine.contexts.function(place.function);
            (function.object, function.start, place.level, place.callers)
        });
        let (mut object, mut total) = (None, 0);
        for (place, costs) in places {
            let name = self.object(place);
            if object.as_ref() != Some(&name) {
                put(&mut writer, self.named(NameKey::Ob, &name))?;
                object = Some(name);
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
        if part.is_appended && part.number > 1 {
            put(writer, Line::Blank)?;
        } else {
            put(writer, Line::Comment(b" callgrind format"))?;
            put(writer, Line::Header(Header::Version(b"1")))?;
            let creator = concat!("gristmill-engine-", env!("CARGO_PKG_VERSION"));
            put(writer, Line::Header(Header::Creator(creator.as_bytes())))?;
            put(writer, Line::Header(Header::Pid(u64::from(std::process::id()))))?;
            put(writer, Line::Header(Header::Command(&options.command_line())))?;
        }
        put(writer, Line::Header(Header::Part(part.number)))?;
        if let Some(thread) = part.thread {
            put(writer, Line::Header(Header::Thread(thread)))?;
        }
        put(writer, Line::Blank)?;
        let text = self.engine.trigger_text(part.trigger);
        let trigger = Header::Description { kind: b"Trigger", value: &text };
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

    fn object(&self, place: Place) -> Vec<u8> {
        let function = self.engine.contexts.function(place.function);
        match function.object {
            Some(object) => self.engine.objects.get(object).path.as_os_str().as_bytes().to_vec(),
            None => UNKNOWN.to_vec(),
        }
    }

    fn bias(&self, place: Place) -> u64 {
        let function = self.engine.contexts.function(place.function);
        function.object.map_or(0, |object| self.engine.objects.get(object).bias)
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
            Some(name) => shown_name(name, self.engine.options.choices.demangles),
            None => {
                let bias = function.object.map_or(0, |object| self.engine.objects.get(object).bias);
                format!("{:#018x}", function.start - bias).into_bytes()
            }
        }
    }

    /// Returns the file of a function: that of its first instruction.
    fn file(&mut self, place: Place) -> Vec<u8> {
        let start = self.engine.contexts.function(place.function).start;
        file_name(&self.source(place, start).0)
    }

    fn source(&mut self, place: Place, address: u64) -> Source {
        let id = self.engine.contexts.function(place.function).object;
        if let Some(known) = self.sources.get(&(id, address)) {
            return known.clone();
        }
        let object = id.map(|id| self.engine.objects.get(id));
        let found = object.and_then(|object| object.source(address.wrapping_sub(object.bias)));
        let source = found.unwrap_or_default();
        self.sources.insert((id, address), source.clone());
        source
    }

    /// Writes a function, and returns its cost.
    fn write_function(
        &mut self,
        writer: &mut Writer<Sink>,
        place: Place,
        costs: &ContextCosts,
    ) -> Result<u64, Error> {
        let file = self.file(place);
        put(writer, self.named(NameKey::Fl, &file))?;
        put(writer, self.named(NameKey::Fn, &self.name(place)))?;
        let mut current = file.clone();
        let mut addresses: Vec<u64> =
            costs.by_address.0.iter().map(|cost| cost.0).chain(costs.calls.keys().map(|key| key.0)).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let mut sum = 0;
        let mut index = 0;
        while index < addresses.len() {
            let address = addresses[index];
            let source = self.source(place, address);
            let at = file_name(&source.0);
            if at != current {
                let key = if at == file { NameKey::Fe } else { NameKey::Fi };
                put(writer, self.named(key, &at))?;
                current = at;
            }
            let mut cost = costs.by_address.get(address);
            // Without addresses, instructions of one line are one cost, up to a call.
            let has_calls = |address: u64| {
                costs
                    .calls
                    .range((address, ContextId(0), 0)..)
                    .next()
                    .is_some_and(|(key, _)| key.0 == address)
            };
            let mut last = address;
            if !self.engine.options.by_instruction {
                while !has_calls(last)
                    && let Some(next) = addresses.get(index + 1)
                    && self.source(place, *next) == source
                {
                    cost += costs.by_address.get(*next);
                    last = *next;
                    index += 1;
                }
            }
            let positions = self.positions(place, address, source.1);
            if cost > 0 {
                cost_line(writer, CostRole::SelfCost, &positions, cost)?;
            }
            sum += cost;
            for ((_, to, target), (count, cost)) in
                costs.calls.range((last, ContextId(0), 0)..).take_while(|(key, _)| key.0 == last)
            {
                self.write_call(writer, place, &current, *to, *target, *count)?;
                cost_line(writer, CostRole::Call, &positions, *cost)?;
            }
            index += 1;
        }
        put(writer, Line::Blank)?;
        Ok(sum)
    }

    fn write_call(
        &mut self,
        writer: &mut Writer<Sink>,
        place: Place,
        current: &[u8],
        to: ContextId,
        target: u64,
        count: u64,
    ) -> Result<(), Error> {
        let callee = self.place(to);
        let object = self.object(callee);
        if object != self.object(place) {
            put(writer, self.named(NameKey::Cob, &object))?;
        }
        let file = self.file(callee);
        if file != current {
            put(writer, self.named(NameKey::Cfi, &file))?;
        }
        put(writer, self.named(NameKey::Cfn, &self.name(callee)))?;
        let line = self.source(callee, target).1;
        let positions = self.positions(callee, target, line);
        let calls = Calls { count: Cost::from(count), target: Positions::new(&positions) };
        put(writer, Line::Calls(calls))
    }

    fn positions(&self, place: Place, address: u64, line: u64) -> Vec<u64> {
        let options = &self.engine.options;
        let address = address.wrapping_sub(self.bias(place));
        match (options.by_instruction, options.by_line) {
            (true, true) => vec![address, line],
            (true, false) => vec![address],
            _ => vec![line],
        }
    }
}

fn file_name(file: &Option<Arc<str>>) -> Vec<u8> {
    file.as_ref().map_or_else(|| UNKNOWN.to_vec(), |file| file.as_bytes().to_vec())
}

fn cost_line(writer: &mut Writer<Sink>, role: CostRole, positions: &[u64], cost: u64) -> Result<(), Error> {
    let costs = [Cost::from(cost)];
    put(
        writer,
        Line::Cost(CostLine { role, positions: Positions::new(positions), costs: Costs::new(&costs) }),
    )
}

fn put(writer: &mut Writer<Sink>, line: Line<'_>) -> Result<(), Error> {
    writer.write(&Record::new(line))
}
