//! Costs for the layout: from files of Cachegrind and from profiles of any producer.

use gristmill_format::Cost;
use gristmill_profile::event_choice::EventChoice;
use gristmill_profile::formula::Definition;
use gristmill_profile::source_lines::FileLines;
use gristmill_profile::{FileId, FunctionId, LineSums, MemoryBudget, Profile, Selection, SummedLines};

use super::UNKNOWN;
use crate::LayoutError;
use crate::cachegrind_file::{CachegrindError, CachegrindFile, CachegrindRecord};
use crate::known_names::KnownNames;

/// A receiver of files, functions and costs. See the example of [`Report`](super::Report).
pub type TakeFunction<'f, 't> = dyn FnMut(&'f [u8], &'f [u8], &[Cost]) + 't;

/// A receiver of files, lines and costs. See the example of [`Report`](super::Report).
pub type TakeLine<'f, 't> = dyn FnMut(&'f [u8], u64, &[Cost]) + 't;

/// Self costs by function and by line. See the example of [`Report`](super::Report).
pub trait SelfCosts {
    /// The event types: the columns of all costs.
    fn events(&self) -> Vec<Vec<u8>>;

    /// The count of functions, or an estimate of it.
    fn function_count(&self) -> usize;

    /// Passes on costs by file and function. The same combination may come more than once.
    fn each_function<'f>(&'f self, take: &mut TakeFunction<'f, '_>);

    /// Passes on costs by file and line of wanted files. The same combination may come more than once.
    fn each_line<'f>(&'f self, is_wanted: &dyn Fn(&[u8]) -> bool, take: &mut TakeLine<'f, '_>);
}

/// The costs of a file of Cachegrind, read as strictly as by cg_annotate. See the example of [`Report`](super::Report).
#[derive(Debug)]
pub struct FileCosts<'a> {
    file: CachegrindFile<'a>,
    functions: SummedLines,
}

impl<'a> FileCosts<'a> {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns the first error that makes cg_annotate refuse the file.
    pub fn read(bytes: &'a [u8]) -> Result<Self, CachegrindError> {
        let file = CachegrindFile::read(bytes)?;
        let mut sums = LineSums::new(file.events.len());
        // The block is as wide as its longest line, so event types without costs take no time.
        let mut block: Vec<Cost> = Vec::new();
        let mut is_named = false;
        let (mut files, mut functions) = (KnownNames::default(), KnownNames::default());
        file.each(|record| match record {
            CachegrindRecord::Names { file, function } => {
                // A function without costs counts as known.
                if is_named {
                    sums.add(0, &block);
                    block.clear();
                }
                let file = files.get(file, || sums.file(file));
                let function = functions.get(function, || sums.function(function));
                sums.begin_at(file, function);
                is_named = true;
            }
            CachegrindRecord::Line { costs, .. } => {
                block.resize(block.len().max(costs.len()), 0);
                super::add(&mut block, costs);
            }
        })?;
        if is_named {
            sums.add(0, &block);
        }
        Ok(FileCosts { file, functions: sums.finish() })
    }

    /// The file.
    pub fn file(&self) -> &CachegrindFile<'a> {
        &self.file
    }
}

impl SelfCosts for FileCosts<'_> {
    fn events(&self) -> Vec<Vec<u8>> {
        self.file.events.iter().map(|event| event.to_vec()).collect()
    }

    fn function_count(&self) -> usize {
        self.functions.len()
    }

    fn each_function<'f>(&'f self, take: &mut TakeFunction<'f, '_>) {
        self.functions.each(|sum| take(sum.file, sum.function, sum.costs));
    }

    fn each_line<'f>(&'f self, is_wanted: &dyn Fn(&[u8]) -> bool, take: &mut TakeLine<'f, '_>) {
        let (mut file, mut wanted) = (UNKNOWN, false);
        // The file was read to its end before, so there are no errors.
        let _ = self.file.each(|record| match record {
            CachegrindRecord::Names { file: name, .. } => {
                if !std::ptr::eq(file, name) {
                    file = name;
                    wanted = is_wanted(file);
                }
            }
            CachegrindRecord::Line { line, costs } if wanted => take(file, line, costs),
            CachegrindRecord::Line { .. } => {}
        });
    }
}

