//! A function as the rows of reports name it.

use std::borrow::Cow;

use gristmill_output::{json, printable};
use schemars::JsonSchema;
use serde::Serialize;

use crate::view::{LeftOut, SubjectId, View};

/// A function as the rows of reports name it. See the example of [`Show`](crate::Show).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedFunction {
    /// The id of the function. It stays the same as long as the files of the profile and the options that fold functions do.
    pub id: SubjectId,
    /// The demangled name. Bytes that are not UTF-8 are U+FFFD here.
    pub name: String,
    /// The source file; empty or `???` if it is not known.
    #[serde(serialize_with = "json::text")]
    #[schemars(with = "String")]
    pub file: Vec<u8>,
    /// The program or library; empty or `???` if it is not known.
    #[serde(serialize_with = "json::text")]
    #[schemars(with = "String")]
    pub object: Vec<u8>,
    /// The number of the cycle that the function is in, if any.
    pub cycle: Option<usize>,
    /// The end of the recorded name that `name` leaves out.
    #[serde(skip)]
    pub(crate) left_out: LeftOut,
}

impl NamedFunction {
    pub(crate) fn new(view: &View, id: SubjectId) -> Self {
        let subject = view.subject(id);
        NamedFunction {
            id,
            name: subject.name().to_owned(),
            file: view.profile().file(subject.file).to_vec(),
            object: view.profile().object(subject.object).to_vec(),
            cycle: view.inclusive().cycles().cycle_of(id.node()).map(|cycle| cycle.number()),
            left_out: subject.left_out(),
        }
    }

    /// The name, safe to show.
    pub(crate) fn printable_name(&self) -> Cow<'_, str> {
        printable(self.name.as_bytes())
    }
}
