//! Derived event types: `Sum = Ir + Dr`, `Cost = Ir + 10 Bm`.
//!
//! A formula is a sum of terms. A term has a sign, which is optional for the first one, an optional integer factor, decimal
//! or as `0x10`, an optional `*` after the factor, and the name of an event type, which may itself be derived:
//!
//! ```text
//! Ir + 10 Bm - 2*L1m
//! ```
//!
//! A name ends at a blank or at `+`, `-` or `*`, so `Time_(10ns)` is one. It does not begin with a digit: `10Bm` is ten
//! times `Bm`.
//!
//! Formulas come from `event:` lines of files, from the user, and from [`well_known`]. [`derive`](derive()) expresses them in
//! the event types of the profile, and reports each name that it cannot use.

mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_format::raw::Factor;

use crate::analysis::component::components;
use crate::cost_row::CostRow;
use crate::csr::group_starts;

/// A sum of event types.
///
/// ```
/// use gristmill_profile::formula::Formula;
///
/// let formula = Formula::parse(b"Ir+10Bm - 2 * L1m")?;
/// assert_eq!(formula.to_string(), "Ir + 10 Bm - 2 L1m");
/// # Ok::<(), gristmill_profile::formula::FormulaError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Formula {
    /// The text, which was parsed once: a file can have millions of terms, whose list would take many times as much. Copies share it.
    text: Arc<[u8]>,
}

/// One term of a formula. See the example of [`Formula`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term<'f> {
    /// The factor of the costs.
    pub factor: Cost,
    /// The event type.
    pub name: &'f [u8],
}

/// An error in the text of a formula. See the example of [`Definition::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormulaError {
    /// The kind of the error.
    pub kind: FormulaErrorKind,
    /// The byte offset of the error in the text.
    pub offset: usize,
}

/// The kind of an error in a formula. See the example of [`Definition::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormulaErrorKind {
    /// The name of an event type is expected here.
    NameExpected,
    /// `+` or `-` is expected here.
    SignExpected,
    /// The factor is too large.
    FactorTooLarge,
    /// A name and `=` are expected before the formula.
    DefinitionExpected,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            FormulaErrorKind::NameExpected => "the name of an event type is expected",
            FormulaErrorKind::SignExpected => "`+` or `-` is expected",
            FormulaErrorKind::FactorTooLarge => "the factor is too large",
            FormulaErrorKind::DefinitionExpected => "`NAME = FORMULA` is expected",
        };
        write!(f, "{what} at column {}", self.offset + 1)
    }
}

impl std::error::Error for FormulaError {}

impl Formula {
    /// Parses a formula.
    ///
    /// # Errors
    ///
    /// [`FormulaError`] if the text is not a formula.
    pub fn parse(text: &[u8]) -> Result<Formula, FormulaError> {
        Terms { text, at: 0, is_first: true }.try_for_each(|term| term.map(|_| ()))?;
        Ok(Formula { text: text.into() })
    }

    /// Returns the terms; there is at least one.
    pub fn terms(&self) -> impl Iterator<Item = Term<'_>> {
        // There was no error when it was parsed.
        Terms { text: &self.text, at: 0, is_first: true }.filter_map(Result::ok)
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        Arc::ptr_eq(&self.text, &other.text) || self.terms().eq(other.terms())
    }
}

impl Eq for Formula {}

/// Parses the terms of a formula.
struct Terms<'f> {
    text: &'f [u8],
    at: usize,
    is_first: bool,
}

impl<'f> Iterator for Terms<'f> {
    type Item = Result<Term<'f>, FormulaError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.at = skip_blanks(self.text, self.at);
        if self.at == self.text.len() && !self.is_first {
            return None;
        }
        let term = self.term();
        if term.is_err() {
            // Nothing is behind an error.
            self.at = self.text.len();
        }
        self.is_first = false;
        Some(term)
    }
}

