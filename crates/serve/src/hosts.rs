//! The names that a request may have for this server.
//!
//! A foreign site can let its own name point to this machine, and then reads what its page asks from there. Such a request
//! still has the foreign name in `Host`.

use std::net::{IpAddr, SocketAddr};

use hyper::header::{HOST, HeaderMap, ORIGIN};
use hyper::http::Uri;

/// The port that addresses of `http:` leave out.
const USUAL_PORT: u16 = 80;

/// The names and the port of this server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hosts {
    /// The address that it listens on.
    pub(crate) bound: SocketAddr,
}

impl Hosts {
    /// `true` if a request names this server: in `Host`, and in its address if that is a whole one. `local` is the address that
    /// the connection came to.
    pub(crate) fn is_named(&self, headers: &HeaderMap, uri: &Uri, local: IpAddr) -> bool {
        let mut named = headers.get_all(HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else { return false };
        host.to_str().is_ok_and(|host| self.is_ours(host, local))
            && uri.authority().is_none_or(|authority| self.is_ours(authority.as_str(), local))
    }

    /// `true` if a request comes from a page of this server, or from no page. It names this server.
    pub(crate) fn is_origin_ours(headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let is_ours = |origin: &str| {
            origin.strip_prefix("http://").is_some_and(|origin| origin.eq_ignore_ascii_case(host))
        };
        headers.get_all(ORIGIN).iter().all(|origin| origin.to_str().is_ok_and(is_ours))
    }

    fn is_ours(&self, host: &str, local: IpAddr) -> bool {
        let mut names =
            vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned(), as_host(local)];
        if !self.bound.ip().is_unspecified() {
            names.push(as_host(self.bound.ip()));
        }
        let port = self.bound.port();
        names.iter().any(|name| {
            host.eq_ignore_ascii_case(&format!("{name}:{port}"))
                || port == USUAL_PORT && host.eq_ignore_ascii_case(name)
        })
    }
}

/// An address as a URL has it.
pub(crate) fn as_host(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: hyper::header::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    fn is_named(bound: &str, host: &[(&str, &str)], uri: &str, local: &str) -> bool {
        let hosts = Hosts { bound: bound.parse().unwrap() };
        hosts.is_named(&headers(host), &uri.parse().unwrap(), local.parse().unwrap())
    }

    #[test]
    fn a_host_is_an_address_or_localhost_with_the_port() {
        let loopback = |host: &str| is_named("127.0.0.1:8123", &[("host", host)], "/", "127.0.0.1");
        for host in ["127.0.0.1:8123", "localhost:8123", "LOCALHOST:8123", "[::1]:8123"] {
            assert!(loopback(host), "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "127.0.0.1:8124",
            "localhost",
            "evil.example:8123",
            "evil.example",
            "localhost.evil.example:8123",
            "localhost:8123@evil.example",
            "127.0.0.1.evil.example:8123",
            "192.168.1.5:8123",
            "localhost:08123",
            "0.0.0.0:8123",
        ] {
            assert!(!loopback(host), "{host}");
        }
        assert!(!is_named("127.0.0.1:8123", &[], "/", "127.0.0.1"));
        let twice = [("host", "localhost:8123"), ("host", "localhost:8123")];
        assert!(!is_named("127.0.0.1:8123", &twice, "/", "127.0.0.1"));
    }

    #[test]
    fn the_usual_port_may_be_absent() {
        assert!(is_named("127.0.0.1:80", &[("host", "localhost")], "/", "127.0.0.1"));
        assert!(is_named("127.0.0.1:80", &[("host", "localhost:80")], "/", "127.0.0.1"));
    }

    #[test]
    fn all_addresses_of_the_machine_are_ours_if_it_listens_on_all() {
        for bound in ["0.0.0.0:8123", "[::]:8123"] {
            assert!(is_named(bound, &[("host", "192.168.1.5:8123")], "/", "192.168.1.5"));
            assert!(is_named(bound, &[("host", "192.168.1.5:8123")], "/", "::ffff:192.168.1.5"));
            assert!(!is_named(bound, &[("host", "evil.example:8123")], "/", "192.168.1.5"));
        }
        assert!(is_named("[fe80::1]:8123", &[("host", "[fe80::1]:8123")], "/", "fe80::1"));
    }

    #[test]
    fn a_whole_address_must_be_ours_as_well() {
        let host = [("host", "localhost:8123")];
        assert!(is_named("127.0.0.1:8123", &host, "http://localhost:8123/api/answer", "127.0.0.1"));
        assert!(!is_named("127.0.0.1:8123", &host, "http://evil.example/api/answer", "127.0.0.1"));
    }

    #[test]
    fn an_origin_is_ours_or_absent() {
        let with = |origins: &[&str]| {
            let mut pairs = vec![("host", "localhost:8123")];
            pairs.extend(origins.iter().map(|origin| ("origin", *origin)));
            Hosts::is_origin_ours(&headers(&pairs))
        };
        assert!(with(&[]));
        assert!(with(&["http://localhost:8123"]));
        for origin in [
            "null",
            "",
            "https://localhost:8123",
            "http://localhost:8124",
            "http://127.0.0.1:8123",
            "http://evil.example",
            "http://localhost:8123.evil.example",
            "file://",
        ] {
            assert!(!with(&[origin]), "{origin}");
        }
        assert!(!with(&["http://localhost:8123", "http://evil.example"]));
    }
}
