//! Rates of cache misses and of wrong branch predictions: ratios of costs, which are no sums and so no event types.

use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_output::json::{ExactInteger, exact};
use gristmill_output::percent;
use gristmill_profile::Profile;
use schemars::JsonSchema;
use serde::Serialize;

use crate::view::{EventSelection, View, ViewError, ViewOptions};

/// A rate: its name, its meaning, the event types of the misses, and those of the accesses. Cachegrind prints the same.
type Definition = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const DEFINITIONS: [Definition; 4] = [
    ("I1 miss", "instruction fetches that missed the first cache", &["I1mr"], &["Ir"]),
    ("D1 miss", "data accesses that missed the first cache", &["D1mr", "D1mw"], &["Dr", "Dw"]),
    ("LL miss", "accesses that missed the last cache", &["ILmr", "DLmr", "DLmw"], &["Ir", "Dr", "Dw"]),
    ("Mispred", "branches predicted wrongly", &["Bcm", "Bim"], &["Bc", "Bi"]),
];

/// The rate of misses, or of wrong predictions. See the example of [`Rates`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rate {
    /// `I1 miss`, `D1 miss`, `LL miss` or `Mispred`.
    pub name: &'static str,
    /// The meaning.
    pub meaning: &'static str,
    /// The count of misses, or of wrong predictions.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub misses: Cost,
    /// The count of accesses, or of branches.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub accesses: Cost,
}

impl Rate {
    /// Calculates the rates whose event types are all there.
    pub(crate) fn all(cost: impl Fn(&str) -> Option<Cost>) -> Vec<Rate> {
        let sum = |names: &[&str]| names.iter().map(|name| cost(name)).sum::<Option<Cost>>();
        let rate = |&(name, meaning, misses, accesses): &Definition| {
            Some(Rate { name, meaning, misses: sum(misses)?, accesses: sum(accesses)? })
        };
        DEFINITIONS.iter().filter_map(rate).collect()
    }

    /// The percentage as text. Empty without any access, as nothing can miss then.
    pub(crate) fn percent(&self) -> String {
        if self.accesses <= 0 { String::new() } else { percent(self.misses, self.accesses) }
    }
}

/// The event types that rates are made of, by function.
///
/// ```
/// use std::sync::Arc;
///
/// use gristmill_profile::Profile;
/// use gristmill_report::{Functions, FunctionsOptions, Rates, View, ViewOptions};
///
/// let text = b"events: Ir Bc Bcm Bi Bim\nfn=main\n1 100 8 2 2\n";
/// let profile = Arc::new(Profile::from_bytes(text.to_vec()));
/// let options = ViewOptions::default();
/// let rates = Rates::new(profile.clone(), &options)?.expect("a simulation of branches");
/// let view = View::new(profile, &options)?;
/// let options = FunctionsOptions { rates: Some(rates), ..FunctionsOptions::default() };
/// let functions = Functions::new(&view, &options);
/// let rate = &functions.rows().next().expect("a row").rates[0];
/// assert_eq!((rate.name, rate.misses, rate.accesses), ("Mispred", 2, 10));
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rates {
    view: Arc<View>,
}

impl Rates {
    /// Takes the event types of the rates from a profile, for the same functions as a view with these options. `None` if it
    /// has those of no rate.
    ///
    /// # Errors
    ///
    /// Those of [`View::new`].
    pub fn new(profile: Arc<Profile>, options: &ViewOptions) -> Result<Option<Self>, ViewError> {
        let recorded: Vec<&[u8]> = profile.events().map(|event| profile.event(event).name).collect();
        let is_recorded = |name: &&str| recorded.contains(&name.as_bytes());
        let mut names: Vec<String> = Vec::new();
        for (.., misses, accesses) in DEFINITIONS {
            if misses.iter().chain(accesses).all(is_recorded) {
                let new =
                    misses.iter().chain(accesses).filter(|name| !names.iter().any(|known| known == *name));
                let new: Vec<String> = new.map(|&name| name.to_owned()).collect();
                names.extend(new);
            }
        }
        if names.is_empty() {
            return Ok(None);
        }
        let options = ViewOptions { events: EventSelection::Named(names), ..options.clone() };
        Ok(Some(Rates { view: Arc::new(View::new(profile, &options)?) }))
    }

    /// The view with the event types.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Calculates the rates of a row of costs of the view.
    pub(crate) fn of(&self, costs: &[Cost]) -> Vec<Rate> {
        let columns = self.view.events();
        Rate::all(|name| costs.get(columns.iter().position(|event| event.name == name)?).copied())
    }
}