impl<'f> Terms<'f> {
    fn term(&mut self) -> Result<Term<'f>, FormulaError> {
        let (text, mut at) = (self.text, self.at);
        let mut sign: Cost = 1;
        match text.get(at) {
            Some(b'+') => at = skip_blanks(text, at + 1),
            Some(b'-') => {
                sign = -1;
                at = skip_blanks(text, at + 1);
            }
            _ if self.is_first => {}
            _ => return Err(FormulaError { kind: FormulaErrorKind::SignExpected, offset: at }),
        }
        let split = Factor::split(&text[at..]);
        let Some(factor) = split.value else {
            return Err(FormulaError { kind: FormulaErrorKind::FactorTooLarge, offset: at });
        };
        at = text.len() - split.rest.len();
        let is_in_name = |byte: &&u8| !matches!(byte, b' ' | b'\t' | b'+' | b'-' | b'*');
        let length = text[at..].iter().take_while(is_in_name).count();
        if length == 0 || text[at].is_ascii_digit() {
            return Err(FormulaError { kind: FormulaErrorKind::NameExpected, offset: at });
        }
        self.at = at + length;
        Ok(Term { factor: sign * Cost::from(factor), name: &text[at..at + length] })
    }
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms().enumerate() {
            match (index, term.factor < 0) {
                (0, false) => {}
                (0, true) => f.write_str("-")?,
                (_, false) => f.write_str(" + ")?,
                (_, true) => f.write_str(" - ")?,
            }
            if term.factor.abs() != 1 {
                write!(f, "{} ", term.factor.abs())?;
            }
            f.write_str(&String::from_utf8_lossy(term.name))?;
        }
        Ok(())
    }
}

/// The origin of a definition. If a name has several definitions, the greatest origin counts. See the example of
/// [`Definition::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefinedBy {
    /// One of [`well_known`]. It lacks the costs of event types that were not recorded.
    Convention,
    /// One of [`well_known`] that exists only if all of its event types were recorded.
    CompleteConvention,
    /// An `event:` line of a file.
    File,
    /// The user.
    User,
}

impl DefinedBy {
    /// `true` for the definitions of [`well_known`]. See the example of [`Definition::parse`].
    pub fn is_convention(self) -> bool {
        matches!(self, DefinedBy::Convention | DefinedBy::CompleteConvention)
    }
}

/// A name for a formula. See the example of [`Definition::parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The name of the derived event type.
    pub name: Vec<u8>,
    /// The formula.
    pub formula: Formula,
    /// Its name for people.
    pub long_name: Option<Vec<u8>>,
    /// The origin of the definition.
    pub by: DefinedBy,
}

impl Definition {
    /// Parses `NAME = FORMULA`, optionally with `: LONG NAME` after it.
    ///
    /// ```
    /// use gristmill_profile::formula::{DefinedBy, Definition, FormulaErrorKind};
    ///
    /// let definition = Definition::parse(b"Bm = Bim + Bcm : mispredicted branches", DefinedBy::User)?;
    /// assert_eq!(definition.formula.to_string(), "Bim + Bcm");
    /// let error = Definition::parse(b"Bm = Bim Bcm", DefinedBy::User).expect_err("a sign is missing");
    /// assert_eq!((error.kind, error.offset), (FormulaErrorKind::SignExpected, 9));
    /// # Ok::<(), gristmill_profile::formula::FormulaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FormulaError`] if the text is not a definition.
    pub fn parse(text: &[u8], by: DefinedBy) -> Result<Definition, FormulaError> {
        let error = |offset| FormulaError { kind: FormulaErrorKind::DefinitionExpected, offset };
        let equals = text.iter().position(|&byte| byte == b'=').ok_or(error(text.len()))?;
        let name = text[..equals].trim_ascii();
        if name.is_empty() || name.iter().any(u8::is_ascii_whitespace) {
            return Err(error(0));
        }
        let right = &text[equals + 1..];
        let (formula, long_name) = match right.iter().position(|&byte| byte == b':') {
            Some(colon) => (&right[..colon], Some(right[colon + 1..].trim_ascii().to_vec())),
            None => (right, None),
        };
        let formula = Formula::parse(formula)
            .map_err(|error| FormulaError { offset: error.offset + equals + 1, ..error })?;
        Ok(Definition { name: name.to_vec(), formula, long_name, by })
    }
}

/// Returns the usual derived event types of Callgrind: misses of each cache level, mispredicted branches, and two
/// estimates of cycles, with the hits that the second is made of. `CEst` is KCachegrind's; `EstimatedCycles` is that of iai and
/// gungraun.
pub fn well_known() -> Vec<Definition> {
    const COMPLETE: [&[u8]; 5] = [
        b"RamHits = ILmr + DLmr + DLmw : accesses that read or write memory",
        b"LLhits = I1mr + D1mr + D1mw - RamHits : accesses that hit the last-level cache",
        b"TotalRW = Ir + Dr + Dw : reads and writes, of instructions and data",
        b"L1hits = TotalRW - RamHits - LLhits : accesses that hit the L1 cache",
        b"EstimatedCycles = L1hits + 5 LLhits + 35 RamHits : estimated cycles of iai and gungraun",
    ];
    const PARTIAL: [&[u8]; 5] = [
        b"L1m = I1mr + D1mr + D1mw : L1 cache misses",
        b"L2m = I2mr + D2mr + D2mw : L2 cache misses",
        b"LLm = ILmr + DLmr + DLmw : last-level cache misses",
        b"Bm = Bim + Bcm : mispredicted branches",
        b"CEst = Ir + 10 Bm + 10 L1m + 20 Ge + 100 L2m + 100 LLm : estimated cycles",
    ];
    let partial = PARTIAL.iter().map(|text| (text, DefinedBy::Convention));
    let complete = COMPLETE.iter().map(|text| (text, DefinedBy::CompleteConvention));
    partial.chain(complete).filter_map(|(text, by)| Definition::parse(text, by).ok()).collect()
}

