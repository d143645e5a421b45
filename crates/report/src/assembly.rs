//! Machine code: the instructions of functions with their costs, calls and jumps.
//!
//! Costs come from the profile alone, instructions from the program that [`Programs`] finds. An address with costs where
//! the program has no instruction is a row all the same, and so is each address if there is no program.

mod chains;
mod lanes;
mod listing;
mod page;
mod plan;
mod rows;
mod shown_lines;
mod sources;
mod text;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use gristmill_format::{Cost, PositionKind};
use gristmill_output::printable;
use gristmill_output::source::Sources;
use gristmill_profile::{ObjectId, Profile, Selection};
use regex::Regex;

use self::listing::Listing;
pub use self::page::AssemblyPageOptions;
pub use self::rows::{
    AssembledCallRow, AssembledFunctionRow, AssembledJumpRow, AssemblyDocument, FrameRow, InstructionRow,
    ProgramRow,
};
pub use self::shown_lines::{ShownFile, ShownLine};
use self::sources::SourceCache;
pub use self::text::AssemblyTextOptions;
use crate::head::Head;
use crate::pattern::matches_name;
use crate::program::{FoundProgram, Programs, evidence};
use crate::view::{SubjectId, View, ViewError};

/// The choice of functions to show as machine code. See the example of [`Assembly`].
#[derive(Debug, Clone, Default)]
pub struct AssemblyOptions {
    /// The pattern of the functions.
    pub function: Option<Regex>,
    /// The only function.
    pub subject: Option<SubjectId>,
    /// The pattern of the paths of their source files.
    pub file: Option<Regex>,
    /// The share of the total, as a percentage, that the functions have together at least. All if `None`.
    pub threshold: Option<f64>,
    /// The limit of functions.
    pub limit: Option<usize>,
}

/// Functions as machine code, the most expensive first. Costs are by column of the view.
///
/// ```
/// use std::rc::Rc;
/// use std::sync::Arc;
///
/// use gristmill_output::source::{SourceError, SourceText, Sources};
/// use gristmill_profile::Profile;
/// use gristmill_report::assembly::{Assembly, AssemblyOptions};
/// use gristmill_report::program::{Evidence, Program, ProgramError, Programs};
/// use gristmill_report::{View, ViewOptions};
///
/// struct Nothing;
///
/// impl Programs for Nothing {
///     fn get(&self, _: &[u8], _: &[Evidence<'_>]) -> Result<Rc<dyn Program>, ProgramError> {
///         Err(ProgramError::Missing)
///     }
/// }
///
/// impl Sources for Nothing {
///     fn get(&self, _: &[u8]) -> Result<Arc<SourceText>, SourceError> {
///         Err(SourceError::Missing)
///     }
/// }
///
/// let text = "positions: instr line\nevents: Ir\nob=mill\nfl=mill.c\nfn=main\n0x10 1 3\n+2 2 4\n";
/// let view = View::new(Profile::from_bytes(text.as_bytes().to_vec()), &ViewOptions::default())?;
/// let assembly = Assembly::new(&view, &AssemblyOptions::default(), &Nothing, &Nothing)?;
/// let function = assembly.function_rows().next().unwrap()?;
/// let costs: Vec<_> = function.instructions.iter().map(|row| (row.address.as_str(), row.self_costs[0])).collect();
/// assert_eq!(costs, [("0x10", 3), ("0x12", 4)]);
/// assert_eq!(assembly.remarks().next().unwrap().0, "mill: program not found");
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug)]
pub struct Assembly<'v> {
    view: &'v View,
    head: Head,
    /// The functions to show, the most expensive first by self cost.
    chosen: Vec<SubjectId>,
    /// The count of functions that have costs, and match the patterns.
    matching: usize,
    programs: Vec<ObjectProgram>,
    /// By object, the index in this list.
    program_indexes: HashMap<ObjectId, usize>,
    sources: SourceCache<'v>,
}

/// The program of an object.
#[derive(Debug)]
struct ObjectProgram {
    object: ObjectId,
    found: Rc<FoundProgram>,
}