/// The self costs of a profile of any producer. See the example of [`Report`](super::Report).
#[derive(Debug)]
pub struct ProfileCosts<'p> {
    profile: &'p Profile,
    selection: Selection,
    events: EventChoice,
}

impl<'p> ProfileCosts<'p> {
    /// Takes the costs of the selected parts, with derived event types of the user.
    ///
    /// # Errors
    ///
    /// If no part is selected, a derived cost is out of range, or there are too many costs.
    pub fn new(
        profile: &'p Profile,
        selection: &Selection,
        derive: &[Definition],
    ) -> Result<Self, LayoutError> {
        if profile.selected(selection).next().is_none() && !selection.is_all() {
            return Err(LayoutError::NothingSelected);
        }
        profile.refuse_long_names().map_err(LayoutError::LongNames)?;
        let budget = MemoryBudget::new([profile]);
        budget.check_bytes(profile.self_cost_bytes()).map_err(LayoutError::TooManyCosts)?;
        let events = EventChoice::new(profile, derive);
        let cells = profile.function_count().saturating_mul(events.names().len());
        budget.check_cells(cells).map_err(LayoutError::TooManyCosts)?;
        let costs = ProfileCosts { profile, selection: selection.clone(), events };
        let mut is_too_large = false;
        costs.each_recorded(|_, _, row| is_too_large |= costs.events.costs(row).is_none());
        if is_too_large { Err(LayoutError::Overflow) } else { Ok(costs) }
    }

    /// Passes on the recorded costs by function and file.
    fn each_recorded(&self, mut take: impl FnMut(FunctionId, FileId, &[Cost])) {
        let mut row = vec![0; self.profile.event_count().max(1)];
        for part in self.profile.selected(&self.selection) {
            let events = part.event_types();
            self.profile.each_self_cost(&part, |function, file, costs| {
                row.fill(0);
                events.iter().zip(costs).for_each(|(event, cost)| row[event.index()] += cost);
                take(function, file, &row);
            });
        }
    }

    /// The costs of some lines. Those of whole functions were checked before, so sums of lines can only fail on their
    /// own.
    fn of_recorded(&self, recorded: &[Cost]) -> Vec<Cost> {
        self.events.costs(recorded).unwrap_or_else(|| vec![0; self.events.names().len()])
    }

    /// The name of a source file as Cachegrind writes it.
    fn file(&self, id: FileId) -> &'p [u8] {
        match self.profile.file(id) {
            b"" => UNKNOWN,
            name => name,
        }
    }
}

impl SelfCosts for ProfileCosts<'_> {
    fn events(&self) -> Vec<Vec<u8>> {
        self.events.names().map(|name| name.as_bytes().to_vec()).collect()
    }

    fn function_count(&self) -> usize {
        self.profile.function_count()
    }

    fn each_function<'f>(&'f self, take: &mut TakeFunction<'f, '_>) {
        self.each_recorded(|function, file, row| {
            let function = match self.profile.function(function).name {
                b"" => UNKNOWN,
                name => name,
            };
            take(self.file(file), function, &self.of_recorded(row));
        });
    }

    fn each_line<'f>(&'f self, is_wanted: &dyn Fn(&[u8]) -> bool, take: &mut TakeLine<'f, '_>) {
        let wanted: Vec<FileId> = self.profile.files().filter(|&file| is_wanted(self.file(file))).collect();
        let index = |file: FileId| wanted.binary_search(&file).ok();
        let lines = FileLines::read(self.profile, &self.selection, wanted.len(), index);
        for (&file, lines) in wanted.iter().zip(&lines) {
            for (nth, &line) in lines.lines.iter().enumerate() {
                take(self.file(file), line, &self.of_recorded(&lines.costs.row(nth).or_zero()));
            }
        }
    }
}
