//! Source lines with what they cost.

mod annotation;
mod cachegrind;
mod callgrind;
mod entries;
mod events;
mod files;
mod given;
mod given_sums;
mod highlight;
mod keyed;
mod lines;
mod marks;
mod paint;
mod ranges;
mod sources;

pub use annotation::{Annotation, AnnotationOptions, PageOptions, SourceRemark};
pub use cachegrind::{
    CachegrindCosts, CachegrindOptions, CachegrindReport, ProfileCosts, Recording, SelfCosts, Summand,
    TakeFunction, TakeLine, TooManyColumns,
};
pub use callgrind::{Callgrind, CallgrindOptions, Threshold};
pub use events::AnnotateEvent;
pub use sources::{Source, SourceFault, Sources};
