//! Answers to questions about a profile over HTTP, for a page in a browser.
//!
//! | request | answer |
//! |---|---|
//! | `GET /`, `/app.js`, `/style.css` | the page |
//! | `POST /api/session` with `{"token": "…"}` | a cookie; all others need it |
//! | `POST /api/answer` with a [`Request`](gristmill_answers::Request) | the answer as JSON |
//! | `POST /api/loaded` | which loading of the profile this is, and why the last one failed |
//!
//! A failure is a status of its own and `{"error": "…"}`, a sentence to show. Nothing else is served, and no path of a request
//! ever becomes one of a file.
//!
//! # Safety
//!
//! - The token has 128 bits of the system's generator. It is in the fragment of the address that a person opens, which no browser
//!   sends, and is exchanged for a cookie that scripts cannot read and that other sites cannot send. Browsers share cookies
//!   between ports, so the name has the port.
//! - A request must name a host that is ours, so a foreign name that suddenly points here has no effect, and come from our page:
//!   `Origin` is that host or absent. No header allows other origins to read an answer.
//! - Bodies, headers, connections, answers at once, and the time that a request takes to arrive or a response to be read, are limited. A connection that is closed cancels its
//!   question.
//!
//! ```
//! use std::io::{Read as _, Write as _};
//! use std::net::TcpStream;
//! use std::sync::Arc;
//!
//! use gristmill_answers::{NoFiles, Session};
//! use gristmill_profile::Profile;
//! use gristmill_serve::{Options, Page, Server};
//!
//! let profile = Profile::from_bytes(b"events: Ir\nfn=main\n1 10\n".to_vec());
//! let session = Session::new(Arc::new(profile), Box::new(NoFiles));
//! let page = Page { document: b"<!doctype html>", script: b"", style: b"" };
//! let server = Server::start(page, session, &Options::default())?;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//!
//! let mut stream = TcpStream::connect(server.address())?;
//! write!(stream, "GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address())?;
//! let mut response = String::new();
//! stream.read_to_string(&mut response)?;
//! assert!(response.starts_with("HTTP/1.1 200 OK"));
//! assert!(response.ends_with("<!doctype html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod error;
mod exchange;
mod hosts;
mod loaded;
mod page;
mod reply;
mod secret;
mod server;
mod stream;

pub use self::error::ServeError;
pub use self::page::Page;
pub use self::server::{Limits, Listener, Options, Server};
