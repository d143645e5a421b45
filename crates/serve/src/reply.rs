//! Responses, all with the headers that protect the page.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, SET_COOKIE};
use hyper::{Response, StatusCode};
use serde::Serialize;

/// A response of the server.
pub(crate) type Reply = Response<Full<Bytes>>;

/// The header with the generation that an answer is from, or must be from.
pub(crate) const GENERATION: &str = "gristmill-generation";

/// The page loads its own script and style, talks to this server, and is in no frame. Names of functions are hostile text: a
/// script in one of them has no effect even if the page fails to escape it.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                      img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// Headers of all responses.
const HEADERS: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

const JSON: &str = "application/json";

/// A failure as JSON.
#[derive(Debug, Serialize)]
struct Failure<'a> {
    error: &'a str,
}

fn reply(status: StatusCode, media_type: &'static str, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    // What a profile says stays on no disk.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    reply
}

/// A file of the page.
pub(crate) fn file(media_type: &'static str, bytes: &'static [u8]) -> Reply {
    reply(StatusCode::OK, media_type, Bytes::from_static(bytes))
}

/// An answer of a generation.
pub(crate) fn answer(json: Vec<u8>, generation: u64) -> Reply {
    let mut reply = reply(StatusCode::OK, JSON, json.into());
    reply.headers_mut().insert(HeaderName::from_static(GENERATION), generation.into());
    reply
}

/// A value as JSON.
pub(crate) fn value(value: &impl Serialize) -> Reply {
    match serde_json::to_vec(value) {
        Ok(json) => reply(StatusCode::OK, JSON, json.into()),
        Err(error) => failure(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

/// A new session: the cookie, and no content.
pub(crate) fn session(cookie: &str) -> Reply {
    match HeaderValue::from_str(cookie) {
        Ok(cookie) => {
            let mut reply = reply(StatusCode::OK, JSON, Bytes::from_static(b"{}"));
            reply.headers_mut().insert(SET_COOKIE, cookie);
            reply
        }
        Err(error) => failure(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

/// A failure, with a sentence that says what is wrong.
pub(crate) fn failure(status: StatusCode, sentence: &str) -> Reply {
    // Serializing a text does not fail.
    let json = serde_json::to_vec(&Failure { error: sentence }).unwrap_or_default();
    reply(status, JSON, json.into())
}

/// The failure for a method that an address does not have.
pub(crate) fn wrong_method(allowed: &'static str) -> Reply {
    let mut reply =
        failure(StatusCode::METHOD_NOT_ALLOWED, &format!("this address is for {allowed} requests"));
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}
