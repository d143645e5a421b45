//! The memory that reports about profiles may take.

use std::fmt;

use gristmill_format::{Cost, NameSpace};

use crate::profile::{Function, Profile};

/// Bytes that a report may take for each byte of the inputs.
const BYTES_PER_BYTE: usize = 5;

/// Bytes that a report may take however short the inputs are.
const CONSTANT: usize = 40 << 20;

/// Self and inclusive costs, those of calls from outside, and both again in the rows of a report.
const TABLES_OF_FUNCTIONS: usize = 5;

/// Costs of calls, and their copy in the order of callers.
const TABLES_OF_ARCS: usize = 2;

/// Self costs of a run, and their copy over the functions of a comparison.
const TABLES_OF_SELF_COSTS: usize = 2;

/// Costs of lines as recorded, and those of their rows.
const TABLES_OF_LINES: usize = 2;

/// The name, unit and formula of an event type, the titles of its columns, and the tables to find it by name.
const BYTES_OF_EVENT: usize = 768;

/// More event types than Callgrind counts. Each line of a hostile profile has a few bytes and many costs.
const MANY_EVENTS: usize = 24;

/// Bytes of a size of costs of an event type, in the tables that tell which lines make up a share; measured.
const BYTES_OF_SIZE: usize = 160;

/// The least bytes of a cost in a file.
const MIN_BYTES_OF_COST: usize = 2;

/// Bytes of text about a profile for each byte of it, and however short it is: what a command may take, without the input and the
/// program.
const TEXT_BYTES_PER_BYTE: usize = 7;
const CONSTANT_OF_TEXT: usize = 48 << 20;

/// Bytes of a function in the index of a profile and in a view, beside the tables of costs; measured.
const BYTES_OF_FUNCTION: usize = 170;

/// The least count of rows that a text may have.
const MIN_ROWS: usize = 10_000;

/// The memory that a report about profiles may take: a multiple of the bytes of their inputs and a constant.
///
/// A few bytes of a file can define an event type or a function, and each function has a cost for each event type. So the
/// tables of a hostile file are thousands of times larger than the file. A report asks the budget before it makes them.
///
/// Measured profiles come nowhere near it.
///
/// ```
/// use gristmill_profile::{MemoryBudget, Profile};
///
/// let profile = Profile::from_bytes("events: Ir\nfn=main\n1 20\n");
/// let budget = MemoryBudget::new([&profile]);
/// assert!(budget.has_cells(1 << 20));
/// let refusal = budget.check_cells(1 << 40).unwrap_err();
/// assert_eq!(refusal.to_string(), "take 16777216 MiB; a report about 24 bytes may take 40 MiB");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBudget {
    input_bytes: usize,
    bytes: usize,
}

/// A report that is not made, as it exceeds its [`MemoryBudget`], which has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverBudget {
    /// Bytes of the inputs.
    pub input_bytes: u64,
    /// Bytes that the report may take.
    pub allowed: u64,
    /// Bytes that the report needs at least.
    pub needed: u64,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [needed, allowed] = [self.needed, self.allowed].map(|bytes| bytes >> 20);
        write!(f, "take {needed} MiB; a report about {} bytes may take {allowed} MiB", self.input_bytes)
    }
}

impl MemoryBudget {
    /// Creates the budget of a report about these profiles.
    pub fn new<'p>(profiles: impl IntoIterator<Item = &'p Profile>) -> Self {
        let lengths = profiles.into_iter().flat_map(Profile::inputs).map(|input| input.bytes.len());
        MemoryBudget::for_bytes(lengths.fold(0, usize::saturating_add))
    }

    /// Creates the budget of a report about inputs with this many bytes.
    pub fn for_bytes(input_bytes: usize) -> Self {
        MemoryBudget {
            input_bytes,
            bytes: input_bytes.saturating_mul(BYTES_PER_BYTE).saturating_add(CONSTANT),
        }
    }

    /// Returns how many bytes it has.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// `true` if tables of costs may have this many cells.
    pub fn has_cells(self, cells: usize) -> bool {
        self.check_cells(cells).is_ok()
    }

    /// Refuses tables of costs with too many cells.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for this many cells.
    pub fn check_cells(self, cells: usize) -> Result<(), OverBudget> {
        self.check_bytes(cells.saturating_mul(size_of::<Cost>()))
    }

    /// Refuses texts or tables with too many bytes.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for this many bytes.
    pub fn check_bytes(self, needed: usize) -> Result<(), OverBudget> {
        if needed <= self.bytes {
            return Ok(());
        }
        let [input_bytes, allowed, needed] = [self.input_bytes, self.bytes, needed].map(|bytes| bytes as u64);
        Err(OverBudget { input_bytes, allowed, needed })
    }
}