/// A derived event type, in terms of the recorded ones. See the example of [`derive`](derive()).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// The definition.
    pub definition: Definition,
    /// Columns of the profile with their factors; each column once, in order, none with factor 0.
    pub factors: Vec<(usize, Cost)>,
    /// Event types that the formula needs, directly or through others, and that the profile does not have. The sum lacks
    /// their costs.
    pub missing: Vec<Vec<u8>>,
}

/// The error that a derived cost is above 2^95. No measured profile comes near, and sums of costs below this limit stay below
/// 2^127. See the example of [`derive`](derive()).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostOverflow;

impl fmt::Display for CostOverflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cost is above 2^95")
    }
}

impl std::error::Error for CostOverflow {}

impl Derived {
    /// Calculates the cost from those of the recorded event types. See the example of [`derive`](derive()).
    ///
    /// # Errors
    ///
    /// [`CostOverflow`] if the cost is above 2^95.
    pub fn cost(&self, costs: &[Cost]) -> Result<Cost, CostOverflow> {
        self.cost_from(|column| costs[column])
    }

    /// Calculates the cost as [`Derived::cost`] does. A formula can have very many terms, and the row few costs.
    ///
    /// # Errors
    ///
    /// [`CostOverflow`] if the cost is above 2^95.
    pub fn cost_of(&self, row: &CostRow) -> Result<Cost, CostOverflow> {
        if self.factors.len() <= row.columns().len() {
            return self.cost_from(|column| row.get(column));
        }
        let nth = |column: usize| self.factors.binary_search_by_key(&column, |&(column, _)| column).ok();
        limited_sum(
            row.columns().iter().filter_map(|&column| Some((row.get(column), self.factors[nth(column)?].1))),
        )
    }

    /// Calculates the cost as [`Derived::cost`] does, from what a function gives for the columns.
    ///
    /// # Errors
    ///
    /// [`CostOverflow`] if the cost is above 2^95.
    pub fn cost_from(&self, recorded: impl Fn(usize) -> Cost) -> Result<Cost, CostOverflow> {
        limited_sum(self.factors.iter().map(|&(column, factor)| (recorded(column), factor)))
    }
}

/// Sums costs multiplied by their factors.
fn limited_sum(mut costs: impl Iterator<Item = (Cost, Cost)>) -> Result<Cost, CostOverflow> {
    const MAX_COST: u128 = 1 << 95;
    let sum = costs.try_fold(0, |sum: Cost, (cost, factor)| {
        cost.checked_mul(factor).and_then(|cost| sum.checked_add(cost))
    });
    sum.filter(|sum| sum.unsigned_abs() <= MAX_COST).ok_or(CostOverflow)
}

/// A fault of a definition. See the example of [`derive`](derive()).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DerivationFault {
    /// The definitions of these event types need each other, so none of them can be derived.
    Loop(Vec<Vec<u8>>),
    /// The formula of `name` needs event types that do not exist. If it has others, it is derived from these.
    Missing {
        /// The name of the derived event type.
        name: Vec<u8>,
        /// The event types that are missing.
        missing: Vec<Vec<u8>>,
        /// `true` if it was derived from the others.
        is_derived: bool,
    },
    /// The profile has recorded this event type, so it is not derived.
    Recorded(Vec<u8>),
    /// The event type has several different definitions. The last one counts.
    Redefined(Vec<u8>),
    /// The factors of this event type are too large, or all event types together have too many.
    TooLarge(Vec<u8>),
}

