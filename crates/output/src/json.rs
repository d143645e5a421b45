//! JSON documents: derived from types, in one style, with generated schemas.
//!
//! # A report in JSON
//!
//! 1. **The report is the document.** It is plain data with `#[derive(Serialize, JsonSchema)]`; so are its rows. Fields
//!    are named as members of the document are (`#[serde(rename = "self")]` where Rust forbids it). What a report knows
//!    besides, for its other printers, is `#[serde(skip)]`.
//! 2. **Doc comments are descriptions** of the schema: they are written for people who read the JSON.
//! 3. **Integers that can be large are exact.** A cost or a number of calls is `#[serde(with = "…")]` of [`exact`], or
//!    has the type [`ExactInteger`]: a number up to 2^53 in magnitude and a decimal string beyond, as most readers of JSON
//!    have floating point numbers only. Costs of several event types are [`Costs`], which is an object with an
//!    exact integer for each event type; [`ByEvent`] has any other type in place of the integers.
//! 4. [`write()`] writes the document. It puts `"schema": 1` before all other members, each of them on a line of its own,
//!    and so is each object of a list; no rows are copied. If rows are calculated while they are written, a member is a
//!    [`Rows`]; if they arrive one by one, as findings of lint do, the document is a [`Stream`].
//! 5. [`schema()`] generates the schema. `crates/cli/tests/schemas.rs` has a list of all documents: it compares the files in
//!    `docs/schema`, and writes them with `BLESS=1`. Tests of the commands validate what the program prints.
//!
//! ```
//! use gristmill_output::json::{self, Costs, EventNames};
//! use schemars::JsonSchema;
//! use serde::Serialize;
//!
//! /// The functions of a profile.
//! #[derive(Serialize, JsonSchema)]
//! struct Functions {
//!     /// The count of all functions.
//!     all: usize,
//!     /// The functions that are shown.
//!     functions: Vec<Row>,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Row {
//!     name: String,
//!     /// Cost of the function's own lines.
//!     #[serde(rename = "self")]
//!     self_costs: Costs,
//! }
//!
//! let events = EventNames::new(["Ir", "Dr"]);
//! let row = Row { name: "main".to_owned(), self_costs: Costs::new(&events, [12, 1 << 60]) };
//! let mut out = Vec::new();
//! json::write(&Functions { all: 7, functions: vec![row] }, &mut out)?;
//! assert_eq!(
//!     String::from_utf8_lossy(&out),
//!     r#"{"schema":1,
//! "all":7,
//! "functions":[
//! {"name":"main","self":{"Ir":12,"Dr":"1152921504606846976"}}
//! ]}
//! "#
//! );
//!
//! let schema = json::schema::<Functions>("gristmill functions --format json");
//! assert_eq!(schema.as_value()["properties"]["all"]["description"], "The count of all functions.");
//! # Ok::<(), std::io::Error>(())
//! ```

mod costs;
mod exact;
mod harmless;
mod layout;
mod schema;
mod stream;

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use harmless::Harmless;

pub use costs::{ByEvent, Costs, EventNames};
pub use exact::{ExactInteger, exact, exact_option, text};
pub use schema::schema;
pub use stream::{Stream, StreamState};

/// The version of all documents, which is their first member. It grows when a member goes or gets another meaning; new
/// members can come at any time.
pub const VERSION: u32 = 1;

/// Writes a document, with its version before all other members.
///
/// # Errors
///
/// Those of the output.
pub fn write<T: Serialize>(document: &T, out: &mut dyn Write) -> io::Result<()> {
    let mut harmless = Harmless::new(out);
    let mut serializer = serde_json::Serializer::with_formatter(&mut harmless, layout::Lines::default());
    schema::Document::new(document).serialize(&mut serializer)?;
    harmless.write_all(b"\n")?;
    harmless.finish()
}

/// Writes a value on one line: a part of a document whose frame is written by hand.
///
/// ```
/// let mut out = Vec::new();
/// gristmill_output::json::write_value("a\u{9b}b", &mut out)?;
/// assert_eq!(out, br#""a\u009bb""#);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Those of the output.
pub fn write_value<T: Serialize + ?Sized>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    let mut harmless = Harmless::new(out);
    value.serialize(&mut serde_json::Serializer::new(&mut harmless))?;
    harmless.finish()
}

/// Writes a value in many lines, indented. See the example of [`write_value`].
///
/// # Errors
///
/// Those of the output.
pub fn write_pretty<T: Serialize + ?Sized>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    let mut harmless = Harmless::new(out);
    value.serialize(&mut serde_json::Serializer::pretty(&mut harmless))?;
    harmless.finish()
}

/// Rows that are calculated while they are written. The schema sees a list of them, by `#[schemars(with = "Vec<Row>")]`.
///
/// ```
/// use gristmill_output::json::Rows;
///
/// assert_eq!(serde_json::to_string(&Rows(|| 1..4))?, "[1,2,3]");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Rows<F>(pub F);

impl<F: Fn() -> I, I: IntoIterator<Item: Serialize>> Serialize for Rows<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}