impl Profile {
    /// Returns the bytes of the names, files and objects of all functions, each as often as a function has it.
    fn name_bytes(&self) -> usize {
        let lengths = self.functions().map(|id| {
            let Function { name, file, object, .. } = self.function(id);
            name.len() + self.file(file).len() + self.object(object).len()
        });
        lengths.fold(0, usize::saturating_add)
    }

    /// Refuses names that take too much memory when each row has its own.
    ///
    /// # Errors
    ///
    /// If the names of all functions, with their paths, take more memory than a report may take.
    pub fn refuse_long_names(&self) -> Result<(), OverBudget> {
        self.refuse_copies_of_names(1)
    }

    /// Does the same for a report that keeps each name this often.
    ///
    /// # Errors
    ///
    /// If the copies of the names of all functions, with their paths, take more memory than a report may take.
    pub fn refuse_copies_of_names(&self, copies: usize) -> Result<(), OverBudget> {
        let budget = MemoryBudget::new([self]);
        // To look each function up takes as long as a fiftieth of loading. Usual names are short enough without that.
        let spaces = [NameSpace::Function, NameSpace::File, NameSpace::Object];
        let longest = spaces.map(|space| self.index.names[space].longest()).into_iter().sum::<usize>();
        let most = longest.saturating_mul(self.function_count()).saturating_mul(copies);
        if budget.check_bytes(most).is_ok() {
            return Ok(());
        }
        budget.check_bytes(self.name_bytes().saturating_mul(copies))
    }

    /// Returns how many bytes the tables of a view take: costs of functions and of calls in each column, and all event types themselves. If
    /// there are more than any tool counts, they count as columns, as trees and lines have rows of all.
    pub fn view_bytes(&self, columns: usize) -> usize {
        let arcs: usize = self.parts().map(|part| part.arc_count()).sum();
        let rows =
            self.function_count().saturating_mul(TABLES_OF_FUNCTIONS).saturating_add(arcs * TABLES_OF_ARCS);
        let events = self.event_count();
        let columns = if events > MANY_EVENTS { columns.max(events) } else { columns };
        let of_others = events.saturating_sub(columns).saturating_mul(BYTES_OF_EVENT);
        bytes_of_columns(columns, rows).saturating_add(of_others)
    }

    /// Returns how many bytes a run takes in a comparison with this many event types: all tables of those that are compared, and the self
    /// costs of the recorded ones.
    pub(crate) fn comparison_bytes(&self, events: usize, recorded: usize, compared: usize) -> usize {
        if recorded > MANY_EVENTS || events - recorded > MANY_EVENTS {
            return self.view_bytes(events);
        }
        let rows = self.function_count().saturating_mul(TABLES_OF_SELF_COSTS);
        self.view_bytes(compared)
            .saturating_add(rows.saturating_mul(size_of::<Cost>()).saturating_mul(recorded))
            .saturating_add(events.saturating_mul(BYTES_OF_EVENT))
    }

    /// Returns how many rows a text about the profile has memory for, beside a view with this many columns. Usual profiles have
    /// fewer functions.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    ///
    /// let profile = Profile::from_bytes("events: Ir\nfn=main\n1 20\n");
    /// assert!(profile.rows_of_text(1, 400) > 100_000);
    /// assert_eq!(profile.rows_of_text(1, 1 << 30), 10_000);
    /// ```
    pub fn rows_of_text(&self, columns: usize, bytes_of_row: usize) -> usize {
        let input_bytes = self.inputs().iter().map(|input| input.bytes.len()).fold(0, usize::saturating_add);
        let taken =
            self.view_bytes(columns).saturating_add(self.function_count().saturating_mul(BYTES_OF_FUNCTION));
        let all = input_bytes.saturating_mul(TEXT_BYTES_PER_BYTE).saturating_add(CONSTANT_OF_TEXT);
        (all.saturating_sub(taken) / bytes_of_row.max(1)).max(MIN_ROWS)
    }

