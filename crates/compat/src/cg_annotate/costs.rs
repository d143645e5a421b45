//! Where the costs of the layout come from.

use gristmill_format::Cost;
use gristmill_profile::event_choice::EventChoice;
use gristmill_profile::formula::Definition;
use gristmill_profile::source_lines::FileLines;
use gristmill_profile::{FileId, FunctionId, LineSums, Profile, Selection, SummedLines};

use super::UNKNOWN;
use crate::LayoutError;
use crate::cachegrind_file::{CachegrindError, CachegrindFile, CachegrindRecord};

/// Takes a file, a function and costs.
pub type TakeFunction<'t> = dyn FnMut(&[u8], &[u8], &[Cost]) + 't;

/// Takes a file, a line and costs.
pub type TakeLine<'t> = dyn FnMut(&[u8], u64, &[Cost]) + 't;

/// Self costs by function and by line.
pub trait SelfCosts {
    /// The event types: the columns of all costs.
    fn events(&self) -> Vec<Vec<u8>>;

    /// How many functions there are, or about as many.
    fn function_count(&self) -> usize;

    /// Hands out costs by file and function. The same two may come more than once.
    fn each_function(&self, take: &mut TakeFunction<'_>);

    /// Hands out costs by file and line, for those files that are wanted. The same two may come more than once.
    fn each_line(&self, is_wanted: &dyn Fn(&[u8]) -> bool, take: &mut TakeLine<'_>);
}

/// The costs of a file of Cachegrind, held to what its own tools take.
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
    /// When it is not as Cachegrind writes it.
    pub fn read(bytes: &'a [u8]) -> Result<Self, CachegrindError> {
        let file = CachegrindFile::read(bytes)?;
        let mut sums = LineSums::new(file.events.len());
        // As long as its longest line, so that many event types cost nothing where there are few costs.
        let mut block: Vec<Cost> = Vec::new();
        let mut is_named = false;
        file.each(|record| match record {
            CachegrindRecord::Names { file, function } => {
                // Also those without costs count as known.
                if is_named {
                    sums.add(0, &block);
                    block.clear();
                }
                sums.begin(file, function);
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

    fn each_function(&self, take: &mut TakeFunction<'_>) {
        self.functions.each(|sum| take(sum.file, sum.function, sum.costs));
    }

    fn each_line(&self, is_wanted: &dyn Fn(&[u8]) -> bool, take: &mut TakeLine<'_>) {
        let (mut file, mut wanted) = (UNKNOWN, false);
        // It was read to its end before.
        let _ = self.file.each(|record| match record {
            CachegrindRecord::Names { file: name, .. } => {
                file = name;
                wanted = is_wanted(file);
            }
            CachegrindRecord::Line { line, costs } if wanted => take(file, line, costs),
            CachegrindRecord::Line { .. } => {}
        });
    }
}

/// The self costs of a profile of any producer, recorded and derived.
#[derive(Debug)]
pub struct ProfileCosts<'p> {
    profile: &'p Profile,
    selection: Selection,
    events: EventChoice,
}

impl<'p> ProfileCosts<'p> {
    /// The costs of the selected parts, with derived event types of the user's own.
    ///
    /// # Errors
    ///
    /// When nothing is selected, or a derived cost is larger than any number that costs are reckoned with.
    pub fn new(
        profile: &'p Profile,
        selection: &Selection,
        derive: &[Definition],
    ) -> Result<Self, LayoutError> {
        if profile.selected(selection).next().is_none() && !selection.is_all() {
            return Err(LayoutError::NothingSelected);
        }
        if profile.function_count().saturating_mul(profile.event_count()) > gristmill_profile::MAX_CELLS {
            return Err(LayoutError::TooManyEvents);
        }
        let events = EventChoice::new(profile, derive);
        let costs = ProfileCosts { profile, selection: selection.clone(), events };
        let mut is_too_large = false;
        costs.each_recorded(|_, _, row| is_too_large |= costs.events.costs(row).is_none());
        if is_too_large { Err(LayoutError::Overflow) } else { Ok(costs) }
    }

    /// Hands out what the profile records by function and file.
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

    /// The costs of some lines; those of all lines of a function were reckoned with before.
    fn of_recorded(&self, recorded: &[Cost]) -> Vec<Cost> {
        self.events.costs(recorded).unwrap_or_else(|| vec![0; self.events.names().len()])
    }

    /// The name of a source file, as Cachegrind writes it.
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

    fn each_function(&self, take: &mut TakeFunction<'_>) {
        self.each_recorded(|function, file, row| {
            let function = match self.profile.function(function).name {
                b"" => UNKNOWN,
                name => name,
            };
            take(self.file(file), function, &self.of_recorded(row));
        });
    }

    fn each_line(&self, is_wanted: &dyn Fn(&[u8]) -> bool, take: &mut TakeLine<'_>) {
        let wanted: Vec<FileId> = (0..self.profile.file_count())
            .map(FileId::new)
            .filter(|&file| is_wanted(self.file(file)))
            .collect();
        let place = |file: FileId| wanted.binary_search(&file).ok();
        let lines = FileLines::read(self.profile, &self.selection, wanted.len(), place);
        for (&file, lines) in wanted.iter().zip(&lines) {
            for (nth, &line) in lines.lines.iter().enumerate() {
                take(self.file(file), line, &self.of_recorded(&lines.costs.row(nth).or_zero()));
            }
        }
    }
}
