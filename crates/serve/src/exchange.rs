//! One request and its response.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gristmill_answers::Refusal;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, COOKIE, HeaderMap};
use hyper::{Method, Request, StatusCode};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::hosts::Hosts;
use crate::loaded::Loaded;
use crate::page::Page;
use crate::reply::{self, GENERATION, Reply};
use crate::secret::Secret;

/// The state that all connections share.
pub(crate) struct Shared {
    pub(crate) page: Page,
    pub(crate) hosts: Hosts,
    pub(crate) loaded: Loaded,
    /// The token of the printed address.
    pub(crate) token: Secret,
    /// Tokens that are valid once.
    pub(crate) tokens_for_once: Mutex<Vec<Secret>>,
    /// The value of the cookie.
    pub(crate) cookie: Secret,
    /// A permit for each answer that is made at once.
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) max_body_bytes: usize,
    pub(crate) max_wait: Duration,
}

/// The body of a request for a session.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    token: String,
}

/// A flag that is set when nobody waits any more.
struct CancelledOnDrop(Arc<AtomicBool>);

impl Drop for CancelledOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    /// Answers a request that came to the address `local`.
    pub(crate) async fn reply(&self, request: Request<Incoming>, local: IpAddr) -> Reply {
        let (parts, body) = request.into_parts();
        if !self.hosts.is_named(&parts.headers, &parts.uri, local) {
            return reply::failure(
                StatusCode::MISDIRECTED_REQUEST,
                "this server has another name: open the address that gristmill printed",
            );
        }
        if !Hosts::is_origin_ours(&parts.headers) {
            return reply::failure(StatusCode::FORBIDDEN, "pages of other sites may not ask this server");
        }
        let path = parts.uri.path();
        if let Some((media_type, bytes)) = self.page.file(path) {
            return match parts.method {
                Method::GET | Method::HEAD => reply::file(media_type, bytes),
                _ => reply::wrong_method("GET"),
            };
        }
        if !["/api/session", "/api/answer", "/api/loaded"].contains(&path) {
            return reply::failure(StatusCode::NOT_FOUND, "there is nothing at this address");
        }
        if parts.method != Method::POST {
            return reply::wrong_method("POST");
        }
        if !is_json(&parts.headers) {
            return reply::failure(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the request must be JSON: content-type application/json",
            );
        }
        // A session is the one thing that needs none.
        if path != "/api/session" && !self.has_cookie(&parts.headers) {
            return reply::failure(StatusCode::UNAUTHORIZED, "there is no session with this server");
        }
        let body = match self.read(body).await {
            Ok(body) => body,
            Err(reply) => return reply,
        };
        match path {
            "/api/session" => self.log_in(&body),
            "/api/answer" => self.answer(&body, &parts.headers).await,
            _ => reply::value(&self.loaded.state()),
        }
    }

    /// Reads a body of limited length in limited time.
    async fn read(&self, body: Incoming) -> Result<Bytes, Reply> {
        let limited = Limited::new(body, self.max_body_bytes);
        match timeout(self.max_wait, limited.collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let limit = self.max_body_bytes;
                let sentence = format!("the request is longer than {limit} bytes");
                Err(reply::failure(StatusCode::PAYLOAD_TOO_LARGE, &sentence))
            }
            Ok(Err(error)) => {
                let sentence = format!("the request could not be read: {error}");
                Err(reply::failure(StatusCode::BAD_REQUEST, &sentence))
            }
            Err(_) => Err(reply::failure(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time")),
        }
    }

    fn cookie_name(&self) -> String {
        format!("gristmill-{}", self.hosts.bound.port())
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let is_ours = |pair: &str| {
            pair.trim().split_once('=').is_some_and(|(key, value)| key == name && self.cookie.is(value))
        };
        let mut lists = headers.get_all(COOKIE).iter().filter_map(|list| list.to_str().ok());
        lists.any(|list| list.split(';').any(is_ours))
    }

    /// Exchanges the token for the cookie.
    fn log_in(&self, body: &[u8]) -> Reply {
        let login: Login = match serde_json::from_slice(body) {
            Ok(login) => login,
            Err(error) => return unreadable(&error),
        };
        if !self.token.is(&login.token) && !self.takes_once(&login.token) {
            return reply::failure(StatusCode::FORBIDDEN, "the token is not that of this server");
        }
        let (name, value) = (self.cookie_name(), self.cookie.as_str());
        reply::session(&format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict"))
    }

    /// Uses up a token that is valid once.
    fn takes_once(&self, token: &str) -> bool {
        // A list of whole tokens is valid even after a panic.
        let mut tokens = self.tokens_for_once.lock().unwrap_or_else(PoisonError::into_inner);
        let before = tokens.len();
        tokens.retain(|once| !once.is(token));
        tokens.len() < before
    }

    async fn answer(&self, body: &[u8], headers: &HeaderMap) -> Reply {
        let request: gristmill_answers::Request = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(error) => return unreadable(&error),
        };
        let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await else {
            return reply::failure(StatusCode::SERVICE_UNAVAILABLE, "the server ends");
        };
        // Only now: the profile may have been replaced while this request waited.
        let (source, generation) = self.loaded.source();
        if let Some(asked) = headers.get(GENERATION)
            && asked.as_bytes() != generation.to_string().as_bytes()
        {
            return reply::failure(StatusCode::CONFLICT, "the profile was loaded again");
        }
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let guard = CancelledOnDrop(Arc::clone(&is_cancelled));
        let done = spawn_blocking(move || {
            // The permit is held until the work ends, also if nobody waits for it.
            let _permit = permit;
            source.answer(&request, &|| is_cancelled.load(Ordering::Relaxed))
        })
        .await;
        drop(guard);
        match done {
            Ok(Ok(json)) => reply::answer(json, generation),
            Ok(Err(refusal)) => reply::failure(status_of(&refusal), &refusal.to_string()),
            Err(_) => reply::failure(
                StatusCode::INTERNAL_SERVER_ERROR,
                "this answer failed, which is an error of gristmill; others still work",
            ),
        }
    }
}

fn status_of(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::UnknownFunction(_) | Refusal::NoSuchFunction(_) | Refusal::NoSuchFile(_) => {
            StatusCode::NOT_FOUND
        }
        Refusal::Write(_) | Refusal::NoFiles => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

fn unreadable(error: &serde_json::Error) -> Reply {
    reply::failure(StatusCode::BAD_REQUEST, &format!("the request has another form: {error}"))
}

/// `true` if the body is JSON. A form of another site cannot say so.
fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json")
}