    /// Returns how many bytes the self costs of functions take, and the event types themselves.
    pub fn self_cost_bytes(&self) -> usize {
        bytes_of_columns(self.event_count(), self.function_count())
    }

    /// Refuses many event types if a table with a row for each line takes too much memory. A report asks this before it reads
    /// the costs of lines.
    ///
    /// # Errors
    ///
    /// If there are more event types than any tool counts, and the costs of all lines, beside those of functions and calls, take more memory
    /// than a report may take.
    pub fn refuse_wide_lines(&self) -> Result<(), OverBudget> {
        let events = self.event_count();
        match self.wide_line_cells(events).saturating_mul(TABLES_OF_LINES * size_of::<Cost>()) {
            0 => Ok(()),
            bytes => MemoryBudget::new([self]).check_bytes(bytes.saturating_add(self.view_bytes(events))),
        }
    }

    /// Refuses many columns if a table with a row for each file of a function, and for each pair of a caller and a callee, takes too much
    /// memory. Costs are added up from such rows one by one, which takes time for each column.
    ///
    /// # Errors
    ///
    /// If there are more columns than any tool counts, and the costs of all rows take more memory than a report may take.
    pub fn refuse_wide_rows(&self, columns: usize) -> Result<(), OverBudget> {
        if columns <= MANY_EVENTS {
            return Ok(());
        }
        let rows: usize = self.parts().map(|part| part.self_cost_count() + part.arc_count()).sum();
        MemoryBudget::new([self]).check_cells(rows.saturating_mul(columns))
    }

    /// Returns how many costs a table of this many event types with a row for each line has; 0 if there are no more than a tool counts.
    pub(crate) fn wide_line_cells(&self, width: usize) -> usize {
        if width <= MANY_EVENTS {
            return 0;
        }
        let (costs, calls, _) = self.line_counts();
        let cells = costs.saturating_add(calls).saturating_mul(width as u64);
        usize::try_from(cells).unwrap_or(usize::MAX)
    }

    /// Refuses many event types if the search for the lines that make up a share of each takes too much memory.
    ///
    /// # Errors
    ///
    /// If the tables of functions, the costs of lines, or those of each size take more memory than a report may take.
    pub fn refuse_wide_shares(&self) -> Result<(), OverBudget> {
        self.refuse_wide_functions()?;
        self.refuse_wide_lines()?;
        if self.event_count() <= MANY_EVENTS {
            return Ok(());
        }
        let budget = MemoryBudget::new([self]);
        budget.check_bytes((budget.input_bytes / MIN_BYTES_OF_COST).saturating_mul(BYTES_OF_SIZE))
    }

    /// Refuses many event types if the tables of all of them, with the costs of functions and of calls, take too much memory.
    ///
    /// # Errors
    ///
    /// If the tables take more memory than a report may take.
    pub fn refuse_wide_functions(&self) -> Result<(), OverBudget> {
        let columns = self.event_count().max(self.event_definitions().len());
        MemoryBudget::new([self]).check_bytes(self.view_bytes(columns))
    }

    /// Refuses more event types than any tool counts if their tables or descriptions take too much memory. It is asked before columns are made
    /// of them.
    ///
    /// # Errors
    ///
    /// If the tables of the event types, recorded and derived ones, take more memory than a report may take.
    pub fn refuse_many_events(&self) -> Result<(), OverBudget> {
        match self.event_count().max(self.event_definitions().len()) > MANY_EVENTS {
            true => self.refuse_wide_functions(),
            false => Ok(()),
        }
    }
}

/// Returns how many bytes event types take with this count of costs for each.
fn bytes_of_columns(columns: usize, rows: usize) -> usize {
    rows.saturating_mul(size_of::<Cost>()).saturating_add(BYTES_OF_EVENT).saturating_mul(columns)
}