impl<'v> Assembly<'v> {
    /// Chooses functions, and finds their programs.
    ///
    /// # Errors
    ///
    /// If the costs would take too much memory.
    pub fn new(
        view: &'v View,
        options: &AssemblyOptions,
        programs: &dyn Programs,
        sources: &'v dyn Sources,
    ) -> Result<Self, ViewError> {
        let profile = view.profile();
        profile.refuse_wide_lines().map_err(ViewError::TooManyCosts)?;
        let is_wanted = |id: SubjectId| {
            let subject = view.subject(id);
            let name = options.function.as_ref();
            let file = options.file.as_ref();
            options.subject.is_none_or(|subject| subject == id)
                && name.is_none_or(|pattern| matches_name(pattern, subject.name()))
                && file.is_none_or(|pattern| pattern.is_match(&printable(profile.file(subject.file))))
        };
        let costs_anything = |id: SubjectId| {
            let mut costs = view.self_cost(id).iter().chain(view.inclusive_cost(id));
            costs.any(|&cost| cost != 0)
        };
        let mut chosen: Vec<SubjectId> =
            view.subject_ids().filter(|&id| costs_anything(id) && is_wanted(id)).collect();
        chosen.sort_by_key(|&id| (Reverse(first(view.self_cost(id))), id));
        let matching = chosen.len();
        if let Some(threshold) = options.threshold {
            chosen.truncate(count_for_share(view, &chosen, threshold));
        }
        chosen.truncate(options.limit.unwrap_or(usize::MAX));
        let is_chosen: HashSet<SubjectId> = chosen.iter().copied().collect();
        let of_object = subjects_by_object(view, &is_chosen);
        let mut found = Vec::new();
        let mut program_indexes = HashMap::new();
        for &id in &chosen {
            let object = view.subject(id).object;
            program_indexes.entry(object).or_insert_with(|| {
                let functions = of_object[&object].iter().flat_map(|&id| view.functions_of(id));
                let evidence = evidence(profile, view.selection(), functions);
                let program = FoundProgram::find(programs, profile.object(object), &evidence);
                found.push(ObjectProgram { object, found: Rc::new(program) });
                found.len() - 1
            });
        }
        Ok(Assembly {
            view,
            head: Head::new(view),
            chosen,
            matching,
            programs: found,
            program_indexes,
            sources: SourceCache::new(sources),
        })
    }

    /// The programs that are missing or uncertain: a sentence, and what to do.
    pub fn remarks(&self) -> impl Iterator<Item = (String, Option<String>)> {
        let profile = self.view.profile();
        self.programs.iter().flat_map(|program| {
            let object = profile.object(program.object);
            let doubts = program.found.usable().map(|it| it.remarks()).unwrap_or_default();
            let doubts = doubts.into_iter().map(|text| (format!("{}: {text}", printable(object)), None));
            program.found.remark(object).map(|remark| (remark.text, remark.hint)).into_iter().chain(doubts)
        })
    }

    /// The count of functions that are shown, and of those that could be.
    pub fn counts(&self) -> (usize, usize) {
        (self.chosen.len(), self.matching)
    }

    /// The instructions of a function.
    fn listing(&self, id: SubjectId) -> Result<Listing, ViewError> {
        Listing::new(self.view, id, &self.program_of(id).found)
    }

    fn program_of(&self, id: SubjectId) -> &ObjectProgram {
        &self.programs[self.program_indexes[&self.view.subject(id).object]]
    }

    /// The sum of the self cost of the functions that are shown, for the first event type.
    fn shown_cost(&self) -> Cost {
        self.chosen.iter().map(|&id| first(self.view.self_cost(id))).sum()
    }
}

/// `true` if a selected part of a profile has addresses of instructions.
///
/// ```
/// use gristmill_profile::{Profile, Selection};
/// use gristmill_report::assembly::has_addresses;
///
/// let profile = Profile::from_bytes(b"positions: instr line\nevents: Ir\nfn=f\n0x10 1 2\n".to_vec());
/// assert!(has_addresses(&profile, &Selection::default()));
/// ```
pub fn has_addresses(profile: &Profile, selection: &Selection) -> bool {
    profile.selected(selection).any(|part| part.columns().kinds().contains(&PositionKind::Instr))
}

/// The functions of each object: those that are shown, then the others, the most expensive first.
fn subjects_by_object(view: &View, chosen: &HashSet<SubjectId>) -> HashMap<ObjectId, Vec<SubjectId>> {
    let mut subjects: Vec<SubjectId> = view.subject_ids().collect();
    subjects.sort_by_key(|&id| (!chosen.contains(&id), Reverse(first(view.self_cost(id))), id));
    let mut of_object: HashMap<ObjectId, Vec<SubjectId>> = HashMap::new();
    for id in subjects {
        of_object.entry(view.subject(id).object).or_default().push(id);
    }
    of_object
}

/// Returns how many functions have this share of the total together.
fn count_for_share(view: &View, sorted: &[SubjectId], percent: f64) -> usize {
    let total = first(view.totals());
    #[expect(clippy::cast_precision_loss, reason = "a share that a person chose is not exact")]
    let wanted = total as f64 * percent / 100.0;
    let mut sum = 0;
    for (nth, &id) in sorted.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "as above")]
        if nth > 0 && sum as f64 >= wanted {
            return nth;
        }
        sum += first(view.self_cost(id));
    }
    sorted.len()
}

/// The cost of the first event type.
fn first(costs: &[Cost]) -> Cost {
    costs.first().copied().unwrap_or_default()
}
