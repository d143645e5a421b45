//! The server: its thread, its connections and its addresses.

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use gristmill_answers::Session;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};

use crate::error::ServeError;
use crate::exchange::Shared;
use crate::hosts::{Hosts, as_host};
use crate::loaded::{AnswerSource, Loaded};
use crate::page::Page;
use crate::secret::Secret;
use crate::stream::PatientStream;

/// The pause after a failure to accept a connection: the system has no descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Bytes of the head of a request.
const MAX_HEAD_BYTES: usize = 32 << 10;

/// The address of a server, and its limits. See the example of [`Server`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The address that it listens on. Others than loopback make the profile readable from other machines.
    pub address: IpAddr,
    /// The port. 0 for one that is free.
    pub port: u16,
    /// `true` if pages should ask now and then whether the profile was loaded again: [`Server::replace`] will be called.
    pub is_watched: bool,
    /// The limits.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options { address: Ipv4Addr::LOCALHOST.into(), port: 0, is_watched: false, limits: Limits::default() }
    }
}

/// The limits of a server. See the example of [`Server`].
#[derive(Debug, Clone)]
pub struct Limits {
    /// The limit of bytes of a question.
    pub body_bytes: usize,
    /// The limit of answers that are made at once. Further ones wait.
    pub answers: usize,
    /// The limit of connections. Further ones wait. A browser opens six.
    pub connections: usize,
    /// The limit of the time that a request may take to arrive, and that the other side may read nothing of a response.
    pub max_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Limits {
            body_bytes: 1 << 20,
            // One more than there are processors: one may wait for a disk.
            answers: cores + 1,
            connections: 128,
            max_wait: Duration::from_secs(20),
        }
    }
}

/// A server that runs until it is dropped.
///
/// ```
/// use std::sync::Arc;
///
/// use gristmill_answers::{NoFiles, Session};
/// use gristmill_profile::Profile;
/// use gristmill_serve::{Limits, Listener, Options, Page, ServeError, Server};
///
/// let session = || Session::new(Arc::new(Profile::from_bytes(b"events: Ir\n".to_vec())), Box::new(NoFiles));
/// let page = Page { document: b"", script: b"", style: b"" };
/// let limits = Limits { connections: 16, ..Limits::default() };
/// let server = Server::start(page, session(), &Options { limits, ..Options::default() })?;
/// // The file has changed:
/// server.replace(session());
///
/// let same = Options { port: server.address().port(), ..Options::default() };
/// let Err(ServeError::PortInUse(address)) = Listener::new(&same) else { panic!() };
/// assert_eq!(address, server.address());
/// # Ok::<(), ServeError>(())
/// ```
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// An address that is taken before there is something to answer with: loading a profile takes longer than to see that another
/// program has the port. See the example of [`Server`].
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
    is_watched: bool,
    limits: Limits,
}