impl DerivationFault {
    /// `true` if there is no event type of this name because of the fault.
    pub fn prevents(&self, event_type: &[u8]) -> bool {
        match self {
            DerivationFault::Loop(names) => names.iter().any(|name| name == event_type),
            DerivationFault::Missing { name, is_derived: false, .. } | DerivationFault::TooLarge(name) => {
                name == event_type
            }
            DerivationFault::Missing { .. }
            | DerivationFault::Recorded(_)
            | DerivationFault::Redefined(_) => false,
        }
    }
}

impl fmt::Display for DerivationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[Vec<u8>]| {
            let names: Vec<String> =
                names.iter().map(|name| format!("`{}`", String::from_utf8_lossy(name))).collect();
            names.join(", ")
        };
        let quoted = |name: &Vec<u8>| list(std::slice::from_ref(name));
        match self {
            DerivationFault::Loop(names) => {
                write!(f, "{} cannot be derived: defined by itself", list(names))
            }
            DerivationFault::Missing { name, missing, is_derived: true } => {
                write!(f, "{} is derived without {}", quoted(name), list(missing))
            }
            DerivationFault::Missing { name, missing, is_derived: false } => {
                write!(f, "{} cannot be derived: there is no {}", quoted(name), list(missing))
            }
            DerivationFault::Recorded(name) => write!(f, "{} is not derived: it was recorded", quoted(name)),
            DerivationFault::Redefined(name) => {
                write!(f, "{} is defined more than once: the last counts", quoted(name))
            }
            DerivationFault::TooLarge(name) => {
                write!(f, "{} cannot be derived: its formula is too large", quoted(name))
            }
        }
    }
}

/// The result of [`derive`](derive()), which has an example: derived event types, and faults of definitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Derivation {
    /// The derived event types, in the order of their definitions.
    pub derived: Vec<Derived>,
    /// The faults, in the same order.
    pub faults: Vec<DerivationFault>,
}

/// The limit of factors of all derived event types together: each may need all before it, and
/// the file decides on their count.
const MAX_FACTORS: usize = 1 << 18;

/// The limit of factors that are copied from one event type to another, for the same reason.
const MAX_STEPS: usize = 1 << 24;

/// Derives event types from those of a profile.
///
/// Definitions of [`well_known`] have no faults: they are derived if possible.
///
/// ```
/// use gristmill_profile::formula::{DefinedBy, Definition, derive, well_known};
///
/// let mut definitions = well_known();
/// definitions.push(Definition::parse(b"Cost = Ir + 10 Bm", DefinedBy::User)?);
/// let derivation = derive(&[b"Ir", b"Bc", b"Bcm"], &definitions);
///
/// let cost = derivation.derived.last().expect("the user's");
/// assert_eq!(cost.cost(&[1000, 50, 7]), Ok(1070));
/// assert_eq!(cost.missing, [b"Bim"]);
/// assert_eq!(derivation.faults[0].to_string(), "`Cost` is derived without `Bim`");
/// # Ok::<(), gristmill_profile::formula::FormulaError>(())
/// ```
pub fn derive(events: &[&[u8]], definitions: &[Definition]) -> Derivation {
    let mut faults = Vec::new();
    // The first of equal names counts.
    let columns: BTreeMap<&[u8], usize> =
        events.iter().rev().zip((0..events.len()).rev()).map(|(&name, column)| (name, column)).collect();
    let mut defined: BTreeMap<&[u8], usize> = BTreeMap::new();
    for (index, definition) in definitions.iter().enumerate() {
        let name = &definition.name[..];
        if columns.contains_key(name) {
            if !definition.by.is_convention() {
                faults.push(DerivationFault::Recorded(name.to_vec()));
            }
            continue;
        }
        match defined.get(name).map(|&before| &definitions[before]) {
            Some(before) if before.by > definition.by => {}
            Some(before) if before.by < definition.by || before.formula == definition.formula => {
                defined.insert(name, index);
            }
            Some(_) => {
                faults.push(DerivationFault::Redefined(name.to_vec()));
                defined.insert(name, index);
            }
            None => {
                defined.insert(name, index);
            }
        }
    }
    let mut solver = Solver {
        columns,
        definitions,
        defined: &defined,
        derived: definitions.iter().map(|_| None).collect(),
        size: 0,
        steps: 0,
        faults: faults.into_iter().map(|fault| (0, fault)).collect(),
    };
    solver.solve();
    let Solver { derived, mut faults, .. } = solver;
    faults.sort_by_key(|(index, _)| *index);
    Derivation {
        derived: derived.into_iter().flatten().filter(is_complete).collect(),
        faults: faults.into_iter().map(|(_, fault)| fault).collect(),
    }
}

