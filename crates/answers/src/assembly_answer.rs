//! The answer on machine code.

use gristmill_report::assembly::{AssemblyDocument, ShownFile};
use schemars::JsonSchema;
use serde::Serialize;

/// The machine code of a function, with the text of its source lines. See the example of [the crate](crate).
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssemblyAnswer<'r> {
    /// The rows of `gristmill annotate --asm`.
    #[serde(flatten)]
    pub document: AssemblyDocument<'r>,
    /// The source files whose lines the instructions come from, as far as they can be read: also those of inlined functions.
    pub sources: Vec<ShownFile>,
}
