//! Source lines with what they cost.

mod annotation;
mod cachegrind;
mod callgrind;
mod entries;
mod events;
mod files;
mod given;
mod highlight;
mod lines;
mod paint;
mod sources;

pub use annotation::{
    AnnotatedFile, AnnotatedFunction, Annotation, AnnotationOptions, CallPlace, PageOptions, SourceRemark,
};
pub use cachegrind::{
    CachegrindCosts, CachegrindOptions, CachegrindReport, DatedSources, ProfileCosts, Recording, SelfCosts,
    Summand, TakeFunction, TakeLine, TooManyColumns,
};
pub use callgrind::{Callgrind, CallgrindOptions, Threshold};
pub use events::AnnotateEvent;
pub use files::{DisplayFile, DisplayFiles};
pub use given::{GivenCosts, GivenRow};
pub use highlight::{Class, Highlighter, Span};
pub use lines::{CallRow, FileLines, JumpRow};
pub use sources::{Source, SourceFault, Sources};