/// `true` if nothing is missing, or may be.
fn is_complete(derived: &Derived) -> bool {
    derived.definition.by != DefinedBy::CompleteConvention || derived.missing.is_empty()
}

/// The state of a derivation.
struct Solver<'a> {
    columns: BTreeMap<&'a [u8], usize>,
    definitions: &'a [Definition],
    defined: &'a BTreeMap<&'a [u8], usize>,
    derived: Vec<Option<Derived>>,
    /// The memory of the derived event types, in factors.
    size: usize,
    steps: usize,
    /// Each with the index of its definition.
    faults: Vec<(usize, DerivationFault)>,
}

impl Solver<'_> {
    fn solve(&mut self) {
        let terms = || self.definitions.iter().map(|definition| definition.formula.terms());
        let known = |term: Term<'_>| self.defined.get(term.name).copied();
        // Most terms are recorded event types.
        let needs: Vec<(usize, usize)> = terms()
            .enumerate()
            .flat_map(|(owner, terms)| terms.filter_map(known).map(move |needed| (owner, needed)))
            .collect();
        let owners = needs.iter().map(|&(owner, _)| owner);
        let starts = group_starts(self.definitions.len(), owners);
        let found = components(&starts, |need| Some(needs[need].1));
        // Definitions that others need come first.
        let mut order: Vec<(u32, usize)> =
            self.defined.values().map(|&index| (found.component_of[index], index)).collect();
        order.sort_unstable();
        for cycle in order.chunk_by(|a, b| a.0 == b.0) {
            let &[(_, first), ref others @ ..] = cycle else { continue };
            let name = &self.definitions[first].name;
            let mut terms = self.definitions[first].formula.terms();
            if others.is_empty() && terms.all(|term| term.name != *name) {
                self.derive(first);
            } else {
                let names = cycle.iter().map(|&(_, index)| self.definitions[index].name.clone());
                self.faults.push((first, DerivationFault::Loop(names.collect())));
            }
        }
    }

    /// Derives an event type. The ones that it needs are derived already.
    fn derive(&mut self, index: usize) {
        let definition = &self.definitions[index];
        let mut factors: BTreeMap<usize, Cost> = BTreeMap::new();
        let mut missing: Vec<&[u8]> = Vec::new();
        let mut is_missing: BTreeSet<&[u8]> = BTreeSet::new();
        let mut missing_bytes = 0;
        let (mut is_known, mut is_too_large) = (false, false);
        for term in definition.formula.terms() {
            let mut take = |column: usize, factor: Cost| {
                let sum = factors.entry(column).or_insert(0);
                match factor.checked_mul(term.factor).and_then(|factor| factor.checked_add(*sum)) {
                    // Factors up to 2^63 times costs of 64 bits fit into a cost.
                    Some(factor) if i64::try_from(factor).is_ok() => *sum = factor,
                    _ => is_too_large = true,
                }
            };
            let needed = self.defined.get(term.name).and_then(|&needed| self.derived[needed].as_ref());
            let (lacking, itself): (&[Vec<u8>], _) = match (self.columns.get(term.name), needed) {
                (Some(&column), _) => {
                    is_known = true;
                    take(column, 1);
                    (&[], None)
                }
                (None, Some(derived)) => {
                    is_known = true;
                    self.steps += derived.factors.len() + derived.missing.len();
                    derived.factors.iter().for_each(|&(column, factor)| take(column, factor));
                    (&derived.missing, None)
                }
                (None, None) => (&[], Some(term.name)),
            };
            for name in lacking.iter().map(Vec::as_slice).chain(itself) {
                if is_missing.insert(name) {
                    missing.push(name);
                    missing_bytes += name.len();
                }
            }
            if self.size + factors.len() + missing.len() + missing_bytes / 16 > MAX_FACTORS
                || self.steps > MAX_STEPS
            {
                is_too_large = true;
            }
            if is_too_large {
                self.faults.push((index, DerivationFault::TooLarge(definition.name.clone())));
                return;
            }
        }
        self.size += factors.len() + missing.len() + missing_bytes / 16;
        let missing: Vec<Vec<u8>> = missing.into_iter().map(<[u8]>::to_vec).collect();
        if !definition.by.is_convention() && !missing.is_empty() {
            let (name, missing) = (definition.name.clone(), missing.clone());
            self.faults.push((index, DerivationFault::Missing { name, missing, is_derived: is_known }));
        }
        factors.retain(|_, factor| *factor != 0);
        if is_known {
            let definition = definition.clone();
            self.derived[index] =
                Some(Derived { definition, factors: factors.into_iter().collect(), missing });
        }
    }
}
