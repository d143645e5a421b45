//! Every question that a viewer asks of a profile, and its answer: a function from a loaded profile and a [`Request`] to an
//! [`Answer`], both with JSON schemas.
//!
//! Nothing here opens a file or prints: the caller hands over sources and programs as [`Files`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use gristmill_answers::{Answer, NoFiles, Request, Session};
//! use gristmill_profile::Profile;
//!
//! let text = b"events: Ir\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 32\n";
//! let session = Session::new(Arc::new(Profile::from_bytes(text.to_vec())), Box::new(NoFiles));
//! let request: Request = serde_json::from_str(
//!     r#"{"question":{"kind":"functions","group":"function","sort":"self_cost","start":0,"count":1}}"#,
//! )?;
//! let Answer::Functions(page) = session.answer(&request, &|| false)? else { panic!() };
//! assert_eq!((page.all, page.rows[0].name.as_str()), (2, "work"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod answer;
mod assembly_answer;
mod call_graph;
mod call_tree;
mod changed_answer;
mod changed_flame;
mod changed_graph;
mod changed_tree;
mod changed_treemap;
mod changes;
mod changes_page;
mod comparison;
mod document;
mod flame;
mod functions;
pub mod graph_layout;
mod graph_picture;
mod kept_view;
mod matches;
mod picture_tree;
mod question;
mod refusal;
mod scope;
mod session;
mod source;
mod summary;
mod treemap;

pub use self::answer::*;
pub use self::assembly_answer::AssemblyAnswer;
pub use self::changed_answer::*;
pub use self::changes::ChangesAnswer;
pub use self::question::*;
pub use self::refusal::Refusal;
pub use self::session::{Answer, FileWork, Files, NoFiles, Session};
