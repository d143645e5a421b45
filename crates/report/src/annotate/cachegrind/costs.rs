//! Where the costs of the layout come from.

use gristmill_format::{CachegrindFault, CachegrindFile, CachegrindRecord, Cost};
use gristmill_profile::{FileId, LineSums, SummedLines};

use super::UNKNOWN;
use crate::View;
use crate::annotate::lines::FileLines;

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
pub struct CachegrindCosts<'a> {
    file: CachegrindFile<'a>,
    functions: SummedLines,
}

impl<'a> CachegrindCosts<'a> {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it is not as Cachegrind writes it.
    pub fn read(bytes: &'a [u8]) -> Result<Self, CachegrindFault> {
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
        Ok(CachegrindCosts { file, functions: sums.finish() })
    }

    /// The file.
    pub fn file(&self) -> &CachegrindFile<'a> {
        &self.file
    }
}

impl SelfCosts for CachegrindCosts<'_> {
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
pub struct ProfileCosts<'v, 'p> {
    view: &'v View<'p>,
}

impl<'v, 'p> ProfileCosts<'v, 'p> {
    /// What a view looks at.
    pub fn new(view: &'v View<'p>) -> Self {
        ProfileCosts { view }
    }

    /// The name of a source file, as Cachegrind writes it.
    fn file(&self, id: FileId) -> &'p [u8] {
        match self.view.profile().file(id) {
            b"" => UNKNOWN,
            name => name,
        }
    }

    /// Puts what is derived behind what was recorded.
    fn derive(&self, row: &mut [Cost]) {
        for column in 0..row.len() {
            if let Some(derived) = self.view.derived(column) {
                // Sums of all functions were reckoned with before; a single one is no larger, or is nothing to go by.
                row[column] = derived.of(&row[..column]).unwrap_or_default();
            }
        }
    }
}

impl SelfCosts for ProfileCosts<'_, '_> {
    fn events(&self) -> Vec<Vec<u8>> {
        self.view.columns().iter().map(|column| column.name.clone().into_bytes()).collect()
    }

    fn function_count(&self) -> usize {
        self.view.profile().function_count()
    }

    fn each_function(&self, take: &mut TakeFunction<'_>) {
        let profile = self.view.profile();
        let mut row = vec![0; self.view.columns().len()];
        for part in profile.selected(self.view.selection()) {
            let events = part.event_types();
            profile.each_self_cost(&part, |function, file, costs| {
                row.fill(0);
                events.iter().zip(costs).for_each(|(event, cost)| row[event.index()] += cost);
                self.derive(&mut row);
                let function = match profile.function(function).name {
                    b"" => UNKNOWN,
                    name => name,
                };
                take(self.file(file), function, &row);
            });
        }
    }

    fn each_line(&self, is_wanted: &dyn Fn(&[u8]) -> bool, take: &mut TakeLine<'_>) {
        let profile = self.view.profile();
        let wanted: Vec<FileId> =
            (0..profile.file_count()).map(FileId::new).filter(|&file| is_wanted(self.file(file))).collect();
        let place = |file: FileId| wanted.binary_search(&file).ok();
        let lines = FileLines::read(profile, self.view.selection(), wanted.len(), place);
        let mut row = vec![0; self.view.columns().len()];
        for (&file, lines) in wanted.iter().zip(&lines) {
            for (nth, &line) in lines.lines.iter().enumerate() {
                row.fill(0);
                let costs = lines.costs.row(nth);
                row.iter_mut().zip(costs.iter()).for_each(|(place, cost)| *place = cost.unwrap_or_default());
                self.derive(&mut row);
                take(self.file(file), line, &row);
            }
        }
    }
}
