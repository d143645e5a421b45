//! The reasons why a server cannot start.

use std::fmt;
use std::io;
use std::net::SocketAddr;

/// The reason why a server cannot start. See the example of [`Server`](crate::Server).
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// Another program listens on the port.
    PortInUse(SocketAddr),
    /// Ports of this number are for the administrator.
    NoPermission(SocketAddr),
    /// This machine does not have the address.
    NoSuchAddress(SocketAddr),
    /// The system refuses to listen for another reason.
    Listen(SocketAddr, io::Error),
    /// The system has no random numbers for the token.
    NoRandomNumbers(String),
    /// The system starts no thread.
    NoThread(io::Error),
}

impl ServeError {
    pub(crate) fn of_listening(address: SocketAddr, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AddrInUse => ServeError::PortInUse(address),
            io::ErrorKind::PermissionDenied => ServeError::NoPermission(address),
            io::ErrorKind::AddrNotAvailable => ServeError::NoSuchAddress(address),
            _ => ServeError::Listen(address, error),
        }
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::PortInUse(address) => {
                write!(f, "cannot listen on {address}: another program uses port {}", address.port())
            }
            ServeError::NoPermission(address) => write!(f, "cannot listen on {address}: permission denied"),
            ServeError::NoSuchAddress(address) => {
                write!(f, "cannot listen on {address}: this machine has no address {}", address.ip())
            }
            ServeError::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            ServeError::NoRandomNumbers(reason) => {
                write!(f, "the system has no random numbers for the token: {reason}")
            }
            ServeError::NoThread(error) => write!(f, "the system starts no thread: {error}"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ServeError::Listen(_, error) | ServeError::NoThread(error) => Some(error),
            _ => None,
        }
    }
}