impl Listener {
    /// Takes the address. Who connects waits.
    ///
    /// # Errors
    ///
    /// If the system refuses the address.
    pub fn new(options: &Options) -> Result<Listener, ServeError> {
        let wanted = SocketAddr::new(options.address, options.port);
        let refused = |error| ServeError::of_listening(wanted, error);
        let listener = TcpListener::bind(wanted).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let Options { is_watched, limits, .. } = options.clone();
        Ok(Listener { listener, address, is_watched, limits })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Server {
    /// Listens, and starts to answer.
    ///
    /// # Errors
    ///
    /// If the system refuses the address, random numbers or a thread.
    pub fn start(page: Page, session: Session, options: &Options) -> Result<Server, ServeError> {
        Server::on(Listener::new(options)?, page, session)
    }

    /// Starts to answer on an address that was taken.
    ///
    /// # Errors
    ///
    /// If the system refuses random numbers or a thread.
    pub fn on(listener: Listener, page: Page, session: Session) -> Result<Server, ServeError> {
        Server::with_source(listener, page, Arc::new(session))
    }

    fn with_source(
        listener: Listener,
        page: Page,
        source: Arc<dyn AnswerSource>,
    ) -> Result<Server, ServeError> {
        let Listener { listener, address, is_watched, limits } = listener;
        let shared = Arc::new(Shared {
            page,
            hosts: Hosts { bound: address },
            loaded: Loaded::new(source, is_watched),
            token: Secret::new()?,
            tokens_for_once: Mutex::default(),
            cookie: Secret::new()?,
            permits: Arc::new(Semaphore::new(limits.answers.max(1))),
            max_body_bytes: limits.body_bytes,
            max_wait: limits.max_wait,
        });
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(limits.answers.max(1))
            .thread_name("answer")
            .build()
            .map_err(ServeError::NoThread)?;
        let (stop, stopped) = oneshot::channel();
        let (max_connections, for_thread) = (limits.connections.max(1), Arc::clone(&shared));
        let thread = thread::Builder::new()
            .name("serve".to_owned())
            .spawn(move || run(runtime, listener, max_connections, for_thread, stopped))
            .map_err(ServeError::NoThread)?;
        Ok(Server { shared, address, stop: Some(stop), thread: Some(thread) })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for people, with the token. Whoever has it can ask.
    pub fn url(&self) -> String {
        self.url_with(&self.shared.token)
    }

    /// An address for a browser that is started with it, with a token that is valid once: other users of the machine see the words
    /// of a command.
    ///
    /// # Errors
    ///
    /// If the system has no random numbers.
    pub fn url_for_once(&self) -> Result<String, ServeError> {
        let token = Secret::new()?;
        let url = self.url_with(&token);
        self.shared.tokens_for_once.lock().unwrap_or_else(PoisonError::into_inner).push(token);
        Ok(url)
    }

    fn url_with(&self, token: &Secret) -> String {
        format!("http://{}:{}/#token={}", self.host(), self.address.port(), token.as_str())
    }

    /// The host by which this machine reaches the server, as an address has it: `127.0.0.1`, `[::1]`.
    pub fn host(&self) -> String {
        match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => as_host(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => as_host(Ipv6Addr::LOCALHOST.into()),
            ip => as_host(ip),
        }
    }

    /// Answers from now on with another session: the profile was loaded again. Questions with ids of the old one are refused.
    pub fn replace(&self, session: Session) {
        self.shared.loaded.replace(Arc::new(session));
    }

    /// Tells pages from now on why the profile could not be loaded again. The answers stay those of the old one.
    pub fn tell_failure(&self, reason: impl Into<String>) {
        self.shared.loaded.fail(reason.into());
    }

    /// Waits until the server ends, which it does only if its thread panics.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic has been reported.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves until it is stopped.
fn run(
    runtime: Runtime,
    listener: TcpListener,
    max_connections: usize,
    shared: Arc<Shared>,
    stopped: oneshot::Receiver<()>,
) {
    runtime.block_on(async move {
        // A listener that was just opened can be registered, unless the system has no descriptors; then there is no server.
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        tokio::spawn(accept(listener, max_connections, shared));
        // It ends as well when the server is dropped.
        let _ = stopped.await;
    });
    // Answers that are being made are cancelled: their connections are gone.
    runtime.shutdown_background();
}

/// Accepts connections, each a task of its own.
async fn accept(listener: tokio::net::TcpListener, max_connections: usize, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(max_connections));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let Ok(local) = stream.local_addr() else { continue };
        // Answers are written at once.
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let _place = place;
            let wait = shared.max_wait;
            let service =
                service_fn(|request| async { Ok::<_, Infallible>(shared.reply(request, local.ip()).await) });
            // A connection that fails is one that nobody reads.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(wait)
                .max_buf_size(MAX_HEAD_BYTES)
                .serve_connection(PatientStream::new(stream, wait), service)
                .await;
        });
    }
}
