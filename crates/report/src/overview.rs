//! The first screen: what was measured, where the cost is, and what to ask next.

mod advice;
mod call_path;
mod queries;
mod text;

use std::borrow::Cow;

use gristmill_profile::threads::both;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::advice::NextStep;
use self::advice::Topics;
pub use self::call_path::{CallPath, PathEnd, PathStep};
use self::queries::Queries;
use crate::functions::{FunctionRow, Functions, FunctionsOptions, SortBy};
use crate::head::Head;
use crate::shares::Shares;
use crate::view::View;

/// Bytes of a function with its line of text, also in Markdown; measured.
const BYTES_OF_ROW: usize = 1500;

/// The options of an [`Overview`], which has an example.
#[derive(Debug, Clone, Default)]
pub struct OverviewOptions {
    /// Shows at most this many functions.
    pub limit: Option<usize>,
    /// `true` for no more functions than their text has memory for.
    pub is_for_people: bool,
    /// `true` for no commands that tell more: to find words that name one function of many takes a part of the time.
    pub omits_next_steps: bool,
    /// The options that give another command the same parts and event types, quoted for a shell.
    pub selection: String,
    /// The options that give another command the same inclusive costs, quoted for a shell.
    pub rule: String,
    /// The files, quoted for a shell.
    pub files: String,
}

/// The first screen of a profile: the hottest functions, the most expensive path of calls, shares by object, source file,
/// thread and part, and commands that tell more.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{Overview, OverviewOptions, PathEnd, Report, View, ViewOptions};
///
/// let text = b"events: Ir\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 32\n";
/// let view = View::new(Profile::from_bytes(text.to_vec()), &ViewOptions::default())?;
/// let options = OverviewOptions { limit: Some(1), files: "a.out".to_owned(), ..Default::default() };
/// let overview = Overview::new(&view, &options);
/// assert_eq!(overview.hottest[0].name, "work");
/// let path = overview.path.as_ref().expect("there are calls");
/// assert_eq!((path.steps.len(), path.end), (2, PathEnd::Leaf));
/// assert_eq!(overview.next[0].command, "gristmill show work a.out");
///
/// let mut json = Vec::new();
/// overview.write_json(&mut json)?;
/// assert!(json.starts_with(b"{\"schema\":1,\n\"event_types\":[\"Ir\"],\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Overview {
    /// The head of the report.
    #[serde(flatten)]
    pub head: Head,
    /// The count of functions.
    pub function_count: usize,
    /// The functions of the highest self cost.
    pub hottest: Vec<FunctionRow>,
    /// The most expensive path of calls. `null` if the profile has no calls.
    pub path: Option<CallPath>,
    /// Self costs by object, source file, thread and part.
    pub shares: Shares,
    /// Commands that tell more, unless they are not wanted.
    pub next: Vec<NextStep>,
    /// `true` if functions are left out, as there is no memory for them.
    #[serde(skip)]
    is_cut: bool,
    #[serde(skip)]
    has_calls: bool,
    /// `false` if the profile is sampled, and has no counts of calls.
    #[serde(skip)]
    has_counts: bool,
}

impl Overview {
    /// Takes the rows from a view.
    pub fn new(view: &View, options: &OverviewOptions) -> Self {
        let most = view.profile().rows_of_text(view.graph().width(), BYTES_OF_ROW);
        let limit = match options.limit {
            limit if options.is_for_people => Some(limit.unwrap_or(most).min(most)),
            limit => limit,
        };
        let hottest = FunctionsOptions { sort: SortBy::SelfCost, limit, ..FunctionsOptions::default() };
        let head = Head::new(view);
        let rows_and_shares = || {
            let functions = Functions::new(view, &hottest);
            let rows: Vec<FunctionRow> = functions.rows().map(Cow::into_owned).collect();
            (functions.matching, rows, Shares::new(view, &head))
        };
        // In a difference, the greatest part of a negative sum leads nowhere.
        let path = || (view.totals()[0] >= 0).then(|| CallPath::new(view, &head)).flatten();
        let ((matching, hottest, shares), path) = both(view.subjects().len(), rows_and_shares, path);
        let next = if options.omits_next_steps {
            Vec::new()
        } else {
            let topics = Topics::new(&hottest, path.as_ref());
            let mut queries = Queries::new(view, topics.subjects());
            queries.visit_all(view);
            topics.next_steps(&queries, options)
        };
        Overview {
            is_cut: limit != options.limit && hottest.len() < matching,
            function_count: matching,
            next,
            has_calls: path.is_some(),
            has_counts: !view.profile().producers().any(gristmill_format::ProducerKind::is_sampled),
            path,
            hottest,
            shares,
            head,
        }
    }
}
